//! How large the tree of decisions is, without walking all of it (ALGORITHMS.md §1).
//!
//! A random walk stands for as many orders as one over its probability: the mean over walks is the number of orders, exactly in
//! expectation (Knuth 1975), with an interval from the spread ([`Walks`]; how to walk is up to
//! [`Probe`](crate::strategy::probe::Probe)). A systematic search tells by what it has seen of each subtree
//! ([`Estimator`] in depth-first order, [`Subtrees`] in random order), which depends on where it began and is exact when it is done.

mod estimator;
pub mod futures;
pub mod lengths;
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
    use crate::example::Counters;
    use crate::search::{Limits, search};
    use crate::strategy::exhaustive::Exhaustive;
    use crate::strategy::random::Random;
    use crate::strategy::{Decision, Next, Run, Sharing, Strategy};
    use crate::system::{Choice, Point};
    use crate::trace::Trace;

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

    /// The rule from first principles: all branches so far, and for each node the mean over those of its children that occur.
    fn by_hand(branches: &[Vec<(Choice, u32)>], depth: usize) -> f64 {
        let Some(&(_, all)) = branches[0].get(depth) else { return 1.0 };
        let children: Vec<Vec<_>> = (0..all)
            .map(|child| branches.iter().filter(|branch| branch[depth].0.0 == child).cloned().collect())
            .filter(|below: &Vec<_>| !below.is_empty())
            .collect();
        let sum: f64 = children.iter().map(|below| by_hand(below, depth + 1)).sum();
        sum / children.len() as f64 * f64::from(all)
    }

    /// Remembers the decisions of every execution.
    struct Remembered {
        inner: Exhaustive,
        branches: Vec<Vec<(Choice, u32)>>,
    }

    impl Strategy for Remembered {
        fn name(&self) -> &'static str {
            "remembered"
        }

        fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
            let next = self.inner.begin(prefix);
            let mut branch = Vec::new();
            for (depth, &choice) in prefix.iter().enumerate() {
                let along = |earlier: &&Vec<(Choice, u32)>| {
                    earlier.iter().take(depth).map(|(choice, _)| *choice).eq(prefix[..depth].iter().copied())
                };
                let before = self.branches.iter().find(along).expect("a prefix is what was walked before");
                branch.push((choice, before[depth].1));
            }
            self.branches.push(branch);
            next
        }

        fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
            let decision = self.inner.choose(at, so_far);
            let Decision::Take(choice) = decision else { panic!("nothing is left out") };
            self.branches.last_mut().expect("one was begun").push((choice, at.alternatives()));
            decision
        }

        fn end(&mut self, run: &Run<'_>) {
            self.inner.end(run);
            let expected = by_hand(&self.branches, 0);
            let told = self.inner.estimate().expect("an execution was seen").orders;
            assert!((told / expected - 1.0).abs() < 1e-9, "{told} for {expected} after {}", self.branches.len());
        }
    }

    #[test]
    fn a_search_in_random_order_tells_by_all_that_it_has_visited() {
        assert!(Exhaustive::random(3).estimate().is_none(), "nothing was seen yet");
        for (steps, truth) in [(&[2, 2][..], 6), (&[4, 4], 70), (&[3, 1, 2], 60)] {
            for seed in 0..5 {
                let mut strategy = Remembered { inner: Exhaustive::random(seed), branches: Vec::new() };
                let report = search(&mut Counters::new(steps), &mut strategy, &Limits::default());
                let told = strategy.inner.estimate().expect("all was seen").orders;
                assert!(report.executions == truth && (told - truth as f64).abs() < 1e-9, "{steps:?}: {told}");
            }
        }
    }

    #[test]
    fn a_part_of_a_search_in_random_order_tells_nothing_of_the_whole() {
        let mut first = Exhaustive::random(1);
        let limits = Limits { executions: Some(10), ..Limits::default() };
        search(&mut Counters::new(&[4, 4]), &mut first, &limits);
        let Sharing::ByPiece(by_piece) = first.sharing() else { panic!("the tree has pieces") };
        let (rest, mut second) = (by_piece.rest().expect("60 are left"), by_piece.copy());
        let Sharing::ByPiece(by_piece) = second.sharing() else { panic!("the tree has pieces") };
        by_piece.place(rest);
        second.begin(&mut Vec::new());
        second.end(&Run { outcome: None, trace: &Trace::default(), pending: &[] });
        assert!(second.estimate().is_none());
    }

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

    #[test]
    fn a_search_that_is_not_done_has_an_idea() {
        let limits = Limits { executions: Some(300), ..Limits::default() };
        let report = search(&mut Counters::new(&[3, 3, 3]), &mut Exhaustive::depth_first(), &limits);
        let orders = report.estimate.expect("an estimate").orders;
        assert!(orders > 1_680.0 / 2.0 && orders < 1_680.0 * 2.0, "{orders}");
    }
}
