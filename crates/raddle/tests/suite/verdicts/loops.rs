//! Loops: those that wait for another thread, and those that give up.

use raddle::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::{hint, thread};

use super::table::{self, Row, each, fails, two, verified};

/// Looks at the flag so many times at most, while the other thread raises it.
fn gives_up_after<const ROUNDS: usize>(flag: &AtomicBool) {
    let raised = (0..ROUNDS).any(|_| flag.load(SeqCst));
    assert!(raised, "gave up");
}

fn looks_a_few_times<const ROUNDS: usize>(flag: &AtomicBool) {
    let _ = (0..ROUNDS).any(|_| flag.load(SeqCst));
}

fn raise(flag: &AtomicBool) {
    flag.store(true, SeqCst);
}

/// Wakes whoever waits.
#[derive(Default)]
struct Notify(Mutex<bool>, Condvar);

impl Notify {
    fn notify(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_one();
    }

    fn wait(&self) {
        let mut notified = self.0.lock().unwrap();
        while !*notified {
            notified = self.1.wait(notified).unwrap();
        }
        *notified = false;
    }
}

const SPINS: &[Row] = &[
    // The flag is seen raised at once, or lowered first and then raised.
    verified("spins until the flag is raised", 2, || {
        two(AtomicBool::new(false), |flag| while !flag.load(SeqCst) {}, raise)
    })
    .alone(),
    verified("spins with a hint", 2, || {
        two(
            AtomicBool::new(false),
            |flag| {
                while !flag.load(SeqCst) {
                    hint::spin_loop();
                }
            },
            raise,
        );
    })
    .alone(),
    verified("spins and yields", 2, || {
        two(
            AtomicBool::new(false),
            |flag| {
                while !flag.load(SeqCst) {
                    thread::yield_now();
                }
            },
            raise,
        );
    })
    .alone(),
    fails("spins until a flag is raised that nobody raises", "livelock", || {
        two(AtomicBool::new(false), |flag| while !flag.load(SeqCst) {}, |flag| flag.store(false, SeqCst));
    })
    .alone(),
    fails("two that spin for each other", "livelock", || {
        two(
            (AtomicBool::new(false), AtomicBool::new(false)),
            |(mine, theirs)| {
                while !theirs.load(SeqCst) {}
                mine.store(true, SeqCst);
            },
            |(theirs, mine)| {
                while !theirs.load(SeqCst) {}
                mine.store(true, SeqCst);
            },
        );
    })
    .alone(),
    fails("spins at a flag that is lowered again", "livelock", || {
        two(
            AtomicBool::new(false),
            |flag| while !flag.load(SeqCst) {},
            |flag| {
                flag.store(true, SeqCst);
                flag.store(false, SeqCst);
            },
        );
    })
    .alone(),
    // Whoever comes second tries while the lock is held, or only later.
    verified("a spin lock", 4, || {
        let add: fn(&(AtomicBool, AtomicUsize)) = |(locked, sum)| {
            while locked.swap(true, SeqCst) {}
            sum.store(sum.load(SeqCst) + 1, SeqCst);
            locked.store(false, SeqCst);
        };
        assert_eq!(each((AtomicBool::new(false), AtomicUsize::new(0)), [add, add]).1.load(SeqCst), 2);
    })
    .alone(),
];

const GIVES_UP: &[Row] = &[
    // The flag is raised before the first, second or third look, or after all of them.
    verified("looks three times", 4, || two(AtomicBool::new(false), looks_a_few_times::<3>, raise)),
    verified("looks forty times", 41, || two(AtomicBool::new(false), looks_a_few_times::<40>, raise)),
    fails("gives up after three rounds", "panic", || two(AtomicBool::new(false), gives_up_after::<3>, raise)),
    fails("gives up after a hundred rounds", "panic", || two(AtomicBool::new(false), gives_up_after::<100>, raise)),
    fails("gives up after a thousand rounds", "panic", || two(AtomicBool::new(false), gives_up_after::<1000>, raise))
        .alone(),
    fails("the other thread gives up after three rounds", "panic", || {
        two(AtomicBool::new(false), raise, gives_up_after::<3>)
    }),
    fails("the other thread gives up after a hundred rounds", "panic", || {
        two(AtomicBool::new(false), raise, gives_up_after::<100>);
    }),
    fails("gives up after a hundred attempts at a lock", "panic", || {
        two(
            Mutex::new(()),
            |lock| assert!((0..100).any(|_| lock.try_lock().is_ok()), "gave up"),
            |lock| drop(lock.lock()),
        );
    }),
    fails("gives up after a hundred rounds with yields", "panic", || {
        two(
            AtomicBool::new(false),
            |flag| {
                let looks = |_| {
                    thread::yield_now();
                    flag.load(SeqCst)
                };
                assert!((0..100).any(looks), "gave up");
            },
            raise,
        );
    }),
];

#[test]
fn loops_that_spin() {
    table::check(SPINS);
}

#[test]
fn loops_that_give_up() {
    table::check(GIVES_UP);
}

/// Polls, tries to leave a waker behind, wakes itself if it cannot, and polls again.
fn polls_with_a_waker() {
    let (count, slot) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None::<Arc<Notify>>)));
    for _ in 0..2 {
        let (count, slot) = (count.clone(), slot.clone());
        thread::spawn(move || {
            count.fetch_add(1, SeqCst);
            let waker = slot.lock().unwrap().take();
            if let Some(waker) = waker {
                waker.notify();
            }
        });
    }
    let me = Arc::new(Notify::default());
    loop {
        if let Ok(mut slot) = slot.try_lock() {
            *slot = Some(me.clone());
        } else {
            me.notify();
            thread::yield_now();
        }
        if count.load(SeqCst) == 2 {
            break;
        }
        me.wait();
    }
}

#[test]
fn a_waker_that_retries_is_verified_in_few_orders() {
    for workers in [1, 2] {
        let report =
            raddle::Explorer::new().strategy("dpor").spurious_wakeups(0).workers(workers).run(polls_with_a_waker);
        assert!(report.verified() && report.executions() < 685, "{report}");
    }
}
