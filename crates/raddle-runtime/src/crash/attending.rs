//! The record of a worker: which test it runs, whether the program runs just now, and where its execution is.
//!
//! Each worker has one on its OS thread, where handlers of signals look for it. The [watchdog](super::watchdog) looks at it from outside,
//! but only at what says whether the program takes steps.

use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use raddle_engine::ids::TaskId;
use raddle_engine::system::Variant;
use raddle_engine::trace::Trace;

use super::participants::Participants;
use super::watchdog;
use super::words::{LastWords, Patience};
use crate::coroutine::current;
use crate::model::Scene;

thread_local! {
    static OWN: Cell<*const Record> = const { Cell::new(ptr::null()) };
}

/// The record of a worker.
pub(crate) struct Record {
    words: Arc<LastWords>,
    pub(super) patience: Patience,
    pub(super) thread: watchdog::ThreadId,
    /// Goes up when the program begins to run and when it hands control back: odd while it runs.
    pub(super) beats: AtomicU64,
    /// What the watchdog wants to be told.
    pub(super) wanted: AtomicU8,
    /// How many beats there were when it wanted that.
    pub(super) wanted_at: AtomicU64,
    /// How long there was no step then.
    pub(super) seconds: AtomicU64,
    told: AtomicBool,
    /// The execution of a model, if that is what runs.
    model: AtomicPtr<Scene>,
    /// What the search has lent to the execution.
    trace: AtomicPtr<Trace>,
    /// The actor of the model whose handler runs.
    task: AtomicU32,
    /// What it was chosen to receive, if that was a decision and is no step yet.
    pending: AtomicU64,
}

/// Whatever runs on an OS thread.
#[derive(Clone, Copy)]
pub(super) struct Running<'a> {
    pub(super) who: &'a dyn Participants,
    pub(super) trace: &'a Trace,
    /// Which task it is that runs.
    pub(super) task: TaskId,
    pub(super) pending: Option<(TaskId, Variant)>,
}

impl Record {
    pub(super) fn words(&self) -> &LastWords {
        &self.words
    }

    /// Whether the end of the process was told before; from now on it was.
    pub(super) fn has_told(&self) -> bool {
        self.told.swap(true, Relaxed)
    }
}

/// A worker that is attended to: if the process ends or hangs in one of its executions, that is told. Ends with this value, which must be
/// dropped on the OS thread that made it.
pub struct Attending {
    record: Arc<Record>,
    before: *const Record,
}

/// Attends to what runs on this OS thread from now on.
#[must_use]
pub fn attend(words: Arc<LastWords>, patience: Patience) -> Attending {
    crate::coroutine::install_handlers();
    super::exit::install();
    let record = Arc::new(Record {
        words,
        patience,
        thread: watchdog::this_thread(),
        beats: AtomicU64::new(0),
        wanted: AtomicU8::new(0),
        wanted_at: AtomicU64::new(0),
        seconds: AtomicU64::new(0),
        told: AtomicBool::new(false),
        model: AtomicPtr::default(),
        trace: AtomicPtr::default(),
        task: AtomicU32::new(0),
        pending: AtomicU64::new(0),
    });
    watchdog::add(&record);
    Attending { before: OWN.replace(Arc::as_ptr(&record)), record }
}

impl Drop for Attending {
    fn drop(&mut self) {
        watchdog::remove(&self.record);
        OWN.set(self.before);
    }
}

/// The program runs until this is dropped.
pub(crate) struct Inside(*const Record);

impl Inside {
    #[inline]
    fn enter(own: *const Record) -> Self {
        Self(own).beat()
    }

    #[inline]
    fn beat(self) -> Self {
        // SAFETY: the pointer was set by `attend` from a record that lives until it is taken back, on this OS thread.
        if let Some(record) = unsafe { self.0.as_ref() } {
            // Only this OS thread writes it.
            record.beats.store(record.beats.load(Relaxed) + 1, Relaxed);
        }
        self
    }
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        std::mem::forget(Self(self.0).beat());
    }
}

