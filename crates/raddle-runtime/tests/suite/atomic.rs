//! Atomics and fences.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use raddle_engine::outcome::Failure;
use raddle_engine::replay::replay;
use raddle_runtime::sync::Arc;
use raddle_runtime::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst};
use raddle_runtime::sync::atomic::*;
use raddle_runtime::threads::{Settings, Threads};
use raddle_runtime::{hint, thread};

use crate::explore::{exhaustive, fails, passes, results};

/// Runs the same checks in an execution and outside of any.
#[track_caller]
fn everywhere(check: fn()) {
    check();
    passes(check);
}

#[test]
fn integers_do_what_integers_of_std_do() {
    macro_rules! check { ($($atomic:ident $int:ident)*) => { everywhere(|| { $(
        let a = $atomic::new($int::MAX);
        assert_eq!(a.fetch_add(2, SeqCst), $int::MAX);
        assert_eq!(a.load(SeqCst), $int::MAX.wrapping_add(2));
        assert_eq!(a.fetch_sub(2, Relaxed), $int::MAX.wrapping_add(2));
        assert_eq!(a.swap(0b1100, AcqRel), $int::MAX);
        assert_eq!(a.fetch_and(0b0110, Acquire), 0b1100);
        assert_eq!(a.fetch_or(0b0001, Release), 0b0100);
        assert_eq!(a.fetch_xor(0b0011, SeqCst), 0b0101);
        assert_eq!(a.fetch_nand(0b0010, SeqCst), 0b0110);
        assert_eq!(a.load(Acquire), !0b0010);
        a.store(5, Release);
        assert_eq!(a.fetch_max(7, SeqCst), 5);
        assert_eq!(a.fetch_max(6, SeqCst), 7);
        assert_eq!(a.fetch_min($int::MIN, SeqCst), 7);
        assert_eq!(a.load(Relaxed), $int::MIN);
        assert_eq!(a.compare_exchange(1, 2, SeqCst, Relaxed), Err($int::MIN));
        assert_eq!(a.compare_exchange($int::MIN, 2, AcqRel, Acquire), Ok($int::MIN));
        assert_eq!(a.fetch_update(SeqCst, SeqCst, |x| x.checked_add(1)), Ok(2));
        assert_eq!(a.try_update(SeqCst, SeqCst, |_| None), Err(3));
        assert_eq!(a.update(SeqCst, SeqCst, |x| x * 2), 3);
        let mut a = a;
        assert_eq!(*a.get_mut(), 6);
        *a.get_mut() = 9;
        assert_eq!(a.load(SeqCst), 9);
        assert_eq!(format!("{a:?}"), "9");
        a.store(8, SeqCst);
        assert_eq!(a.into_inner(), 8);
        assert_eq!($atomic::default().into_inner(), 0);
        assert_eq!($atomic::from(4).load(SeqCst), 4);
    )* }) } }
    check! {
        AtomicI8 i8 AtomicI16 i16 AtomicI32 i32 AtomicI64 i64 AtomicIsize isize
        AtomicU8 u8 AtomicU16 u16 AtomicU32 u32 AtomicU64 u64 AtomicUsize usize
    }
}

#[test]
fn booleans_do_what_those_of_std_do() {
    everywhere(|| {
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            let with = |f: fn(&AtomicBool, bool, Ordering) -> bool| {
                let atomic = AtomicBool::new(a);
                assert_eq!(f(&atomic, b, SeqCst), a);
                atomic.into_inner()
            };
            assert_eq!(with(AtomicBool::fetch_and), a & b);
            assert_eq!(with(AtomicBool::fetch_or), a | b);
            assert_eq!(with(AtomicBool::fetch_xor), a ^ b);
            assert_eq!(with(AtomicBool::fetch_nand), !(a & b));
            assert_eq!(with(|atomic, _, order| atomic.fetch_not(order)), !a);
            assert_eq!(with(AtomicBool::swap), b);
        }
    });
}

#[test]
fn pointers_do_what_those_of_std_do() {
    everywhere(|| {
        let mut values = [1_u32, 2, 3];
        let first = values.as_mut_ptr();
        let p = AtomicPtr::new(first);
        assert_eq!(p.fetch_ptr_add(2, SeqCst), first);
        assert_eq!(p.fetch_ptr_sub(1, SeqCst), first.wrapping_add(2));
        assert_eq!(p.fetch_byte_add(4, SeqCst), first.wrapping_add(1));
        assert_eq!(p.fetch_byte_sub(8, SeqCst), first.wrapping_add(2));
        assert_eq!(p.fetch_or(1, SeqCst), first);
        assert_eq!(p.fetch_xor(3, SeqCst).addr(), first.addr() | 1);
        assert_eq!(p.fetch_and(!3, SeqCst).addr(), first.addr() | 2);
        assert_eq!(p.load(SeqCst), first);
        assert_eq!(format!("{p:p} {p:?}"), format!("{first:p} {first:?}"));
        assert_eq!(p.compare_exchange(first, std::ptr::null_mut(), SeqCst, SeqCst), Ok(first));
        assert!(p.into_inner().is_null());
        assert!(AtomicPtr::<u8>::default().load(SeqCst).is_null());
    });
}

