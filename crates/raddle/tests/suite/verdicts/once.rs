//! What is done once, by whoever comes first.

use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{LazyLock, Once, OnceLock};
use raddle::thread;

use super::table::{self, Row, caught, each, fails, two, verified};

static LAZY: LazyLock<AtomicUsize> = LazyLock::new(|| AtomicUsize::new(1));

const ROWS: &[Row] = &[
    verified("call_once in two threads", 2, || {
        let call: fn(&(Once, AtomicUsize)) = |(once, calls)| once.call_once(|| _ = calls.fetch_add(1, SeqCst));
        assert_eq!(each((Once::new(), AtomicUsize::new(0)), [call, call]).1.load(SeqCst), 1);
    }),
    verified("who has waited sees what was done", 2, || {
        let call: fn(&(Once, AtomicUsize)) = |(once, calls)| {
            once.call_once(|| calls.store(1, SeqCst));
            assert_eq!(calls.load(SeqCst), 1);
        };
        _ = each((Once::new(), AtomicUsize::new(0)), [call, call]);
    }),
    fails("is_completed while it is being done", "panic", || {
        two(
            (Once::new(), AtomicUsize::new(0)),
            |(once, begun)| {
                if begun.load(SeqCst) == 1 {
                    assert!(once.is_completed());
                }
            },
            |(once, begun)| once.call_once(|| begun.store(1, SeqCst)),
        );
    }),
    fails("a panic while it is being done", "panic", || {
        two(Once::new(), |once| once.call_once(|| ()), |once| caught(|| once.call_once(|| panic!("poisons it"))));
    }),
    // Who comes second after a panic does it again.
    verified("call_once_force after a panic", 2, || {
        two(
            Once::new(),
            |once| once.call_once_force(|_| ()),
            |once| caught(|| once.call_once_force(|_| panic!("poisons it"))),
        );
    }),
    fails("two that wait for each other", "deadlock", || {
        two(
            (Once::new(), Once::new()),
            |(a, b)| a.call_once(|| b.call_once(|| ())),
            |(a, b)| b.call_once(|| a.call_once(|| ())),
        );
    }),
    // The value is made in two steps and looked at before, between or after them; or it is set, and looked at before or after that.
    verified("set, get and get_or_init", 5, || {
        each(OnceLock::new(), [|cell| _ = cell.get_or_init(|| 1), |cell| _ = cell.get(), |cell| _ = cell.set(2)]);
    }),
    fails("nobody had set it, and yet it was not made", "panic", || {
        let results = each(
            (OnceLock::new(), AtomicUsize::new(0)),
            [
                |(cell, seen)| _ = seen.fetch_add(*cell.get_or_init(|| 1), SeqCst),
                |(cell, seen)| _ = seen.fetch_add(if cell.get().is_none() { 10 } else { 0 }, SeqCst),
                |(cell, _)| _ = cell.set(2),
            ],
        );
        assert_ne!(results.1.load(SeqCst), 12);
    }),
    // Each of the two may make it, and it is looked at before, between or after the two steps of that.
    verified("two get_or_init and a get", 6, || {
        let make: fn(&OnceLock<u32>) = |cell| _ = cell.get_or_init(|| 1);
        each(OnceLock::new(), [make, |cell| _ = cell.get(), make]);
    }),
    verified("get_or_init in two threads", 2, || {
        two(OnceLock::new(), |c| _ = c.get_or_init(|| 1), |c| _ = c.get_or_init(|| 2))
    }),
    verified("set in two threads", 2, || {
        let set: fn(&(OnceLock<u32>, AtomicUsize)) = |(cell, wins)| {
            if cell.set(1).is_ok() {
                wins.fetch_add(1, SeqCst);
            }
        };
        assert_eq!(each((OnceLock::new(), AtomicUsize::new(0)), [set, set]).1.load(SeqCst), 1);
    }),
    fails("set by the other", "panic", || two(OnceLock::new(), |c| assert!(c.set(1).is_ok()), |c| _ = c.set(2))),
    fails("get before set", "panic", || two(OnceLock::new(), |c| assert_eq!(c.get(), Some(&1)), |c| _ = c.set(1))),
    verified("get and set", 2, || two(OnceLock::new(), |c| _ = c.get(), |c| _ = c.set(1))),
    // Either makes it, and either adds first.
    verified("a lazy static", 4, || {
        let thread = thread::spawn(|| LAZY.fetch_add(1, SeqCst));
        LAZY.fetch_add(1, SeqCst);
        thread.join().unwrap();
        assert_eq!(LAZY.load(SeqCst), 3);
    }),
    fails("a lazy static that is not as it was made", "panic", || {
        let thread = thread::spawn(|| LAZY.store(0, SeqCst));
        assert_eq!(LAZY.load(SeqCst), 1);
        thread.join().unwrap();
    }),
];

#[test]
fn once() {
    table::check(ROWS);
}
