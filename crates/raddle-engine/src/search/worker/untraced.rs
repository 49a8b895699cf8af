//! Executions whose steps are not recorded: they are counted, and the program runs forward with random choices as far as it can.
//!
//! Where the steps turn out to be needed, the execution is run again with recording: because it failed and is to be shown, or because
//! race detection needs them.

use std::{mem, ptr};

use super::Worker;
use super::walk::{Chosen, Walked};
use crate::random_choices::Drawn;
use crate::search::Deadline;
use crate::system::{Program, System};

/// What happened to the steps of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Kept,
    Counted,
}

impl Worker<'_> {
    /// Whether the steps of the current execution are needed.
    pub(super) fn shows_steps(&self) -> bool {
        self.keeps_steps || self.states || self.search.coverage.is_some() || !self.prefix.is_empty() || self.wants_steps
    }

    /// Runs an execution again whose steps were only counted and turn out to be needed.
    pub(super) fn look_again<P: Program>(&mut self, program: &mut P, seed: u64, first: Walked) -> (P::System, Walked) {
        let path = self.path.clone();
        self.prefix.extend(path.iter().map(|chosen| chosen.choice));
        self.trace.clear();
        let mut system = program.start(seed, &mut self.trace);
        // A known failure is shown even if the time is over.
        let deadline = mem::replace(&mut self.deadline, Deadline::new(None));
        let again = self.walk(&mut system, 0, None);
        self.deadline = deadline;
        // If plain memory was accessed, only the second run could detect a race.
        let sees_more = again.failed() && needs_recorded_steps(&mut system);
        if first.failed() && first.kind() != again.kind() && !sees_more {
            // If the second run does not fail, the first failure is reported as it was.
            self.path = path;
            return (system, first);
        }
        (system, again)
    }

    /// Lets the program run forward with random choices as far as it can. Returns how many choices the execution has taken by then.
    pub(super) fn run_randomly<S: System>(&mut self, system: &mut S, depth: usize, product: &mut f64) -> usize {
        let Self { uniform: Some(rng), path, choices, every_point: false, .. } = self else { return depth };
        let Some(untraced) = system.untraced() else { return depth };
        choices.begin(rng, self.search.limits.steps as usize, self.deadline.clone());
        self.trace.draw(choices.draws());
        untraced.run_randomly(choices, &mut self.trace);
        self.trace.draw(ptr::null_mut());
        self.deadline.clone_from(choices.deadline());
        let (drawn, times, next) = choices.drawn();
        drawn.iter().for_each(|drawn| self.trace.choose(drawn.choice));
        rng.clone_from(next);
        path.truncate(depth);
        path.extend(drawn.iter().map(|&Drawn { choice, alternatives }| Chosen { choice, alternatives, looks: 0 }));
        *product *= times;
        path.len()
    }
}

/// Whether race detection needs the steps of an execution that were not recorded.
pub(super) fn needs_recorded_steps<S: System>(system: &mut S) -> bool {
    system.untraced().is_some_and(|untraced| untraced.needs_recorded_steps())
}
