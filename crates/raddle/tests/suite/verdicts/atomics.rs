//! Atomics: loads commute, everything else on one atomic does not.

use std::sync::Arc;

use raddle::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use raddle::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32,
    AtomicU64, AtomicUsize, fence,
};
use raddle::thread;

use super::table::{self, Row, each, fails, two, verified};

const ONE_ATOMIC: &[Row] = &[
    verified("two loads", 1, || two(AtomicU8::new(0), |a| _ = a.load(SeqCst), |a| _ = a.load(SeqCst))),
    verified("a load and a store", 2, || two(AtomicU16::new(0), |a| _ = a.load(SeqCst), |a| a.store(1, SeqCst))),
    verified("two stores", 2, || two(AtomicU32::new(0), |a| a.store(1, SeqCst), |a| a.store(2, SeqCst))),
    // The store comes before, between or after the loads.
    verified("two loads in a row and a store", 3, || {
        two(
            AtomicU64::new(0),
            |a| {
                a.load(SeqCst);
                a.load(SeqCst);
            },
            |a| a.store(1, SeqCst),
        );
    }),
    // Each load has a place among the stores, the second not before the first: 3 + 2 + 1.
    verified("two loads and two stores", 6, || {
        two(
            AtomicIsize::new(0),
            |a| {
                a.load(SeqCst);
                a.load(SeqCst);
            },
            |a| {
                a.store(1, SeqCst);
                a.store(2, SeqCst);
            },
        );
    }),
    verified("two additions", 2, || {
        let sum = each(AtomicI8::new(0), [|a| _ = a.fetch_add(1, SeqCst), |a| _ = a.fetch_sub(3, SeqCst)]);
        assert_eq!(sum.load(SeqCst), -2);
    }),
    // All interleavings of two and two.
    verified("two and two additions", 6, || {
        let twice: fn(&AtomicI16) = |a| {
            a.fetch_add(1, SeqCst);
            a.fetch_add(1, SeqCst);
        };
        assert_eq!(each(AtomicI16::new(0), [twice, twice]).load(SeqCst), 4);
    }),
    verified("three stores", 6, || {
        _ = each(AtomicI32::new(0), [|a| a.store(1, SeqCst), |a| a.store(2, SeqCst), |a| a.store(3, SeqCst)]);
    }),
    // Each load comes before or after the store.
    verified("two loads in two threads and a store", 4, || {
        _ = each(AtomicI64::new(0), [|a| a.store(1, SeqCst), |a| _ = a.load(SeqCst), |a| _ = a.load(SeqCst)]);
    }),
    verified("two swaps", 2, || {
        two(AtomicBool::new(false), |a| _ = a.swap(true, SeqCst), |a| _ = a.swap(true, SeqCst))
    }),
    verified("logic", 2, || {
        two(AtomicBool::new(false), |a| _ = a.fetch_or(true, SeqCst), |a| _ = a.fetch_nand(true, SeqCst))
    }),
    verified("fetch_not", 2, || {
        two(AtomicBool::new(false), |a| _ = a.fetch_not(SeqCst), |a| _ = a.fetch_xor(true, SeqCst))
    }),
    verified("the larger and the smaller", 2, || {
        two(AtomicU8::new(4), |a| _ = a.fetch_max(7, SeqCst), |a| _ = a.fetch_min(2, SeqCst))
    }),
    verified("pointers", 2, || {
        let null = std::ptr::null_mut();
        two(AtomicPtr::<u8>::new(null), |a| a.store(std::ptr::dangling_mut(), SeqCst), |a| _ = a.load(SeqCst));
    }),
    fails("a lost update", "panic", || {
        let add: fn(&AtomicUsize) = |a| a.store(a.load(SeqCst) + 1, SeqCst);
        assert_eq!(each(AtomicUsize::new(0), [add, add]).load(SeqCst), 2);
    }),
    fails("a value seen between two stores", "panic", || {
        two(
            AtomicUsize::new(0),
            |a| assert_ne!(a.load(SeqCst), 1),
            |a| {
                a.store(1, SeqCst);
                a.store(2, SeqCst);
            },
        );
    }),
    fails("a detached thread that was faster", "panic", || {
        let a = Arc::new(AtomicUsize::new(0));
        let theirs = a.clone();
        thread::spawn(move || theirs.store(1, SeqCst));
        assert_eq!(a.load(SeqCst), 0);
    }),
    fails("a detached thread that was slower", "panic", || {
        let a = Arc::new(AtomicUsize::new(0));
        let theirs = a.clone();
        thread::spawn(move || theirs.store(1, SeqCst));
        assert_eq!(a.load(SeqCst), 1);
    }),
];

