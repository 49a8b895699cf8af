//! Strategies that enter each state once.

pub mod delay;
mod depth_first;
mod entered;
pub(crate) mod visited;

pub use self::depth_first::States;
