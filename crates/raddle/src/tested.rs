//! What a test function may return.

use std::fmt::Debug;
use std::panic::Location;

use raddle_runtime::panic_at;

use crate::Explorer;
use crate::model::Model;

/// What is returned by functions that `#[raddle::test]` accepts.
pub trait Tested: Sized {
    /// Checks a test that returns this.
    fn check(explorer: Explorer, test: impl Fn() -> Self + Send + Sync + 'static);
}

impl Tested for () {
    #[track_caller]
    fn check(explorer: Explorer, test: impl Fn() + Send + Sync + 'static) {
        explorer.check(test);
    }
}

/// The model is what is tested.
impl Tested for Model {
    #[track_caller]
    fn check(explorer: Explorer, test: impl Fn() -> Self + Send + Sync + 'static) {
        explorer.check_model(test);
    }
}

impl<T: Tested, E: Debug> Tested for Result<T, E> {
    #[track_caller]
    fn check(explorer: Explorer, test: impl Fn() -> Self + Send + Sync + 'static) {
        let place = Location::caller();
        T::check(explorer, move || match test() {
            Ok(value) => value,
            Err(error) => panic_at(format!("the test returned an error: {error:?}"), place),
        });
    }
}
