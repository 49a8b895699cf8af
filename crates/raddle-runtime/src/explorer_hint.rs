//! Hints from a program to the delaying explorer that searches it.

use raddle_engine::trace::Note;

use crate::coroutine::current;

/// Tells a delaying explorer something about the program, for example that its start is
/// over. The explorer gets it as an `Event::Hint`. Other strategies ignore it, and outside an
/// execution this does nothing. In a handler of a model, use [`Context::hint_explorer`](crate::actor::Context::hint_explorer).
pub fn hint_explorer(value: u64) {
    current::with(|execution| execution.state.borrow_mut().trace.note(Note::Hint(value)));
}
