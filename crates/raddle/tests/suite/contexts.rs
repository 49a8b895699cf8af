//! Statements that are told apart by the calls that led to them.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::{Explorer, Report, thread};

use crate::learned::Kept;

fn look(pointer: &AtomicUsize) -> usize {
    pointer.load(SeqCst)
}

fn put(pointer: &AtomicUsize, value: usize) {
    pointer.store(value, SeqCst);
}

fn look_for_another(pointer: &AtomicUsize) -> usize {
    look(pointer)
}

fn put_for_another(pointer: &AtomicUsize, value: usize) {
    put(pointer, value);
}

/// One thread allocates and frees, the other checks and uses, all through the same two functions.
fn alloc_use_free() {
    let pointer = Arc::new(AtomicUsize::new(0));
    let other = pointer.clone();
    let user = thread::spawn(move || {
        if look(&other) != 0 {
            assert_ne!(look(&other), 0, "nothing there");
        }
    });
    put(&pointer, 1);
    put(&pointer, 0);
    user.join().unwrap();
}

/// The same, one call further away.
fn alloc_use_free_far() {
    let pointer = Arc::new(AtomicUsize::new(0));
    let other = pointer.clone();
    let user = thread::spawn(move || {
        if look_for_another(&other) != 0 {
            assert_ne!(look_for_another(&other), 0, "nothing there");
        }
    });
    put_for_another(&pointer, 1);
    put_for_another(&pointer, 0);
    user.join().unwrap();
}

fn with(context: usize, program: fn()) -> Report {
    Explorer::new().strategy("hapset").context(context).run(program)
}

#[test]
fn callers_of_one_function_are_distinguished() {
    let blind = with(0, alloc_use_free);
    assert!(!blind.failed(), "a load and a store were seen in both orders: {blind}");
    assert!(Explorer::new().strategy("dpor").run(alloc_use_free).failed());
    let seeing = with(1, alloc_use_free);
    assert!(seeing.failed() && seeing.executions() <= 8, "{seeing}");
    assert!(with(3, alloc_use_free).failed());
    // The environment and the attribute come to the same table.
    assert!(Explorer::new().strategy("hapset").set("context", "1").run(alloc_use_free).failed());
}

#[test]
fn as_many_calls_as_were_asked_for() {
    assert!(!with(0, alloc_use_free_far).failed() && !with(1, alloc_use_free_far).failed());
    assert!(with(2, alloc_use_free_far).failed());
}

/// Takes the lock in its destructor.
struct Late(Arc<Mutex<u32>>);

impl Drop for Late {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1;
    }
}

fn down(depth: u32, lock: &Mutex<u32>) {
    match depth {
        0 => *lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) += 1,
        _ => down(depth - 1, lock),
    }
}

/// Little stack, deep calls, operations while a thread unwinds, threads that borrow, values of one's own choosing.
fn hard_to_walk() {
    let lock = Arc::new(Mutex::new(0));
    let mine = lock.clone();
    let little = thread::Builder::new().stack_size(32 << 10);
    let panicking = little.spawn(move || {
        let _late = Late(mine.clone());
        let _held = mine.lock();
        panic!("in the middle");
    });
    thread::scope(|scope| {
        scope.spawn(|| down(100, &lock));
        (0..2).for_each(|_| drop(lock.lock()));
    });
    assert!(panicking.unwrap().join().is_err());
}

#[test]
fn frames_are_walked_wherever_a_task_is() {
    let explorer = |context| Explorer::new().strategy("hapset").context(context).isolate_panics(true).executions(200);
    for context in [1, 3, 64] {
        let report = explorer(context).run(hard_to_walk);
        assert!(!report.failed(), "{report}");
    }
}

fn run(kept: &Kept, context: usize, program: fn()) -> Report {
    kept.explorer().context(context).run(program)
}

/// Which lines of this file each statement of that file was called from.
fn calls(kept: &Kept) -> BTreeSet<Vec<u32>> {
    let text = fs::read_to_string(kept.file()).unwrap();
    let lessons: serde_json::Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    let line = |call: &serde_json::Value| {
        let (_, place) = call.as_str().unwrap().split_once("contexts.rs:").expect("no frames but the test's");
        place.split(':').next().unwrap().parse().unwrap()
    };
    let lines = |noted: &serde_json::Value| {
        noted["statement"]["calls"].as_array().map(|calls| calls.iter().map(line).collect()).unwrap_or_default()
    };
    lessons["statements"].as_array().unwrap().iter().map(lines).collect()
}

const SET: u32 = line!() + 3;
fn set_it(flag: &AtomicUsize) {
    if flag.load(SeqCst) < 10 {
        flag.store(1, SeqCst);
    }
}

const CALLS: u32 = line!() + 5;
fn two_who_set() {
    let flag = Arc::new(AtomicUsize::new(0));
    let other = flag.clone();
    let second = thread::spawn(move || {
        other.load(SeqCst);
        set_it(&other);
    });
    set_it(&flag);
    second.join().unwrap();
}

#[test]
fn knowledge_is_saved_with_its_calls() {
    let kept = Kept::new("kept_with_calls");
    assert!(!run(&kept, 1, two_who_set).failed());
    let known = calls(&kept);
    for caller in [CALLS + 1, CALLS + 3] {
        assert!(known.contains(&vec![SET, caller]), "{caller}: {known:?}");
    }
    assert!(known.contains(&vec![CALLS]), "nobody calls a thread's function: {known:?}");
    let again = run(&kept, 1, two_who_set);
    assert_eq!(again.executions(), 1, "all orderings are known: {again}");
    assert_eq!(calls(&kept), known);
}

#[test]
fn knowledge_with_another_context_is_not_used() {
    let kept = Kept::new("other_calls");
    let first = run(&kept, 0, two_who_set).executions();
    assert!(first > 1);
    let other = run(&kept, 1, two_who_set);
    let said = "other_calls.learned.json, is not used: it was learned with context 0 and not 1";
    assert!(other.executions() > 1 && other.to_string().contains(said), "{other}");
    let again = run(&kept, 1, two_who_set);
    assert!(again.executions() == 1 && !again.to_string().contains("not used"), "{again}");
}
