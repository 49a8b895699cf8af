//! Plain memory, which must be ordered by something.

use raddle::cell::{Cell, UnsafeCell};
use raddle::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use raddle::sync::atomic::{AtomicBool, AtomicUsize, fence};
use raddle::sync::{Arc, Barrier, Mutex, Once, RwLock, mpsc};
use raddle::{thread, thread_local};

use super::table::{self, Row, each, fails, nothing, two, verified};

/// A cell that is shared with nothing to guard it.
#[derive(Default)]
struct Plain(Cell<u32>);

#[expect(unsafe_code, reason = "memory that is shared with nothing to guard it is what the rows are about")]
// SAFETY: one task runs at a time, and Raddle tells if accesses are not ordered.
unsafe impl Sync for Plain {}

/// The same, accessed by pointer.
#[derive(Default)]
struct Raw(UnsafeCell<u32>);

#[expect(unsafe_code, reason = "as above")]
// SAFETY: as above.
unsafe impl Sync for Raw {}

impl Raw {
    #[expect(unsafe_code, reason = "as above")]
    fn read(&self) -> u32 {
        // SAFETY: one task runs at a time, and does not take a step in here.
        self.0.with(|value| unsafe { *value })
    }

    #[expect(unsafe_code, reason = "as above")]
    fn write(&self, new: u32) {
        // SAFETY: as above.
        self.0.with_mut(|value| unsafe { *value = new });
    }
}

/// Writes when its thread ends.
struct WritesAtTheEnd(Arc<Raw>);

impl Drop for WritesAtTheEnd {
    fn drop(&mut self) {
        self.0.write(1);
    }
}

thread_local! {
    static AT_THE_END: std::cell::RefCell<Option<WritesAtTheEnd>> = const { std::cell::RefCell::new(None) };
}

/// What a thread does that writes in the destructor of a thread-local value, and what it writes to.
fn writes_at_the_end() -> (Arc<Raw>, impl FnOnce() + Send) {
    let cell = Arc::new(Raw::default());
    let theirs = WritesAtTheEnd(cell.clone());
    (cell, move || AT_THE_END.set(Some(theirs)))
}

const ENDS: &[Row] = &[
    fails("a thread-local's destructor, and who has left the scope", "data race", || {
        let (cell, thread) = writes_at_the_end();
        thread::scope(|scope| _ = scope.spawn(thread));
        cell.read();
    }),
    fails("a thread-local's destructor, and who has seen that the thread is finished", "data race", || {
        let (cell, thread) = writes_at_the_end();
        thread::scope(|scope| _ = scope.spawn(thread).is_finished());
        cell.read();
    }),
    fails("destructors of two threads' locals", "data race", || {
        let (cell, thread) = writes_at_the_end();
        let other = WritesAtTheEnd(cell);
        thread::scope(|scope| {
            scope.spawn(thread);
            scope.spawn(move || AT_THE_END.set(Some(other)));
        });
    }),
    nothing("a thread-local's destructor, and who has joined", || {
        let (cell, thread) = writes_at_the_end();
        thread::spawn(thread).join().unwrap();
        cell.read();
    }),
    nothing("a thread-local's destructor, and who has joined within the scope", || {
        let (cell, thread) = writes_at_the_end();
        thread::scope(|scope| scope.spawn(thread).join().unwrap());
        cell.read();
    }),
    nothing("before a thread-local's destructor, and who has left the scope", || {
        let cell = Arc::new(Raw::default());
        let (_, thread) = writes_at_the_end();
        thread::scope(|scope| {
            scope.spawn(|| {
                cell.write(1);
                thread();
            });
        });
        cell.read();
    }),
];

