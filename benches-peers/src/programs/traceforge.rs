//! The programs as one writes them for traceforge, with its own threads, atomics, locks and channels.
//!
//! All of these are message passing underneath: an atomic or a lock is a thread that answers requests, so two reads of one atomic are
//! two requests that may come in either order.

use super::{Explore, Program};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use traceforge::sync::atomic::AtomicUsize;
use traceforge::sync::{Mutex, mpsc};
use traceforge::thread;

/// Why traceforge cannot run the program, if it cannot.
pub fn obstacle(program: Program) -> Option<&'static str> {
    match program {
        Program::Atomic => Some("traceforge's atomics have no fetch_add"),
        Program::SpawnJoin(_) | Program::Ring(_) | Program::Real(_) | Program::Planted(_) | Program::Long(..) => {
            Some("not written for traceforge")
        }
        _ => None,
    }
}

/// Hands the body of the program to the explorer.
pub fn hand_to<E: Explore>(program: Program, explorer: E) -> E::Seen {
    match program {
        Program::Locked => explorer.explore(|| lock_often(2, 3)),
        Program::Mpsc => explorer.explore(messages),
        Program::Philosophers => {
            explorer.explore(|| dine(3, |worker| (worker.min((worker + 1) % 3), worker.max((worker + 1) % 3))))
        }
        Program::LeftFirst(all_workers) => {
            explorer.explore(move || dine(all_workers, move |worker| (worker, (worker + 1) % all_workers)))
        }
        Program::Readers(count) => explorer.explore(move || readers(count)),
        Program::LastZero(writers) => explorer.explore(move || last_zero(writers)),
        Program::Critical(threads) => explorer.explore(move || lock_often(threads, 2)),
        Program::Atomic
        | Program::SpawnJoin(_)
        | Program::Ring(_)
        | Program::Real(_)
        | Program::Planted(_)
        | Program::Long(..) => {
            unreachable!("`obstacle` keeps {program} from being run")
        }
    }
}

fn join_all(threads: Vec<thread::JoinHandle<()>>) {
    for thread in threads {
        thread.join().expect("no thread of these programs panics");
    }
}

fn lock_often(threads: usize, times: usize) {
    let total = Arc::new(Mutex::new(0));
    let increment = |_| {
        let total = Arc::clone(&total);
        thread::spawn(move || {
            for _ in 0..times {
                *total.blocking_lock() += 1;
            }
        })
    };
    join_all((0..threads).map(increment).collect());
}

fn messages() {
    let (sender, receiver) = mpsc::unbounded_channel::<i32>();
    let send_three = |_| {
        let sender = sender.clone();
        thread::spawn(move || {
            for message in 1..=3 {
                sender.send(message).expect("the receiver outlives the producers");
            }
        })
    };
    let producers = (0..2).map(send_three).collect();
    // Despite its name, this waits until there is a message.
    let sum: i32 = (0..6).map(|_| receiver.try_recv().expect("six are sent")).sum();
    assert_eq!(sum, 12, "each producer sends 1, 2 and 3");
    join_all(producers);
}

fn dine(all_workers: usize, forks_of: impl Fn(usize) -> (usize, usize)) {
    let forks: Arc<Vec<Mutex<()>>> = Arc::new((0..all_workers).map(|_| Mutex::new(())).collect());
    let dine = |worker: usize| {
        let forks = Arc::clone(&forks);
        let (first, second) = forks_of(worker);
        thread::spawn(move || {
            let _first = forks[first].blocking_lock();
            let _second = forks[second].blocking_lock();
        })
    };
    join_all((0..all_workers).map(dine).collect());
}

fn readers(count: usize) {
    let shared = Arc::new(AtomicUsize::new(0));
    let read = |_| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            shared.load(Ordering::SeqCst);
        })
    };
    let mut threads: Vec<_> = (0..count).map(read).collect();
    let written = Arc::clone(&shared);
    threads.push(thread::spawn(move || written.store(1, Ordering::SeqCst)));
    join_all(threads);
}

fn last_zero(writers: usize) {
    let cells: Arc<Vec<AtomicUsize>> = Arc::new((0..=writers).map(|_| AtomicUsize::new(0)).collect());
    let read = Arc::clone(&cells);
    let reader = thread::spawn(move || {
        let mut at = writers;
        while read[at].load(Ordering::SeqCst) != 0 {
            at -= 1;
        }
    });
    let write = |own: usize| {
        let cells = Arc::clone(&cells);
        thread::spawn(move || {
            let left = cells[own - 1].load(Ordering::SeqCst);
            cells[own].store(left + 1, Ordering::SeqCst);
        })
    };
    join_all(std::iter::once(reader).chain((1..=writers).map(write)).collect());
}
