//! Dining philosophers with locks for forks, one round.

use raddle::sync::Mutex;
use raddle::thread;

use crate::Program;

/// Two to seven who all take their left fork first, and some of whom one takes the right one first.
pub static PROGRAMS: [Program; 6] = [
    Program::bug("din_phil2", "deadlock", || left_first(2)),
    Program::bug("din_phil3", "deadlock", || left_first(3)).sized(2, 7, left_first),
    Program::bug("din_phil5", "deadlock", || left_first(5)),
    Program::bug("din_phil7", "deadlock", || left_first(7)),
    Program::correct("din_phil3_ok", || one_right_first(3)),
    Program::correct("din_phil5_ok", || one_right_first(5)).sized(2, 7, one_right_first),
];

fn left_first(philosophers: u32) {
    dinner(philosophers, |worker, next, _| (worker, next));
}

/// The last one breaks the circle.
fn one_right_first(philosophers: u32) {
    dinner(philosophers, |worker, next, last| if last { (next, worker) } else { (worker, next) });
}

/// `forks_of` tells which fork somebody takes first, and which then, given the worker, the next worker, and whether it is the last.
fn dinner(philosophers: u32, forks_of: fn(usize, usize, bool) -> (usize, usize)) {
    let forks: Vec<Mutex<()>> = (0..philosophers).map(|_| Mutex::new(())).collect();
    thread::scope(|scope| {
        let forks = &forks;
        for worker in 0..forks.len() {
            let (first, second) = forks_of(worker, (worker + 1) % forks.len(), worker + 1 == forks.len());
            scope.spawn(move || eat(&forks[first], &forks[second]));
        }
    });
}

fn eat(first: &Mutex<()>, second: &Mutex<()>) {
    let first = first.lock().unwrap();
    let second = second.lock().unwrap();
    drop(second);
    drop(first);
}
