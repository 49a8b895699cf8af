//! The smallest programs of the known suites: a handful of steps each, one bug each.

use raddle::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::thread;

/// Starts all, then waits for all.
fn together<T: Send + Sync + 'static>(shared: &Arc<T>, threads: &[fn(&T)]) {
    let start = |&body: &fn(&T)| {
        let shared = shared.clone();
        thread::spawn(move || body(&shared))
    };
    let handles: Vec<_> = threads.iter().map(start).collect();
    for handle in handles {
        handle.join().expect("a thread of the program panicked");
    }
}

fn add(lock: &Mutex<()>, to: &AtomicI32, amount: i32) {
    let _held = lock.lock().unwrap();
    let value = to.load(SeqCst);
    to.store(value + amount, SeqCst);
}

/// Two threads add to a counter that a third expects to be small, though nothing makes it go first.
pub fn lazy01() {
    #[derive(Default)]
    struct Shared {
        lock: Mutex<()>,
        data: AtomicI32,
    }
    let check = |s: &Shared| {
        let _held = s.lock.lock().unwrap();
        assert!(s.data.load(SeqCst) < 3, "both additions came first");
    };
    together::<Shared>(&Arc::default(), &[check, |s| add(&s.lock, &s.data, 2), |s| add(&s.lock, &s.data, 1)]);
}

/// Three threads hand a token round; a fourth looks whether all have the same, as soon as all are done.
pub fn token_ring() {
    struct Shared {
        lock: Mutex<()>,
        token: [AtomicI32; 3],
        done: [AtomicBool; 3],
    }
    impl Shared {
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
    let shared =
        Shared { lock: Mutex::new(()), token: [1, 2, 1].map(AtomicI32::new), done: [false; 3].map(AtomicBool::new) };
    together(&Arc::new(shared), &[|s| s.pass(2, 0, 1), |s| s.pass(0, 1, 0), |s| s.pass(1, 2, 0), Shared::check]);
}

/// Two threads take two locks in opposite orders.
pub fn deadlock01() {
    #[derive(Default)]
    struct Shared {
        a: Mutex<()>,
        b: Mutex<()>,
        counter: AtomicI32,
    }
    impl Shared {
        fn count(&self, first: &Mutex<()>, second: &Mutex<()>, amount: i32) {
            let _first = first.lock().unwrap();
            let _second = second.lock().unwrap();
            let counter = self.counter.load(SeqCst);
            self.counter.store(counter + amount, SeqCst);
        }
    }
    together::<Shared>(&Arc::default(), &[|s| s.count(&s.a, &s.b, 1), |s| s.count(&s.b, &s.a, -1)]);
}

/// A driver that is stopped while a worker is between asking whether it may go on and saying that it does.
pub fn bluetooth_driver() {
    struct Driver {
        lock: Mutex<()>,
        pending_io: AtomicI32,
        stopping: AtomicBool,
        stop_event: AtomicBool,
        stopped: AtomicBool,
    }
    impl Driver {
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
        fn work(&self) {
            if !self.stopping.load(SeqCst) {
                let held = self.lock.lock().unwrap();
                let pending = self.pending_io.load(SeqCst);
                self.pending_io.store(pending + 1, SeqCst);
                drop(held);
                assert!(!self.stopped.load(SeqCst), "the driver works although it was stopped");
            }
            self.release();
        }
    }
    let driver = Driver {
        lock: Mutex::new(()),
        pending_io: AtomicI32::new(1),
        stopping: AtomicBool::new(false),
        stop_event: AtomicBool::new(false),
        stopped: AtomicBool::new(false),
    };
    together(&Arc::new(driver), &[Driver::stop, Driver::work]);
}

/// Two values are to be seen together but are written under two locks, one after the other.
pub fn twostage() {
    #[derive(Default)]
    struct Shared {
        first: (Mutex<()>, AtomicUsize),
        second: (Mutex<()>, AtomicUsize),
    }
    impl Shared {
        fn write(&self) {
            let held = self.first.0.lock().unwrap();
            self.first.1.store(1, SeqCst);
            drop(held);
            let _held = self.second.0.lock().unwrap();
            let value = self.first.1.load(SeqCst);
            self.second.1.store(value + 1, SeqCst);
        }
        fn read(&self) {
            let held = self.first.0.lock().unwrap();
            if self.first.1.load(SeqCst) == 0 {
                return;
            }
            let first = self.first.1.load(SeqCst);
            drop(held);
            let held = self.second.0.lock().unwrap();
            let second = self.second.1.load(SeqCst);
            drop(held);
            assert_eq!(second, first + 1, "the second value was read between the two stages");
        }
    }
    together::<Shared>(&Arc::default(), &[Shared::write, Shared::read]);
}

/// Two setters write a pair; a checker expects to see both values or none.
pub fn reorder_3() {
    #[derive(Default)]
    struct Pair {
        a: AtomicI32,
        b: AtomicI32,
    }
    impl Pair {
        fn set(&self) {
            self.a.store(1, SeqCst);
            self.b.store(-1, SeqCst);
        }
        fn check(&self) {
            let none = self.a.load(SeqCst) == 0 && self.b.load(SeqCst) == 0;
            assert!(none || self.a.load(SeqCst) == 1 && self.b.load(SeqCst) == -1, "half of the pair was seen");
        }
    }
    together::<Pair>(&Arc::default(), &[Pair::set, Pair::set, Pair::check]);
}

/// Three philosophers who all take their left fork first.
pub fn philosophers_3() {
    type Forks = [Mutex<()>; 3];
    fn eat(forks: &Forks, left: usize) {
        let left_fork = forks[left].lock().unwrap();
        let right_fork = forks[(left + 1) % 3].lock().unwrap();
        drop(right_fork);
        drop(left_fork);
    }
    together::<Forks>(&Arc::default(), &[|f| eat(f, 0), |f| eat(f, 1), |f| eat(f, 2)]);
}
