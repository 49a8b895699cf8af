//! What is left of a search is written down while it goes on, and leads to the same end.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use raddle_engine::board::Remains;
use raddle_engine::example::Counters;
use raddle_engine::search::{Limits, Search, Worker};
use raddle_engine::strategy::Strategy;
use raddle_engine::system::Program;
use raddle_engine::trace::Trace;
use raddle_strategies::optimal::Optimal;
use raddle_strategies::tree::exhaustive::Exhaustive;
use raddle_strategies::tree::preemption::Preemption;

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
    let search = Search::new(strategy, &Limits::default(), workers).saved_by(
        Duration::from_millis(20),
        Box::new(keep),
        strategy,
    );
    let search = search.without_forks();
    let run = |mut worker: Worker<'_>| worker.work(&mut Slow(Counters::new(&[3, 3, 3])));
    let worker = thread::scope(|scope| {
        (1..workers).for_each(|_| drop(scope.spawn(|| search.join().map(run))));
        let mut worker = search.worker(strategy);
        let _ = worker.work(&mut Slow(Counters::new(&[3, 3, 3])));
        worker
    });
    let report = search.close(vec![worker]);
    let first = first.lock().expect("nobody panics").take();
    (first.expect("it takes long enough"), report.executions)
}

#[test]
fn what_was_written_in_between_leads_to_the_same_end() {
    let strategies: [fn() -> Box<dyn Strategy>; 3] =
        [|| Box::new(Exhaustive::depth_first()), || Box::new(Preemption::unbounded()), || Box::new(Optimal::new())];
    for make in strategies {
        for workers in [1, 2] {
            let (remains, whole) = saved(&mut *make(), workers);
            let before = remains.total().executions;
            assert!(before > 0 && before < whole, "{before} of {whole}");
            let mut strategy = make();
            assert!(remains.fits(&mut *strategy));
            let search = Search::resume(&mut *strategy, &Limits::default(), 1, remains);
            let mut worker = search.worker(&mut *strategy);
            let _ = worker.work(&mut Counters::new(&[3, 3, 3]));
            let report = search.close(vec![worker]);
            assert!(report.verified());
            assert_eq!(report.executions, whole, "{} by {workers}", report.strategy);
        }
    }
}
