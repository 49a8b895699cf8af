//! Three threads hand a token round; a fourth looks whether all have the same, as soon as all are done.

use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst};

use crate::Program;
use crate::program::together;

/// As it is in the suite, and with one thread that hands the token all the way round.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("token_ring", "panic", || {
        run(&[|ring| ring.pass(2, 0, 1), |ring| ring.pass(0, 1, 0), |ring| ring.pass(1, 2, 0), Ring::check]);
    }),
    Program::correct("token_ring_ok", || {
        let pass_round = |ring: &Ring| {
            ring.pass(2, 0, 1);
            ring.pass(0, 1, 0);
            ring.pass(1, 2, 0);
        };
        run(&[pass_round, Ring::check]);
    }),
];

struct Ring {
    lock: Mutex<()>,
    token: [AtomicI32; 3],
    done: [AtomicBool; 3],
}

impl Ring {
    fn pass(&self, from: usize, to: usize, step: i32) {
        let _held = self.lock.lock().unwrap();
        let token = self.token[from].load(SeqCst);
        self.token[to].store((token + step) % 4, SeqCst);
        self.done[to].store(true, SeqCst);
    }

    fn check(&self) {
        let _held = self.lock.lock().unwrap();
        if self.done.iter().all(|done| done.load(SeqCst)) {
            let (a, b) = (self.token[0].load(SeqCst), self.token[1].load(SeqCst));
            assert!(a == b && b == self.token[2].load(SeqCst), "the token was passed in another order");
        }
    }
}

fn run(roles: &[fn(&Ring)]) {
    let token = [1, 2, 1].map(AtomicI32::new);
    together(&Ring { lock: Mutex::new(()), token, done: [false; 3].map(AtomicBool::new) }, roles);
}
