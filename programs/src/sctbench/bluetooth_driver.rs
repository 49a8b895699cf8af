//! A driver that is stopped while a worker is between asking whether it may go on and saying that it does.

use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst};

use crate::Program;
use crate::program::together;

/// As it is in the suite, and with a worker that says first and asks then.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("bluetooth_driver", "panic", || run(Driver::work)),
    Program::correct("bluetooth_driver_ok", || run(Driver::work_if_not_stopping)),
];

struct Driver {
    lock: Mutex<()>,
    pending_io: AtomicI32,
    stopping: AtomicBool,
    stop_event: AtomicBool,
    stopped: AtomicBool,
}

impl Driver {
    fn acquire(&self) {
        let _held = self.lock.lock().unwrap();
        let pending = self.pending_io.load(SeqCst);
        self.pending_io.store(pending + 1, SeqCst);
    }

    fn release(&self) {
        let held = self.lock.lock().unwrap();
        let pending = self.pending_io.load(SeqCst);
        self.pending_io.store(pending - 1, SeqCst);
        let pending = self.pending_io.load(SeqCst);
        drop(held);
        if pending == 0 {
            self.stop_event.store(true, SeqCst);
        }
    }

    fn stop(&self) {
        self.stopping.store(true, SeqCst);
        self.release();
        if self.stop_event.load(SeqCst) {
            self.stopped.store(true, SeqCst);
        }
    }

    fn do_io(&self) {
        assert!(!self.stopped.load(SeqCst), "the driver works although it was stopped");
    }

    fn work(&self) {
        if !self.stopping.load(SeqCst) {
            self.acquire();
            self.do_io();
        }
        self.release();
    }

    /// Once it counts as pending, nobody declares the driver stopped.
    fn work_if_not_stopping(&self) {
        self.acquire();
        if !self.stopping.load(SeqCst) {
            self.do_io();
        }
        self.release();
    }
}

fn run(work: fn(&Driver)) {
    let driver = Driver {
        lock: Mutex::new(()),
        pending_io: AtomicI32::new(1),
        stopping: AtomicBool::new(false),
        stop_event: AtomicBool::new(false),
        stopped: AtomicBool::new(false),
    };
    together(&driver, &[Driver::stop, work]);
}
