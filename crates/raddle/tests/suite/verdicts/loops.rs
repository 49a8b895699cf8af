//! Loops: those that wait for another thread, and those that give up.

use std::time::Duration;

use raddle::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex, mpsc};
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
    // The places at which it yields change, and nothing else does.
    verified("spins and yields from two places", 2, || {
        two(
            AtomicBool::new(false),
            |flag| {
                let mut rounds = 0;
                while !flag.load(SeqCst) {
                    rounds += 1;
                    if rounds % 3 == 0 { thread::yield_now() } else { hint::spin_loop() }
                }
            },
            raise,
        );
    })
    .alone(),
    fails("spins alone", "livelock", || {
        let flag = AtomicBool::new(false);
        while !flag.load(SeqCst) {}
    })
    .alone(),
];

/// Looks until the flag is raised, or so often; says whether it was raised.
fn wait(flag: &AtomicBool, most: u32) -> bool {
    let mut rounds = 0;
    while !flag.load(SeqCst) {
        rounds += 1;
        if rounds > most {
            return false;
        }
    }
    true
}

/// Loops that spin and loops that give up, which look from the same place.
const SHARED_PLACES: &[Row] = &[
    fails("gives up where another thread spins", "panic", || {
        let flag = Arc::new(AtomicBool::new(false));
        let [first, second] = [flag.clone(), flag.clone()];
        let threads = [thread::spawn(move || _ = wait(&first, u32::MAX)), thread::spawn(move || raise(&second))];
        assert!(wait(&flag, 3), "gave up");
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    })
    .alone(),
    fails("gives up, then spins", "panic", || {
        two(
            AtomicBool::new(false),
            |flag| {
                let raised = wait(flag, 3);
                wait(flag, u32::MAX);
                assert!(raised, "gave up");
            },
            raise,
        );
    })
    .alone(),
    fails("spins at one flag, then gives up at another", "panic", || {
        two(
            (AtomicBool::new(false), AtomicBool::new(false)),
            |(first, second)| {
                wait(first, u32::MAX);
                assert!(wait(second, 3), "gave up");
            },
            |(first, second)| {
                raise(first);
                raise(second);
            },
        );
    })
    .alone(),
    verified("spins twice", 4, || {
        two(
            (AtomicBool::new(false), AtomicBool::new(false)),
            |(first, second)| assert!(wait(first, u32::MAX) && wait(second, u32::MAX)),
            |(first, second)| {
                raise(first);
                raise(second);
            },
        );
    })
    .alone(),
];

