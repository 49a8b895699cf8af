//! What a report says was proved: all orders, all up to a bound, all but for equivalent ones, or a sample.

use std::time::Duration;

use raddle::Explorer;
use raddle::strategy::{After, Choice, Claim, Decision, Needs, Next, Point, Preemption, Run, Strategy, Trace};
use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, Condvar, Mutex, OnceLock, mpsc};
use raddle::thread;

use crate::programs;

fn line(strategy: &str, program: fn()) -> String {
    Explorer::new().strategy(strategy).run(program).verdict_line()
}

#[test]
fn a_failure_is_reported_with_its_preemptions() {
    let report = Explorer::new().name("suite::counter::counts").regressions(false).strategy("preemption");
    insta::assert_snapshot!(report.run(programs::lost_update));
    assert!(line("preemption", programs::three_locks).contains(" (found with 1 preemption): deadlock"));
    let all = Explorer::new().strategy("preemption").keep_going(true).run(programs::lost_update).verdict_line();
    assert_eq!(all, "FAILED in 4 of 6 orders, first in number 3 (found with 1 preemption): panic in main");
}

#[test]
fn all_orders_up_to_a_bound() {
    let bounded = line("preemption:0", programs::lost_update);
    assert_eq!(bounded, "no failure with up to 0 preemptions (all 2 orders, equivalent ones left out)");
    let plain = Explorer::new().strategy(Preemption::up_to(0).without_cache()).run(programs::lost_update);
    assert_eq!(plain.verdict_line(), "no failure with up to 0 preemptions (all 2 orders)");
    assert!(!plain.verified() && !plain.failed());
}

#[test]
fn all_orders() {
    assert_eq!(line("exhaustive", programs::counts_under_a_lock), "verified: all 2 orders");
    assert_eq!(line("dpor", programs::counts_under_a_lock), "verified: all 2 orders (equivalent ones left out)");
    assert_eq!(line("preemption", programs::counts_under_a_lock), "verified: all 2 orders (equivalent ones left out)");
    let independent = || {
        let thread = thread::spawn(|| AtomicUsize::new(0).store(1, Ordering::SeqCst));
        AtomicUsize::new(0).store(1, Ordering::SeqCst);
        thread.join().unwrap();
    };
    assert_eq!(line("dpor", independent), "verified: the 1 order there is");
}

