//! Strategies that walk the tree of all decisions, each branch once.

pub mod exhaustive;
pub mod preemption;
