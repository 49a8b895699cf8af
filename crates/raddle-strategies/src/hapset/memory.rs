//! What a search by learned orderings reports, and what it saves for the next search of the same program.

use raddle_engine::facts::Fact;
use raddle_engine::search::Learning;
use raddle_engine::strategy::{Memory, Summarize};

use super::{Hapset, Knowledge};

impl Summarize for Hapset {
    fn guarantee(&self, _: u64) -> Option<Fact> {
        Some(Fact::Skipped(self.skipped()))
    }

    fn facts(&self) -> Vec<Fact> {
        let pool = self.pool.lock();
        if pool.failed {
            // The search has failed, so `save` discards what was learned as well.
            return Vec::new();
        }
        let convergence = pool.convergence;
        let pace = convergence.is_long().then_some((convergence.first, convergence.latest));
        let mut facts = vec![Fact::Orderings { known: pool.sets.len(), new: pool.learned(), pace }];
        if pool.knowledge().has_no_calls() {
            facts.push(Fact::NoCalls);
        }
        facts
    }

    fn learning(&self) -> Option<Learning> {
        Some(self.pool.lock().learning())
    }
}

impl Hapset {
    /// Returns what was learned, for the next search of the same program. Empty if the search has failed.
    #[must_use]
    pub fn export_knowledge(&self) -> Knowledge {
        let pool = self.pool.lock();
        if pool.failed { Knowledge::default() } else { pool.knowledge() }
    }

    /// Imports what earlier searches of the program have learned. The knowledge must be [sound](Knowledge::is_sound).
    pub fn import_knowledge(&mut self, knowledge: &Knowledge) {
        let pool = self.pool.clone();
        let mut pool = pool.lock();
        pool.import(knowledge);
        self.guide_mut().import_all(&pool);
    }
}

impl Memory for Hapset {
    fn save(&self, on_disk: Option<&str>) -> Result<Option<String>, String> {
        let latest = self.export_knowledge();
        if latest.statements.is_empty() {
            return Ok(None);
        }
        let earlier = on_disk.map(Knowledge::read).transpose()?.unwrap_or_default();
        serde_json::to_string(&earlier.merged_with(&latest)).map(Some).map_err(|error| error.to_string())
    }

    fn load(&mut self, saved: &str) -> Result<(), String> {
        self.import_knowledge(&Knowledge::read(saved)?);
        Ok(())
    }

    fn check(&self, saved: &str) -> Result<(), String> {
        Knowledge::read(saved).map(|_| ())
    }
}
