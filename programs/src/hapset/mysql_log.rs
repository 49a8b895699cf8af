//! MySQL's log, which is closed and opened again to begin a new file. Between the two it is not open, and what is written then is
//! taken for something that need not be logged.

use raddle::sync::Mutex;

use super::traffic::Traffic;
use crate::Program;
use crate::program::together;

/// As it was, and with one lock over closing and opening.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("MysqlLog", "panic", || run(Log::rotate_in_two)),
    Program::correct("MysqlLog_ok", || run(Log::rotate)),
];

fn run(rotate: fn(&Log)) {
    let log = Log::default();
    log.files.lock().unwrap().open();
    together(&log, &[rotate, |log| log.execute(1), |log| log.execute(2)]);
    let mut entries = log.files.lock().unwrap().entries.concat();
    entries.sort_unstable();
    assert_eq!(entries, [1, 2], "a change was not logged");
}

#[derive(Default)]
struct Log {
    traffic: Traffic,
    files: Mutex<Files>,
}

#[derive(Default)]
struct Files {
    is_open: bool,
    entries: Vec<Vec<u32>>,
}

impl Files {
    fn open(&mut self) {
        self.entries.push(Vec::new());
        self.is_open = true;
    }

    fn close(&mut self) {
        self.is_open = false;
    }

    fn append(&mut self, entry: u32) {
        if self.is_open {
            self.entries.last_mut().expect("an open log has a file").push(entry);
        }
    }
}

impl Log {
    fn execute(&self, change: u32) {
        self.traffic.tell("change");
        self.files.lock().unwrap().append(change);
        self.traffic.tell("changed");
    }

    fn rotate_in_two(&self) {
        self.files.lock().unwrap().close();
        self.files.lock().unwrap().open();
        self.traffic.tell("rotated");
    }

    fn rotate(&self) {
        let mut files = self.files.lock().unwrap();
        files.close();
        files.open();
        drop(files);
        self.traffic.tell("rotated");
    }
}
