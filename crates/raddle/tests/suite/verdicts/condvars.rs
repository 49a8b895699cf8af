//! Condition variables.

use raddle::sync::{Condvar, Mutex};

use super::table::{self, Row, each, fails, two, verified};

type Flag = (Mutex<bool>, Condvar);

fn raise_and_notify_one((flag, raised): &Flag) {
    *flag.lock().unwrap() = true;
    raised.notify_one();
}

fn wait_until_raised((flag, raised): &Flag) {
    let mut up = flag.lock().unwrap();
    while !*up {
        up = raised.wait(up).unwrap();
    }
}

fn wait_once((flag, raised): &Flag) {
    let mut up = flag.lock().unwrap();
    if !*up {
        up = raised.wait(up).unwrap();
    }
    assert!(*up, "woken for nothing");
}

const ROWS: &[Row] = &[
    // The flag is raised before the waiter looks, or while it waits.
    verified("a waiter and a notifier", 2, || two(Flag::default(), wait_until_raised, raise_and_notify_one)),
    verified("notified within the section", 2, || {
        two(Flag::default(), wait_until_raised, |(flag, raised)| {
            let mut up = flag.lock().unwrap();
            *up = true;
            raised.notify_one();
        });
    }),
    verified("wait_while", 2, || {
        two(
            Flag::default(),
            |(flag, raised)| drop(raised.wait_while(flag.lock().unwrap(), |up| !*up)),
            raise_and_notify_one,
        );
    }),
    // `M` raises the flag, `A` and `B` look at it; who looks too early waits and looks again. M first: AB or BA. One before M: that one
    // looks again before or after the other looks, 2 each for A and for B. Both before M, in 2 orders: they look again in 2 orders.
    verified("two waiters, both notified", 10, || {
        _ = each(
            Flag::default(),
            [wait_until_raised, wait_until_raised, |(flag, raised)| {
                *flag.lock().unwrap() = true;
                raised.notify_all();
            }],
        );
    }),
    fails("two waiters, one notified", "deadlock", || {
        _ = each(Flag::default(), [wait_until_raised, wait_until_raised, raise_and_notify_one]);
    }),
    fails("nobody notifies", "deadlock", || {
        two(Flag::default(), wait_until_raised, |(flag, _)| *flag.lock().unwrap() = true)
    }),
    fails("notified before the flag is raised", "deadlock", || {
        two(Flag::default(), wait_until_raised, |(flag, raised)| {
            raised.notify_one();
            *flag.lock().unwrap() = true;
        });
    }),
    fails("the lock is let go between looking and waiting", "deadlock", || {
        two(
            Flag::default(),
            |(flag, raised)| {
                if !*flag.lock().unwrap() {
                    drop(raised.wait(flag.lock().unwrap()));
                }
            },
            raise_and_notify_one,
        );
    }),
    verified("a waiter that does not look again", 2, || two(Flag::default(), wait_once, raise_and_notify_one)),
    fails("a wait that ends for no reason", "panic", || two(Flag::default(), wait_once, raise_and_notify_one))
        .with(|explorer| explorer.spurious_wakeups(1)),
    fails("notified for something else", "panic", || {
        _ = each(Flag::default(), [wait_once, |(_, raised)| raised.notify_one(), raise_and_notify_one]);
    }),
    fails("a waiter that holds another lock", "deadlock", || {
        two(
            (Flag::default(), Mutex::new(())),
            |(flag, other)| {
                let _held = other.lock().unwrap();
                wait_until_raised(flag);
            },
            |(flag, other)| {
                drop(other.lock());
                raise_and_notify_one(flag);
            },
        );
    }),
    fails("which of two waiters is notified", "panic", || {
        // Two wait for a token; the first to get one must be the one that began to wait first.
        type Tokens = (Mutex<(u32, Vec<u32>)>, Condvar);
        fn take<const WHO: u32>((state, more): &Tokens) {
            let mut state = state.lock().unwrap();
            state.1.push(WHO);
            while state.0 == 0 {
                state = more.wait(state).unwrap();
            }
            state.0 -= 1;
            let first = state.1.remove(0);
            assert_eq!(first, WHO, "overtaken");
        }
        _ = each(
            Tokens::default(),
            [take::<1>, take::<2>, |(state, more)| {
                for _ in 0..2 {
                    state.lock().unwrap().0 += 1;
                    more.notify_one();
                }
            }],
        );
    }),
];

#[test]
fn condvars() {
    table::check(ROWS);
}
