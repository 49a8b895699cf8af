//! Records the data behind a lock, or in a message, if it is a plain number.
//!
//! Two executions with the same decisions must find the same numbers; so a program that is not deterministic is noticed. The type of the
//! data is recognised by its name, because a type that is not `'static` has no `TypeId`. No other type has the name of a primitive type.

use std::any::type_name;
use std::mem::size_of_val;

use raddle_engine::trace::{Note, Word};

use crate::execution::Execution;

/// The value, if it is a number, a character or a truth value of at most eight bytes.
fn plain<T: ?Sized>(data: &T) -> Option<u64> {
    let size = size_of_val(data);
    let known = match type_name::<T>() {
        "u8" | "i8" | "bool" => size == 1,
        "u16" | "i16" => size == 2,
        "u32" | "i32" | "f32" | "char" => size == 4,
        "u64" | "i64" | "f64" | "usize" | "isize" => size == 8,
        _ => false,
    };
    if !known {
        return None;
    }
    let mut bytes = [0; 8];
    // SAFETY: the data is of one of the types above, which have no padding, so all of its bytes are initialised; they are as many as
    // `size` says, and fit into eight.
    unsafe { std::ptr::copy_nonoverlapping(std::ptr::from_ref(data).cast::<u8>(), bytes.as_mut_ptr(), size) };
    Some(u64::from_le_bytes(bytes))
}

/// Records the data behind the lock that the current task has just taken or is about to release, or in the message that it has just received.
#[inline]
pub(super) fn note<T: ?Sized>(execution: &Execution, data: &T) {
    let mut state = execution.state.borrow_mut();
    if !state.discards_steps
        && let Some(word) = plain(data)
    {
        state.trace.note(Note::Contents(Word(word)));
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn numbers_are_known_and_nothing_else() {
        assert_eq!(plain(&7_u8), Some(7));
        assert_eq!(plain(&-1_i64), Some(u64::MAX));
        assert_eq!(plain(&true), Some(1));
        assert_eq!(plain("text"), None);
        assert_eq!(plain(&(1_u8, 2_u32)), None);
        assert_eq!(plain(&vec![1]), None);
    }
}
