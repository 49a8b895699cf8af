//! Shrinks a failing schedule: first as few switches between tasks as possible, then as few steps, and no decision without effect.
//!
//! Removes decisions, first the latest, then blocks of them (delta debugging, Zeller and Hildebrandt 2002). The remaining decisions are
//! [hints](Script::Hints): one that does not fit is skipped. A candidate is accepted only if it was run and failed in the same way at a
//! lower cost. Then the decisions that it actually took are shrunk further.

use crate::outcome::{Failure, Outcome};
use crate::replay::{Record, Script};
use crate::schedule::Schedule;

/// The budget.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The largest number of executions.
    pub executions: u32,
    /// The largest number of steps in all of them, approximately.
    pub steps: u64,
}

impl Effort {
    /// Nothing is run.
    pub const NONE: Self = Self { executions: 0, steps: 0 };
}

impl Default for Effort {
    fn default() -> Self {
        Self { executions: 400, steps: 2_000_000 }
    }
}

/// Searches for a schedule that fails like `record` with fewer switches; `run` executes a script. The result depends only on the record and
/// the program.
pub fn shrink(record: Record, effort: Effort, run: &mut dyn FnMut(&Script) -> Record) -> Schedule {
    let Outcome::Failed(failure) = record.outcome.clone() else {
        return record.schedule;
    };
    let mut search = Shrinking { failure: *failure, best: record, left: effort, run };
    search.cut_the_end();
    search.cut_pieces();
    search.best.schedule
}

struct Shrinking<'r> {
    failure: Failure,
    best: Record,
    left: Effort,
    run: &'r mut dyn FnMut(&Script) -> Record,
}

impl Shrinking<'_> {
    /// Runs the decisions without those from `from` to `to`, and keeps the result if it is better.
    fn try_without(&mut self, from: usize, to: usize) -> bool {
        if self.left.executions == 0 || self.left.steps == 0 {
            return false;
        }
        let Schedule { seed, hash_seed, facts, decisions } = &self.best.schedule;
        let decisions = decisions.without(from, to);
        let shorter = Schedule { seed: *seed, hash_seed: *hash_seed, facts: facts.clone(), decisions };
        let record = (self.run)(&Script::Hints(shorter));
        self.left.executions -= 1;
        self.left.steps = self.left.steps.saturating_sub(record.steps.len() as u64 + 1);
        let better = cost(&record) < cost(&self.best)
            && record.outcome.failure().is_some_and(|failure| alike(failure, &self.failure));
        if better {
            self.best = record;
        }
        better
    }

    /// Removes the latest decisions, as many as possible, by bisection.
    fn cut_the_end(&mut self) {
        let mut piece = self.best.schedule.decisions.len();
        while piece > 0 {
            let end = self.best.schedule.decisions.len();
            if !self.try_without(end.saturating_sub(piece), end) {
                piece /= 2;
            }
            piece = piece.min(self.best.schedule.decisions.len());
        }
    }

    /// Removes blocks of decisions anywhere, large ones first.
    fn cut_pieces(&mut self) {
        let mut piece = self.best.schedule.decisions.len() / 2;
        while piece > 0 {
            let mut at = 0;
            while at < self.best.schedule.decisions.len() && self.left.executions > 0 {
                let to = (at + piece).min(self.best.schedule.decisions.len());
                if !self.try_without(at, to) {
                    at += piece;
                }
            }
            piece /= 2;
        }
    }
}

/// The cost: first the switches, then the steps, then the length of the schedule.
fn cost(record: &Record) -> (u32, usize, usize) {
    (record.switches, record.steps.len(), record.schedule.decisions.len())
}

/// Whether both failures are the same bug: of the same kind and, for a panic, from the same place.
#[must_use]
pub fn alike(one: &Failure, other: &Failure) -> bool {
    match (one, other) {
        (Failure::Panic { place: a, .. }, Failure::Panic { place: b, .. })
        | (Failure::CannotUnwind { place: a, .. }, Failure::CannotUnwind { place: b, .. }) => a == b,
        _ => one.kind() == other.kind(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Counters;
    use crate::replay::replay;
    use crate::search::Limits;

    /// Of two schedules with equally many switches, the one with fewer steps is easier to read, even if it has more decisions.
    #[test]
    fn fewer_steps_are_better_than_fewer_decisions() {
        let record = |text: &str, steps: usize| {
            let script = Script::Names(text.parse().unwrap());
            let mut record = replay(&mut Counters::new(&[3, 3]), &script, &Limits::default());
            record.steps.truncate(steps);
            record.switches = 1;
            record
        };
        let [short, long] = [record("v1:1,2", 3), record("v1:2", 6)];
        assert!(short.schedule.decisions.len() > long.schedule.decisions.len());
        assert!(cost(&short) < cost(&long));
    }

    /// The example program never fails by itself. Here it fails if task 1 steps before task 0 has ended.
    #[test]
    fn decisions_without_effect_are_removed() {
        let mut runs = 0;
        let mut run = |script: &Script| {
            runs += 1;
            let mut record = replay(&mut Counters::new(&[30, 30, 30]), script, &Limits::default());
            let tasks: Vec<_> = record.steps.iter().map(|step| step.task.number()).collect();
            let last_of_0 = tasks.iter().rposition(|&t| t == 0).unwrap();
            if tasks[..last_of_0].contains(&1) {
                record.outcome = Failure::TooManySteps { bound: 0, unfinished: Vec::new() }.into();
            }
            record
        };
        let text = "v1:3,2x3,1,2,3x7,1x2,2,3,1,2x2,1x4,3x2,2,1x3,2x9,1,3x4,1x8";
        let long = run(&Script::Names(text.parse().unwrap()));
        assert!(long.outcome.failure().is_some() && long.switches > 10);
        let small = shrink(long, Effort::default(), &mut run);
        assert_eq!(small.to_string(), "v1:2");
        assert!(runs < 100, "{runs}");
    }
}
