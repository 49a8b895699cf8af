//! Finds workers whose program has not taken a step for a long time.
//!
//! One OS thread looks at the records of all workers of the process; it sleeps while there are none. It tells nothing itself: it sends
//! the worker a signal, whose handler runs in the middle of what the worker does and sees the execution as it is.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::account::{Reason, tell};
use super::attending::{self, Record};
use super::exit::FAILED;
use super::words::Patience;

/// The signal that makes a worker tell what it does. Nobody who does not expect it takes notice of it.
const SIGNAL: libc::c_int = libc::SIGURG;

/// The watchdog looks at least this often.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);

/// How an OS thread is known to the system.
#[derive(Clone, Copy)]
pub(super) struct ThreadId {
    handle: libc::pthread_t,
    number: libc::pid_t,
}

/// The OS thread that calls this.
pub(super) fn this_thread() -> ThreadId {
    // SAFETY: plain calls into libc.
    unsafe { ThreadId { handle: libc::pthread_self(), number: libc::gettid() } }
}

/// A worker as it was when the watchdog looked at it.
struct Watched {
    record: Arc<Record>,
    beats: u64,
    since: Instant,
    told: bool,
}

#[derive(Default)]
struct Watchdog {
    workers: Mutex<Vec<Watched>>,
    changed: Condvar,
}

/// The watchdog of the process, which is started when it is first needed; `None` if the system does not let us.
fn watchdog() -> Option<&'static Watchdog> {
    static WATCHDOG: OnceLock<Option<&'static Watchdog>> = OnceLock::new();
    *WATCHDOG.get_or_init(|| {
        install_handler();
        let watchdog: &'static Watchdog = Box::leak(Box::default());
        let started = thread::Builder::new().name("raddle watchdog".to_owned()).spawn(|| watchdog.watch());
        started.is_ok().then_some(watchdog)
    })
}

/// The watchdog, unless there is nothing to watch for.
fn watchdog_for(record: &Record) -> Option<&'static Watchdog> {
    let Patience { tell, end } = record.patience;
    (tell.is_some() || end.is_some()).then(watchdog).flatten()
}

pub(super) fn add(record: &Arc<Record>) {
    let Some(watchdog) = watchdog_for(record) else { return };
    let watched = Watched { record: record.clone(), beats: 0, since: Instant::now(), told: false };
    watchdog.workers.lock().unwrap_or_else(PoisonError::into_inner).push(watched);
    watchdog.changed.notify_all();
}

/// After this the OS thread of the worker is sent no signal any more.
pub(super) fn remove(record: &Arc<Record>) {
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
    /// Looks at the worker; says when to look again.
    fn look(&mut self) -> Duration {
        let beats = self.record.beats.load(Relaxed);
        let Patience { tell, end } = self.record.patience;
        // An even number: the program does not run, and whatever does is no matter of the watchdog's.
        if beats != self.beats || beats.is_multiple_of(2) {
            (self.beats, self.since, self.told) = (beats, Instant::now(), false);
        }
        let waited = self.since.elapsed();
        if end.is_some_and(|end| waited >= end) {
            self.want(Wanted::End, waited);
        } else if tell.is_some_and(|tell| waited >= tell) && !self.told {
            self.told = true;
            self.want(if computes(self.record.thread.number) { Wanted::Computes } else { Wanted::Waits }, waited);
        }
        let shortest = tell.into_iter().chain(end).min().unwrap_or(LONGEST_SLEEP);
        (shortest / 8).clamp(Duration::from_millis(5), LONGEST_SLEEP)
    }

    fn want(&self, wanted: Wanted, waited: Duration) {
        self.record.seconds.store(waited.as_secs(), Relaxed);
        self.record.wanted_at.store(self.beats, Relaxed);
        self.record.wanted.store(wanted as u8, Relaxed);
        // SAFETY: the thread lives: its worker is on the list, which is locked, and is taken off the list before the thread ends.
        unsafe { libc::pthread_kill(self.record.thread.handle, SIGNAL) };
    }
}

/// What a worker is to tell.
#[derive(Clone, Copy)]
enum Wanted {
    Computes = 1,
    Waits = 2,
    End = 3,
}

/// Whether an OS thread of this process has something to compute; if not, it waits for the system.
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

/// Runs on the OS thread of a worker, in the middle of what that does.
extern "C" fn handle(_: libc::c_int) {
    // SAFETY: a plain call into libc; the address stays valid on this OS thread.
    let errno = unsafe { &mut *libc::__errno_location() };
    let before = *errno;
    tell_what_is_wanted();
    // Whatever was interrupted is not to see what came of our calls.
    *errno = before;
}

fn tell_what_is_wanted() {
    attending::with_record(|record| {
        if record.beats.load(Relaxed) != record.wanted_at.load(Relaxed) {
            // It has gone on meanwhile.
            return;
        }
        let seconds = record.seconds.load(Relaxed);
        let reason = match record.wanted.swap(0, Relaxed) {
            1 => Reason::Computes(seconds),
            2 => Reason::Waits(seconds),
            3 => Reason::HangEnds(seconds),
            // A signal of somebody else's.
            _ => return,
        };
        tell(reason);
        if matches!(reason, Reason::HangEnds(_)) {
            // SAFETY: a plain call into libc, which handlers of signals may make.
            unsafe { libc::_exit(FAILED) };
        }
    });
}