const ROWS: &[Row] = &[
    fails("a read and a write", "data race", || two(Plain::default(), |c| _ = c.0.get(), |c| c.0.set(1))),
    fails("two writes by pointer", "data race", || two(Raw::default(), |c| c.write(1), |c| c.write(2))),
    fails("a race that one order hides", "data race", || {
        two(
            (Plain::default(), AtomicBool::new(false)),
            |(cell, done)| {
                if !done.load(SeqCst) {
                    cell.0.get();
                }
            },
            |(cell, done)| {
                cell.0.set(1);
                done.store(true, SeqCst);
            },
        );
    }),
    // Reads do not race, and an access is no point of decision.
    nothing("two reads by pointer", || two(Raw::default(), |c| _ = c.read(), |c| _ = c.read())),
    verified("ordered by a mutex", 2, || {
        let add: fn(&(Plain, Mutex<()>)) = |(cell, lock)| {
            let _held = lock.lock().unwrap();
            cell.0.set(cell.0.get() + 1);
        };
        two(Default::default(), add, add);
    }),
    verified("read by readers", 1, || {
        let read: fn(&(Raw, RwLock<()>)) = |(cell, lock)| {
            let _held = lock.read().unwrap();
            cell.read();
        };
        two(Default::default(), read, read);
    }),
    fails("written by a reader", "data race", || {
        let write: fn(&(Raw, RwLock<()>)) = |(cell, lock)| {
            let _held = lock.read().unwrap();
            cell.write(1);
        };
        two(Default::default(), write, write);
    }),
    nothing("ordered by spawn and join", || {
        let cell = Arc::new(Plain::default());
        cell.0.set(1);
        let theirs = cell.clone();
        thread::spawn(move || theirs.0.set(2)).join().unwrap();
        assert_eq!(cell.0.get(), 2);
    }),
    verified("released and acquired", 2, || {
        two(
            (Plain::default(), AtomicBool::new(false)),
            |(cell, done)| {
                if done.load(Acquire) {
                    assert_eq!(cell.0.get(), 1);
                }
            },
            |(cell, done)| {
                cell.0.set(1);
                done.store(true, Release);
            },
        );
    }),
    fails("neither released nor acquired", "data race", || {
        two(
            (Plain::default(), AtomicBool::new(false)),
            |(cell, done)| {
                if done.load(Relaxed) {
                    cell.0.get();
                }
            },
            |(cell, done)| {
                cell.0.set(1);
                done.store(true, Relaxed);
            },
        );
    }),
    verified("released and acquired by fences", 2, || {
        two(
            (Plain::default(), AtomicBool::new(false)),
            |(cell, done)| {
                if done.load(Relaxed) {
                    fence(Acquire);
                    assert_eq!(cell.0.get(), 1);
                }
            },
            |(cell, done)| {
                cell.0.set(1);
                fence(Release);
                done.store(true, Relaxed);
            },
        );
    }),
    fails("a fence on one side only", "data race", || {
        two(
            (Plain::default(), AtomicBool::new(false)),
            |(cell, done)| {
                if done.load(Relaxed) {
                    cell.0.get();
                }
            },
            |(cell, done)| {
                cell.0.set(1);
                fence(Release);
                done.store(true, Relaxed);
            },
        );
    }),
    fails("written after it was sent", "data race", || {
        let (sender, receiver) = mpsc::channel();
        let thread = thread::spawn(move || {
            let cell: Arc<Plain> = receiver.recv().unwrap();
            cell.0.set(1);
        });
        let cell = Arc::new(Plain::default());
        sender.send(cell.clone()).unwrap();
        cell.0.set(2);
        thread.join().unwrap();
    }),
    fails("looked at after is_finished, which orders nothing", "data race", || {
        let cell = Arc::new(Plain::default());
        let theirs = cell.clone();
        let thread = thread::spawn(move || theirs.0.set(1));
        if thread.is_finished() {
            cell.0.get();
        }
        thread.join().unwrap();
    }),
    nothing("ordered by unpark", || {
        let cell = Arc::new(Plain::default());
        let (theirs, main) = (cell.clone(), thread::current());
        let thread = thread::spawn(move || {
            theirs.0.set(1);
            main.unpark();
        });
        thread::park();
        assert_eq!(cell.0.get(), 1);
        thread.join().unwrap();
    }),
    fails("a park that ends for no reason", "data race", || {
        let cell = Arc::new(Plain::default());
        let (theirs, main) = (cell.clone(), thread::current());
        let thread = thread::spawn(move || {
            theirs.0.set(1);
            main.unpark();
        });
        thread::park();
        cell.0.get();
        thread.join().unwrap();
    })
    .with(|explorer| explorer.spurious_wakeups(1)),
    verified("ordered by a barrier", 2, || {
        two(
            (Plain::default(), Barrier::new(2)),
            |(cell, barrier)| {
                barrier.wait();
                assert_eq!(cell.0.get(), 1);
            },
            |(cell, barrier)| {
                cell.0.set(1);
                barrier.wait();
            },
        );
    }),
    verified("ordered by what is done once", 2, || {
        let call: fn(&(Plain, Once)) = |(cell, once)| {
            once.call_once(|| cell.0.set(1));
            assert_eq!(cell.0.get(), 1);
        };
        two((Plain::default(), Once::new()), call, call);
    }),
    fails("a relaxed store breaks what was released", "data race", || {
        _ = each(
            (Plain::default(), AtomicUsize::new(0)),
            [
                |(cell, flag)| {
                    cell.0.set(1);
                    flag.store(1, Release);
                },
                |(_, flag)| {
                    if flag.load(Relaxed) == 1 {
                        flag.store(2, Relaxed);
                    }
                },
                |(cell, flag)| {
                    if flag.load(Acquire) == 2 {
                        cell.0.get();
                    }
                },
            ],
        );
    }),
    // Orders of the store S, the exchange E and the load L, of which E fails if it comes before S: all 6, but E and L both before S
    // are the same either way, since both read only.
    verified("a relaxed exchange continues what was released", 5, || {
        _ = each(
            (Plain::default(), AtomicUsize::new(0)),
            [
                |(cell, flag)| {
                    cell.0.set(1);
                    flag.store(1, Release);
                },
                |(_, flag)| _ = flag.compare_exchange(1, 2, Relaxed, Relaxed),
                |(cell, flag)| {
                    if flag.load(Acquire) == 2 {
                        assert_eq!(cell.0.get(), 1);
                    }
                },
            ],
        );
    }),
    fails("an exchange that fails without acquiring", "data race", || {
        two(
            (Plain::default(), AtomicUsize::new(0)),
            |(cell, flag)| {
                if flag.compare_exchange(0, 2, Acquire, Relaxed) == Err(1) {
                    cell.0.get();
                }
            },
            |(cell, flag)| {
                cell.0.set(1);
                flag.store(1, Release);
            },
        );
    }),
];

#[test]
fn cells() {
    table::check(ROWS);
}

#[test]
fn ends_of_threads() {
    table::check(ENDS);
}
