//! How large the tree of decisions is, without walking all of it (ALGORITHMS.md §1).
//!
//! A uniform random walk tells by the product of the alternatives along it: the mean over walks is the number of orders,
//! exactly in expectation (Knuth 1975), with an interval from the spread. A search in depth-first order tells by what it has
//! seen of each subtree: the mean over the children it has visited, times all children (Eta's recursive rule), which jumps
//! while it is young and is exact when it is done.

use serde::{Deserialize, Serialize};

/// A number of orders, about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// How many orders there seem to be.
    pub orders: f64,
    /// By how much of itself that may be wrong, at two standard errors; `None` where nothing is known of the error.
    pub error: Option<f64>,
}

/// The mean and the spread of the products of uniform random walks.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Walks {
    walks: u64,
    mean: f64,
    /// Sum of squared differences from the mean.
    spread: f64,
}

impl Walks {
    /// Takes in a walk along which the numbers of alternatives multiply to `product`.
    pub fn add(&mut self, product: f64) {
        self.walks += 1;
        let before = product - self.mean;
        self.mean += before / self.walks as f64;
        self.spread += before * (product - self.mean);
    }

    /// Takes in other walks.
    pub fn join(&mut self, other: &Self) {
        let walks = self.walks + other.walks;
        if other.walks == 0 || walks == 0 {
            return;
        }
        let apart = other.mean - self.mean;
        let share = other.walks as f64 / walks as f64;
        self.spread += other.spread + apart * apart * self.walks as f64 * share;
        self.mean += apart * share;
        self.walks = walks;
    }

    /// What the walks tell; `None` before the second.
    #[must_use]
    pub fn estimate(&self) -> Option<Estimate> {
        if self.walks < 2 || !self.mean.is_finite() {
            return None;
        }
        let variance = self.spread / (self.walks - 1) as f64;
        let error = 2.0 * (variance / self.walks as f64).sqrt() / self.mean;
        Some(Estimate { orders: self.mean, error: Some(error) })
    }
}

/// One level of a depth-first path: what is known of the subtrees of the children that are done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subtrees {
    sum: f64,
    done: u32,
}

impl Subtrees {
    /// A child's subtree is done and has about so many leaves.
    pub fn add(&mut self, leaves: f64) {
        self.sum += leaves;
        self.done += 1;
    }

    /// The leaves below this level, where `current` are those below the child being walked, if one is.
    #[must_use]
    pub fn leaves(&self, alternatives: u32, current: Option<f64>) -> f64 {
        let visited = f64::from(self.done + u32::from(current.is_some()));
        if visited == 0.0 {
            f64::from(alternatives)
        } else {
            (self.sum + current.unwrap_or(0.0)) / visited * f64::from(alternatives)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Counters;
    use crate::search::{Limits, search};
    use crate::strategy::exhaustive::Exhaustive;
    use crate::strategy::random::Random;

    /// Tasks that count, with the number of their orders by hand: multinomial coefficients. The last is lopsided.
    const KNOWN: [(&[u32], f64); 4] = [(&[2, 2], 6.0), (&[4, 4], 70.0), (&[3, 3, 3], 1_680.0), (&[12, 1, 2], 1_365.0)];

    /// A lopsided tree takes more: its few long branches carry most of the weight.
    #[test]
    fn a_hundred_walks_are_within_a_factor_of_two_on_trees_that_are_not_lopsided() {
        for (steps, truth) in &KNOWN[..3] {
            let limits = Limits { executions: Some(100), ..Limits::default() };
            for seed in 0..20 {
                let report = search(&mut Counters::new(steps), &mut Random::new(seed), &limits);
                let orders = report.estimate.expect("an estimate").orders;
                assert!((truth / 2.0..truth * 2.0).contains(&orders), "{steps:?}: {orders} for {truth}");
            }
        }
    }

    #[test]
    fn many_walks_are_near_and_say_how_near() {
        for (steps, truth) in KNOWN {
            let limits = Limits { executions: Some(20_000), ..Limits::default() };
            let Estimate { orders, error } =
                search(&mut Counters::new(steps), &mut Random::new(5), &limits).estimate.expect("an estimate");
            let error = error.expect("an error");
            assert!(
                error < 0.25 && (orders / truth - 1.0).abs() <= 2.0 * error + 1e-9,
                "{steps:?}: {orders} ± {error}"
            );
        }
    }

    #[test]
    fn a_search_that_is_done_knows_the_truth() {
        for (steps, truth) in KNOWN {
            let report = search(&mut Counters::new(steps), &mut Exhaustive::depth_first(), &Limits::default());
            let orders = report.estimate.expect("an estimate").orders;
            assert!((orders - truth).abs() < 1e-6 && report.executions as f64 == truth, "{steps:?}: {orders}");
        }
    }

    #[test]
    fn a_search_that_is_not_done_has_an_idea() {
        let limits = Limits { executions: Some(300), ..Limits::default() };
        let report = search(&mut Counters::new(&[3, 3, 3]), &mut Exhaustive::depth_first(), &limits);
        let orders = report.estimate.expect("an estimate").orders;
        assert!(orders > 1_680.0 / 2.0 && orders < 1_680.0 * 2.0, "{orders}");
    }
}
