//! Failures of nodes as an actor: it draws who fails next, until it has drawn nobody or the budget is spent.
//!
//! Raddle's own crashes take an actor's whole state. The nodes here have a disk, so a crash is a message like any other, and what
//! survives it is theirs to say. Nobody is the first choice: a run without deviations is one without failures.

use std::fmt::Debug;
use std::hash::Hash;

use raddle::actor::{Actor, Address, Context};

/// Whose turn it is to fail is drawn now.
#[derive(Clone, Debug, Hash)]
pub struct Draw;

/// Lets nodes fail.
#[derive(Clone, Debug, Hash)]
pub struct Failures<M> {
    nodes: Vec<Address<M>>,
    crash: M,
    left: u32,
}

impl<M> Failures<M> {
    /// At most `most` times, one of the nodes is told to `crash`.
    #[must_use]
    pub fn new(nodes: Vec<Address<M>>, crash: M, most: u32) -> Self {
        Self { nodes, crash, left: most }
    }
}

impl<M: Clone + Debug + Hash + Send + Sync + 'static> Actor for Failures<M> {
    type Msg = Draw;

    fn handle(&mut self, Draw: Draw, ctx: &mut Context<'_, Draw>) {
        if self.left == 0 {
            return;
        }
        let nodes = u32::try_from(self.nodes.len()).expect("there are few nodes");
        let Some(victim) = ctx.choose(nodes + 1).checked_sub(1) else { return };
        self.left -= 1;
        ctx.send(&self.nodes[victim as usize], self.crash.clone());
        let me = ctx.me();
        ctx.send(&me, Draw);
    }
}
