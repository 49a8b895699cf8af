//! Small programs, most of them wrong, each in its own way.

use std::time::Duration;

use raddle::cell::UnsafeCell;
use raddle::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use raddle::sync::{Arc, Condvar, Mutex, mpsc};
use raddle::thread;

/// Two threads count to two, unless both look before either writes.
pub fn lost_update() {
    let counter = Arc::new(AtomicUsize::new(0));
    let count = |counter: Arc<AtomicUsize>| {
        thread::spawn(move || {
            let seen = counter.load(Ordering::SeqCst);
            counter.store(seen + 1, Ordering::SeqCst);
        })
    };
    let threads = [count(counter.clone()), count(counter.clone())];
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(counter.load(Ordering::SeqCst), 2, "an update was lost");
}

/// Three threads, each of which takes one lock and then the next one's.
pub fn three_locks() {
    let red = Arc::new(Mutex::new(()));
    let green = Arc::new(Mutex::new(()));
    let blue = Arc::new(Mutex::new(()));
    let take = |name: &str, first: &Arc<Mutex<()>>, second: &Arc<Mutex<()>>| {
        let (first, second) = (first.clone(), second.clone());
        let builder = thread::Builder::new().name(name.to_owned());
        let body = move || {
            let _first = first.lock().unwrap();
            let _second = second.lock().unwrap();
        };
        builder.spawn(body).unwrap()
    };
    let threads = [take("painter", &red, &green), take("printer", &green, &blue), take("weaver", &blue, &red)];
    for thread in threads {
        thread.join().unwrap();
    }
}

/// A thread that takes a lock it already has.
pub fn same_lock_twice() {
    let account = Mutex::new(1);
    let _first = account.lock().unwrap();
    let _second = account.lock().unwrap();
}

/// Waits for a flag that nobody raises.
pub fn spins_for_ever() {
    let ready = Arc::new(AtomicUsize::new(0));
    let waiter = ready.clone();
    let thread = thread::spawn(move || while waiter.load(Ordering::SeqCst) == 0 {});
    thread.join().unwrap();
}

/// Two threads that always find something to do.
pub fn never_ends() {
    let turns = Arc::new(AtomicUsize::new(0));
    let other = turns.clone();
    thread::spawn(move || {
        loop {
            other.fetch_add(1, Ordering::SeqCst);
        }
    });
    loop {
        turns.fetch_add(1, Ordering::SeqCst);
    }
}

/// A recursion without an end.
pub fn overflows_its_stack() {
    fn deeper(depth: u64) -> u64 {
        let page = std::hint::black_box([depth; 128]);
        if page[0] == u64::MAX { 0 } else { deeper(depth + 1) + page[0] }
    }
    thread::spawn(|| std::hint::black_box(deeper(0))).join().unwrap();
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("and then the destructor");
    }
}

/// A panic that meets a destructor that panics too.
pub fn panics_while_panicking() {
    let thread = thread::spawn(|| {
        let _bomb = PanicsWhenDropped;
        panic!("first the thread");
    });
    thread.join().unwrap();
}

/// A destructor that panics all by itself.
pub fn panics_in_a_destructor() {
    drop(PanicsWhenDropped);
}

/// Keeps something from one execution to the next.
pub fn leaks() {
    static SEEN: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    SEEN.lock().unwrap().push(1);
}

/// Does something else every other time, for no reason that Raddle could know.
pub fn tosses_a_coin() {
    use std::sync::atomic::AtomicUsize as Uncontrolled;
    static TOSSES: Uncontrolled = Uncontrolled::new(0);
    let heads = TOSSES.fetch_add(1, Ordering::SeqCst).is_multiple_of(2);
    let turns = Arc::new(AtomicUsize::new(0));
    let other = turns.clone();
    let thread = thread::spawn(move || {
        if heads {
            other.load(Ordering::SeqCst);
        } else {
            other.fetch_add(1, Ordering::SeqCst);
        }
    });
    turns.load(Ordering::SeqCst);
    turns.load(Ordering::SeqCst);
    thread.join().unwrap();
}