const COMPARE_EXCHANGE: &[Row] = &[
    verified("one of two wins", 2, || {
        let win: fn(&(AtomicUsize, AtomicUsize)) = |(a, wins)| {
            if a.compare_exchange(0, 1, SeqCst, SeqCst).is_ok() {
                wins.fetch_add(1, SeqCst);
            }
        };
        assert_eq!(each((AtomicUsize::new(0), AtomicUsize::new(0)), [win, win]).1.load(SeqCst), 1);
    }),
    // Without spurious failures the weak one is as strong.
    verified("one of two wins weakly", 2, || {
        let win: fn(&(AtomicUsize, AtomicUsize)) = |(a, wins)| {
            if a.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok() {
                wins.fetch_add(1, SeqCst);
            }
        };
        assert_eq!(each((AtomicUsize::new(0), AtomicUsize::new(0)), [win, win]).1.load(SeqCst), 1);
    }),
    fails("a weak exchange fails for no reason", "panic", || {
        two(
            AtomicUsize::new(0),
            |a| assert!(a.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok()),
            |a| _ = a.load(SeqCst),
        );
    })
    .with(|explorer| explorer.spurious_wakeups(1)),
    // An exchange that fails only reads.
    verified("two that fail", 1, || {
        let lose: fn(&AtomicUsize) = |a| assert!(a.compare_exchange(1, 2, SeqCst, SeqCst).is_err());
        _ = each(AtomicUsize::new(0), [lose, lose]);
    }),
    // Who comes second may retry once: the retries are in the order of the first tries, unless a load comes between. With the
    // first loads both before the first exchange, either wins (2); otherwise one is done before the other begins (2).
    verified("fetch_update in two threads", 4, || {
        let add: fn(&AtomicUsize) = |a| _ = a.fetch_update(SeqCst, SeqCst, |n| Some(n + 1));
        assert_eq!(each(AtomicUsize::new(0), [add, add]).load(SeqCst), 2);
    }),
    fails("ABA", "panic", || {
        two(
            AtomicUsize::new(0),
            |a| {
                let seen = a.load(SeqCst);
                let before = a.load(SeqCst);
                if a.compare_exchange(seen, 5, SeqCst, SeqCst).is_ok() {
                    assert_eq!(before, seen, "it was another one meanwhile");
                }
            },
            |a| {
                a.store(1, SeqCst);
                a.store(0, SeqCst);
            },
        );
    }),
];

type Pair = (AtomicUsize, AtomicUsize);

const SEVERAL_ATOMICS: &[Row] = &[
    verified("atomics that have nothing to do with each other", 1, || {
        two(Pair::default(), |p| p.0.store(1, SeqCst), |p| p.1.store(1, SeqCst))
    }),
    // Each load comes before or after the other's store, but not both before.
    verified("store buffering", 3, || {
        let p = Arc::new(Pair::default());
        let theirs = p.clone();
        let other = thread::spawn(move || {
            theirs.0.store(1, Relaxed);
            theirs.1.load(Relaxed)
        });
        p.1.store(1, Relaxed);
        let seen = p.0.load(Relaxed);
        assert!(other.join().unwrap() == 1 || seen == 1, "sequentially consistent orders only");
    }),
    verified("message passing", 2, || {
        two(
            Pair::default(),
            |p| {
                if p.1.load(Acquire) == 1 {
                    assert_eq!(p.0.load(Relaxed), 42);
                }
            },
            |p| {
                p.0.store(42, Relaxed);
                p.1.store(1, Release);
            },
        );
    }),
    fails("message passing the wrong way round", "panic", || {
        two(
            Pair::default(),
            |p| {
                if p.1.load(SeqCst) == 1 {
                    assert_eq!(p.0.load(SeqCst), 42);
                }
            },
            |p| {
                p.1.store(1, SeqCst);
                p.0.store(42, SeqCst);
            },
        );
    }),
    // Each of the four loads comes before or after its store: 16, less the one in which the readers see the stores in opposite orders.
    verified("two writers and two readers", 15, || {
        _ = each(
            Pair::default(),
            [
                |p| p.0.store(1, SeqCst),
                |p| p.1.store(1, SeqCst),
                |p| _ = (p.0.load(SeqCst), p.1.load(SeqCst)),
                |p| _ = (p.1.load(SeqCst), p.0.load(SeqCst)),
            ],
        );
    }),
    // Two stores to each of two atomics, in opposite orders: 2 × 2, less the one that is a cycle.
    verified("two and two stores", 3, || {
        two(
            Pair::default(),
            |p| {
                p.0.store(1, SeqCst);
                p.1.store(1, SeqCst);
            },
            |p| {
                p.1.store(2, SeqCst);
                p.0.store(2, SeqCst);
            },
        );
    }),
    // Fences order memory, and nobody can tell when they happen.
    verified("fences", 3, || {
        two(
            Pair::default(),
            |p| {
                p.0.store(1, Relaxed);
                fence(SeqCst);
                p.1.load(Relaxed);
            },
            |p| {
                p.1.store(1, Relaxed);
                fence(AcqRel);
                p.0.load(Relaxed);
            },
        );
    }),
    fails("both in the critical section", "panic", || {
        // Each looks before it raises its flag.
        let enter: fn(&(Pair, AtomicUsize)) = |(p, inside)| {
            if p.0.load(SeqCst) == 0 {
                p.0.store(1, SeqCst);
                assert_eq!(inside.fetch_add(1, SeqCst), 0);
                inside.fetch_sub(1, SeqCst);
                p.0.store(0, SeqCst);
            }
        };
        _ = each((Pair::default(), AtomicUsize::new(0)), [enter, enter]);
    }),
];

#[test]
fn one_atomic() {
    table::check(ONE_ATOMIC);
}

#[test]
fn compare_exchange() {
    table::check(COMPARE_EXCHANGE);
}

#[test]
fn several_atomics() {
    table::check(SEVERAL_ATOMICS);
}
