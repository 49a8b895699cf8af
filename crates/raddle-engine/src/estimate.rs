//! How large the tree of decisions is, without walking all of it.
//!
//! A random walk stands for as many orders as one over its probability: the mean over walks is the number of orders, exactly in
//! expectation (Knuth 1975), with an interval from the spread ([`Walks`]; how to walk is up to
//! `Probe`). A systematic search tells by what it has seen of each subtree
//! ([`Estimator`] in depth-first order, [`Subtrees`] in random order), which depends on where it began and is exact when it is done.

mod estimator;
mod walks;

pub use estimator::{Branching, Estimator, Kind, Subtrees};
pub use walks::Walks;

/// A number of orders, about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// How many orders there seem to be; infinite if nobody knows.
    pub orders: f64,
    /// By how much of itself that may be wrong, at two standard errors; `None` where there is nothing to tell: the search is
    /// done, or nothing is known of the error.
    pub error: Option<f64>,
}

impl Estimate {
    /// Nothing is known of how many there are.
    pub const UNKNOWN: Self = Self { orders: f64::INFINITY, error: None };

    /// There are exactly so many.
    #[must_use]
    pub fn exactly(orders: u64) -> Self {
        Self { orders: orders as f64, error: None }
    }

    /// The least and the most orders there may be, if the error is told.
    #[must_use]
    pub fn interval(&self) -> Option<(f64, f64)> {
        let off = self.orders * self.error?;
        Some(((self.orders - off).max(1.0).min(self.orders), self.orders + off))
    }

    /// The same when it is known that there are more than `seen`. What is left of the interval is what can still be true. If nothing of
    /// it is left, the estimate was wrong, and the number of orders is unknown.
    #[must_use]
    pub fn given_seen(self, seen: u64) -> Self {
        let seen = seen as f64;
        if self.orders > seen {
            return self;
        }
        match self.interval() {
            Some((_, most)) if most > seen + 1.0 => {
                let orders = f64::midpoint(seen, most);
                Self { orders, error: Some((most - orders) / orders) }
            }
            _ => Self::UNKNOWN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_bounds_what_there_is() {
        let estimate = Estimate { orders: 100.0, error: Some(0.5) };
        assert_eq!(estimate.interval(), Some((50.0, 150.0)));
        assert_eq!(estimate.given_seen(99), estimate);
        assert_eq!(estimate.given_seen(130), Estimate { orders: 140.0, error: Some(10.0 / 140.0) });
        assert_eq!(estimate.given_seen(149), Estimate::UNKNOWN);
        assert_eq!(estimate.given_seen(150), Estimate::UNKNOWN);
        assert_eq!(Estimate::UNKNOWN.given_seen(7), Estimate::UNKNOWN);
        assert_eq!(Estimate { orders: 2.0, error: Some(3.0) }.interval(), Some((1.0, 8.0)), "there is at least one");
        assert_eq!(Estimate { orders: 7.0, error: None }.interval(), None);
    }
}
