//! A timer that is cancelled after somebody has seen that it is there, and before it is set to another delay.

use raddle::sync::Mutex;

use super::traffic::Traffic;
use crate::Program;
use crate::program::together;

/// As it was, and with one lock over looking and setting.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("UpdateTimer", "panic", || run(Session::update_in_two)),
    Program::correct("UpdateTimer_ok", || run(Session::update)),
];

fn run(update: fn(&Session)) {
    let timer = Mutex::new(Some(Timer { delay_ms: 100 }));
    together(&Session { traffic: Traffic::default(), timer }, &[update, Session::cancel]);
}

struct Session {
    traffic: Traffic,
    timer: Mutex<Option<Timer>>,
}

struct Timer {
    delay_ms: u32,
}

impl Session {
    fn update_in_two(&self) {
        if self.timer.lock().unwrap().is_some() {
            self.traffic.tell("update");
            self.timer.lock().unwrap().as_mut().expect("the timer was there a moment ago").delay_ms = 200;
        }
    }

    fn update(&self) {
        self.traffic.tell("update");
        if let Some(timer) = self.timer.lock().unwrap().as_mut() {
            timer.delay_ms = 200;
        }
    }

    fn cancel(&self) {
        self.traffic.tell("stop");
        self.traffic.tell("cancel");
        let cancelled = self.timer.lock().unwrap().take().expect("nobody else cancels");
        assert!(cancelled.delay_ms == 100 || cancelled.delay_ms == 200, "the delay is one of those that were set");
    }
}
