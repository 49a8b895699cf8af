//! An explorer made for chain replication, as in the paper: failures are kept back until the program has started.

use raddle_engine::ids::TaskId;
use raddle_strategies::states::delay::{DelayingExplorer, Event, RoundRobin};

/// Round robin, except for the youngest of the first actors, which makes nodes fail: it comes last until the program gives the hint that
/// its start is over. From then on it takes turns like the others.
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
        // After all others were skipped, the round begins again.
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