#[test]
fn loops_that_share_a_place() {
    table::check(SHARED_PLACES);
}

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
    fails("the other thread gives up after a hundred rounds with yields", "panic", || {
        two(AtomicBool::new(false), raise, |flag| {
            let looks = |_| {
                thread::yield_now();
                flag.load(SeqCst)
            };
            assert!((0..100).any(looks), "gave up");
        });
    }),
    fails("gives up after a hundred exchanges", "panic", || {
        two(
            AtomicBool::new(false),
            |flag| assert!((0..100).any(|_| flag.compare_exchange(true, false, SeqCst, SeqCst).is_ok()), "gave up"),
            raise,
        );
    }),
    fails("gives up after a hundred weak exchanges", "panic", || {
        two(
            AtomicBool::new(false),
            |flag| {
                assert!((0..100).any(|_| flag.compare_exchange_weak(true, false, SeqCst, SeqCst).is_ok()), "gave up")
            },
            raise,
        );
    })
    .with(|explorer| explorer.spurious_wakeups(1)),
    fails("gives up after a hundred attempts to receive", "panic", || {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || _ = sender.send(1));
        assert!((0..100).any(|_| receiver.try_recv().is_ok()), "gave up");
        thread.join().unwrap();
    }),
    fails("gives up after a hundred swaps", "panic", || {
        two(
            (AtomicBool::new(true), AtomicUsize::new(0)),
            |(locked, _)| assert!((0..100).any(|_| !locked.swap(true, SeqCst)), "gave up"),
            |(locked, _)| locked.store(false, SeqCst),
        );
    }),
    fails("gives up after fifty rounds of looking at two flags", "panic", || {
        two(
            (AtomicBool::new(false), AtomicBool::new(false)),
            |(a, b)| assert!((0..50).any(|_| a.load(SeqCst) && b.load(SeqCst)), "gave up"),
            |(a, b)| {
                raise(a);
                raise(b);
            },
        );
    }),
    fails("gives up after twenty rounds of parking for a time", "panic", || {
        two(
            AtomicBool::new(false),
            |flag| {
                let looks = |_| {
                    thread::park_timeout(Duration::from_millis(1));
                    flag.load(SeqCst)
                };
                assert!((0..20).any(looks), "gave up");
            },
            raise,
        );
    }),
    fails("gives up after fifty rounds of holding one lock and trying the other", "panic", || {
        two(
            (Mutex::new(()), Mutex::new(())),
            |(a, b)| {
                let tries = |_| {
                    let _held = a.lock().unwrap();
                    b.try_lock().is_ok()
                };
                assert!((0..50).any(tries), "gave up");
            },
            |(a, b)| {
                let _held = b.lock().unwrap();
                drop(a.lock());
            },
        );
    }),
    fails("gives up after fifty rounds in which it counts", "panic", || {
        two(
            (AtomicBool::new(false), AtomicUsize::new(0)),
            |(flag, rounds)| {
                let looks = |_| {
                    rounds.fetch_add(1, SeqCst);
                    flag.load(SeqCst)
                };
                assert!((0..50).any(looks), "gave up");
            },
            |(flag, _)| raise(flag),
        );
    }),
    // What is heard after the loop depends on how often it went round.
    fails("the number of rounds is seen by the other", "panic", || {
        two(
            (AtomicBool::new(false), AtomicUsize::new(0)),
            |(flag, rounds)| {
                for _ in 0..20 {
                    if flag.load(SeqCst) {
                        break;
                    }
                    rounds.fetch_add(1, SeqCst);
                }
            },
            |(flag, rounds)| {
                assert_ne!(rounds.load(SeqCst), 17);
                raise(flag);
            },
        );
    }),
    fails("the number of rounds on the stack", "panic", || {
        two(
            AtomicBool::new(false),
            |flag| {
                let mut rounds = 0;
                while !flag.load(SeqCst) {
                    rounds += 1;
                    if rounds > 40 {
                        break;
                    }
                }
                assert_ne!(rounds, 23);
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

/// Beyond a thousand rounds, a loop is taken to spin. Where that hides a failure, the verdict must say what was assumed.
#[test]
fn a_loop_that_gives_up_late_is_not_verified_without_a_word() {
    let report = raddle::Explorer::new()
        .strategy("dpor")
        .spurious_wakeups(0)
        .run(|| two(AtomicBool::new(false), gives_up_after::<3000>, raise));
    let line = report.verdict_line();
    assert!(report.failed() || line.contains("spins, it is assumed"), "{line}");
}

/// Takes its own lock and tries the other's, until it has both.
fn until_both_are_held(own: &Mutex<()>, other: &Mutex<()>) {
    loop {
        let _held = own.lock().unwrap();
        if other.try_lock().is_ok() {
            break;
        }
    }
}

/// They could go on for ever, but only if they are scheduled to: each order that is fair to both comes to an end. That the loops may be
/// left out otherwise is told.
#[test]
fn two_that_hold_one_lock_and_try_the_other() {
    let patient = raddle::Explorer::new().time(Duration::from_secs(600));
    let report = patient.strategy("dpor").spurious_wakeups(0).workers(1).run(|| {
        two((Mutex::new(()), Mutex::new(())), |(a, b)| until_both_are_held(a, b), |(a, b)| until_both_are_held(b, a));
    });
    let line = report.verdict_line();
    assert!(report.verified() && line.contains("spin") && line.contains("it is assumed"), "{line}");
}

/// Peterson's lock: whether each of the two wants to enter, and whose turn it is to wait.
#[derive(Default)]
struct Peterson {
    wants: [AtomicBool; 2],
    waits: AtomicUsize,
    sum: AtomicUsize,
}

impl Peterson {
    fn add_one(&self, me: usize) {
        let other = 1 - me;
        self.wants[me].store(true, SeqCst);
        self.waits.store(me, SeqCst);
        while self.wants[other].load(SeqCst) && self.waits.load(SeqCst) == me {
            hint::spin_loop();
        }
        self.sum.store(self.sum.load(SeqCst) + 1, SeqCst);
        self.wants[me].store(false, SeqCst);
    }
}

/// Each execution goes round the loop once more than the one before. The default must find out that it spins before its steps are used up.
#[test]
fn the_default_proves_a_lock_that_spins_on_two_conditions() {
    let report = raddle::Explorer::new().spurious_wakeups(0).time(Duration::from_secs(600)).run(|| {
        let lock = each(Peterson::default(), [|lock| lock.add_one(0), |lock| lock.add_one(1)]);
        assert_eq!(lock.sum.load(SeqCst), 2);
    });
    assert!(report.verified(), "{report}");
}
