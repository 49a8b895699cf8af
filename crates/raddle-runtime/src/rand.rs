//! Random numbers for the program.
//!
//! In an execution they come from a generator with the seed of the execution, so a replay of a schedule draws the same numbers. A draw is no
//! decision: a search does not try every number. To try every value, use [`choice`](crate::choice). Outside of any execution, the system
//! provides the seed of each draw.

use std::hash::{BuildHasher, RandomState};
use std::ops::RangeBounds;

use raddle_engine::rng::Rng;

use crate::coroutine::current;
pub use crate::integer::Integer;
use crate::integer::{extent, nth};
use crate::uncontrolled;

/// What [`random`] can draw: integers, `bool`, and `f64` from 0 up to but not including 1.
pub trait Random: private::Random {}

mod private {
    pub trait Random {
        fn from_bits(bits: u128) -> Self;
    }
}

macro_rules! random_integers {
    ($($t:ty),*) => {$(
        impl Random for $t {}

        impl private::Random for $t {
            fn from_bits(bits: u128) -> Self {
                bits as $t
            }
        }
    )*};
}

random_integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

impl Random for bool {}

impl private::Random for bool {
    fn from_bits(bits: u128) -> Self {
        bits & 1 == 1
    }
}

impl Random for f64 {}

impl private::Random for f64 {
    fn from_bits(bits: u128) -> Self {
        // The fraction of an `f64` has 53 bits. With as many random bits, all values have the same distance to the next.
        (bits as u64 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A random value. All values of the type are equally likely.
#[must_use]
#[track_caller]
pub fn random<T: Random>() -> T {
    T::from_bits(with_rng(wide_bits))
}

/// A random number in `range`. All are equally likely.
///
/// # Panics
///
/// If the range is empty.
#[must_use]
#[track_caller]
pub fn random_range<T: Integer>(range: impl RangeBounds<T>) -> T {
    let (first, distance) = extent(&range).expect("raddle: random_range: the range is empty");
    nth(first, with_rng(|rng| up_to(rng, distance)))
}

/// Puts the values into a random order. All orders are equally likely.
#[track_caller]
pub fn shuffle<T>(values: &mut [T]) {
    with_rng(|rng| {
        for last in (1..values.len()).rev() {
            values.swap(last, up_to(rng, last as u128) as usize);
        }
    });
}

#[track_caller]
fn with_rng<R>(draw: impl FnOnce(&mut Rng) -> R) -> R {
    let mut draw = Some(draw);
    let mut once = |rng: &mut Rng| draw.take().map(|draw| draw(rng));
    let drawn = current::with(|execution| {
        let mut state = execution.state.borrow_mut();
        once(state.rng())
    });
    if drawn.is_none() {
        uncontrolled::note("raddle::rand", None);
    }
    drawn.unwrap_or_else(|| once(&mut Rng::new(RandomState::new().hash_one(0)))).expect("drawn once, here or there")
}

fn wide_bits(rng: &mut Rng) -> u128 {
    u128::from(rng.bits()) << 64 | u128::from(rng.bits())
}

/// A random number from 0 to `greatest`: draws as many bits as `greatest` has, until they are not greater than it.
fn up_to(rng: &mut Rng, greatest: u128) -> u128 {
    if greatest == 0 {
        return 0;
    }
    let unneeded = greatest.leading_zeros();
    loop {
        let bits = if unneeded >= 64 { u128::from(rng.bits() >> (unneeded - 64)) } else { wide_bits(rng) >> unneeded };
        if bits <= greatest {
            return bits;
        }
    }
}
