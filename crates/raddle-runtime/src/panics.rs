//! The panic hook: panics of the program are recorded for the report and not printed.

mod shown;

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, Location, PanicHookInfo};
use std::sync::Once;

use raddle_engine::ids::TaskId;
use raddle_engine::outcome::{Failure, Place};

use crate::coroutine::current;
use crate::crash;
use crate::execution::{Execution, State, Task};
use crate::output::{discard_from_here_on, unredirected};

/// Installs our panic hook before the current one, once per process.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if is_caught(info) {
                return;
            }
            match current::with(|execution| note(execution, info)).unwrap_or(Print::AsRaddles) {
                Print::Not => {}
                // Finding the names of the frames can take seconds.
                Print::AsTheProgramsBy(task) if std::env::var_os("RUST_BACKTRACE").is_none_or(|v| v != "full") => {
                    let _away = crash::away();
                    shown::print(info, &task);
                }
                Print::AsTheProgramsBy(_) => {
                    let _away = crash::away();
                    before(info);
                }
                Print::AsRaddles => unredirected(|| before(info)),
            }
        }));
    });
}

/// Panics with a message. The report gives `place` as its place, not the place of this call.
///
/// # Panics
///
/// Always.
pub fn panic_at(message: String, place: &Location<'_>) -> ! {
    let noted = current::with(|execution| {
        let mut state = execution.state.borrow_mut();
        state.note_unwinding();
        state.task().panics.push((message.clone(), Some(place.into())));
    });
    match noted {
        Some(()) => panic::resume_unwind(Box::new(message)),
        None => panic!("{message}\nat {place}"),
    }
}

/// A panic of code that runs without a stack of its own, such as a handler of a model.
pub(crate) struct Panicked {
    pub(crate) message: String,
    pub(crate) place: Option<Place>,
}

thread_local! {
    /// True while such code runs on this OS thread. The hook reads it.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    /// The place of its latest panic.
    static CAUGHT_AT: Cell<Option<Place>> = const { Cell::new(None) };
}

/// Runs `body`. A panic is returned with its place and not printed. Every step of a model calls this.
#[inline(always)]
pub(crate) fn catch<R>(body: impl FnOnce() -> R) -> Result<R, Panicked> {
    let before = CATCHING.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    CATCHING.set(before);
    result.map_err(caught)
}

/// The panic that was caught.
#[cold]
fn caught(payload: Box<dyn Any + Send>) -> Panicked {
    Panicked { message: message(&*payload), place: CAUGHT_AT.take() }
}

/// Whether code of a model runs on this OS thread.
pub(crate) fn in_a_model() -> bool {
    CATCHING.get()
}

/// Records the place of a panic for [`catch`]. Returns false if the code does not run in `catch`.
fn is_caught(info: &PanicHookInfo<'_>) -> bool {
    let caught = CATCHING.get();
    if caught {
        CAUGHT_AT.set(info.location().map(Place::from));
    }
    caught
}

/// The message of a panic.
pub(crate) fn message(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("(a panic whose payload is not a string)").to_owned()
}

/// The messages of the panics by which the standard library ends the process instead of unwinding further: if a destructor that runs because
/// of a panic panics, and if a panic reaches a frame that cannot be unwound (of an `extern "C"` function).
const IN_CLEANUP: &str = "panic in a destructor during cleanup";
const CANNOT_UNWIND: &str = "panic in a function that cannot unwind";

/// Whether and how a panic is printed.
enum Print {
    Not,
    /// As part of the program's output. The text names the task.
    AsTheProgramsBy(String),
    /// As a panic of Raddle itself: without redirection.
    AsRaddles,
}

/// Records the panic of a task. Returns whether it is printed as well.
fn note(execution: &Execution, info: &PanicHookInfo<'_>) -> Print {
    let Ok(mut state) = execution.state.try_borrow_mut() else {
        // An operation of Raddle has panicked while it had the state borrowed.
        return Print::AsRaddles;
    };
    let message = message(info.payload());
    let place = info.location().map(Place::from);
    if message != IN_CLEANUP && message != CANNOT_UNWIND {
        state.note_unwinding();
        state.task().panics.push((message, place));
        return if state.settings.print_panics { Print::AsTheProgramsBy(name_of_current(&state)) } else { Print::Not };
    }
    // When this hook returns, the standard library aborts the process. Our handler of `SIGABRT` terminates the task instead. This OS thread
    // then counts as panicking for ever, so the worker is not used any more.
    let task = state.current;
    let Some((latest, place)) = state.task().panics.pop() else { return Print::AsRaddles };
    let failure = if message == CANNOT_UNWIND {
        Failure::CannotUnwind { task, message: latest, place }
    } else {
        let first = state.task().panics.pop().map_or(message, |(message, _)| message);
        Failure::Abort { task, messages: [first, latest], place }
    };
    state.outcome = Some(failure.into());
    state.spoiled = true;
    execution.aborting.set(true);
    // The standard library is about to print that it aborts, which would be wrong.
    discard_from_here_on();
    Print::Not
}

/// The name of the running task in reports.
fn name_of_current(state: &State) -> String {
    let task = state.current;
    match &state.tasks[task.index()].label {
        Some(label) => label.clone(),
        None if task == TaskId::MAIN => "main".to_owned(),
        None => format!("thread {}", Task::name(&state.tasks, task)),
    }
}
