//! What a search can claim at its end.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is known when a strategy has nothing left to do. Ordered: the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Claim {
    /// Every order was covered.
    Exhausted,
    /// Every order within this bound was covered, and there are others.
    Bounded(Bound),
    /// All it wanted to see was seen, but orders were left out on purpose.
    Selective,
    /// A number of orders was looked at.
    Sampled,
}

/// Up to where every order was covered. Displayed, it is "up to 2 preemptions".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Bound {
    /// Orders with at most so many.
    pub most: u32,
    /// Of what.
    pub unit: Unit,
}

/// What a bound counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Unit {
    /// Switches away from a task that could have gone on.
    Preemption,
    /// Alternatives that come before the one taken: the k-th alternative of a point, counted from 0, costs k.
    Deviation,
    /// Deviations from what a delaying explorer would have done.
    Delay,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Preemption => "preemption",
            Self::Deviation => "deviation",
            Self::Delay => "delay",
        })
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "up to {} {}{}", self.most, self.unit, if self.most == 1 { "" } else { "s" })
    }
}
