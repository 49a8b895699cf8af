//! Which orders of receives count as goals.

use serde::{Deserialize, Serialize};

use crate::coverage::bits::Bits;

/// Which pairs of receives of one receiver are goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Criterion {
    /// PR: one comes before the other.
    Pairs,
    /// PBR: one of them changes the receiver's behaviour, and nothing between them does.
    BehaviourChanges,
    /// PCR: nothing comes between them.
    Consecutive,
}

impl Criterion {
    /// All criteria, the most useful first.
    pub const ALL: [Self; 3] = [Self::Pairs, Self::BehaviourChanges, Self::Consecutive];

    /// Its index in [`ALL`](Self::ALL).
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its name in settings and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pairs => "pr",
            Self::BehaviourChanges => "pbr",
            Self::Consecutive => "pcr",
        }
    }

    /// A description for reports.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Pairs => "pairs of receives",
            Self::BehaviourChanges => "pairs with a change of behaviour",
            Self::Consecutive => "pairs of consecutive receives",
        }
    }

    /// Whether two receives of one receiver can make a pair.
    #[must_use]
    pub const fn relates(self, one_changes: bool, other_changes: bool) -> bool {
        !matches!(self, Self::BehaviourChanges) || one_changes || other_changes
    }

    /// Calls back with the goals that an order of receives of one receiver achieves: for each receive, those it comes before. A receive is
    /// a number, with whether it changes the behaviour.
    pub fn achieved(self, order: &[(usize, bool)], mut tell: impl FnMut(usize, &Bits)) {
        let mut later = Bits::default();
        let mut next_change = None;
        for (at, &(receive, changes)) in order.iter().enumerate().rev() {
            match self {
                Self::Pairs => {
                    tell(receive, &later);
                    later.insert(receive);
                }
                Self::Consecutive => {
                    if let Some(next) = order.get(at + 1) {
                        later.clear();
                        later.insert(next.0);
                        tell(receive, &later);
                    }
                }
                // `later` goes up to the next change.
                Self::BehaviourChanges if changes => {
                    tell(receive, &later);
                    later.clear();
                    later.insert(receive);
                    next_change = Some(receive);
                }
                Self::BehaviourChanges => {
                    if let Some(change) = next_change {
                        tell(receive, &Bits::from_iter([change]));
                    }
                    later.insert(receive);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::rng::Rng;

    fn goals(criterion: Criterion, order: &[(usize, bool)]) -> BTreeSet<(usize, usize)> {
        let mut goals = BTreeSet::new();
        criterion.achieved(order, |first, later| goals.extend(later.iter().map(|second| (first, second))));
        goals
    }

    /// Two writes and a flush, which changes the behaviour where that matters: the example of the paper's section III.
    const W1: (usize, bool) = (0, false);
    const W2: (usize, bool) = (1, false);
    const FLUSH: (usize, bool) = (2, true);

    fn of_all(criterion: Criterion, orders: &[[(usize, bool); 3]]) -> usize {
        orders.iter().flat_map(|order| goals(criterion, order)).collect::<BTreeSet<_>>().len()
    }

    #[test]
    fn two_writes_and_a_flush_make_six_goals() {
        let two = [[W1, W2, FLUSH], [FLUSH, W2, W1]];
        let four = [[W1, W2, FLUSH], [FLUSH, W2, W1], [W1, FLUSH, W2], [FLUSH, W1, W2]];
        assert_eq!(of_all(Criterion::Pairs, &two), 6);
        assert_eq!(of_all(Criterion::Pairs, &two[..1]), 3);
        assert_eq!(of_all(Criterion::Consecutive, &four), 6);
        assert!(of_all(Criterion::Consecutive, &two) < 6);
        for left in 0..4 {
            let three: Vec<_> = (0..4).filter(|at| *at != left).map(|at| four[at]).collect();
            assert_eq!(of_all(Criterion::Consecutive, &three), 5, "without {left}");
        }
        // Only pairs with the flush count.
        assert_eq!(of_all(Criterion::BehaviourChanges, &[[W1, W2, FLUSH], [FLUSH, W1, W2]]), 4);
    }

    #[test]
    fn goals_are_those_of_the_definition() {
        let mut rng = Rng::new(3);
        for _ in 0..500 {
            let mut order: Vec<_> = (0..1 + rng.below(9) as usize).map(|n| (n, rng.below(3) == 0)).collect();
            (1..order.len()).for_each(|at| order.swap(at, rng.below(at as u32 + 1) as usize));
            for criterion in Criterion::ALL {
                let mut expected = BTreeSet::new();
                for (i, j) in (0..order.len()).flat_map(|j| (0..j).map(move |i| (i, j))) {
                    let between = &order[i + 1..j];
                    let counts = match criterion {
                        Criterion::Pairs => true,
                        Criterion::Consecutive => between.is_empty(),
                        Criterion::BehaviourChanges => {
                            (order[i].1 || order[j].1) && between.iter().all(|receive| !receive.1)
                        }
                    };
                    if counts {
                        expected.insert((order[i].0, order[j].0));
                    }
                }
                assert_eq!(goals(criterion, &order), expected, "{criterion:?} of {order:?}");
            }
        }
    }
}
