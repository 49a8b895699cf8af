//! The time of a search holds in the middle of an execution, too.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use raddle::actor::{Actor, Context};
use raddle::model::Model;
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::{Explorer, Report, thread};

const TIME: Duration = Duration::from_millis(200);

/// The report, if it came within a second of the time.
#[track_caller]
fn in_time(run: impl FnOnce(Explorer) -> Report) -> Report {
    let begun = Instant::now();
    let report = run(Explorer::new().time(TIME).steps(u32::MAX).workers(2));
    assert!(begun.elapsed() < TIME + Duration::from_secs(1), "{:?}", begun.elapsed());
    assert!(!report.failed() && !report.verified(), "{report}");
    report
}

/// Sends itself more and more messages.
#[derive(Clone, Hash)]
struct Count(u64);

impl Actor for Count {
    type Msg = u64;

    fn handle(&mut self, n: u64, context: &mut Context<'_, u64>) {
        self.0 += n;
        let me = context.me();
        context.send(&me, n + 1);
        if n.is_multiple_of(3) {
            context.send(&me, n + 7);
        }
    }
}

#[test]
fn of_a_model() {
    for strategy in ["delay:doubling", "states", "dpor", "exhaustive", "random", "pct"] {
        let report = in_time(|explorer| {
            explorer.strategy(strategy).run_model(|| {
                Model::new(|m| {
                    let count = m.spawn(Count(0));
                    (0..2).for_each(|n| m.send(&count, n));
                })
            })
        });
        assert_eq!(report.executions(), 0, "{strategy}");
        assert!(report.steps() > 100, "{strategy}");
        let line = report.verdict_line();
        assert!(line.starts_with("no execution came to its end in the time there was"), "{strategy}: {line}");
    }
}

#[test]
fn of_threads() {
    for strategy in ["portfolio", "dpor", "exhaustive", "preemption", "random", "pos"] {
        let report = in_time(|explorer| {
            explorer.strategy(strategy).run(|| {
                let n = Arc::new(AtomicUsize::new(0));
                let other = n.clone();
                thread::spawn(move || while other.fetch_add(1, SeqCst) < usize::MAX {});
                while n.fetch_add(1, SeqCst) < usize::MAX {}
            })
        });
        assert_eq!(report.executions(), 0, "{strategy}");
    }
}

/// A search that was stopped in the middle of an execution comes to that one when it is taken up again.
#[test]
fn nothing_is_lost_to_the_next_sitting() {
    for strategy in ["exhaustive", "dpor", "preemption", "states", "delay"] {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("time-limit");
        let _ = std::fs::remove_dir_all(&dir);
        let seen = Arc::new(Mutex::new(HashSet::new()));
        let stuck = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let sitting = |time: Duration| {
            let (seen, stuck) = (seen.clone(), stuck.clone());
            let explorer = Explorer::new().name("time_limit::sittings").strategy(strategy).workers(1).steps(u32::MAX);
            let out = dir.to_str().expect("a path in the target directory");
            explorer.set("out", out).resume(true).time(time).run(move || {
                let order = Arc::new(raddle::sync::Mutex::new(Vec::new()));
                let threads: Vec<_> = (0..3)
                    .map(|n| {
                        let order = order.clone();
                        thread::spawn(move || (0..2).for_each(|_| order.lock().unwrap().push(n)))
                    })
                    .collect();
                threads.into_iter().for_each(|thread| thread.join().unwrap());
                let order = order.lock().unwrap().clone();
                // The eighth order takes for ever, the first time.
                let eighth = seen.lock().unwrap().len() == 7 && !seen.lock().unwrap().contains(&order);
                if eighth && !stuck.swap(true, std::sync::atomic::Ordering::Relaxed) {
                    let n = AtomicUsize::new(0);
                    while n.fetch_add(1, SeqCst) < usize::MAX {}
                }
                seen.lock().unwrap().insert(order);
            })
        };
        let first = sitting(TIME);
        assert!(!first.verified() && first.executions() >= 7, "{strategy}: {first}");
        let second = sitting(Duration::from_secs(20));
        assert!(second.verified(), "{strategy}: {second}");
        assert_eq!(seen.lock().unwrap().len(), 90, "{strategy}: {second}");
    }
}

/// An execution with too many steps takes long. It is run once more, for the report, and not twice.
#[test]
fn of_an_execution_with_too_many_steps() {
    let runs = Arc::new(Mutex::new(0));
    let counted = runs.clone();
    let report = Explorer::new().strategy("exhaustive").workers(1).steps(100).run(move || {
        *counted.lock().unwrap() += 1;
        let sum = AtomicUsize::new(0);
        loop {
            sum.fetch_add(1, SeqCst);
        }
    });
    assert_eq!(report.failure().map(raddle::Failure::kind), Some("too many steps"), "{report}");
    // For the search, twenty times to compare, and for the report.
    assert_eq!(*runs.lock().unwrap(), 22);
}
