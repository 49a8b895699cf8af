//! A protocol as both libraries run it: who takes part, what they know, what they do with a message.
//!
//! The handlers are written once. `on_raddle` and `on_stateright` wrap them into actors of the one and of the other, so that
//! both search the same states and spend the same time in the protocol itself.

use std::fmt::Debug;
use std::hash::Hash;

/// Takes messages with the number of who is to receive them.
pub type Post<'a, M> = &'a mut dyn FnMut(usize, M);

/// One who takes part. What never changes is in the value itself, the rest is its state.
pub trait Party: Clone + Debug + Send + Sync + 'static {
    type State: Clone + Debug + Eq + Hash + Send + Sync + 'static;
    /// Says who sent it wherever that matters: Raddle does not tell equal messages of different senders apart.
    type Msg: Clone + Debug + Eq + Ord + Hash + Send + Sync + 'static;

    fn first(&self) -> Self::State;

    fn handle(&self, state: &mut Self::State, msg: Self::Msg, post: Post<'_, Self::Msg>);
}

/// Those who take part, by number, and the messages that are there before anybody has done anything.
pub struct Cast<P: Party> {
    pub parties: Vec<P>,
    pub first: Vec<(usize, P::Msg)>,
    /// Must hold of the states of all, in order.
    pub holds: fn(&mut dyn Iterator<Item = &P::State>) -> bool,
}
