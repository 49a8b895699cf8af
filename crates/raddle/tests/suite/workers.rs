//! Several workers on OS threads of their own.

use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Explorer, thread};

/// Three threads that each take a lock three times: 1,680 traces.
fn three_take_turns() {
    let count = Arc::new(Mutex::new(0));
    let add = |count: Arc<Mutex<i32>>| move || (0..3).for_each(|_| *count.lock().unwrap() += 1);
    let threads: Vec<_> = (0..3).map(|_| thread::spawn(add(count.clone()))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*count.lock().unwrap(), 9);
}

#[test]
fn a_search_covers_the_same_with_any_number_of_workers() {
    for strategy in ["dpor", "dpor-source", "dpor-classic"] {
        let run = |workers| Explorer::new().strategy(strategy).workers(workers).run(three_take_turns);
        let alone = run(1);
        assert!(alone.verified(), "{alone}");
        for workers in [2, 4] {
            assert_eq!(run(workers).verdict_line(), alone.verdict_line(), "{workers} workers");
        }
    }
    let small = || {
        let threads: Vec<_> = (0..3).map(|_| thread::spawn(|| (0..3).for_each(|_| thread::yield_now()))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    for strategy in ["exhaustive", "exhaustive:breadth-first", "exhaustive:random"] {
        let run = |workers| Explorer::new().strategy(strategy).workers(workers).run(small);
        assert_eq!(run(3).verdict_line(), run(1).verdict_line());
    }
}

/// A reader that looks for the last cell that is zero, and a writer for each cell: 320 traces. Workers that share a reduction have to plan much
/// of this for one another.
fn last_zero() {
    let cells: Arc<Vec<AtomicUsize>> = Arc::new((0..8).map(|_| AtomicUsize::new(0)).collect());
    let read = cells.clone();
    let reader = thread::spawn(move || (0..8).rev().find(|&at| read[at].load(SeqCst) == 0));
    let write = |at: usize| {
        let cells = cells.clone();
        thread::spawn(move || cells[at].store(cells[at - 1].load(SeqCst) + 1, SeqCst))
    };
    let writers: Vec<_> = (1..8).map(write).collect();
    reader.join().unwrap();
    writers.into_iter().for_each(|writer| writer.join().unwrap());
}

#[test]
fn reduction_loses_nothing_if_several_workers_are_asked_for() {
    let report = Explorer::new().strategy("dpor").workers(3).run(last_zero);
    assert_eq!(report.verdict_line(), "verified: all 320 orders (equivalent ones left out)");
}

#[test]
fn a_budget_is_kept_to_the_execution() {
    for strategy in ["dpor", "exhaustive", "random", "pct", "pos", "surw", "portfolio"] {
        let report = Explorer::new().strategy(strategy).executions(1_234).workers(3).run(three_take_turns);
        assert_eq!(report.executions(), 1_234, "{strategy}: {report}");
    }
}

#[test]
fn executions_may_meet_at_a_static() {
    static ONE: Mutex<()> = Mutex::new(());
    static OTHER: Mutex<()> = Mutex::new(());
    let meet = || {
        let first = thread::spawn(|| {
            let _one = ONE.lock().unwrap();
            thread::yield_now();
            drop(OTHER.lock().unwrap());
        });
        let second = thread::spawn(|| {
            let _other = OTHER.lock().unwrap();
            thread::yield_now();
        });
        (0..4).for_each(|_| thread::yield_now());
        first.join().unwrap();
        second.join().unwrap();
    };
    let run = |workers| Explorer::new().strategy("exhaustive").workers(workers).run(meet);
    let alone = run(1);
    assert!(alone.verified(), "{alone}");
    assert_eq!(run(4).verdict_line(), alone.verdict_line());
}

#[test]
fn searches_at_once_may_meet_at_a_static() {
    static SHARED: Mutex<()> = Mutex::new(());
    let meet = || {
        let threads: Vec<_> = (0..2)
            .map(|_| {
                thread::spawn(|| {
                    let _held = SHARED.lock().unwrap();
                    thread::yield_now();
                })
            })
            .collect();
        (0..2).for_each(|_| thread::yield_now());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    for strategy in ["exhaustive", "portfolio"] {
        let run = move || Explorer::new().strategy(strategy).workers(2).run(meet).verdict_line();
        let alone = run();
        for _ in 0..5 {
            let searches: Vec<_> = (0..3).map(|_| std::thread::spawn(run)).collect();
            for search in searches {
                let line = search.join().unwrap();
                assert!(line == alone || line.contains("held outside"), "{strategy}: {line}, alone: {alone}");
            }
        }
    }
}

/// Whoever can never go on is abandoned, but must not keep a lock that the next execution needs.
#[test]
fn a_deadlock_of_statics_is_found_again_and_again() {
    static ONE: Mutex<()> = Mutex::new(());
    static OTHER: Mutex<()> = Mutex::new(());
    let program = || {
        let thread = thread::spawn(|| {
            let _other = OTHER.lock().unwrap();
            drop(ONE.lock().unwrap());
        });
        let _one = ONE.lock().unwrap();
        drop(OTHER.lock().unwrap());
        drop(_one);
        thread.join().unwrap();
    };
    let report = Explorer::new().strategy("dpor").keep_going(true).run(program);
    let failure = report.failure().expect("the deadlock");
    assert_eq!(failure.kind(), "deadlock", "{report}");
    assert_eq!((report.executions(), report.failing()), (3, 1), "{report}");
}
