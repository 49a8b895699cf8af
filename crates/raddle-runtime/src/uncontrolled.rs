//! Detects threads that Raddle does not control, when they use types of Raddle.
//!
//! If the program under test starts a thread of `std`, the operating system schedules it. What it does with Raddle's types is no step of the
//! execution, so the result of the search would say nothing about the program. We recognise such a thread by the signals that it blocks. A
//! new thread inherits the set of blocked signals from the thread that starts it. Each worker blocks a different set of real-time signals,
//! which nobody sends. This set is a number. The thread, and the threads that it starts, have the number of the worker whose execution has
//! started them.
//!
//! When such a thread uses an object, a wait or a thread of Raddle, this is recorded for the worker with that number, and its execution
//! fails. The thread panics: if it waited, no task could wake it.
//!
//! Other threads, such as those of a pool that an earlier test has started, have no number of a worker that is still there. They are known by
//! the object: one that a running execution has used, or one that an execution uses after such a thread has used it in the meantime.

use std::cell::Cell;
use std::panic::{self, Location};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use raddle_engine::outcome::Place;

use crate::addresses::any_is_static;

/// What an uncontrolled thread did.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    /// The kind of the object ("Mutex"), or the function that was called if there is no object.
    pub(crate) what: &'static str,
    /// Where the object was made.
    pub(crate) made: Option<Place>,
    /// Where it was used.
    pub(crate) site: Place,
}

/// A worker, for the threads that its executions have started.
#[derive(Debug)]
struct WorkerEntry {
    thread: ThreadId,
    used: Mutex<Option<Use>>,
    /// True if `used` is set. It is cheaper to read.
    any: AtomicBool,
    /// The number of its latest execution; 0 if there was none.
    execution: AtomicU64,
}

impl WorkerEntry {
    fn record(&self, used: Use) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(used);
        self.any.store(true, Ordering::Release);
    }
}

/// How often threads without a worker have used objects that no execution had used before.
static OUTSIDE_USES: AtomicU64 = AtomicU64::new(0);

/// Where this happened last, and to an object at which address.
static LATEST_OUTSIDE: Mutex<Vec<(usize, &'static Location<'static>)>> = Mutex::new(Vec::new());

/// So many of these places are kept.
const MOST_OUTSIDE: usize = 64;

static WORKERS: Mutex<Workers> = Mutex::new(Workers { entries: Vec::new(), next: 0 });

/// The workers of the process, by their number less one.
#[derive(Debug)]
struct Workers {
    /// `None` if the number is free.
    entries: Vec<Option<Arc<WorkerEntry>>>,
    /// The index that the next worker tries first.
    next: usize,
}

impl Workers {
    /// Takes the number that was free for the longest time. A thread may outlive the execution that has started it. It still has the number
    /// of its worker, and must not be taken for a thread of another test.
    fn take_number(&mut self, entry: Arc<WorkerEntry>) -> Option<usize> {
        let all = (signals::LARGEST as usize).saturating_sub(1);
        if self.entries.len() < all {
            self.entries.resize(all, None);
        }
        let free = (self.next..all).chain(0..self.next).find(|&at| self.entries[at].is_none())?;
        self.entries[free] = Some(entry);
        self.next = (free + 1) % all;
        Some(free)
    }
}

/// Detects threads that are started on this OS thread, until it is dropped.
#[derive(Debug)]
pub(crate) struct StartedThreads {
    entry: Arc<WorkerEntry>,
    number: usize,
    before: u32,
    /// How often the worker has waited for such threads, in all executions. The threads of a pool never end, so this is limited.
    waited: Cell<u32>,
}

/// How long the worker waits for threads at a time.
const WAIT: Duration = Duration::from_millis(2);
/// How often it waits at most.
const MOST_WAITS: u32 = 500;

/// How often it waits at most for a thread to start.
const MOST_STARTS: u32 = 25;

/// Whether another thread of the process has the number of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    None,
    /// None has it, but one blocks all signals. A new thread does so at first, until it blocks only those that it has inherited.
    Starting,
    Some,
}

impl StartedThreads {
    /// Gives a number to the calling OS thread, which is a worker. `None` if there is no number left, or none on this system.
    pub(crate) fn begin() -> Option<Self> {
        let before = signals::number();
        let entry = Arc::new(WorkerEntry {
            thread: std::thread::current().id(),
            used: Mutex::new(None),
            any: AtomicBool::new(false),
            execution: AtomicU64::new(0),
        });
        let number = WORKERS.lock().unwrap_or_else(PoisonError::into_inner).take_number(entry.clone())?;
        signals::set_number((number + 1) as u32).then_some(Self { entry, number, before, waited: Cell::new(0) })
    }

    /// Called when the execution with this number begins.
    #[inline]
    pub(crate) fn begin_execution(&self, number: u64) {
        self.entry.execution.store(number, Ordering::Relaxed);
    }

