//! Runs a pruned execution to its end.
//!
//! The stacks of threads hold values whose destructors must run, so a pruned execution of threads cannot be dropped where it was pruned.
//! The search takes the remaining steps itself, without the strategy. If the execution fails on the way, that is a failure like any other,
//! with all decisions that lead to it.
//!
//! The strategy and the counts of the search see the execution only up to where it was pruned. A sound strategy finds the same failure
//! again, in an execution of its own, so counting this one as well would count one failure twice.

use super::walk::Chosen;
use super::{Found, Worker};
use crate::facts::Fact;
use crate::ids::TaskId;
use crate::outcome::{Failure, Outcome};
use crate::search::turns::{MOST_LAST_STEPS, Turns};
use crate::system::{Choice, Point, System};

impl Worker<'_> {
    /// Called after a pruned execution was counted, while the worker still has its decisions and steps; it has them again afterwards.
    /// Returns the failure at the end of the execution, if there is one.
    pub(super) fn run_on<S: System>(&mut self, system: &mut S, seed: u64, number: Option<u64>) -> Option<Found> {
        if !system.must_run_on() {
            return None;
        }
        let (decisions, mark) = (self.path.len(), self.trace.mark());
        let failure = self.run_to_end(system);
        let found = failure.map(|failure| {
            let seed = if system.caveats().drew_random { seed } else { 0 };
            Found { remark: Some(Fact::InRestOfPruned), ..self.found(failure, seed, number) }
        });
        self.path.truncate(decisions);
        self.trace.truncate(mark);
        found
    }

    /// Lets the tasks take steps in turn until the execution ends, the time is over or there are too many steps. Returns the failure that
    /// it ends with.
    fn run_to_end<S: System>(&mut self, system: &mut S) -> Option<Failure> {
        let decided = self.trace.steps().iter().rev().find(|step| step.alternatives > 0);
        let mut turns = Turns::after(decided.map_or(TaskId::MAIN, |step| step.task));
        for _ in 0..MOST_LAST_STEPS {
            system.compute_enabled();
            let point = system.point();
            let choice = match &point {
                Point::End(outcome) => return self.failure_at_end(outcome),
                Point::Actions(actions) => turns.next(actions)?,
                Point::Data { .. } => Choice(0),
            };
            // If the rest takes too long, that is no failure: the strategy did not ask for it.
            if self.trace.len() >= self.search.limits.steps as usize || self.deadline.is_over() {
                return None;
            }
            let alternatives = point.alternatives();
            if alternatives > 1 {
                self.path.push(Chosen { choice, alternatives, looks: 0, steps: self.trace.len() });
                if self.trace.discards_steps() {
                    self.trace.choose(choice);
                }
            }
            system.step(choice, &mut self.trace);
        }
        None
    }

    fn failure_at_end(&self, outcome: &Outcome) -> Option<Failure> {
        let failure = outcome.failure()?;
        // It waited for a lock that an execution of another worker holds. That is not the program's fault.
        let meets_another = self.search.workers > 1 && matches!(failure, Failure::HeldElsewhere { .. });
        (!meets_another).then(|| failure.clone())
    }
}
