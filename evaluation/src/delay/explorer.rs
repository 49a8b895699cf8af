//! An explorer made for chain replication, as in the paper: failures are kept back until the program has started.

use raddle_engine::ids::TaskId;
use raddle_strategies::states::delay::{DelayingExplorer, Event, RoundRobin};

/// Everybody in turn, but for the youngest actor of the start, who makes nodes fail: it comes last until the program says that its
/// start is over, and has its turn like everybody else from then on.
#[derive(Clone, Default)]
pub struct AfterStart {
    row: RoundRobin,
    late: Option<TaskId>,
    started: bool,
    /// Delays since the latest step.
    delays: usize,
}

impl DelayingExplorer for AfterStart {
    fn next(&mut self, ready: &[TaskId]) -> TaskId {
        let late = *self.late.get_or_insert(*ready.last().expect("somebody is ready"));
        let others: Vec<TaskId> = ready.iter().copied().filter(|task| *task != late).collect();
        // Once everybody else was passed by, and then round again.
        let has_waited = others.len() < ready.len() && self.delays % ready.len() == others.len();
        if self.started {
            self.row.next(ready)
        } else if has_waited {
            late
        } else {
            self.row.next(&others)
        }
    }

    fn step(&mut self, event: &Event) {
        self.started |= matches!(event, Event::Hint(_));
        self.delays = 0;
        self.row.step(event);
    }

    fn delay(&mut self) {
        self.delays += 1;
        self.row.delay();
    }
}
