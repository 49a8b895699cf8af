//! A thread that looks for its own handle, which whoever started it may not have put there yet.

use raddle::sync::Mutex;
use raddle::thread::{self, ThreadId};

use super::traffic::Traffic;
use crate::Program;

/// As it was, and with the place for the handle locked until the handle is there.
pub static PROGRAMS: [Program; 2] =
    [Program::bug("CreateThread", "panic", start_and_keep), Program::correct("CreateThread_ok", start_locked)];

fn start_and_keep() {
    let service = Service::default();
    thread::scope(|scope| {
        let handle = scope.spawn(|| service.run());
        service.traffic.tell("started");
        *service.thread.lock().unwrap() = Some(handle.thread().id());
    });
}

fn start_locked() {
    let service = Service::default();
    thread::scope(|scope| {
        let mut thread = service.thread.lock().unwrap();
        let handle = scope.spawn(|| service.run());
        *thread = Some(handle.thread().id());
        drop(thread);
        service.traffic.tell("started");
    });
}

#[derive(Default)]
struct Service {
    traffic: Traffic,
    thread: Mutex<Option<ThreadId>>,
}

impl Service {
    fn run(&self) {
        self.traffic.tell("run");
        let thread = self.thread.lock().unwrap().expect("whoever runs was started");
        assert_eq!(thread, thread::current().id(), "the handle is of another thread");
        self.traffic.tell("done");
    }
}
