//! Plain memory, which must be ordered by something.

use raddle::cell::{Cell, UnsafeCell};
use raddle::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use raddle::sync::atomic::{AtomicBool, fence};
use raddle::sync::{Arc, Mutex, RwLock, mpsc};
use raddle::thread;

use super::table::{self, Row, fails, nothing, two, verified};

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
];

#[test]
fn cells() {
    table::check(ROWS);
}
