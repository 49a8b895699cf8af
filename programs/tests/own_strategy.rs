//! The example of a strategy of one's own: workers share it, it can be stopped and resumed, and the verdict says what it did.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::{Explorer, Report, thread};

use self::own_strategy::{OneSwitch, lost_update};

#[path = "../examples/own_strategy.rs"]
#[expect(dead_code, reason = "its `main` is for who runs the example")]
mod own_strategy;

fn explorer(workers: usize, executions: u64) -> Explorer {
    let explorer = Explorer::new().strategy(OneSwitch::new(7)).workers(workers).executions(executions);
    explorer.keep_going(true).regressions(false)
}

/// Runs three threads of three steps each. Adds to `seen` in which order they ran, and a number that is another one in every execution.
fn watch(explorer: Explorer, seen: &Arc<Mutex<BTreeSet<String>>>) -> Report {
    let seen = seen.clone();
    explorer.run(move || {
        let (order, clock) = (Arc::<Mutex<String>>::default(), Arc::new(AtomicU32::new(0)));
        let threads = ["a", "b", "c"].map(|name| {
            let (order, clock) = (order.clone(), clock.clone());
            thread::spawn(move || {
                for _ in 0..3 {
                    clock.fetch_add(1, SeqCst);
                    order.lock().unwrap().push_str(name);
                }
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        seen.lock().unwrap().insert(format!("{} {}", order.lock().unwrap(), raddle::rand::random::<u64>()));
    })
}

/// What a search shows: how much was run, what the verdict says of it, and which executions there were.
fn shown(report: &Report, seen: &Arc<Mutex<BTreeSet<String>>>) -> (u64, String, BTreeSet<String>) {
    (report.steps(), report.verdict_line(), seen.lock().unwrap().clone())
}

#[test]
fn two_workers_run_the_executions_of_one() {
    let with = |workers| {
        let seen = Arc::default();
        let report = watch(explorer(workers, 2_000), &seen);
        shown(&report, &seen)
    };
    let alone = with(1);
    assert_eq!(with(2), alone);
    let orders: BTreeSet<_> = alone.2.iter().filter_map(|seen| seen.split(' ').next()).collect();
    // The switch changes nothing, or it runs b or c before or within a (6 orders), or c before or within b (3).
    assert_eq!(orders.len(), 10, "{orders:?}");
}

#[test]
fn a_search_that_is_stopped_and_resumed_is_the_search_in_one_go() {
    let in_one_go = Arc::default();
    let whole = watch(explorer(1, 60), &in_one_go);
    // In the warm-up, at its end, and after it.
    for stop in [3, 8, 25] {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-strategy");
        let _ = std::fs::remove_dir_all(&out);
        let in_two = Arc::default();
        let part = |executions| {
            let explorer = explorer(1, executions).name("programs::own_strategy").resume(true);
            watch(explorer.set("out", out.to_str().unwrap()), &in_two)
        };
        part(stop);
        let both = part(60 - stop);
        assert_eq!(shown(&both, &in_two), shown(&whole, &in_one_go), "stopped after {stop}");
    }
}

#[test]
fn the_bug_is_found_and_the_verdict_says_how_executions_were_drawn() {
    let report = explorer(2, 200).run(lost_update);
    assert!(report.failed(), "{report}");
    let report = watch(explorer(2, 200), &Arc::default());
    let line = report.verdict_line();
    assert!(line.contains("one-switch") && line.contains("one switch in each, at one of "), "{line}");
}