    /// Returns what an uncontrolled thread has used since the last call.
    #[inline]
    pub(crate) fn take(&self) -> Option<Use> {
        if !self.entry.any.swap(false, Ordering::Acquire) {
            return None;
        }
        self.entry.used.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl StartedThreads {
    /// Called when no action is enabled. An uncontrolled thread that is still there may be about to do what the test waits for. So it gets some
    /// time. Returns what it uses.
    pub(crate) fn wait_for_use(&self) -> Option<Use> {
        loop {
            let gone = signals::others((self.number + 1) as u32) == Others::None;
            let used = self.take();
            let waited = self.waited.get();
            if used.is_some() || gone || waited >= MOST_WAITS {
                return used;
            }
            self.waited.set(waited + 1);
            std::thread::sleep(WAIT);
        }
    }

    /// Whether an uncontrolled thread is still there, or has used something since the last call.
    pub(crate) fn has_threads(&self) -> bool {
        self.take().is_some() || self.has_started_threads()
    }

    fn has_started_threads(&self) -> bool {
        for _ in 0..MOST_STARTS {
            match signals::others((self.number + 1) as u32) {
                Others::Some => return true,
                Others::Starting => std::thread::sleep(WAIT),
                Others::None => return false,
            }
        }
        // A thread that blocks all signals for so long is not a new one.
        false
    }
}

impl Drop for StartedThreads {
    fn drop(&mut self) {
        signals::set_number(self.before);
        WORKERS.lock().unwrap_or_else(PoisonError::into_inner).entries[self.number] = None;
    }
}

/// Called when a type or function of Raddle is used outside of any execution. If the program under test has started this thread, its
/// execution fails.
///
/// # Panics
///
/// On such a thread, unless it is panicking.
#[cold]
#[track_caller]
pub(crate) fn note(what: &'static str, made: Option<&'static Location<'static>>) {
    note_at(what, made, Location::caller());
}

/// Does what [`note`] does for a use at `site`. For destructors, which have no caller.
///
/// # Panics
///
/// As [`note`].
#[cold]
pub(crate) fn note_at(what: &'static str, made: Option<&'static Location<'static>>, site: &'static Location<'static>) {
    let number = signals::number();
    let entry = {
        let workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
        match (number as usize).checked_sub(1).and_then(|at| workers.entries.get(at)) {
            Some(Some(entry)) if entry.thread != std::thread::current().id() => entry.clone(),
            _ => return,
        }
    };
    report(&entry, what, made, site);
}

/// Records for a worker what the calling thread, which is not under control, has used.
fn report(
    entry: &WorkerEntry,
    what: &'static str,
    made: Option<&'static Location<'static>>,
    site: &'static Location<'static>,
) {
    entry.record(Use { what, made: made.map(Place::from), site: site.into() });
    if !std::thread::panicking() {
        // The report of the test says all this, so the panic hook is not called.
        let message = format!("raddle: {what} is used at {site} by a thread that Raddle does not control");
        panic::resume_unwind(Box::new(message));
    }
}

/// How often threads without a worker have used objects so far. An execution compares it with the number at its beginning.
#[inline]
pub(crate) fn outside_uses() -> u64 {
    OUTSIDE_USES.load(Ordering::Relaxed)
}

/// Called when an object is used outside of any execution, after [`note`]: by a thread that no execution has started, or whose worker has ended.
/// `execution` is the execution that has used the object last. If it is running, it fails. If none has used the object, returns the number of
/// this use, by which an execution that uses the object later knows of it.
///
/// # Panics
///
/// If the execution is running, unless the thread is panicking.
#[cold]
#[track_caller]
pub(crate) fn note_outside(
    what: &'static str,
    made: &'static Location<'static>,
    address: usize,
    execution: Option<u64>,
) -> Option<u64> {
    let site = Location::caller();
    let this_thread = std::thread::current().id();
    let uses_it = {
        let workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
        let mut entries = workers.entries.iter().flatten().peekable();
        // If there is no search, nobody reads the record. Uses by a worker itself, between executions, do not count.
        entries.peek()?;
        if entries.clone().any(|entry| entry.thread == this_thread) {
            return None;
        }
        entries.find(|entry| execution == Some(entry.execution.load(Ordering::Relaxed))).cloned()
    };
    // Every execution has a value of its own behind a `static`.
    if let Some(entry) = uses_it.filter(|_| !any_is_static(std::iter::once(address as u64))) {
        report(&entry, what, Some(made), site);
    }
    execution.is_none().then(|| {
        let mut latest = LATEST_OUTSIDE.lock().unwrap_or_else(PoisonError::into_inner);
        latest.truncate(MOST_OUTSIDE - 1);
        latest.insert(0, (address, site));
        OUTSIDE_USES.fetch_add(1, Ordering::Relaxed) + 1
    })
}

/// Called when the execution of this worker uses an object for the first time, and a thread without a worker has used it since the execution
/// began. The execution fails.
#[cold]
pub(crate) fn note_used_meanwhile(what: &'static str, made: &'static Location<'static>, address: usize) {
    if any_is_static(std::iter::once(address as u64)) {
        return;
    }
    let latest = LATEST_OUTSIDE.lock().unwrap_or_else(PoisonError::into_inner);
    let site = latest.iter().find(|(at, _)| *at == address).map_or(made, |(_, site)| *site);
    let this_thread = std::thread::current().id();
    let workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(entry) = workers.entries.iter().flatten().find(|entry| entry.thread == this_thread) {
        entry.record(Use { what, made: Some(made.into()), site: site.into() });
    }
}

/// Panics on a thread that uses a value of an execution that is over, or of another test. If an execution has started the thread and its worker
/// has ended, the panic hook is not called.
#[cold]
#[track_caller]
pub(crate) fn panic_out_of_place(message: &str) -> ! {
    let number = signals::number() as usize;
    let outlived = number > 0 && {
        let workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
        workers.entries.get(number - 1).is_none_or(Option::is_none)
    };
    if outlived && !std::thread::panicking() {
        panic::resume_unwind(Box::new(message.to_owned()));
    }
    panic!("{message}")
}

#[cfg(target_os = "linux")]
mod signals {
    //! The number of a thread, encoded in the set of real-time signals that it blocks.

    use std::ffi::c_int;
    use std::mem::MaybeUninit;
    use std::ptr;

    use super::Others;

    /// The numbers use so many signals, the last real-time signals.
    const BITS: c_int = 14;

    /// The largest number. No worker has it, because a thread that is starting has it.
    pub(super) const LARGEST: u32 = (1 << BITS) - 1;

    fn signal(bit: c_int) -> c_int {
        libc::SIGRTMAX() - bit
    }

    /// The number of the calling thread; 0 for none.
    pub(super) fn number() -> u32 {
        let mut blocked = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: plain calls into libc with a valid pointer; a set of all zeroes is valid.
        unsafe {
            if libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), blocked.as_mut_ptr()) != 0 {
                return 0;
            }
            let blocked = blocked.assume_init();
            (0..BITS).filter(|&bit| libc::sigismember(&raw const blocked, signal(bit)) == 1).map(|bit| 1 << bit).sum()
        }
    }

