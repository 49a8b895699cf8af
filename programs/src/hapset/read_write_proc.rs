//! Reading from a file on the old Macintosh: the operation is started, and then said to be pending. If it is done by then, whoever
//! started it waits for ever.

use raddle::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use raddle::thread;

use super::traffic::Traffic;
use crate::Program;

/// As it was, and with the operation said to be pending first.
pub static PROGRAMS: [Program; 2] =
    [Program::bug("ReadWriteProc", "livelock", start_then_say), Program::correct("ReadWriteProc_ok", say_then_start)];

fn start_then_say() {
    let file = File::default();
    thread::scope(|scope| {
        scope.spawn(|| file.read());
        file.traffic.tell("started");
        file.pending.store(true, SeqCst);
        file.await_result();
    });
}

fn say_then_start() {
    let file = File::default();
    thread::scope(|scope| {
        file.pending.store(true, SeqCst);
        scope.spawn(|| file.read());
        file.traffic.tell("started");
        file.await_result();
    });
}

#[derive(Default)]
struct File {
    traffic: Traffic,
    pending: AtomicBool,
    bytes: AtomicU32,
}

impl File {
    /// What the device does, and its callback.
    fn read(&self) {
        self.traffic.tell("read");
        self.bytes.store(512, SeqCst);
        self.traffic.tell("done");
        self.pending.store(false, SeqCst);
    }

    fn await_result(&self) {
        while self.pending.load(SeqCst) {
            thread::yield_now();
        }
        assert_eq!(self.bytes.load(SeqCst), 512, "the operation was not done");
    }
}
