//! Threads that Raddle does not control, noticed when they use what it does.
//!
//! A thread of `std` that the program under test starts runs whenever the system lets it. What it does to Raddle's objects is no step of
//! the execution, so whatever the search finds says nothing of the program. Such a thread is recognised by the signals that it
//! blocks: a new thread inherits from whoever starts it which signals are blocked, and each worker blocks a set of real-time
//! signals of its own, which nobody sends. So the thread, and those that it starts, lead back to the worker in whose execution they
//! were started.
//!
//! When one of them uses an object, a wait or a thread of Raddle's, that is noted with its worker, whose execution then fails, and
//! the thread panics: were it to wait, nobody could ever wake it.

use std::cell::Cell;
use std::panic::{self, Location};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use raddle_engine::outcome::Place;

/// What an uncontrolled thread did.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    /// To what: "Mutex"; or what it called, if that was no object.
    pub(crate) what: &'static str,
    /// Where the object was made.
    pub(crate) made: Option<Place>,
    /// Where it was used.
    pub(crate) site: Place,
}

/// A worker, as the threads that it has started find it.
#[derive(Debug)]
struct Entry {
    thread: ThreadId,
    used: Mutex<Option<Use>>,
    /// Whether there is any, for those who look often.
    any: AtomicBool,
}

/// The workers there are, and which number the next one tries first.
static WORKERS: Mutex<Workers> = Mutex::new(Workers { entries: Vec::new(), next: 0 });

/// Workers by the number that the blocked signals spell, less one.
#[derive(Debug)]
struct Workers {
    /// `None` where a number is free.
    entries: Vec<Option<Arc<Entry>>>,
    next: usize,
}

impl Workers {
    /// Takes the number that has been free for longest: a thread that outlives the execution which started it still has its
    /// worker's number, and must not be taken for a thread of another test.
    fn take_number(&mut self, entry: Arc<Entry>) -> Option<usize> {
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

/// Makes the threads that are started on this OS thread known as uncontrolled, until it is dropped.
#[derive(Debug)]
pub(crate) struct Watching {
    entry: Arc<Entry>,
    number: usize,
    before: u32,
    /// How often it was waited for threads, in all executions: threads of a pool stay, and may never use anything.
    waited: Cell<u32>,
}

/// How long threads are waited for at a time, and how often at most.
const WAIT: Duration = Duration::from_millis(2);
const MOST_WAITS: u32 = 500;

/// How often it is waited for a thread to start.
const MOST_STARTS: u32 = 25;

/// Whether another thread of the process has the number of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    None,
    /// None has it, but one blocks all signals. So does a new thread at first, before it blocks those that it has inherited.
    Starting,
    Some,
}

impl Watching {
    /// Begins with the calling OS thread, which is a worker. `None` where there is no way to tell.
    pub(crate) fn begin() -> Option<Self> {
        let before = signals::spelled();
        let entry = Arc::new(Entry {
            thread: std::thread::current().id(),
            used: Mutex::new(None),
            any: AtomicBool::new(false),
        });
        let number = WORKERS.lock().unwrap_or_else(PoisonError::into_inner).take_number(entry.clone())?;
        signals::spell((number + 1) as u32).then_some(Self { entry, number, before, waited: Cell::new(0) })
    }

    /// Takes what an uncontrolled thread has done since it was last asked.
    #[inline]
    pub(crate) fn take(&self) -> Option<Use> {
        if !self.entry.any.swap(false, Ordering::Acquire) {
            return None;
        }
        self.entry.used.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Watching {
    /// Called where a test can go on no more. A thread that was started on this OS thread and is still there may be about to do what the
    /// test waits for, so it gets some time to show; what it does is returned.
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

    /// Whether a thread that was started on this OS thread is still there, or has used something since it was last asked. Nobody can
    /// tell what it would still do.
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
        // What blocks all signals for so long is no thread that starts.
        false
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        signals::spell(self.before);
        WORKERS.lock().unwrap_or_else(PoisonError::into_inner).entries[self.number] = None;
    }
}

/// Called wherever something of Raddle's is used outside of any execution: on a thread that a program under test has started, that is a
/// failure of the program.
///
/// # Panics
///
/// On such a thread, unless it is panicking.
#[cold]
#[track_caller]
pub(crate) fn note(what: &'static str, made: Option<&'static Location<'static>>) {
    note_at(what, made, Location::caller());
}

/// The same for a use at `site`: a destructor has no caller.
///
/// # Panics
///
/// As [`note`].
#[cold]
pub(crate) fn note_at(what: &'static str, made: Option<&'static Location<'static>>, site: &'static Location<'static>) {
    let number = signals::spelled();
    let entry = {
        let workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
        match (number as usize).checked_sub(1).and_then(|at| workers.entries.get(at)) {
            Some(Some(entry)) if entry.thread != std::thread::current().id() => entry.clone(),
            _ => return,
        }
    };
    let used = Use { what, made: made.map(Place::from), site: site.into() };
    entry.used.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(used);
    entry.any.store(true, Ordering::Release);
    if !std::thread::panicking() {
        // The report of the test tells what there is to tell, so nothing is printed here.
        let message = format!("raddle: {what} is used at {site} by a thread that Raddle does not control");
        panic::resume_unwind(Box::new(message));
    }
}

/// Ends a thread that uses what belongs to an execution that is over, or to another test. On a thread that an execution has started and
/// that has outlived its worker, nothing is printed: there is no report left that could tell of it.
#[cold]
#[track_caller]
pub(crate) fn panic_out_of_place(message: &str) -> ! {
    let number = signals::spelled() as usize;
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
    //! Numbers, spelled by which real-time signals a thread blocks.

    use std::ffi::c_int;
    use std::mem::MaybeUninit;
    use std::ptr;

    use super::Others;

    /// So many signals are used, the last ones that there are.
    const BITS: c_int = 14;

    /// The largest number that can be spelled; no worker has it, since threads that start spell it.
    pub(super) const LARGEST: u32 = (1 << BITS) - 1;

    fn signal(bit: c_int) -> c_int {
        libc::SIGRTMAX() - bit
    }

    /// The number that the calling thread has inherited or was given; 0 for none.
    pub(super) fn spelled() -> u32 {
        let mut blocked = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: plain calls into libc with a valid pointer; a set of all zeroes is one.
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

    /// Gives the calling thread a number; says whether that could be done.
    pub(super) fn spell(number: u32) -> bool {
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
    //! Elsewhere, threads are not told apart.

    use super::Others;

    pub(super) const LARGEST: u32 = 0;

    pub(super) fn spelled() -> u32 {
        0
    }

    pub(super) fn others(_: u32) -> Others {
        Others::None
    }

    pub(super) fn spell(_: u32) -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::Watching;

    #[test]
    fn a_number_is_not_used_again_soon() {
        let first = Watching::begin().unwrap().number;
        let second = Watching::begin().unwrap().number;
        assert_ne!(first, second, "a thread that the first has started would be taken for one of the second's");
    }
}
