//! How many executions have achieved each goal: none, one, two, or more. The number of goals not yet seen is estimated from that.

use crate::coverage::Criterion;
use crate::coverage::bits::{Rows, ones};

/// The goals of one receiver by one criterion.
#[derive(Clone, Debug, Default)]
pub struct GoalCounts {
    /// Goals that at least one execution has achieved.
    once: Rows,
    twice: Rows,
    thrice: Rows,
    pub counts: GoalTotals,
}

/// How many goals there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GoalTotals {
    /// Achieved.
    pub goals: u64,
    /// Pairs that were achieved in both orders.
    pub pairs: u64,
    /// Goals that exactly one execution has achieved.
    pub singles: u64,
    /// Goals that exactly two have.
    pub doubles: u64,
}

impl GoalTotals {
    pub fn add(&mut self, other: Self) {
        self.goals += other.goals;
        self.pairs += other.pairs;
        self.singles += other.singles;
        self.doubles += other.doubles;
    }
}

impl GoalCounts {
    /// Adds an execution with these receives, in this order.
    pub fn take_in(&mut self, criterion: Criterion, order: &[(usize, bool)]) {
        let Self { once, twice, thrice, counts } = self;
        criterion.achieved(order, |first, later| {
            for at in 0..later.words() {
                let word = later.word(at);
                let (one, two, three) =
                    (once.row(first).word(at), twice.row(first).word(at), thrice.row(first).word(at));
                let (first_time, second_time, third_time) = (word & !one, word & one & !two, word & two & !three);
                counts.goals += u64::from(first_time.count_ones());
                counts.singles += u64::from(first_time.count_ones());
                counts.singles -= u64::from(second_time.count_ones());
                counts.doubles += u64::from(second_time.count_ones());
                counts.doubles -= u64::from(third_time.count_ones());
                once.row_mut(first).add_word(at, first_time);
                twice.row_mut(first).add_word(at, second_time);
                thrice.row_mut(first).add_word(at, third_time);
                counts.pairs += ones(at, first_time).filter(|&second| once.contains(second, first)).count() as u64;
            }
        });
    }

    /// Whether the goal is achieved that the first comes before the second.
    pub fn contains(&self, first: usize, second: usize) -> bool {
        self.once.contains(first, second)
    }
}
