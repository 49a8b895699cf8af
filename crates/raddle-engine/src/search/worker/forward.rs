//! Programs that run forward by themselves: with random choices, or along the prefix that the strategy asks for.
//!
//! With random choices, steps are not recorded if nobody needs them; they are only counted.
//! Where the steps turn out to be needed, the execution is run again with recording: because it failed and is to be shown, or because
//! race detection needs them.

use std::{mem, ptr};

use super::Worker;
use super::walk::{Chosen, Walked};
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
        self.shared = 0;
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
    pub(super) fn run_forward<S: System>(&mut self, system: &mut S, depth: usize, product: &mut f64) -> usize {
        let Self { uniform: Some(rng), choices, every_point: false, .. } = self else { return depth };
        choices.begin_uniform(rng, self.search.limits.steps as usize, self.deadline.clone());
        self.lend_choices(system);
        let Self { uniform: Some(rng), choices, path, trace, .. } = self else { return depth };
        if trace.discards_steps() {
            choices.taken().iter().for_each(|taken| trace.choose(taken.choice));
        }
        if let Some((times, next)) = choices.drawn() {
            rng.clone_from(next);
            *product *= times;
        }
        path.truncate(depth);
        path.extend(choices.taken().iter().map(Chosen::forward));
        path.len()
    }

    /// Lets a program that records its steps run forward along the prefix, and compares the steps with those of the latest execution, as far as
    /// both have the same choices. Returns how many choices it has taken, or how the execution ends if the program does something else.
    pub(super) fn run_prefix<S: System>(&mut self, system: &mut S) -> Result<usize, Walked> {
        let Self { choices, prefix, every_point, .. } = self;
        choices.begin_given(prefix, *every_point, self.search.limits.steps as usize, self.deadline.clone());
        self.lend_choices(system);
        let taken = self.choices.taken();
        let same = taken.iter().zip(&self.prefix).take_while(|(taken, next)| taken.choice == **next).count();
        let parted = (same < taken.len()).then(|| taken[same].steps);
        self.path.truncate(0);
        self.path.extend(taken.iter().map(Chosen::forward));
        let differs = self.first_difference();
        match differs.or(parted) {
            Some(step) => Err(Walked::To(self.parted_at(system, step))),
            None => Ok(self.path.len()),
        }
    }

    fn lend_choices<S: System>(&mut self, system: &mut S) {
        let Self { choices, trace, .. } = self;
        let Some(forward) = system.forward() else { return };
        if trace.discards_steps() {
            trace.draw(choices.address());
        }
        forward.run_forward(choices, trace);
        trace.draw(ptr::null_mut());
        self.deadline.clone_from(choices.deadline());
    }
}

/// Whether race detection needs the steps of an execution that were not recorded.
pub(super) fn needs_recorded_steps<S: System>(system: &mut S) -> bool {
    system.forward().is_some_and(|forward| forward.needs_recorded_steps())
}
