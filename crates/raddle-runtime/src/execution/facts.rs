//! What executions have shown of a program, for the executions that come later.

use std::collections::BTreeSet;
use std::fmt;

use raddle_engine::caveats::Caveats;
use raddle_engine::trace::Site;

use crate::execution::state::State;

/// What executions have shown of the program, and by which later ones have other points than earlier ones. A search keeps to what
/// was known when it began; if it learns more, it has to begin again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Somebody asks whether a thread is finished, so the end of a thread is a step of its own. It is not for programs that never
    /// ask: nobody can tell there when a thread ends.
    pub thread_ends: bool,
    /// Loops that were seen to go round and round without anything changing, by the places where they look again.
    pub spins: BTreeSet<Spot>,
    /// A task that comes round at one of these places goes on, alone, for as many rounds as a loop may take before it is taken to spin:
    /// a loop that looks from the same place may be one that gives up. This is asked for and not shown by executions.
    pub runs_on: bool,
}

impl Facts {
    /// Adds what `other` knows; says whether that is more.
    pub fn add(&mut self, other: &Self) -> bool {
        let before = (self.thread_ends, self.spins.len(), self.runs_on);
        self.runs_on |= other.runs_on;
        self.thread_ends |= other.thread_ends;
        self.spins.extend(other.spins.iter().cloned());
        before != (self.thread_ends, self.spins.len(), self.runs_on)
    }

    /// Writes them as a schedule begins with them; nothing is allocated.
    pub(crate) fn write(&self, to: &mut dyn fmt::Write) -> fmt::Result {
        if self.thread_ends {
            write!(to, "+{THREAD_ENDS}")?;
        }
        if self.runs_on {
            write!(to, "+{RUNS_ON}")?;
        }
        self.spins.iter().try_for_each(|spot| write!(to, "+{}", spot.0))
    }

    /// In words that schedules can keep.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let ends = self.thread_ends.then(|| THREAD_ENDS.to_owned());
        let runs_on = self.runs_on.then(|| RUNS_ON.to_owned());
        ends.into_iter().chain(runs_on).chain(self.spins.iter().map(|spot| spot.0.clone())).collect()
    }

    /// What such words say.
    #[must_use]
    pub fn of_words(words: &[String]) -> Self {
        let has = |name: &str| words.iter().any(|word| word == name);
        let spots = words.iter().filter(|word| *word != THREAD_ENDS && *word != RUNS_ON);
        Self { thread_ends: has(THREAD_ENDS), runs_on: has(RUNS_ON), spins: spots.cloned().map(Spot).collect() }
    }
}

/// The word for the fact that somebody asks whether threads are finished.
const THREAD_ENDS: &str = "ends";

/// The word for going on alone in loops that are known to spin.
const RUNS_ON: &str = "rounds";

/// A place in the source, as it is written in schedules: the same in every build of the same source.
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
    /// What limits what this execution proves.
    pub(crate) fn caveats(&self) -> Caveats {
        let mut caveats = self.caveats.clone();
        if self.settings.keeps_facts {
            caveats.assumed_spins.extend(&self.new_spins);
            // Orders in which a thread has not quite ended were left out.
            caveats.guessed_spin |= self.looked_at_thread_end && !self.settings.facts.thread_ends;
        }
        caveats
    }

    /// What this execution has shown of the program that it was not told; `None` if nothing.
    #[inline]
    pub(crate) fn new_facts(&self) -> Option<Facts> {
        let thread_ends = self.looked_at_thread_end && !self.settings.facts.thread_ends;
        if self.settings.keeps_facts || !thread_ends && self.new_spins.is_empty() {
            return None;
        }
        Some(Facts {
            thread_ends,
            runs_on: false,
            spins: self.new_spins.iter().map(|&site| Spot::from(site)).collect(),
        })
    }
}
