//! The record of a worker: which test it runs, whether the program is running now, and where its execution is.
//!
//! Each worker has one on its OS thread, where signal handlers find it. The [watchdog](super::watchdog) thread reads only the fields that
//! say whether the program takes steps.

use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use raddle_engine::ids::TaskId;
use raddle_engine::system::Variant;
use raddle_engine::trace::Trace;

use super::view::CrashView;
use super::watchdog;
use super::words::{LastWords, Patience};
use crate::coroutine::current;
use crate::model::ModelState;

thread_local! {
    static OWN: Cell<*const WorkerRecord> = const { Cell::new(ptr::null()) };
}

/// What signal handlers and the watchdog know about a worker.
pub(crate) struct WorkerRecord {
    words: Arc<LastWords>,
    pub(super) patience: Patience,
    pub(super) thread: watchdog::OsThread,
    /// Increases by one when the program begins to run and when it pauses, and by two when it takes a step meanwhile. It is odd while the
    /// program runs.
    pub(super) beats: AtomicU64,
    /// The report that the watchdog asks for.
    pub(super) wanted: AtomicU8,
    /// The value of `beats` when the watchdog asked for it.
    pub(super) wanted_at: AtomicU64,
    /// For how many seconds there was no step then.
    pub(super) seconds: AtomicU64,
    /// True if the end of the process was reported.
    told: AtomicBool,
    /// The state of the model that runs. Null if there is none.
    model: AtomicPtr<ModelState>,
    /// The trace that the search has lent to the execution.
    trace: AtomicPtr<Trace>,
    /// The actor of the model whose handler runs.
    task: AtomicU32,
    /// The variant of the decision for it that has not become a step yet, as a number; 0 if there is none.
    pending: AtomicU64,
}

/// The execution that runs on an OS thread.
#[derive(Clone, Copy)]
pub(super) struct RunningExecution<'a> {
    pub(super) who: &'a dyn CrashView,
    pub(super) trace: &'a Trace,
    /// The running task.
    pub(super) task: TaskId,
    /// A decision that has not become a step yet.
    pub(super) pending: Option<(TaskId, Variant)>,
}

impl WorkerRecord {
    pub(super) fn words(&self) -> &LastWords {
        &self.words
    }

    /// Whether the end of the process was reported before. From now on it counts as reported.
    pub(super) fn has_told(&self) -> bool {
        self.told.swap(true, Relaxed)
    }
}

/// While this value lives, Raddle reports if the process ends or hangs in an execution of this worker. It must be dropped on the OS thread
/// that made it.
pub struct Attending {
    record: Arc<WorkerRecord>,
    before: *const WorkerRecord,
}

/// From now on, reports if the process ends or hangs in an execution on this OS thread.
#[must_use]
pub fn attend(words: Arc<LastWords>, patience: Patience) -> Attending {
    crate::coroutine::install_handlers();
    super::exit::install();
    let record = Arc::new(WorkerRecord {
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

/// Marks that the program runs, until it is dropped.
pub(crate) struct RunningMark(*const WorkerRecord);

impl RunningMark {
    #[inline]
    fn enter(own: *const WorkerRecord) -> Self {
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

impl Drop for RunningMark {
    #[inline]
    fn drop(&mut self) {
        std::mem::forget(Self(self.0).beat());
    }
}

/// Marks that the program runs, on fibers, until the result is dropped. `trace` is the trace that the search lends to the execution, if it
/// does. The trace outlives the execution.
#[inline]
pub(crate) fn inside(trace: Option<&Trace>) -> RunningMark {
    let own = OWN.get();
    // SAFETY: as in `RunningMark::beat`.
    if let (Some(record), Some(trace)) = (unsafe { own.as_ref() }, trace) {
        record.trace.store(ptr::from_ref(trace).cast_mut(), Relaxed);
    }
    RunningMark::enter(own)
}

/// Marks that the code of a model runs (a handler, a check, or listing its actions), until the result is dropped. `trace` is the trace so
/// far, if it is another one than in the latest call.
#[inline]
pub(crate) fn inside_model(
    state: &ModelState,
    trace: Option<&Trace>,
    chosen: Option<(TaskId, Option<Variant>)>,
) -> RunningMark {
    let own = OWN.get();
    // SAFETY: as in `RunningMark::beat`.
    if let Some(record) = unsafe { own.as_ref() } {
        record.model.store(ptr::from_ref(state).cast_mut(), Relaxed);
        if let Some(trace) = trace {
            record.trace.store(ptr::from_ref(trace).cast_mut(), Relaxed);
        }
        let (task, variant) = chosen.unwrap_or((TaskId::MAIN, None));
        record.task.store(task.number(), Relaxed);
        record.pending.store(variant.map_or(0, number_of), Relaxed);
    }
    RunningMark::enter(own)
}

/// Marks that the program has called Raddle, which works for a while without taking a step, until the result is dropped. The watchdog does not
/// count that time. Called while the program runs.
#[inline]
pub(crate) fn away() -> RunningMark {
    RunningMark::enter(OWN.get())
}

/// Notes that the program, which runs on fibers, has taken a step.
#[inline]
pub(crate) fn note_step() {
    // SAFETY: as in `RunningMark::beat`.
    if let Some(record) = unsafe { OWN.get().as_ref() } {
        record.beats.store(record.beats.load(Relaxed) + 2, Relaxed);
    }
}

/// Notes that the decision has become a step, or that from now on the handler of `task` runs.
#[inline]
pub(crate) fn handles(task: TaskId) {
    // SAFETY: as in `RunningMark::beat`.
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

/// Calls `body` with the execution that runs on this OS thread, if there is one. For signal handlers.
pub(super) fn with_running(body: impl FnOnce(&RunningExecution<'_>, Option<&WorkerRecord>)) {
    // SAFETY: as in `RunningMark::beat`.
    let own = unsafe { OWN.get().as_ref() };
    let mut body = Some(body);
    current::with(|execution| {
        // SAFETY: this OS thread is in the middle of a task of the execution, and no other OS thread uses its tables. The task may have
        // borrowed them and be about to change them; each change leaves what is read here (lengths, tasks, steps) valid throughout.
        let state = unsafe { &*execution.state.as_ptr() };
        // SAFETY: the trace that is lent to an execution outlives it. At the end of the execution the search has it back, and keeps it
        // until the execution is dropped.
        let lent = own.filter(|_| state.finishing).and_then(|own| unsafe { own.trace.load(Relaxed).as_ref() });
        let running =
            RunningExecution { who: state, trace: lent.unwrap_or(&state.trace), task: state.current, pending: None };
        if let Some(body) = body.take() {
            body(&running, own);
        }
    });
    let Some((body, own)) = body.zip(own).filter(|(_, own)| own.beats.load(Relaxed) % 2 == 1) else { return };
    // SAFETY: a function of the model is running, which has borrowed both. The same holds as above.
    let (state, trace) = unsafe { (own.model.load(Relaxed).as_ref(), own.trace.load(Relaxed).as_ref()) };
    if let (Some(state), Some(trace)) = (state, trace) {
        let task = TaskId::new(own.task.load(Relaxed));
        let pending = variant_of(own.pending.load(Relaxed)).map(|variant| (task, variant));
        body(&RunningExecution { who: state, trace, task, pending }, Some(own));
    }
}

/// Calls `body` with the record of this OS thread, if there is one. For signal handlers.
pub(super) fn with_record(body: impl FnOnce(&WorkerRecord)) {
    // SAFETY: as in `RunningMark::beat`.
    if let Some(own) = unsafe { OWN.get().as_ref() } {
        body(own);
    }
}
