//! A thread that fires timers and otherwise waits. It looks whether it shall end, and then waits: if it is told to end in between,
//! it does not hear it, and whoever told it waits for its end for ever.

use raddle::sync::atomic::{AtomicBool, Ordering::SeqCst};
use raddle::sync::{Condvar, Mutex};
use raddle::thread;

use super::traffic::Traffic;
use crate::Program;

/// As it was, and with the word to end under the lock that goes with the waiting.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("TimerThread", "deadlock", || run(TimerThread::shut_down)),
    Program::correct("TimerThread_ok", || run(TimerThread::shut_down_locked)),
];

fn run(shut_down: fn(&TimerThread)) {
    let timers = TimerThread::default();
    thread::scope(|scope| {
        let thread = scope.spawn(|| timers.run());
        timers.add();
        timers.traffic.tell("added");
        shut_down(&timers);
        thread.join().expect("the thread only fires timers");
    });
}

#[derive(Default)]
struct TimerThread {
    traffic: Traffic,
    due: Mutex<u32>,
    changed: Condvar,
    shutdown: AtomicBool,
}

impl TimerThread {
    fn run(&self) {
        let mut due = self.due.lock().unwrap();
        while !self.shutdown.load(SeqCst) {
            if *due > 0 {
                *due -= 1;
                drop(due);
                self.traffic.tell("fire");
                due = self.due.lock().unwrap();
            } else {
                due = self.changed.wait(due).unwrap();
            }
        }
    }

    fn add(&self) {
        *self.due.lock().unwrap() += 1;
        self.changed.notify_one();
    }

    fn shut_down(&self) {
        self.shutdown.store(true, SeqCst);
        self.changed.notify_one();
    }

    fn shut_down_locked(&self) {
        let _due = self.due.lock().unwrap();
        self.shut_down();
    }
}
