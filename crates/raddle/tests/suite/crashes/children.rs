//! The programs that crash or hang.

use std::hint::black_box;
use std::time::{Duration, Instant};

use raddle::actor::{Actor, Context, System};
use raddle::model::Model;
use raddle::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::thread;

/// Crashes in one of two orders.
fn raced(crash: fn()) {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let thread = thread::spawn(move || other.store(true, SeqCst));
    if flag.load(SeqCst) {
        crash();
    }
    thread.join().unwrap();
}

fn write_to_nowhere() {
    // SAFETY: there is none; that is what it is for.
    unsafe { black_box(16 as *mut u32).write_volatile(1) };
}

#[raddle::test(strategy = "dpor", workers = 1)]
#[ignore = "run as a child of other tests"]
fn segv() {
    raced(write_to_nowhere);
}

#[raddle::test(strategy = "random", workers = 1)]
#[ignore = "run as a child of other tests"]
fn segv_by_random() {
    raced(write_to_nowhere);
}

#[raddle::test(strategy = "pct", workers = 1)]
#[ignore = "run as a child of other tests"]
fn segv_by_pct() {
    raced(write_to_nowhere);
}

#[raddle::test]
#[ignore = "run as a child of other tests"]
fn illegal() {
    raced(|| {
        // SAFETY: as above.
        unsafe { libc::raise(libc::SIGILL) };
    });
}

#[raddle::test]
#[ignore = "run as a child of other tests"]
fn divides() {
    raced(|| {
        // SAFETY: as above.
        unsafe { libc::raise(libc::SIGFPE) };
    });
}

#[raddle::test]
#[ignore = "run as a child of other tests"]
fn aborts() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let second = thread::Builder::new().name("second".to_owned());
    let thread = second
        .spawn(move || {
            if other.load(SeqCst) {
                std::process::abort()
            }
        })
        .unwrap();
    flag.store(true, SeqCst);
    thread.join().unwrap();
}

/// Reads a mapping of a file beyond its end.
#[raddle::test]
#[ignore = "run as a child of other tests"]
fn bus_error() {
    raced(|| {
        // SAFETY: as above.
        unsafe {
            let file = libc::memfd_create(c"empty".as_ptr(), 0);
            let at = libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ, libc::MAP_SHARED, file, 0);
            black_box(at.cast::<u8>().read_volatile());
        }
    });
}

/// The handler of `std` does not end the process by itself: it expects that the instruction faults again.
#[raddle::test]
#[ignore = "run as a child of other tests"]
fn raises_bus_error() {
    // SAFETY: a plain call into libc.
    raced(|| _ = unsafe { libc::raise(libc::SIGBUS) });
}

/// Two threads take the same value out.
#[raddle::test]
#[ignore = "run as a child of other tests"]
fn double_free() {
    let shared = Arc::new(AtomicPtr::new(Box::into_raw(Box::new([7_u64; 4]))));
    let other = shared.clone();
    let take = |shared: &AtomicPtr<[u64; 4]>| {
        let taken = shared.load(SeqCst);
        shared.store(std::ptr::null_mut(), SeqCst);
        if !taken.is_null() {
            // SAFETY: there is none: the load and the store are two steps.
            drop(unsafe { Box::from_raw(taken) });
        }
    };
    let thread = thread::spawn(move || take(&other));
    take(&shared);
    thread.join().unwrap();
}

/// The program itself has a handler.
#[test]
#[ignore = "run as a child of other tests"]
fn handles_segv() {
    extern "C" fn leave(_: libc::c_int) {
        // SAFETY: a plain call into libc.
        unsafe { libc::_exit(77) };
    }
    // SAFETY: plain calls into libc.
    unsafe { libc::signal(libc::SIGSEGV, leave as *const () as usize) };
    raddle::Explorer::new().run(|| raced(write_to_nowhere));
}

#[raddle::test]
#[ignore = "run as a child of other tests"]
fn exits() {
    raced(|| std::process::exit(0));
}

#[raddle::test(hang = "100ms", hang_end = "400ms")]
#[ignore = "run as a child of other tests"]
fn loops() {
    raced(|| {
        loop {
            std::hint::spin_loop();
        }
    });
}

#[raddle::test(hang = "100ms", hang_end = "400ms", workers = 1)]
#[ignore = "run as a child of other tests"]
fn slow() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    raced(|| {
        ONCE.call_once(|| {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(200) {}
        });
    });
}

#[raddle::test(hang = "20ms", workers = 1)]
#[ignore = "run as a child of other tests"]
fn panics_at_once() {
    raced(|| panic!("with a backtrace"));
}

#[raddle::test(hang = "100ms", hang_end = "400ms")]
#[ignore = "run as a child of other tests"]
fn std_lock() {
    let lock = Arc::new(std::sync::Mutex::new(0));
    let steps = Arc::new(AtomicUsize::new(0));
    let (other, others) = (lock.clone(), steps.clone());
    let thread = thread::spawn(move || {
        let _held = other.lock().unwrap();
        others.fetch_add(1, SeqCst);
    });
    {
        let _held = lock.lock().unwrap();
        steps.fetch_add(1, SeqCst);
    }
    thread.join().unwrap();
}

