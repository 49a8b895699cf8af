//! Threads: names, results, many of them, and failures that must not end the process.

use std::time::Duration;

use raddle_engine::outcome::Failure;
use raddle_runtime::sync::atomic::{AtomicUsize, Ordering};
use raddle_runtime::sync::{Arc, Mutex};
use raddle_runtime::thread;
use raddle_runtime::threads::{LeakedThreads, Settings};

use crate::explore::{exhaustive, fails, on_its_own_thread, panics_with, passes, sample};

#[test]
fn names_and_ids() {
    passes(|| {
        assert_eq!(thread::current().name(), Some("main"));
        let t = thread::Builder::new().name("worker".into()).stack_size(1 << 16).spawn(thread::current).unwrap();
        let (name, id) = (t.thread().name().map(str::to_owned), t.thread().id());
        assert_eq!(name.as_deref(), Some("worker"));
        let inside = t.join().unwrap();
        assert_eq!((inside.name(), inside.id()), (Some("worker"), id));
        let nameless = thread::spawn(thread::current).join().unwrap();
        assert_eq!(nameless.name(), None);
        assert_ne!(nameless.id(), id);
    });
    let said = panics_with(|| drop(thread::Builder::new().name("a\0b".into()).spawn(|| ())));
    assert!(said.contains("null"), "{said}");
}

#[test]
fn join_gives_what_the_thread_left() {
    passes(|| {
        let t = thread::spawn(|| vec![1, 2]);
        assert_eq!(t.join().unwrap(), [1, 2]);
    });
}

#[test]
fn a_thousand_threads() {
    let report = sample(3, || {
        let count = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..1_000)
            .map(|_| {
                let count = count.clone();
                thread::spawn(move || count.fetch_add(1, Ordering::SeqCst))
            })
            .collect();
        let mut seen: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..1_000));
    });
    assert_eq!((report.executions, report.failing), (3, 0));
}

#[test]
fn threads_left_waiting_are_a_deadlock_unless_they_are_allowed() {
    let waits_to_be_woken = || drop(thread::spawn(thread::park));
    assert_eq!(fails(waits_to_be_woken).kind(), "deadlock");
    let allowed = Settings { leaked_threads: LeakedThreads::Allow, ..Settings::default() };
    assert!(exhaustive(&allowed, waits_to_be_woken).found.is_none());
    let waits_for_a_lock = || {
        let m = Arc::new(Mutex::new(()));
        let held = m.clone();
        thread::spawn(move || drop(m.lock()));
        std::mem::forget(held.lock());
    };
    assert_eq!(fails(waits_for_a_lock).kind(), "deadlock");
    let found = exhaustive(&allowed, waits_for_a_lock).found.expect("nobody gives the lock back");
    assert_eq!(found.failure.kind(), "deadlock");
}

#[test]
fn panics_in_the_middle_are_torn_down() {
    struct Touches(Arc<Mutex<u32>>);
    impl Drop for Touches {
        fn drop(&mut self) {
            if let Ok(mut n) = self.0.lock() {
                *n += 1;
            }
        }
    }
    let report = sample(5_000, || {
        let m = Arc::new(Mutex::new(0));
        let threads: Vec<_> = (0..3)
            .map(|i| {
                let m = m.clone();
                thread::spawn(move || {
                    let _touches = Touches(m.clone());
                    let mut held = m.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    thread::yield_now();
                    *held += 1;
                    assert!(i != 2, "on purpose");
                })
            })
            .collect();
        let _touches = Touches(m);
        for t in threads {
            let _ = t.join();
        }
    });
    assert_eq!((report.executions, report.failing), (5_000, 5_000));
}

#[test]
fn a_panic_in_a_destructor_is_reported() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("in a destructor");
        }
    }
    let said = panics_with(|| {
        thread::spawn(|| drop(Panics));
    });
    assert_eq!(said, "in a destructor");
}

#[test]
fn a_panic_in_a_destructor_while_unwinding_is_an_abort() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("second");
        }
    }
    for _ in 0..20 {
        let found = on_its_own_thread(|| {
            fails(|| {
                let m = Arc::new(Mutex::new(0));
                let n = m.clone();
                thread::scope(|s| {
                    s.spawn(|| {
                        let _held = n.lock();
                        let _panics = Panics;
                        panic!("first");
                    });
                    s.spawn(|| drop(m.lock()));
                });
            })
        });
        let Failure::Abort { messages, .. } = &found else { panic!("{found:?}") };
        assert_eq!(messages, &["first", "second"]);
    }
}

#[test]
fn deep_recursion_is_a_stack_overflow() {
    #[inline(never)]
    fn down(n: u64) -> u64 {
        let frame = std::hint::black_box([n; 64]);
        if n == u64::MAX { 0 } else { down(n + 1) + frame[(n % 64) as usize] }
    }
    for _ in 0..20 {
        let found = on_its_own_thread(|| {
            fails(|| {
                let shared = Mutex::new(0);
                thread::scope(|s| {
                    s.spawn(|| {
                        let mut held = shared.lock().unwrap();
                        *held = down(0);
                    });
                    s.spawn(|| drop(shared.lock()));
                });
            })
        });
        assert_eq!(found.kind(), "stack overflow", "{found:?}");
    }
}

#[test]
fn outside_an_execution_threads_are_those_of_std() {
    let main = thread::current();
    let t = thread::Builder::new().name("outside".into()).spawn(move || main.unpark()).unwrap();
    assert_eq!(t.thread().name(), Some("outside"));
    thread::park();
    t.join().unwrap();
    thread::sleep(Duration::from_millis(1));
    thread::yield_now();
    thread::park_timeout(Duration::from_millis(1));
}
