//! From the settings of a test to its report: what was kept is run first, then the search, then what failed once more.

use raddle_engine::outcome::Failure;
use raddle_engine::search::{Found, Script};

use crate::explorer::Test;
use crate::report::{Failed, Origin, Report};
use crate::settings::Plan;
use crate::workers::{Body, Workers};

/// One run of one test.
pub(crate) struct Session {
    plan: Plan,
    test: Test,
    workers: Workers,
}

impl Session {
    pub(crate) fn new(test: Test, plan: Plan, body: Body) -> Self {
        let name = if test.path.is_empty() { "raddle".to_owned() } else { test.path.clone() };
        let workers = Workers { name, body, settings: plan.program.clone() };
        Self { plan, test, workers }
    }

    pub(crate) fn run(mut self) -> Report {
        if let Some(schedule) = self.plan.replay.take() {
            return self.replay(schedule);
        }
        let mut searched = self.workers.search(&mut *self.plan.strategy, &self.plan.limits);
        let found = searched.found.take();
        let mut report = Report::of_search(self.test.clone(), &searched, self.plan.label.clone());
        if let Some(found) = found {
            report.failed = Some(self.run_once_more(found, &mut report));
        }
        report
    }

    /// Exactly one execution.
    fn replay(self, schedule: raddle_engine::schedule::Schedule) -> Report {
        let record = self.workers.replay(&Script::Names(schedule), &self.plan.limits);
        Report::of_replay(self.test, record)
    }

    /// Runs the failing order again, so that what the program prints in it comes last and its steps can be shown.
    fn run_once_more(&self, found: Found, report: &mut Report) -> Failed {
        let Found { failure, script, after } = found;
        let record = self.workers.replay(&script, &self.plan.limits);
        let again = record.outcome.failure();
        let same = again.is_some_and(|again| again.kind() == failure.kind());
        if !same && !matches!(failure, Failure::Nondeterminism(_)) {
            let other = again.map_or("no failure".to_owned(), |again| format!("{} instead", again.kind()));
            let diverged = record.divergence.as_ref().map(|d| format!(" It went another way {d}.")).unwrap_or_default();
            report.notes.push(format!(
                "this failure did not show again when the same schedule was run once more ({other}): the program depends \
                 on something outside Raddle's control.{diverged}"
            ));
        }
        let failure = if same { again.expect("compared just now").clone() } else { failure };
        Failed { failure, record, same, after, origin: Origin::Search }
    }
}
