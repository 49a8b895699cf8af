//! Programs that are hard on a scheduler: loops of all kinds, destructors that block, spin or panic, values that refer to one
//! another at the end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use raddle_engine::outcome::Failure;
use raddle_engine::search::{Ended, Limits, search};
use raddle_runtime::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use raddle_runtime::sync::{LazyLock, Mutex, OnceLock, mpsc};
use raddle_runtime::threads::{LeakedThreads, Settings, Threads};
use raddle_runtime::{hint, thread};
use raddle_strategies::tree::exhaustive::Exhaustive;

use crate::explore;
use crate::explore::{on_its_own_thread, run_with};

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn a_long_loop_that_only_looks_is_no_livelock() {
    let report = explore::exhaustive(&Settings::default(), || {
        let data = Mutex::new(vec![1; 600]);
        (0..600).for_each(|i| assert_eq!(data.lock().unwrap()[i], 1));
        let flag = AtomicBool::new(false);
        (0..600).for_each(|_| assert!(!flag.load(SeqCst)));
    });
    // Nobody else was there to go on, so nothing was left out.
    assert!(report.verified(), "{report:?}");
}

#[test]
fn a_loop_whose_bound_lies_in_the_heap_is_no_livelock() {
    explore::passes(|| {
        let (flag, mut left) = (AtomicBool::new(false), Box::new(500));
        while !flag.load(SeqCst) && *left > 0 {
            *left -= 1;
        }
    });
}

#[test]
fn a_loop_that_never_ends_is_a_livelock() {
    let failure = explore::fails(|| {
        let flag = AtomicBool::new(false);
        while !flag.load(SeqCst) {
            hint::spin_loop();
        }
    });
    assert!(matches!(failure, Failure::Livelock { .. }), "{failure:?}");
}

#[test]
fn many_things_polled_at_once() {
    explore::passes(|| {
        let flags: Arc<[AtomicBool; 20]> = Arc::new(std::array::from_fn(|_| AtomicBool::new(false)));
        let setter = flags.clone();
        let thread = thread::spawn(move || setter[13].store(true, SeqCst));
        while !flags.iter().any(|flag| flag.load(SeqCst)) {
            hint::spin_loop();
        }
        thread.join().unwrap();
    });
}

/// The loop changes something in each round, so it is never seen to spin; but it does not go on for ever while another waits.
#[test]
fn nobody_is_starved() {
    let report = explore::exhaustive(&Settings::default(), || {
        let shared = Arc::new((AtomicBool::new(false), AtomicUsize::new(0)));
        let setter = shared.clone();
        let thread = thread::spawn(move || setter.0.store(true, SeqCst));
        while !shared.0.load(SeqCst) {
            shared.1.fetch_add(1, SeqCst);
            thread::yield_now();
        }
        thread.join().unwrap();
    });
    assert!(report.found.is_none() && !report.verified(), "{report:?}");
    assert!(matches!(report.ended, Ended::Done(_)));
}

/// A thread that is left waiting in every execution is abandoned, and its stack is used again.
#[test]
fn a_task_left_behind_does_not_blind_the_search() {
    let found = on_its_own_thread(|| {
        let body = || {
            let (sender, receiver) = mpsc::channel::<u32>();
            std::mem::forget(sender);
            thread::spawn(move || {
                let _parks = OnDrop(thread::park);
                let _ = receiver.recv();
            });
            let counter = Arc::new(AtomicUsize::new(0));
            let count = |counter: Arc<AtomicUsize>| move || counter.store(counter.load(SeqCst) + 1, SeqCst);
            let threads = [thread::spawn(count(counter.clone())), thread::spawn(count(counter.clone()))];
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(counter.load(SeqCst), 2);
        };
        let settings = Settings { leaked_threads: LeakedThreads::Allow, ..Settings::default() };
        run_with(&settings, &mut Exhaustive::depth_first(), Limits::default(), body).found
    });
    assert!(matches!(found.expect("the lost update").failure, Failure::Panic { .. }));
}

#[test]
fn a_destructor_that_spins_while_unwinding_lets_others_go_on() {
    explore::passes(|| {
        let lock = Arc::new(AtomicBool::new(false));
        let holder = lock.clone();
        let thread = thread::spawn(move || {
            while holder.swap(true, SeqCst) {}
            holder.store(false, SeqCst);
        });
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _takes = OnDrop(|| while lock.swap(true, SeqCst) {});
            panic!("unwinds into a spin lock");
        }));
        assert!(caught.is_err());
        lock.store(false, SeqCst);
        thread.join().unwrap();
    });
}

struct Holder(&'static String);

impl Drop for Holder {
    fn drop(&mut self) {
        assert_eq!(self.0, "still there");
    }
}

#[test]
fn statics_that_refer_to_one_another_are_dropped_in_order() {
    static TEXT: OnceLock<String> = OnceLock::new();
    static HOLDER: OnceLock<Holder> = OnceLock::new();
    static LATE: LazyLock<OnDrop<fn()>> = LazyLock::new(|| OnDrop(|| assert_eq!(TEXT.get().unwrap().len(), 11)));
    static PANICS: LazyLock<OnDrop<fn()>> =
        LazyLock::new(|| OnDrop(|| panic!("a static is never dropped in a process")));
    let orders = explore::passes(|| {
        TEXT.get_or_init(|| "still there".to_owned());
        HOLDER.get_or_init(|| Holder(TEXT.get().unwrap()));
        LazyLock::force(&LATE);
        LazyLock::force(&PANICS);
        let thread = thread::spawn(thread::yield_now);
        thread::yield_now();
        thread.join().unwrap();
    });
    assert_eq!(orders, 2);
}

#[test]
fn a_stack_that_cannot_be_had_is_a_failure() {
    for bytes in [usize::MAX, 1 << 46] {
        let report = search(
            &mut Threads::new(
                Arc::new(move || {
                    let _ = thread::Builder::new().stack_size(bytes).spawn(|| ()).map(thread::JoinHandle::join);
                }),
                &Settings::default(),
            ),
            &mut Exhaustive::depth_first(),
            &Limits::default(),
        );
        assert!(matches!(report.found.expect("a failure").failure, Failure::Panic { .. }));
    }
}
