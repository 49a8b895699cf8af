//! Strategies that draw executions and have no end of their own, or run a single one.

pub mod iterative_random;
pub mod pct;
pub mod pos;
pub mod random;
pub mod round_robin;
pub mod surw;
