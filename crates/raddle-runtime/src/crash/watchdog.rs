//! Finds workers whose program has taken no step for a long time.
//!
//! One OS thread checks the records of all workers of the process. It sleeps while there are none. It writes no report itself: it sends the
//! worker a signal, and the handler runs on the worker's OS thread, where it sees the execution as it is.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::account::{Reason, tell};
use super::attending::{self, WorkerRecord};
use super::exit::FAILED;
use super::words::{Patience, told_to_end};

/// The signal that makes a worker write a report. By default a process ignores it.
const SIGNAL: libc::c_int = libc::SIGURG;

/// The watchdog checks at least this often.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);

/// If the process is told to end, and a program takes no step for so long, the user is told what the end waits for.
const HOLDS_UP: Duration = Duration::from_secs(1);

/// Identifies an OS thread.
#[derive(Clone, Copy)]
pub(super) struct OsThread {
    handle: libc::pthread_t,
    number: libc::pid_t,
}

/// The OS thread that calls this.
pub(super) fn this_thread() -> OsThread {
    // SAFETY: plain calls into libc.
    unsafe { OsThread { handle: libc::pthread_self(), number: libc::gettid() } }
}

/// A worker as it was when the watchdog checked it last.
struct Watched {
    record: Arc<WorkerRecord>,
    beats: u64,
    since: Instant,
    told: bool,
    /// It was told that the search does not stop because of this worker.
    told_why_it_goes_on: bool,
}

#[derive(Default)]
struct Watchdog {
    workers: Mutex<Vec<Watched>>,
    changed: Condvar,
}

/// The watchdog of the process. The first call starts it. `None` if its OS thread could not be started.
fn watchdog() -> Option<&'static Watchdog> {
    static WATCHDOG: OnceLock<Option<&'static Watchdog>> = OnceLock::new();
    *WATCHDOG.get_or_init(|| {
        install_handler();
        let watchdog: &'static Watchdog = Box::leak(Box::default());
        let started = thread::Builder::new().name("raddle watchdog".to_owned()).spawn(|| watchdog.watch());
        started.is_ok().then_some(watchdog)
    })
}

/// The watchdog, if this worker has a time limit.
fn watchdog_for(record: &WorkerRecord) -> Option<&'static Watchdog> {
    let Patience { tell, end } = record.patience;
    (tell.is_some() || end.is_some()).then(watchdog).flatten()
}

pub(super) fn add(record: &Arc<WorkerRecord>) {
    let Some(watchdog) = watchdog_for(record) else { return };
    let watched =
        Watched { record: record.clone(), beats: 0, since: Instant::now(), told: false, told_why_it_goes_on: false };
    watchdog.workers.lock().unwrap_or_else(PoisonError::into_inner).push(watched);
    watchdog.changed.notify_all();
}

/// Removes a worker. After this its OS thread gets no more signals.
pub(super) fn remove(record: &Arc<WorkerRecord>) {
    if let Some(watchdog) = watchdog_for(record) {
        let mut workers = watchdog.workers.lock().unwrap_or_else(PoisonError::into_inner);
        workers.retain(|watched| !Arc::ptr_eq(&watched.record, record));
    }
}

impl Watchdog {
    fn watch(&self) {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            workers = match workers.iter_mut().map(Watched::look).min() {
                None => self.changed.wait(workers).unwrap_or_else(PoisonError::into_inner),
                Some(sleep) => {
                    drop(workers);
                    thread::sleep(sleep);
                    self.workers.lock().unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }
}

impl Watched {
    /// Checks the worker. Returns how long to sleep until the next check.
    fn look(&mut self) -> Duration {
        let beats = self.record.beats.load(Relaxed);
        let Patience { tell, end } = self.record.patience;
        // If the number is even, the program does not run.
        if beats != self.beats || beats.is_multiple_of(2) {
            (self.beats, self.since, self.told) = (beats, Instant::now(), false);
        }
        let waited = self.since.elapsed();
        let holds_up = waited >= HOLDS_UP && told_to_end().load(Relaxed);
        if end.is_some_and(|end| waited >= end) {
            self.want(Wanted::End, waited);
        } else if tell.is_some_and(|tell| waited >= tell) && !self.told {
            self.told = true;
            self.want(if computes(self.record.thread.number) { Wanted::Computes } else { Wanted::Waits }, waited);
        }
        if holds_up && !self.told_why_it_goes_on {
            self.told_why_it_goes_on = true;
            self.want(Wanted::HoldsUpTheEnd, waited);
        }
        let shortest = tell.into_iter().chain(end).min().unwrap_or(LONGEST_SLEEP);
        (shortest / 8).clamp(Duration::from_millis(5), LONGEST_SLEEP)
    }

    fn want(&self, wanted: Wanted, waited: Duration) {
        self.record.seconds.store(waited.as_secs(), Relaxed);
        self.record.wanted_at.store(self.beats, Relaxed);
        self.record.wanted.store(wanted as u8, Relaxed);
        // SAFETY: the thread is alive: its worker is on the list, which is locked, and is removed from it before the thread ends.
        unsafe { libc::pthread_kill(self.record.thread.handle, SIGNAL) };
    }
}

/// Which report a worker is asked for.
#[derive(Clone, Copy)]
enum Wanted {
    Computes = 1,
    Waits = 2,
    End = 3,
    HoldsUpTheEnd = 4,
}

/// Whether an OS thread of this process is computing. If not, it waits for the system.
fn computes(thread: libc::pid_t) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
    // The name of the thread, in parentheses, may contain anything.
    stat.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with('R'))
}

fn install_handler() {
    // SAFETY: plain calls into libc with a valid action; an all-zero `sigaction` is a valid one.
    unsafe {
        let mut ours: libc::sigaction = std::mem::zeroed();
        ours.sa_sigaction = handle as *const () as usize;
        ours.sa_flags = libc::SA_ONSTACK | libc::SA_RESTART;
        libc::sigaction(SIGNAL, &raw const ours, std::ptr::null_mut());
    }
}

/// Handles the signal, on the OS thread of the worker.
extern "C" fn handle(_: libc::c_int) {
    // SAFETY: a plain call into libc; the address stays valid on this OS thread.
    let errno = unsafe { &mut *libc::__errno_location() };
    let before = *errno;
    write_wanted_report();
    // The interrupted code must not see the errors of our calls.
    *errno = before;
}

fn write_wanted_report() {
    attending::with_record(|record| {
        if record.beats.load(Relaxed) != record.wanted_at.load(Relaxed) {
            // The program has gone on in the meantime.
            return;
        }
        let seconds = record.seconds.load(Relaxed);
        let reason = match record.wanted.swap(0, Relaxed) {
            1 => Reason::Computes(seconds),
            2 => Reason::Waits(seconds),
            3 => Reason::HangEnds(seconds),
            4 => Reason::HoldsUpTheEnd(seconds),
            // The signal is not from the watchdog.
            _ => return,
        };
        tell(reason);
        if matches!(reason, Reason::HangEnds(_)) {
            // SAFETY: a plain call into libc, which signal handlers may make.
            unsafe { libc::_exit(FAILED) };
        }
    });
}