/// Fails once in a process and never again.
pub fn fails_only_the_fortieth_time() {
    use std::sync::atomic::AtomicUsize as Uncontrolled;
    static TIMES: Uncontrolled = Uncontrolled::new(0);
    thread::spawn(|| assert_ne!(TIMES.fetch_add(1, Ordering::SeqCst), 39, "the fortieth time")).join().unwrap();
}

/// A thread that is not waited for, and waits for a lock that is never given back.
pub fn forgets_a_guard() {
    let m = Arc::new(Mutex::new(0));
    let other = m.clone();
    std::mem::forget(m.lock().unwrap());
    thread::spawn(move || *other.lock().unwrap() += 1);
}

/// Nothing wrong here.
pub fn counts_under_a_lock() {
    let hits = Arc::new(Mutex::new(0));
    let threads = [1, 2].map(|_| {
        let hits = hits.clone();
        thread::spawn(move || *hits.lock().unwrap() += 1)
    });
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*hits.lock().unwrap(), 2);
}

/// A value handed over by a flag that orders nothing.
pub fn races() {
    struct Shared {
        value: UnsafeCell<u32>,
        ready: AtomicUsize,
    }
    // SAFETY: it is not: this is the bug. Under Raddle only one thread runs at a time.
    unsafe impl Sync for Shared {}
    let shared = Arc::new(Shared { value: UnsafeCell::new(0), ready: AtomicUsize::new(0) });
    let writer = shared.clone();
    let thread = thread::spawn(move || {
        // SAFETY: as above.
        writer.value.with_mut(|value| unsafe { *value = 7 });
        writer.ready.store(1, Ordering::Relaxed);
    });
    if shared.ready.load(Ordering::Relaxed) == 1 {
        // SAFETY: as above.
        shared.value.with(|value| assert_eq!(unsafe { *value }, 7));
    }
    thread.join().unwrap();
}

/// A loop that waits for a flag and counts its rounds on the way.
pub fn counts_its_rounds() {
    let flag = Arc::new(AtomicUsize::new(0));
    let setter = flag.clone();
    let thread = thread::spawn(move || setter.store(1, Ordering::SeqCst));
    let mut rounds = 0;
    while flag.load(Ordering::SeqCst) == 0 {
        rounds += 1;
        thread::yield_now();
    }
    std::hint::black_box(rounds);
    thread.join().unwrap();
}

/// A weak compare-exchange that succeeds.
pub fn exchanges_once() {
    let n = Arc::new(AtomicUsize::new(0));
    let other = n.clone();
    let thread = thread::spawn(move || other.compare_exchange_weak(0, 1, Ordering::SeqCst, Ordering::SeqCst));
    n.load(Ordering::SeqCst);
    let result = thread.join().unwrap();
    assert!(result.is_err(), "it succeeded: {result:?}");
}

/// The same, wrong about the other way that it can go.
pub fn exchanges_in_vain() {
    let n = Arc::new(AtomicUsize::new(0));
    let other = n.clone();
    let thread = thread::spawn(move || other.compare_exchange_weak(0, 1, Ordering::SeqCst, Ordering::SeqCst));
    n.load(Ordering::SeqCst);
    assert!(thread.join().unwrap().is_ok(), "it failed");
}

/// Touches what no other thread sees, after a join.
pub fn joins_and_goes_on() {
    let n = Arc::new(AtomicUsize::new(0));
    let own = Arc::new(AtomicUsize::new(0));
    let other = n.clone();
    let thread = thread::spawn(move || other.load(Ordering::SeqCst));
    n.store(1, Ordering::SeqCst);
    thread.join().unwrap();
    own.load(Ordering::SeqCst);
    panic!("look at the order of the rows");
}

