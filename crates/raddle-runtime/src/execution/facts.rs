//! Facts that executions have shown about a program, for later executions to use.

use std::collections::BTreeSet;
use std::fmt;

use raddle_engine::caveats::Caveats;
use raddle_engine::trace::Site;

use crate::execution::state::State;

/// Facts that executions have shown about the program. They change which operations are decisions, so a search uses the facts that were
/// known when it began. If it learns more, it has to begin again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// True if the program asks whether a thread is finished (`is_finished`), or drops a handle whose thread may leave a result with a
    /// destructor. Then the end of a thread is a step of its own. In other
    /// programs the end of a thread is invisible.
    pub thread_ends: bool,
    /// The places of loops that spin: loops that went many rounds without a change.
    pub spins: BTreeSet<Spot>,
    /// Which loops a task runs alone. This is a setting; executions do not show it.
    pub runs_on: RunsOn,
}

/// The loops in which a task runs alone for as many rounds as an unknown loop may take, before it stalls. So a loop that gives up after some
/// rounds reaches its exit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunsOn {
    /// None of them.
    #[default]
    Never,
    /// Those that are known to spin.
    KnownLoops,
    /// All of them, once they have gone some rounds. A loop that spins is soon known then.
    AllLoops,
}

impl Facts {
    /// Adds the facts of `other`. Returns whether any of them is new.
    pub fn add(&mut self, other: &Self) -> bool {
        let before = (self.thread_ends, self.spins.len(), self.runs_on);
        self.runs_on = self.runs_on.max(other.runs_on);
        self.thread_ends |= other.thread_ends;
        self.spins.extend(other.spins.iter().cloned());
        before != (self.thread_ends, self.spins.len(), self.runs_on)
    }

    /// Writes the facts as a schedule begins with them. Allocates nothing, because signal handlers call it.
    pub(crate) fn write(&self, to: &mut dyn fmt::Write) -> fmt::Result {
        if self.thread_ends {
            write!(to, "+{THREAD_ENDS}")?;
        }
        if let Some(word) = self.runs_on.word() {
            write!(to, "+{word}")?;
        }
        self.spins.iter().try_for_each(|spot| write!(to, "+{}", spot.0))
    }

    /// The facts as words that a schedule can store.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let ends = self.thread_ends.then(|| THREAD_ENDS.to_owned());
        let runs_on = self.runs_on.word().map(str::to_owned);
        ends.into_iter().chain(runs_on).chain(self.spins.iter().map(|spot| spot.0.clone())).collect()
    }

    /// The facts that such words stand for.
    #[must_use]
    pub fn of_words(words: &[String]) -> Self {
        let has = |name: &str| words.iter().any(|word| word == name);
        let runs_on = [RunsOn::AllLoops, RunsOn::KnownLoops].into_iter().find(|it| it.word().is_some_and(has));
        let spots = words.iter().filter(|word| ![THREAD_ENDS, KNOWN_LOOPS, ALL_LOOPS].contains(&word.as_str()));
        Self {
            thread_ends: has(THREAD_ENDS),
            runs_on: runs_on.unwrap_or_default(),
            spins: spots.cloned().map(Spot).collect(),
        }
    }
}

/// The word for [`Facts::thread_ends`].
const THREAD_ENDS: &str = "ends";

/// The words for [`RunsOn`].
const KNOWN_LOOPS: &str = "rounds";
const ALL_LOOPS: &str = "allrounds";

impl RunsOn {
    fn word(self) -> Option<&'static str> {
        match self {
            Self::Never => None,
            Self::KnownLoops => Some(KNOWN_LOOPS),
            Self::AllLoops => Some(ALL_LOOPS),
        }
    }
}

/// A place in the source as schedules write it. It is the same in every build of the same source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot(pub String);

impl From<Site> for Spot {
    fn from(site: Site) -> Self {
        let file = site.file().rsplit(['/', '\\']).next().unwrap_or_default();
        let name: String = file.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        Self(format!("{name}.{}.{}", site.line(), site.column()))
    }
}

impl State {
    /// The caveats of this execution: what limits the claims of a search that has run it.
    pub(crate) fn caveats(&self) -> Caveats {
        let mut caveats = self.caveats.clone();
        if self.settings.keeps_facts {
            caveats.assumed_spins.extend(&self.new_spins);
            // Executions in which a thread has returned but is not finished yet were left out.
            caveats.guessed_spin |= self.looked_at_thread_end && !self.settings.facts.thread_ends;
        }
        caveats
    }

    /// The new facts that this execution has shown; `None` if there are none.
    #[inline]
    pub(crate) fn new_facts(&self) -> Option<Facts> {
        let thread_ends = self.looked_at_thread_end && !self.settings.facts.thread_ends;
        if self.settings.keeps_facts || !thread_ends && self.new_spins.is_empty() {
            return None;
        }
        Some(Facts {
            thread_ends,
            runs_on: RunsOn::Never,
            spins: self.new_spins.iter().map(|&site| Spot::from(site)).collect(),
        })
    }
}
