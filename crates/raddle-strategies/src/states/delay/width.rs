//! The bound of each stratum.

/// How many delays the next stratum adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// A fixed number.
    By(u32),
    /// As many as the previous bound, so that there are few strata even in a deep program.
    Doubling,
}

impl Width {
    /// The largest number of delays in this stratum.
    #[inline]
    pub fn bound(self, stratum: u32) -> u32 {
        match self {
            Self::By(delays) => stratum.saturating_mul(delays),
            Self::Doubling if stratum == 0 => 0,
            Self::Doubling => 1_u32.checked_shl(stratum - 1).unwrap_or(u32::MAX),
        }
    }

    /// The first stratum that includes so many delays.
    pub fn last(self, most: u32) -> u32 {
        match self {
            Self::By(delays) => most.div_ceil(delays),
            Self::Doubling if most == 0 => 0,
            Self::Doubling => u32::BITS - (most - 1).leading_zeros() + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_stratum_is_the_first_that_goes_far_enough() {
        for width in [Width::By(1), Width::By(3), Width::By(u32::MAX), Width::Doubling] {
            assert_eq!(width.bound(0), 0, "{width:?}");
            for most in (0..40).chain([1 << 20, (1 << 20) + 1, u32::MAX - 1, u32::MAX]) {
                let last = width.last(most);
                assert!(width.bound(last) >= most, "{width:?} up to {most}");
                assert!(last == 0 || width.bound(last - 1) < most, "{width:?} up to {most}");
            }
        }
        assert_eq!([1, 2, 3, 4, 5].map(|stratum| Width::Doubling.bound(stratum)), [1, 2, 4, 8, 16]);
    }
}