/// Touches what no other thread sees, before, between and under locks.
pub fn touches_its_own() {
    let n = Arc::new(Mutex::new(0));
    let own = Arc::new(AtomicUsize::new(0));
    let other = n.clone();
    let thread = thread::spawn(move || *other.lock().unwrap() += 1);
    *n.lock().unwrap() += 1;
    own.store(1, Ordering::SeqCst);
    *n.lock().unwrap() += 1;
    own.store(2, Ordering::SeqCst);
    let guard = n.lock().unwrap();
    own.store(3, Ordering::SeqCst);
    drop(guard);
    thread.join().unwrap();
    panic!("look at the order of the rows");
}

/// Two threads wait, one is woken, and the other waits for ever.
pub fn wakes_one_of_two() {
    let gate = Arc::new((Mutex::new(0), Condvar::new()));
    let waiters = [1, 2].map(|_| {
        let gate = gate.clone();
        thread::spawn(move || {
            let (waiting, wake) = &*gate;
            let mut guard = waiting.lock().unwrap();
            *guard += 1;
            drop(wake.wait(guard).unwrap());
        })
    });
    while *gate.0.lock().unwrap() < 2 {
        thread::yield_now();
    }
    gate.1.notify_one();
    for waiter in waiters {
        waiter.join().unwrap();
    }
}

/// Takes every end of a wait for a wake-up.
pub fn trusts_a_wake_up() {
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    let other = gate.clone();
    let waiter = thread::spawn(move || {
        let (ready, wake) = &*other;
        let guard = ready.lock().unwrap();
        if !*guard {
            assert!(*wake.wait(guard).unwrap(), "woken and not ready");
        }
    });
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
    waiter.join().unwrap();
}

/// Waits that end by time, each in its own way.
pub fn runs_out_of_time() {
    let (sender, orders) = mpsc::channel::<u32>();
    let thread = thread::spawn(move || {
        thread::sleep(Duration::from_millis(10));
        thread::park_timeout(Duration::from_secs(90));
        sender.send(1)
    });
    let gate = (Mutex::new(()), Condvar::new());
    drop(gate.1.wait_timeout(gate.0.lock().unwrap(), Duration::from_millis(1500)).unwrap());
    let order = orders.recv_timeout(Duration::from_secs(3600));
    thread.join().unwrap().unwrap();
    assert!(order.is_ok(), "no order came");
}

/// A pointer that is swapped by two threads.
pub fn swaps_pointers() {
    static VALUES: [u64; 2] = [1, 2];
    let at = |index: usize| std::ptr::from_ref(&VALUES[index]).cast_mut();
    let head = Arc::new(AtomicPtr::new(std::ptr::null_mut()));
    let other = head.clone();
    let thread = thread::spawn(move || {
        other.swap(at(1), Ordering::SeqCst);
    });
    head.swap(at(0), Ordering::SeqCst);
    head.fetch_or(1, Ordering::SeqCst);
    thread.join().unwrap();
    assert!(head.load(Ordering::SeqCst) == at(1), "the other pointer");
}

/// Waits for a flag and yields in between, until somebody raises it in vain.
pub fn spins_and_yields() {
    let ready = Arc::new(AtomicUsize::new(0));
    let waiter = ready.clone();
    let thread = thread::spawn(move || {
        while waiter.load(Ordering::SeqCst) < 2 {
            waiter.load(Ordering::Relaxed);
            thread::yield_now();
        }
    });
    ready.store(1, Ordering::SeqCst);
    thread.join().unwrap();
}

/// A thread that is not waited for, and waits for a message that nobody will send. The sender is never dropped.
pub fn leaves_a_receiver_waiting() {
    let (sender, orders) = mpsc::sync_channel::<u32>(1);
    let full = Arc::new(Mutex::new(0));
    let other = full.clone();
    std::mem::forget(full.lock().unwrap());
    thread::spawn(move || drop(other.lock()));
    thread::spawn(move || orders.recv().is_ok());
    std::mem::forget(sender);
}
