//! What a test function may return.

use std::fmt::Debug;

/// What is returned by functions that `#[raddle::test]` accepts.
pub trait Tested {
    /// Fails the execution if this says so.
    fn end(self);
}

impl Tested for () {
    fn end(self) {}
}

impl<T: Tested, E: Debug> Tested for Result<T, E> {
    #[track_caller]
    fn end(self) {
        match self {
            Ok(value) => value.end(),
            Err(error) => panic!("the test returned an error: {error:?}"),
        }
    }
}
