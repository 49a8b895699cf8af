//! What happens before what.
//!
//! [`Before`](before::Before) is the order that reduction uses: task order and the order of dependent [events](mod@events). [`Races`] uses the order
//! that memory gives: an access to plain memory must happen after earlier ones by this order.

pub mod before;
pub mod by_slot;
mod clocks;
pub mod events;
mod races;

pub use self::races::Races;
