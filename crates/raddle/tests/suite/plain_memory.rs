//! What the search by orderings that were seen learns from plain memory.

use std::sync::Arc;

use raddle::cell::Cell;
use raddle::sync::Mutex;
use raddle::{Explorer, Report, thread};

/// Memory behind a lock that is taken in one place only.
#[derive(Default)]
struct Guarded {
    lock: Mutex<()>,
    value: Memory,
    /// Something that nobody shares.
    own: [Memory; 2],
}

#[derive(Default)]
struct Memory(Cell<u32>);

#[expect(unsafe_code, reason = "memory that is shared with nothing but a lock to guard it")]
// SAFETY: `Guarded` touches the cell in its sections only, and Raddle tells if it does not.
unsafe impl Sync for Memory {}

impl Guarded {
    fn section<R>(&self, body: impl FnOnce() -> R) -> R {
        let _held = self.lock.lock().unwrap();
        body()
    }
}

/// Two threads on the same memory.
fn two(first: fn(&Guarded), second: fn(&Guarded)) {
    let guarded = Arc::new(Guarded::default());
    let other = guarded.clone();
    let thread = thread::spawn(move || second(&other));
    first(&guarded);
    thread.join().unwrap();
}

fn alloc_and_free(guarded: &Guarded) {
    guarded.section(|| guarded.value.0.set(1));
    guarded.section(|| guarded.value.0.set(0));
}

fn check_and_use(guarded: &Guarded) {
    if guarded.section(|| guarded.value.0.get()) != 0 {
        assert_ne!(guarded.section(|| guarded.value.0.get()), 0, "nothing there");
    }
}

fn hapset(program: impl Fn() + Send + Sync + 'static) -> Report {
    Explorer::new().strategy("hapset").run(program)
}

#[test]
fn sections_that_do_different_things_are_distinguished() {
    let report = hapset(|| two(alloc_and_free, check_and_use));
    assert!(report.failed() && report.executions() <= 8, "{report}");
}

fn count_twice(guarded: &Guarded) {
    (0..2).for_each(|_| guarded.section(|| guarded.value.0.set(guarded.value.0.get() + 1)));
}

#[test]
fn sections_that_do_the_same_are_not() {
    let report = hapset(|| two(count_twice, count_twice));
    assert!(!report.failed() && report.executions() <= 3, "{report}");
}

#[test]
fn memory_that_is_not_shared_makes_no_difference() {
    let apart = |guarded: &Guarded, at: usize| guarded.section(|| guarded.own[at].0.set(1));
    let report = hapset(move || {
        let guarded = Arc::new(Guarded::default());
        let other = guarded.clone();
        let thread = thread::spawn(move || (0..2).for_each(|_| apart(&other, 0)));
        (0..2).for_each(|_| apart(&guarded, 1));
        thread.join().unwrap();
    });
    assert!(!report.failed() && report.executions() <= 3, "{report}");
}

#[test]
fn steps_after_the_end_of_another_task_have_no_alternatives() {
    let report = hapset(|| {
        let guarded = Arc::new(Guarded::default());
        let other = guarded.clone();
        let thread = thread::spawn(move || other.section(|| other.value.0.set(1)));
        guarded.section(|| ());
        thread.join().unwrap();
        assert_eq!(guarded.value.0.get(), 1);
    });
    assert!(!report.failed() && report.executions() <= 2, "{report}");
}
