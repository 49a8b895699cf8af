//! What is left of a search is written down while it goes on, so that the end of the process costs seconds and not everything.
//!
//! Every worker commits what it has done every few seconds. The first worker then takes what the board knows: the sum of all commits,
//! and each piece as it was at its latest commit. These fit together, just as they do when a worker is lost.

use std::time::Duration;

use super::Seat;
use crate::strategy::{Given, Sharing, Strategy};

/// When a worker commits, and whether it then writes down what is left.
pub(super) struct Saving {
    /// Only the first worker does: the others have copies of its strategy.
    writes: bool,
    /// Since the start of the search.
    next: Duration,
    /// To be done after this execution.
    due: bool,
}

/// The first time; many searches end before. Tests do not wait for so long.
const FIRST: Duration = Duration::from_millis(if cfg!(test) { 20 } else { 1_000 });

/// Between two times.
const BETWEEN: Duration = Duration::from_secs(3);

/// The time between is at least this many times as long as writing takes: what is left of a search can be large.
const SELDOM: u32 = 20;

impl Saving {
    pub(super) fn new(writes: bool) -> Self {
        Self { writes, next: FIRST, due: false }
    }

    /// Notices that it is time, `elapsed` after the search began.
    pub(super) fn look(&mut self, elapsed: Duration) {
        self.due |= elapsed >= self.next;
    }
}

/// Whether what is left can be written down at any time. What a strategy has learnt must fit to the pieces that are left; where
/// workers share it, that is only sure when all of them have stopped.
pub(in crate::search) fn can_be_saved(strategy: &mut dyn Strategy) -> bool {
    match strategy.sharing() {
        Sharing::Alone => false,
        Sharing::ByNumber(_) => true,
        Sharing::ByPiece(by_piece) => by_piece.learnt().is_none(),
    }
}

impl Seat<'_> {
    /// Commits and writes, after an execution, if it is time.
    pub(super) fn save_if_due(&mut self) {
        // A number that stands for several executions is run whole.
        if !self.saving.as_ref().is_some_and(|saving| saving.due) || self.strategy.get().continues() {
            return;
        }
        if self.job.is_some() {
            self.commit(Given::Nothing);
        }
        let search = self.search;
        let begun = search.started.elapsed();
        if let (true, Some(saver)) = (self.saving.as_ref().is_some_and(|saving| saving.writes), &search.saver) {
            let mut remains = search.board.snapshot();
            remains.learnt = self.learnt();
            saver(remains);
        }
        let now = search.started.elapsed();
        if let Some(saving) = &mut self.saving {
            saving.due = false;
            saving.next = now + BETWEEN.max((now - begun) * SELDOM);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::thread;

    use super::*;
    use crate::board::Remains;
    use crate::example::Counters;
    use crate::search::{Limits, Search};
    use crate::strategy::delay::{Delay, RoundRobin};
    use crate::strategy::dpor::Dpor;
    use crate::strategy::exhaustive::Exhaustive;
    use crate::strategy::portfolio::Portfolio;
    use crate::strategy::preemption::Preemption;
    use crate::system::Program;
    use crate::trace::Trace;

    /// A program that takes some time.
    struct Slow(Counters);

    impl Program for Slow {
        type System = <Counters as Program>::System;

        fn start(&mut self, seed: u64, trace: &mut Trace) -> Self::System {
            thread::sleep(Duration::from_micros(50));
            self.0.start(seed, trace)
        }
    }

    /// What was written first, and how many executions there were when the search had ended that went on after that.
    fn saved(strategy: &mut dyn Strategy, workers: usize) -> (Remains, u64) {
        let first = Arc::new(Mutex::new(None));
        let slot = first.clone();
        let keep = move |remains: Remains| {
            slot.lock().expect("nobody panics").get_or_insert(remains);
        };
        let search = Search::new(strategy, &Limits::default(), workers).saved_by(Box::new(keep), strategy);
        let search = search.without_forks();
        let run = |mut seat: Seat<'_>| seat.work(&mut Slow(Counters::new(&[3, 3, 3])));
        let seat = thread::scope(|scope| {
            (1..workers).for_each(|_| drop(scope.spawn(|| search.join().map(run))));
            let mut seat = search.seat(strategy);
            let _ = seat.work(&mut Slow(Counters::new(&[3, 3, 3])));
            seat
        });
        let report = search.close(vec![seat]);
        let first = first.lock().expect("nobody panics").take();
        (first.expect("it takes long enough"), report.executions)
    }

    #[test]
    fn what_was_written_in_between_leads_to_the_same_end() {
        let strategies: [fn() -> Box<dyn Strategy>; 3] = [
            || Box::new(Exhaustive::depth_first()),
            || Box::new(Preemption::unbounded()),
            || Box::new(Dpor::optimal()),
        ];
        for make in strategies {
            for workers in [1, 2] {
                let (remains, whole) = saved(&mut *make(), workers);
                let before = remains.total().executions;
                assert!(before > 0 && before < whole, "{before} of {whole}");
                let mut strategy = make();
                assert!(remains.fits(&mut *strategy));
                let search = Search::resume(&mut *strategy, &Limits::default(), 1, remains);
                let mut seat = search.seat(&mut *strategy);
                let _ = seat.work(&mut Counters::new(&[3, 3, 3]));
                let report = search.close(vec![seat]);
                assert!(report.verified());
                assert_eq!(report.executions, whole, "{} by {workers}", report.strategy);
            }
        }
    }

    #[test]
    fn what_workers_share_is_written_at_the_end_only() {
        assert!(can_be_saved(&mut Portfolio::new(0)));
        assert!(can_be_saved(&mut Delay::new(RoundRobin::default())));
        assert!(!can_be_saved(&mut crate::strategy::hapset::Hapset::new()));
        assert!(!can_be_saved(&mut crate::strategy::round_robin::RoundRobin::new()));
    }
}