#[test]
fn orderings_that_make_no_sense_panic() {
    everywhere(|| {
        let panics = |f: &dyn Fn(&AtomicU8)| {
            assert!(catch_unwind(AssertUnwindSafe(|| f(&AtomicU8::new(0)))).is_err());
        };
        for order in [Release, AcqRel] {
            panics(&|a| {
                let _ = a.load(order);
            });
            panics(&|a| {
                let _ = a.compare_exchange(0, 1, SeqCst, order);
            });
            panics(&|a| {
                let _ = a.compare_exchange_weak(0, 1, SeqCst, order);
            });
            panics(&|a| {
                let _ = a.fetch_update(SeqCst, order, Some);
            });
        }
        for order in [Acquire, AcqRel] {
            panics(&|a| a.store(1, order));
        }
        panics(&|_| fence(Relaxed));
        panics(&|_| compiler_fence(Relaxed));
    });
}

#[test]
fn an_update_is_one_step_and_a_load_with_a_store_is_two() {
    let two = |increment: fn(&AtomicU32)| {
        move || {
            let counter = Arc::new(AtomicU32::new(0));
            let other = counter.clone();
            let thread = thread::spawn(move || increment(&other));
            increment(&counter);
            thread.join().unwrap();
            counter.load(SeqCst)
        }
    };
    assert_eq!(
        results(two(|c| {
            let _ = c.fetch_add(1, Relaxed);
        })),
        [2].into()
    );
    assert_eq!(results(two(|c| c.store(c.load(SeqCst) + 1, SeqCst))), [1, 2].into());
    assert_eq!(
        results(two(|c| {
            let _ = c.update(SeqCst, SeqCst, |x| x + 1);
        })),
        [2].into()
    );
    assert_eq!(
        results(two(|c| while c.compare_exchange_weak(c.load(SeqCst), 9, SeqCst, SeqCst).is_err() {})),
        [9].into()
    );
}

#[test]
fn weak_exchanges_fail_for_no_reason_within_the_budget() {
    let try_twice = || {
        let a = AtomicU8::new(0);
        let first = a.compare_exchange_weak(0, 1, SeqCst, SeqCst);
        let second = a.compare_exchange_weak(0, 1, SeqCst, SeqCst);
        assert_eq!(a.load(SeqCst), 1, "at most one of them fails for no reason");
        (first, second)
    };
    assert_eq!(results(try_twice), [(Ok(0), Err(1)), (Err(0), Ok(0))].into());
    let none = exhaustive(&Settings { spurious: 0, ..Settings::default() }, move || {
        let _ = try_twice();
    });
    assert_eq!(none.executions, 1);
}

#[test]
fn store_buffering_is_not_seen() {
    let outcomes = results(|| {
        let (x, y) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (x2, y2) = (x.clone(), y.clone());
        let thread = thread::spawn(move || {
            x2.store(true, Relaxed);
            y2.load(Relaxed)
        });
        y.store(true, Relaxed);
        let seen = x.load(Relaxed);
        (seen, thread.join().unwrap())
    });
    assert_eq!(outcomes, [(false, true), (true, false), (true, true)].into());
}

#[test]
fn statics_start_every_execution_with_their_first_value() {
    static COUNTER: AtomicU64 = AtomicU64::new(40);
    COUNTER.fetch_add(1, SeqCst);
    let executions = passes(|| {
        let thread = thread::spawn(|| COUNTER.fetch_add(1, SeqCst));
        COUNTER.fetch_add(1, SeqCst);
        thread.join().unwrap();
        assert_eq!(COUNTER.load(SeqCst), 43, "what was stored outside of any execution is there in each");
    });
    assert_eq!(executions, 2);
    assert_eq!(COUNTER.load(SeqCst), 41, "and what executions store is not there outside");
}

#[test]
fn spin_loops_end() {
    let wait_by = |wait: fn(&AtomicBool)| {
        passes(move || {
            let flag = Arc::new(AtomicBool::new(false));
            let other = flag.clone();
            let thread = thread::spawn(move || wait(&other));
            flag.store(true, Release);
            thread.join().unwrap();
        })
    };
    wait_by(|flag| while !flag.load(Acquire) {});
    wait_by(|flag| {
        while !flag.load(Acquire) {
            hint::spin_loop()
        }
    });
    wait_by(|flag| {
        while !flag.load(Acquire) {
            thread::yield_now()
        }
    });
    wait_by(|flag| while flag.compare_exchange(true, false, SeqCst, SeqCst).is_err() {});
    wait_by(|flag| {
        while flag.compare_exchange_weak(true, false, SeqCst, SeqCst).is_err() {
            hint::spin_loop()
        }
    });
    wait_by(|flag| while !flag.swap(false, SeqCst) {});
}

