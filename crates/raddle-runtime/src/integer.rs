//! Ranges of integer types: how many values they have, and which is the nth.

use std::ops::{Bound, RangeBounds};

/// An integer type of the language. Implemented for all of them, and for nothing else.
pub trait Integer: Copy + private::Integer {}

mod private {
    pub trait Integer: Sized {
        const LEAST: Self;
        const GREATEST: Self;

        fn next(self) -> Option<Self>;
        fn previous(self) -> Option<Self>;

        /// The distance to `to`; `None` if `to` is less than this.
        fn distance(self, to: Self) -> Option<u128>;

        /// The number that is greater by `by`, wrapping.
        fn moved(self, by: u128) -> Self;
    }
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Integer for $t {}

        impl private::Integer for $t {
            const LEAST: Self = <$t>::MIN;
            const GREATEST: Self = <$t>::MAX;

            fn next(self) -> Option<Self> {
                self.checked_add(1)
            }

            fn previous(self) -> Option<Self> {
                self.checked_sub(1)
            }

            fn distance(self, to: Self) -> Option<u128> {
                // Sign extension cancels out; the difference of two numbers of one type always fits.
                (self <= to).then(|| (to as u128).wrapping_sub(self as u128))
            }

            fn moved(self, by: u128) -> Self {
                (self as u128).wrapping_add(by) as $t
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

/// The first number of a range and the distance to the last; `None` if the range is empty.
pub(crate) fn extent<T: Integer>(range: &impl RangeBounds<T>) -> Option<(T, u128)> {
    let first = match range.start_bound() {
        Bound::Included(&first) => first,
        Bound::Excluded(&before) => before.next()?,
        Bound::Unbounded => T::LEAST,
    };
    let last = match range.end_bound() {
        Bound::Included(&last) => last,
        Bound::Excluded(&after) => after.previous()?,
        Bound::Unbounded => T::GREATEST,
    };
    Some((first, first.distance(last)?))
}

/// The number `by` after `first`.
pub(crate) fn nth<T: Integer>(first: T, by: u128) -> T {
    first.moved(by)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_extents() {
        assert_eq!(extent(&(3..7)), Some((3, 3)));
        assert_eq!(extent(&(3..=7)), Some((3, 4)));
        assert_eq!(extent(&(-3_i8..)), Some((-3, 130)));
        assert_eq!(extent::<i8>(&..), Some((-128, 255)));
        assert_eq!(extent::<u128>(&..), Some((0, u128::MAX)));
        assert_eq!(extent(&(i64::MIN..=i64::MAX)), Some((i64::MIN, u128::from(u64::MAX))));
        #[expect(clippy::reversed_empty_ranges, reason = "an empty range is what is tested")]
        let empty = [extent(&(7..3)), extent(&(3..3)), extent(&(i32::MIN..i32::MIN))];
        assert_eq!(empty, [None; 3]);
        assert_eq!(nth(-128_i8, 255), 127);
        assert_eq!(nth(i64::MIN, u128::from(u64::MAX)), i64::MAX);
    }
}