/// The program runs, on fibers, until what is returned is dropped. `trace` is what the search lends to it, if it does; after the end of an
/// execution it is still there.
#[inline]
pub(crate) fn inside(trace: Option<&Trace>) -> Inside {
    let own = OWN.get();
    // SAFETY: as in `Inside::beat`.
    if let (Some(record), Some(trace)) = (unsafe { own.as_ref() }, trace) {
        record.trace.store(ptr::from_ref(trace).cast_mut(), Relaxed);
    }
    Inside::enter(own)
}

/// A handler of a model runs, or a check of it, until what is returned is dropped; or the model finds out what can happen next. `trace` is
/// what has happened until then, if it is not the same as when this was called last.
#[inline]
pub(crate) fn inside_model(state: &Scene, trace: Option<&Trace>, chosen: Option<(TaskId, Option<Variant>)>) -> Inside {
    let own = OWN.get();
    // SAFETY: as in `Inside::beat`.
    if let Some(record) = unsafe { own.as_ref() } {
        record.model.store(ptr::from_ref(state).cast_mut(), Relaxed);
        if let Some(trace) = trace {
            record.trace.store(ptr::from_ref(trace).cast_mut(), Relaxed);
        }
        let (task, variant) = chosen.unwrap_or((TaskId::MAIN, None));
        record.task.store(task.number(), Relaxed);
        record.pending.store(variant.map_or(0, number_of), Relaxed);
    }
    Inside::enter(own)
}

/// What was chosen has become a step; or the handler of another actor runs from here on.
#[inline]
pub(crate) fn handles(task: TaskId) {
    // SAFETY: as in `Inside::beat`.
    if let Some(record) = unsafe { OWN.get().as_ref() } {
        record.task.store(task.number(), Relaxed);
        record.pending.store(0, Relaxed);
    }
}

#[inline]
fn number_of(variant: Variant) -> u64 {
    match variant {
        Variant::Ready => 1,
        Variant::TimedOut => 2,
        Variant::Spurious => 3,
        Variant::Message(message) => 4 + u64::from(message),
    }
}

fn variant_of(number: u64) -> Option<Variant> {
    Some(match number {
        0 => return None,
        1 => Variant::Ready,
        2 => Variant::TimedOut,
        3 => Variant::Spurious,
        message => Variant::Message(u32::try_from(message - 4).unwrap_or(0)),
    })
}

/// Calls `body` with what runs on this OS thread, if anything does. For handlers of signals.
pub(super) fn with_running(body: impl FnOnce(&Running<'_>, Option<&Record>)) {
    // SAFETY: as in `Inside::beat`.
    let own = unsafe { OWN.get().as_ref() };
    let mut body = Some(body);
    current::with(|execution| {
        // SAFETY: this OS thread is in the middle of a task of the execution, whose tables nobody else can touch. It may have them
        // borrowed and be about to change them; each change leaves what is read here (lengths, tasks, steps) valid throughout.
        let state = unsafe { &*execution.state.as_ptr() };
        // SAFETY: what is lent to an execution outlives it. At its end the search has it back, and keeps it until the execution is dropped.
        let lent = own.filter(|_| state.finishing).and_then(|own| unsafe { own.trace.load(Relaxed).as_ref() });
        let running = Running { who: state, trace: lent.unwrap_or(&state.trace), task: state.current, pending: None };
        if let Some(body) = body.take() {
            body(&running, own);
        }
    });
    let Some((body, own)) = body.zip(own).filter(|(_, own)| own.beats.load(Relaxed) % 2 == 1) else { return };
    // SAFETY: a model is inside one of its own functions, which have borrowed both. The same holds as above.
    let (state, trace) = unsafe { (own.model.load(Relaxed).as_ref(), own.trace.load(Relaxed).as_ref()) };
    if let (Some(state), Some(trace)) = (state, trace) {
        let task = TaskId::new(own.task.load(Relaxed));
        let pending = variant_of(own.pending.load(Relaxed)).map(|variant| (task, variant));
        body(&Running { who: state, trace, task, pending }, Some(own));
    }
}

/// The record of this OS thread. For handlers of signals.
pub(super) fn with_record(body: impl FnOnce(&Record)) {
    // SAFETY: as in `Inside::beat`.
    if let Some(own) = unsafe { OWN.get().as_ref() } {
        body(own);
    }
}