/// Crashes if two messages come in the wrong order.
#[derive(Clone, Hash)]
struct Crashes(u32);

impl Actor for Crashes {
    type Msg = u32;

    fn handle(&mut self, n: u32, _: &mut Context<'_, u32>) {
        self.0 = self.0 * 10 + n;
        if self.0 == 321 {
            write_to_nowhere();
        }
    }
}

/// Passes on what it receives.
#[derive(Clone, Hash)]
struct Sends(Option<raddle::actor::Address<u32>>);

impl Actor for Sends {
    type Msg = u32;

    fn handle(&mut self, n: u32, context: &mut Context<'_, u32>) {
        if let Some(to) = &self.0 {
            context.send(to, n);
        }
    }
}

#[raddle::test(strategy = "random", workers = 1)]
#[ignore = "run as a child of other tests"]
fn actor_by_random() {
    let system = System::new();
    let crashes = system.spawn(Crashes(0));
    for n in 1..=3 {
        let sends = system.spawn(Sends(Some(crashes.clone())));
        sends.send(n);
    }
    system.run_until_quiet();
}

fn crashing_model() -> Model {
    Model::new(|m| {
        let crashes = m.spawn(Crashes(0));
        for n in 1..=3 {
            let sends = m.spawn(Sends(Some(crashes.clone())));
            m.send(&sends, n);
        }
    })
}

#[raddle::test(workers = 1)]
#[ignore = "run as a child of other tests"]
fn model_segv() -> Model {
    crashing_model()
}

#[raddle::test(strategy = "random", workers = 1)]
#[ignore = "run as a child of other tests"]
fn model_segv_by_random() -> Model {
    crashing_model()
}

#[raddle::test(workers = 1)]
#[ignore = "run as a child of other tests"]
fn model_check_segv() -> Model {
    Model::new(|m| {
        let sums: Vec<_> = (0..2).map(|_| m.spawn(Crashes(0))).collect();
        sums.iter().zip(1..).for_each(|(sum, n)| m.send(sum, n));
    })
    .always(|state| {
        let sums: Vec<_> = state.actors::<Crashes>().map(|sum| sum.0).collect();
        if sums == [0, 2] {
            write_to_nowhere();
        }
    })
}

#[derive(Clone, Hash)]
struct Deep;

#[inline(never)]
fn recurse(n: u64) -> u64 {
    let frame = black_box([n; 64]);
    if n == u64::MAX { 0 } else { recurse(n + 1) + frame[(n % 64) as usize] }
}

impl Actor for Deep {
    type Msg = u64;

    fn handle(&mut self, n: u64, _: &mut Context<'_, u64>) {
        black_box(recurse(n));
    }
}

#[raddle::test]
#[ignore = "run as a child of other tests"]
fn model_deep() -> Model {
    Model::new(|m| {
        let deep = m.spawn(Deep);
        m.send(&deep, 1);
    })
}

#[derive(Clone, Hash)]
struct Loops;

impl Actor for Loops {
    type Msg = ();

    fn handle(&mut self, (): (), _: &mut Context<'_, ()>) {
        while black_box(true) {}
    }
}

#[raddle::test(hang = "100ms", hang_end = "400ms")]
#[ignore = "run as a child of other tests"]
fn model_loops() -> Model {
    Model::new(|m| {
        let loops = m.spawn(Loops);
        m.send(&loops, ());
    })
}

extern "C" fn panics_across() {
    panic!("not across this frame");
}

#[raddle::test(strategy = "dpor", workers = 1)]
#[ignore = "run as a child of other tests"]
fn panics_across_a_foreign_frame() {
    raced(|| panics_across());
}

extern "C" fn lock_both(first: &Mutex<()>, second: &Mutex<()>) {
    let _first = first.lock();
    let _second = second.lock();
}

#[raddle::test(strategy = "dpor", workers = 1)]
#[ignore = "run as a child of other tests"]
fn deadlocks_in_a_foreign_frame() {
    let locks = Arc::new((Mutex::new(()), Mutex::new(())));
    let others = locks.clone();
    let thread = thread::spawn(move || lock_both(&others.1, &others.0));
    lock_both(&locks.0, &locks.1);
    thread.join().unwrap();
}

/// Crashes when it is dropped because the execution has failed.
struct CrashesInDrop;

impl Drop for CrashesInDrop {
    fn drop(&mut self) {
        write_to_nowhere();
    }
}

#[raddle::test(strategy = "dpor", workers = 1)]
#[ignore = "run as a child of other tests"]
fn crashes_when_dropped() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let first = thread::spawn(move || {
        let _held = CrashesInDrop;
        assert!(!other.load(SeqCst));
        std::mem::forget(_held);
    });
    flag.store(true, SeqCst);
    first.join().unwrap();
}
