//! A producer and a consumer who wait for each other with condition variables, one of them for something that nobody will do.

use raddle::sync::{Condvar, Mutex};

use crate::Program;
use crate::program::together;

/// sync01, sync02, and a pair who agree on how much there is to do. The first two deadlock in every order.
pub static PROGRAMS: [Program; 3] = [
    Program::bug("sync01", "deadlock", || together(&Store::holding(1), &[|s| s.produce(1), Store::look])),
    Program::bug("sync02", "deadlock", || together(&Store::holding(2), &[|s| s.produce(2), |s| s.consume(2)])),
    Program::correct("sync02_ok", || together(&Store::holding(2), &[|s| s.produce(2), |s| s.consume(4)])),
];

/// The producer waits until everything is gone.
struct Store {
    number: Mutex<u32>,
    empty: Condvar,
    full: Condvar,
}

impl Store {
    fn holding(number: u32) -> Self {
        Self { number: Mutex::new(number), empty: Condvar::new(), full: Condvar::new() }
    }

    fn produce(&self, times: u32) {
        for _ in 0..times {
            let mut number = self.empty.wait_while(self.number.lock().unwrap(), |number| *number > 0).unwrap();
            *number += 1;
            drop(number);
            self.full.notify_one();
        }
    }

    fn consume(&self, times: u32) {
        for _ in 0..times {
            let mut number = self.full.wait_while(self.number.lock().unwrap(), |number| *number == 0).unwrap();
            *number -= 1;
            drop(number);
            self.empty.notify_one();
        }
    }

    /// Waits like a consumer, takes nothing, and says that the store is empty.
    fn look(&self) {
        drop(self.full.wait_while(self.number.lock().unwrap(), |number| *number == 0).unwrap());
        self.empty.notify_one();
    }
}
