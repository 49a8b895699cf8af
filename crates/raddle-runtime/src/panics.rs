//! Panics of explored executions: kept for the report instead of being printed.

mod shown;

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, Location, PanicHookInfo};
use std::sync::Once;

use raddle_engine::ids::TaskId;
use raddle_engine::outcome::{Failure, Place};

use crate::coroutine::current;
use crate::execution::{Execution, State, Task};
use crate::output::{discard_from_here_on, unredirected};

/// Puts a hook before the one that is there; once per process.
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
                Print::AsTheProgramsBy(task) if std::env::var_os("RUST_BACKTRACE").is_none_or(|v| v != "full") => {
                    shown::print(info, &task);
                }
                Print::AsTheProgramsBy(_) => before(info),
                Print::AsRaddles => unredirected(|| before(info)),
            }
        }));
    });
}

/// Panics with a message that is told with another place than that of the call.
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

/// A panic of code that runs on no stack of its own, such as a handler of a model.
pub(crate) struct Panicked {
    pub(crate) message: String,
    pub(crate) place: Option<Place>,
}

thread_local! {
    /// Whether such code runs on this OS thread: the hook has no other way to tell.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
    /// Where it has panicked latest.
    static CAUGHT_AT: Cell<Option<Place>> = const { Cell::new(None) };
}

/// Runs `body`; a panic is told with its place and not printed. Part of every step of a model.
#[inline(always)]
pub(crate) fn catch<R>(body: impl FnOnce() -> R) -> Result<R, Panicked> {
    let before = CATCHING.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    CATCHING.set(before);
    result.map_err(caught)
}

/// What was caught.
#[cold]
fn caught(payload: Box<dyn Any + Send>) -> Panicked {
    Panicked { message: message(&*payload), place: CAUGHT_AT.take() }
}

/// Whether code of a model runs on this OS thread.
pub(crate) fn in_a_model() -> bool {
    CATCHING.get()
}

/// Keeps the place of a panic for who [catches](catch) it; false if nobody does.
fn is_caught(info: &PanicHookInfo<'_>) -> bool {
    let caught = CATCHING.get();
    if caught {
        CAUGHT_AT.set(info.location().map(Place::from));
    }
    caught
}

/// What a panic says.
pub(crate) fn message(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("(a panic whose payload is not a string)").to_owned()
}

/// The panics with which the compiler's own code ends the process, instead of unwinding further: out of a destructor that runs because of
/// another panic, and through a frame that cannot be unwound (of an `extern "C"` function).
const IN_CLEANUP: &str = "panic in a destructor during cleanup";
const CANNOT_UNWIND: &str = "panic in a function that cannot unwind";

/// Whether a panic is printed, and as whose.
enum Print {
    Not,
    /// As part of the program's output, by this task.
    AsTheProgramsBy(String),
    /// Raddle's own: it has to be seen, whatever becomes of the program's output.
    AsRaddles,
}

/// Keeps what a task's panic says; returns whether it is to be printed as well.
fn note(execution: &Execution, info: &PanicHookInfo<'_>) -> Print {
    let Ok(mut state) = execution.state.try_borrow_mut() else {
        // In the middle of an operation.
        return Print::AsRaddles;
    };
    let message = message(info.payload());
    let place = info.location().map(Place::from);
    if message != IN_CLEANUP && message != CANNOT_UNWIND {
        state.note_unwinding();
        state.task().panics.push((message, place));
        return if state.settings.print_panics { Print::AsTheProgramsBy(name_of_current(&state)) } else { Print::Not };
    }
    // When this hook returns, the process aborts; the runtime's handler of that signal cuts the task off instead. This OS
    // thread then counts as panicking for ever, which is why the worker is not used any more.
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
    // The standard library is about to say that it aborts, which it does not.
    discard_from_here_on();
    Print::Not
}

/// What reports call the running task.
fn name_of_current(state: &State) -> String {
    let task = state.current;
    match &state.tasks[task.index()].label {
        Some(label) => label.clone(),
        None if task == TaskId::MAIN => "main".to_owned(),
        None => format!("thread {}", Task::name(&state.tasks, task)),
    }
}