/// Has another OS thread begin to panic, or end it, whenever it is called.
fn panic_elsewhere() -> impl Fn() + Send + Sync + 'static {
    struct Unwinds<'a>(&'a Sender<()>, &'a Receiver<()>);
    impl Drop for Unwinds<'_> {
        fn drop(&mut self) {
            let _ = self.0.send(());
            let _ = self.1.recv();
        }
    }
    let (tell, told) = channel();
    let (done, is_done) = channel();
    std::thread::spawn(move || {
        while told.recv().is_ok() {
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let _unwinds = Unwinds(&done, &told);
                resume_unwind(Box::new(()))
            }));
            let _ = done.send(());
        }
    });
    let ends = Mutex::new((tell, is_done));
    move || {
        let ends = ends.lock().unwrap();
        ends.0.send(()).unwrap();
        ends.1.recv().unwrap();
    }
}

/// How many panics there are in the process differs from round to round, in every other execution.
#[test]
fn spin_loops_end_alike_whatever_panics_elsewhere() {
    let ends_alike = |wait: fn(&AtomicBool)| {
        let (panic_elsewhere, executions) = (panic_elsewhere(), std::sync::atomic::AtomicU32::new(0));
        passes(move || {
            let panics = executions.fetch_add(1, Relaxed) % 2 == 1;
            let flag = Arc::new(AtomicBool::new(false));
            let other = flag.clone();
            let thread = thread::spawn(move || wait(&other));
            for _ in 0..3 {
                if panics {
                    panic_elsewhere();
                }
                thread::yield_now();
            }
            flag.store(true, Release);
            thread.join().unwrap();
        })
    };
    ends_alike(|flag| {
        while !flag.load(Acquire) {
            hint::spin_loop()
        }
    });
    ends_alike(|flag| {
        while flag.compare_exchange_weak(true, false, SeqCst, SeqCst).is_err() {
            hint::spin_loop()
        }
    });
}

#[test]
fn a_spin_lock_excludes() {
    passes(|| {
        let lock = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
        let work = |lock: &(AtomicBool, AtomicU32)| {
            while lock.0.swap(true, Acquire) {
                hint::spin_loop();
            }
            lock.1.store(lock.1.load(Relaxed) + 1, Relaxed);
            lock.0.store(false, Release);
        };
        let other = lock.clone();
        let thread = thread::spawn(move || work(&other));
        work(&lock);
        thread.join().unwrap();
        assert_eq!(lock.1.load(Relaxed), 2);
    });
}

#[test]
fn spinning_on_an_unchanged_value_is_a_livelock() {
    let flag = || {
        let flag = AtomicBool::new(false);
        while !flag.load(SeqCst) {}
    };
    assert!(matches!(fails(flag), Failure::Livelock { .. }));
}

#[test]
fn values_are_shown_with_their_type() {
    let body = || {
        AtomicI8::new(-1).fetch_sub(1, SeqCst);
        AtomicBool::new(false).store(true, SeqCst);
        AtomicPtr::<u8>::default().store(std::ptr::without_provenance_mut(0xab), SeqCst);
        panic!("to be kept");
    };
    let report = exhaustive(&Settings::default(), body);
    let script = report.found.unwrap().script;
    let mut program = Threads::new(Arc::new(body), &Settings::default());
    let record = replay(&mut program, &script, &Default::default());
    let shown: Vec<_> = (record.steps.iter())
        .filter(|step| step.left.is_some())
        .map(|step| {
            let card = &record.participants.objects[step.access.object.index()];
            let value = |word| Option::map_or(word, String::new(), card.show);
            (card.noun, step.op.verb, value(step.found), value(step.left))
        })
        .collect();
    let expected = [
        ("AtomicI8", "fetch_sub", "-1", "-2"),
        ("AtomicBool", "store", "", "true"),
        ("AtomicPtr", "store", "", "0xab"),
    ];
    assert_eq!(shown.len(), expected.len());
    for ((noun, verb, found, left), expected) in shown.iter().zip(expected) {
        assert_eq!((*noun, *verb, found.as_str(), left.as_str()), expected);
    }
}

#[test]
fn real_threads_share_atomics_outside_of_executions() {
    static SUM: AtomicUsize = AtomicUsize::new(0);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                (0..1000).for_each(|_| {
                    let _ = SUM.fetch_add(1, Relaxed);
                })
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    fence(SeqCst);
    compiler_fence(SeqCst);
    assert_eq!(SUM.load(SeqCst), 4000);
}