#[test]
fn a_search_that_was_stopped() {
    let threads = || {
        let counter = Arc::new(AtomicUsize::new(0));
        let count = |counter: Arc<AtomicUsize>| {
            thread::spawn(move || {
                for _ in 0..4 {
                    counter.fetch_add(1, Ordering::SeqCst);
                }
            })
        };
        let threads: Vec<_> = (0..3).map(|_| count(counter.clone())).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    let budget = Explorer::new().strategy("preemption").executions(20).run(threads);
    let among = "no failure in 20 orders (stopped early: preemption), among them all with up to 0 preemptions";
    assert_eq!(budget.verdict_line(), among);
    let budget = Explorer::new().strategy("dpor").executions(20).run(threads);
    assert_eq!(budget.verdict_line(), "no failure in 20 orders (stopped early: dpor)");
    // There are 34,650, and the first probes know it.
    let line = Explorer::new().strategy("dpor").executions(200).workers(1).run(threads).verdict_line();
    let told = line.strip_prefix("no failure in 200 of ≈ ").and_then(|rest| rest.split_once(" ± ")).expect(&line);
    let orders: f64 = told.0.replace(',', "").parse().expect("a number");
    assert!(
        (34_650.0 / 2.0..34_650.0 * 2.0).contains(&orders) && line.ends_with(" %) (stopped early: dpor)"),
        "{line}"
    );
}

/// Has nothing to do, and says that this is all.
struct Idle;

impl Strategy for Idle {
    fn needs(&self) -> Needs {
        Needs::sampler("idle")
    }

    fn begin(&mut self, _: &mut Vec<Choice>) -> Next {
        Next::Done(Claim::Exhausted)
    }

    fn choose(&mut self, _: &Point<'_>, _: &Trace) -> Decision {
        Decision::Prune
    }

    fn end(&mut self, _: &Run<'_>) -> After {
        After::Next
    }
}

#[test]
fn a_search_without_executions_verifies_nothing() {
    let report = Explorer::new().strategy(Idle).run(|| ());
    assert!(!report.verified() && !report.failed());
    assert_eq!(report.verdict_line(), "nothing was run (idle)");
}

/// A thread that yields asks for a switch, and one whose wait may end by time is not held up by it.
#[test]
fn switches_that_are_no_preemption() {
    let yields = || {
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        let other = thread::spawn(move || {
            theirs.store(1, Ordering::SeqCst);
            thread::yield_now();
            theirs.store(2, Ordering::SeqCst);
        });
        let seen = thread::spawn(move || assert_ne!(flag.load(Ordering::SeqCst), 1));
        other.join().unwrap();
        seen.join().unwrap();
    };
    assert!(line("preemption", yields).contains("(found with 0 preemptions)"));
    let waits = || {
        let pair = Arc::new((Mutex::new(false), Condvar::new()));
        let theirs = pair.clone();
        let waiter = thread::spawn(move || {
            let guard = theirs.0.lock().unwrap();
            let (guard, timeout) = theirs.1.wait_timeout(guard, Duration::from_millis(5)).unwrap();
            assert!(*guard || !timeout.timed_out(), "too late");
        });
        *pair.0.lock().unwrap() = true;
        pair.1.notify_one();
        waiter.join().unwrap();
    };
    assert!(line("preemption", waits).contains("(found with 1 preemption)"), "{}", line("preemption", waits));
}

/// Who draws first gets the first number, though nothing else tells who was first.
#[test]
fn random_numbers_are_not_reduced_away() {
    let draws = || {
        let thread = |_: u32| {
            thread::spawn(|| {
                AtomicUsize::new(0).load(Ordering::SeqCst);
                raddle::rand::random::<u64>()
            })
        };
        let _: [u64; 2] = [0, 1].map(thread).map(|thread| thread.join().unwrap());
    };
    for strategy in ["dpor", "preemption", "preemption:0"] {
        let report = Explorer::new().strategy(strategy).run(draws);
        assert!(
            !report.verified() && report.to_string().contains("note: the program draws random numbers"),
            "{report}"
        );
        assert!(report.verdict_line().ends_with(&format!(" (a selection: {strategy})")), "{report}");
    }
    assert!(Explorer::new().strategy("exhaustive").run(draws).verified());
}

/// Who comes first does it, and who comes later finds it done: that is a race though nobody waits.
#[test]
fn tasks_race_for_a_once() {
    let race = || {
        let once = Arc::new(OnceLock::new());
        let (other, before) = (once.clone(), AtomicUsize::new(0));
        let thread = thread::spawn(move || {
            before.load(Ordering::SeqCst);
            *other.get_or_init(|| 1)
        });
        let first = *once.get_or_init(|| 2);
        thread.join().unwrap();
        assert_eq!(first, 2);
    };
    for strategy in ["exhaustive", "preemption", "dpor", "dpor-source", "dpor-classic"] {
        assert!(Explorer::new().strategy(strategy).run(race).failed(), "{strategy}");
    }
}

#[test]
fn no_proof_where_senders_wait_for_room() {
    let race = || {
        let (tx, rx) = mpsc::sync_channel(1);
        let other = tx.clone();
        let thread = thread::spawn(move || other.send(1).unwrap());
        let sent = tx.try_send(2).is_ok();
        rx.recv().unwrap();
        thread.join().unwrap();
        assert!(sent);
    };
    assert!(Explorer::new().strategy("exhaustive").run(race).failed());
    let reduced = Explorer::new().strategy("dpor").run(race);
    assert!(!reduced.verified(), "{reduced}");
}

#[test]
fn a_bound_is_remembered_from_one_sitting_to_the_next() {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("bounded-sittings");
    let _ = std::fs::remove_dir_all(&dir);
    let program = || {
        if raddle::choose(2) == 1 {
            return;
        }
        let threads: Vec<_> = (0..2).map(|_| thread::spawn(|| (0..2).for_each(|_| thread::yield_now()))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    let run = || {
        let explorer = Explorer::new().strategy("exhaustive").deviations(1).executions(1).resume(true);
        explorer.name("suite::bounded").set("out", dir.to_str().unwrap()).run(program)
    };
    let last = (0..20).map(|_| run().verdict_line()).find(|line| !line.contains("stopped early"));
    let last = last.expect("it ends some time");
    assert!(last.starts_with("no failure with up to 1 deviation (all "), "{last}");
}