    /// Looks for other threads of the process that have this number.
    pub(super) fn others(number: u32) -> Others {
        // SAFETY: a plain call into the system.
        let own = unsafe { libc::syscall(libc::SYS_gettid) }.to_string();
        let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Others::None };
        let others = threads.flatten().filter(|thread| thread.file_name().to_str() != Some(own.as_str()));
        let blocked = |thread: std::fs::DirEntry| {
            let status = std::fs::read_to_string(thread.path().join("status")).ok()?;
            let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:"))?;
            u64::from_str_radix(blocked.trim(), 16).ok()
        };
        let spelled =
            |blocked: u64| (0..BITS).filter(|&bit| blocked >> (signal(bit) - 1) & 1 == 1).map(|bit| 1 << bit).sum();
        let numbers: Vec<u32> = others.filter_map(blocked).map(spelled).collect();
        if numbers.contains(&number) {
            Others::Some
        } else if numbers.contains(&LARGEST) {
            Others::Starting
        } else {
            Others::None
        }
    }

    /// Sets the number of the calling thread. Returns whether that worked.
    pub(super) fn set_number(number: u32) -> bool {
        let mut set = [MaybeUninit::<libc::sigset_t>::zeroed(); 2];
        // SAFETY: as above.
        unsafe {
            for bit in 0..BITS {
                let which = usize::from(number >> bit & 1 == 1);
                libc::sigaddset(set[which].as_mut_ptr(), signal(bit));
            }
            libc::pthread_sigmask(libc::SIG_UNBLOCK, set[0].as_ptr(), ptr::null_mut()) == 0
                && libc::pthread_sigmask(libc::SIG_BLOCK, set[1].as_ptr(), ptr::null_mut()) == 0
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod signals {
    //! On other systems, threads have no numbers.

    use super::Others;

    pub(super) const LARGEST: u32 = 0;

    pub(super) fn number() -> u32 {
        0
    }

    pub(super) fn others(_: u32) -> Others {
        Others::None
    }

    pub(super) fn set_number(_: u32) -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::StartedThreads;

    #[test]
    fn a_number_is_not_used_again_soon() {
        let first = StartedThreads::begin().unwrap().number;
        let second = StartedThreads::begin().unwrap().number;
        assert_ne!(first, second, "a thread that the first has started would be taken for one of the second's");
    }
}
