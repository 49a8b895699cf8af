//! Explicit nondeterminism: the program asks for a value, and the strategy decides which. An exhaustive search tries every value.

use std::fmt::Debug;
use std::ops::RangeBounds;

use raddle_engine::trace::{Class, Operation, Site};

use crate::coroutine::current;
use crate::execution::here;
pub use crate::integer::Integer;
use crate::integer::{extent, nth};
use crate::{panics, uncontrolled};

static CHOOSE: Operation = Operation { verb: "choose", class: Class::Choice };
static ANY: Operation = Operation { verb: "any", class: Class::Choice };
static FLIP: Operation = Operation { verb: "flip", class: Class::Choice };

/// One of the numbers below `n`. The strategy decides which.
///
/// # Panics
///
/// If `n` is 0 or does not fit in 32 bits, and outside an execution, where there is no strategy to decide.
#[must_use]
#[track_caller]
pub fn choose(n: usize) -> usize {
    assert!(n > 0, "raddle: choose(0): there is nothing to choose from");
    let choices = u32::try_from(n).unwrap_or_else(|_| panic!("raddle: choose({n}): more values than {}", u32::MAX));
    decide(choices, "choose", &CHOOSE, here()) as usize
}

/// One of the numbers in `range`. The strategy decides which. The step shows its position in the range, counted from 0.
///
/// # Panics
///
/// If the range is empty or has 2³² values or more, and outside an execution, where there is no strategy to decide.
#[must_use]
#[track_caller]
pub fn any<T: Integer + Debug>(range: impl RangeBounds<T>) -> T {
    let bounds = || (range.start_bound(), range.end_bound());
    let Some((first, distance)) = extent(&range) else {
        panic!("raddle: any({:?}): the range is empty", bounds());
    };
    let choices = u32::try_from(distance).ok().and_then(|distance| distance.checked_add(1));
    let choices = choices.unwrap_or_else(|| panic!("raddle: any({:?}): more values than {}", bounds(), u32::MAX));
    nth(first, u128::from(decide(choices, "any", &ANY, here())))
}

/// True or false. The strategy decides which.
///
/// # Panics
///
/// Outside an execution, where there is no strategy to decide.
#[must_use]
#[track_caller]
pub fn flip() -> bool {
    decide(2, "flip", &FLIP, here()) == 1
}

#[track_caller]
fn decide(choices: u32, name: &'static str, op: &'static Operation, site: Site) -> u32 {
    current::with(|execution| execution.choose(choices, site, op)).unwrap_or_else(|| {
        assert!(
            !panics::in_a_model(),
            "raddle: {name} at {site} was called in a model, which cannot wait; use `ctx.choose` or `ctx.flip`"
        );
        uncontrolled::note_at(name, None, site);
        panic!("raddle: {name} at {site} was called outside a Raddle test, where nobody decides; call it inside one")
    })
}
