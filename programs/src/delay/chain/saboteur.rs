//! Failures of nodes, and the time that passes after them. The one that other programs use does not know when a node has failed.

use raddle::actor::{Actor, Address, Context};

use super::message::{ToMaster, ToNode, ToSaboteur};

/// Draws which node fails, at any time, the first choice being none. Whenever one has failed, it is some time later time for
/// the master to look after the nodes.
#[derive(Clone, Debug, Hash)]
pub struct Saboteur {
    nodes: Vec<Address<ToNode>>,
    master: Address<ToMaster>,
    left: u32,
    /// How often it may let a moment pass.
    patience: u32,
}

impl Saboteur {
    /// At most so many of these nodes fail, and at most so many moments pass without a failure.
    #[must_use]
    pub fn new(nodes: Vec<Address<ToNode>>, master: Address<ToMaster>, most: u32, patience: u32) -> Self {
        Self { nodes, master, left: most, patience }
    }

    fn strike(&mut self, ctx: &mut Context<'_, ToSaboteur>) {
        let me = ctx.me();
        let nodes = u32::try_from(self.nodes.len()).expect("there are a few nodes");
        match ctx.choose(nodes + 1) {
            0 => self.patience -= 1,
            victim => {
                let node = self.nodes.remove(victim as usize - 1);
                ctx.send(&node, ToNode::Crash(me.clone()));
                self.left -= 1;
            }
        }
        if self.left > 0 && self.patience > 0 {
            ctx.send(&me, ToSaboteur::Strike);
        }
    }
}

impl Actor for Saboteur {
    type Msg = ToSaboteur;

    fn handle(&mut self, msg: ToSaboteur, ctx: &mut Context<'_, ToSaboteur>) {
        match msg {
            ToSaboteur::Strike => self.strike(ctx),
            ToSaboteur::Gone => ctx.send(&self.master, ToMaster::Tick),
        }
    }

    fn label(msg: &ToSaboteur) -> &'static str {
        match msg {
            ToSaboteur::Strike => "Strike",
            ToSaboteur::Gone => "Gone",
        }
    }
}
