//! Strategies that visit each state once.

pub mod delay;
mod depth_first;
mod state_cache;
pub(crate) mod visited;

pub use self::depth_first::States;
