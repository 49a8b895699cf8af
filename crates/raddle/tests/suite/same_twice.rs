//! Programs that do not do the same thing twice are noticed at once, under every strategy; those that do are left alone.

use std::collections::HashSet;
use std::sync::atomic::AtomicU64;
use std::time::{SystemTime, UNIX_EPOCH};

use raddle::Failure;
use raddle::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex, RwLock};
use raddle::{Explorer, Report, thread};

const STRATEGIES: [&str; 14] = [
    "portfolio",
    "random",
    "pct",
    "pos",
    "surw",
    "round-robin",
    "dpor",
    "dpor-source",
    "dpor-classic",
    "exhaustive",
    "preemption",
    "delay",
    "states",
    "hapset",
];

fn each(program: fn(), check: impl Fn(&Report)) {
    for strategy in STRATEGIES {
        for workers in [1, 2] {
            check(&Explorer::new().strategy(strategy).workers(workers).executions(50).run(program));
        }
    }
}

fn parts(program: fn()) {
    each(program, |report| {
        assert!(matches!(report.failure(), Some(Failure::Nondeterminism(_))), "{report}");
        let text = report.to_string();
        assert!(text.contains("first run: ") && text.contains("second run: "), "{text}");
        assert!(text.contains("use raddle::collections"), "{text}");
    });
}

/// How many locks are taken depends on the order of a set.
fn one_order_by_hash() {
    let set: HashSet<u32> = (0..10).collect();
    let lock = Mutex::new(0);
    for n in set {
        if n % 2 != 0 {
            break;
        }
        *lock.lock().unwrap() += n;
    }
}

/// Which lock is touched depends on the order of a set.
fn roles_by_hash() {
    let locks: Arc<Vec<_>> = Arc::new((0..4).map(|_| Mutex::new(0)).collect());
    locks.iter().for_each(|lock| drop(lock.lock()));
    let set: HashSet<usize> = (0..4).collect();
    let first = *set.iter().next().unwrap();
    let other = locks.clone();
    let writer = thread::spawn(move || *other[0].lock().unwrap() = 1);
    let seen = *locks[first].lock().unwrap();
    writer.join().unwrap();
    assert!(seen == 0, "saw the write");
}

fn nanos() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()
}

/// Whether a step is taken depends on the clock.
fn steps_by_the_clock() {
    let a = Arc::new(AtomicUsize::new(0));
    let other = a.clone();
    let thread = thread::spawn(move || other.fetch_add(1, SeqCst));
    if (nanos() / 100).is_multiple_of(2) {
        a.fetch_add(1, SeqCst);
    }
    thread.join().unwrap();
}

/// Every run takes the same steps, but leaves another value.
fn value_of_the_clock() {
    let a = Arc::new(AtomicUsize::new(0));
    let other = a.clone();
    let thread = thread::spawn(move || other.load(SeqCst));
    a.store(nanos() as usize, SeqCst);
    thread.join().unwrap();
}

/// Every run leaves a value that is one more than that of the run before.
fn value_kept_outside() {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let a = Arc::new(AtomicUsize::new(0));
    let other = a.clone();
    let thread = thread::spawn(move || other.load(SeqCst));
    a.store(RUNS.fetch_add(1, SeqCst) as usize, SeqCst);
    thread.join().unwrap();
}

/// What is left behind a lock, where nobody looks at it again, is the number of the run.
fn left_behind_a_mutex() {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    *Mutex::new(0).lock().unwrap() = RUNS.fetch_add(1, SeqCst);
}

fn left_behind_a_lock_for_writing() {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    *RwLock::new(0).write().unwrap() = RUNS.fetch_add(1, SeqCst);
}

#[test]
fn a_program_that_depends_on_hash_order() {
    parts(one_order_by_hash);
    parts(roles_by_hash);
}

#[test]
fn a_program_that_depends_on_a_clock() {
    parts(steps_by_the_clock);
    parts(value_of_the_clock);
}

#[test]
fn a_program_that_depends_on_the_number_of_the_run() {
    [value_kept_outside, left_behind_a_mutex, left_behind_a_lock_for_writing].into_iter().for_each(parts);
}

#[test]
fn both_runs_are_shown() {
    let runs = AtomicU64::new(0);
    let value_kept_outside = move || {
        let a = Arc::new(AtomicUsize::new(0));
        let other = a.clone();
        let thread = thread::spawn(move || other.load(SeqCst));
        a.store(runs.fetch_add(1, SeqCst) as usize, SeqCst);
        thread.join().unwrap();
    };
    let report = Explorer::new().strategy("dpor").run(value_kept_outside).to_string();
    assert!(report.contains("nondeterminism"), "{report}");
    let side = |run: &str| report.lines().find(|line| line.contains(run)).unwrap();
    let (first, second) = (side("first run: "), side("second run: "));
    for line in [first, second] {
        assert!(line.contains("main: store AtomicUsize") && line.contains("same_twice.rs:"), "{line}");
    }
    let left = |line: &str| line.split("leaves ").nth(1).unwrap().split(',').next().unwrap().parse::<u64>().unwrap();
    assert_eq!(left(first) + 1, left(second), "{report}");
}

/// Memory is freed in another order than it was allocated, so the next run gets other addresses.
#[test]
fn addresses_may_differ() {
    let pointers = || {
        let head = Arc::new(AtomicPtr::new(std::ptr::null_mut::<u64>()));
        let (other, tagged) = (head.clone(), Arc::new(AtomicUsize::new(0)));
        let kept: &'static mut u64 = Box::leak(Box::new(7));
        let thread = thread::spawn(move || {
            let seen = other.load(SeqCst);
            seen.is_null()
        });
        tagged.store(std::ptr::from_ref(kept).addr() | 1, SeqCst);
        head.store(kept, SeqCst);
        thread.join().unwrap();
    };
    each(pointers, |report| assert!(!report.failed(), "{report}"));
    assert!(Explorer::new().strategy("dpor").run(pointers).verified());
}

/// The first executions do the same as often as they are run. A later one does not.
#[test]
fn a_proof_is_not_given_if_a_later_execution_differs() {
    fn second_order_by_the_clock() {
        let a = Arc::new(AtomicUsize::new(0));
        let other = a.clone();
        let thread = thread::spawn(move || other.store(1, SeqCst));
        let late = a.load(SeqCst) == 1;
        thread.join().unwrap();
        a.store(if late { nanos() as usize } else { 0 }, SeqCst);
    }
    for strategy in ["portfolio", "dpor", "dpor-source", "exhaustive", "preemption", "delay", "states"] {
        let report = Explorer::new().strategy(strategy).run(second_order_by_the_clock);
        assert!(matches!(report.failure(), Some(Failure::Nondeterminism(_))), "{strategy}: {report}");
    }
}

/// The repeats are no executions.
#[test]
fn repeats_are_not_counted() {
    let two = || {
        let a = Arc::new(AtomicUsize::new(0));
        let other = a.clone();
        let thread = thread::spawn(move || other.store(1, SeqCst));
        a.store(2, SeqCst);
        thread.join().unwrap();
    };
    let report = Explorer::new().strategy("exhaustive").run(two);
    assert_eq!((report.executions(), report.verified()), (2, true));
}
