//! Knows who is alive, and tells everybody.

use raddle::actor::{Actor, Address, Context};

use super::{GroupId, ToManager, ToReplica};

/// The messages to the master.
#[derive(Clone, Debug, Hash)]
pub enum ToMaster {
    /// Put the chains together.
    Start,
    /// A replica is gone.
    Lost {
        /// From which group.
        group: GroupId,
        /// Which it was.
        replica: Address<ToReplica>,
    },
}

/// Puts the replicas of each group into a chain. Does not fail.
#[derive(Clone, Debug, Hash)]
pub struct Master {
    groups: Vec<Vec<Address<ToReplica>>>,
    managers: Vec<Address<ToManager>>,
}

impl Master {
    /// The master of these groups, whose numbers are their places.
    #[must_use]
    pub fn new(groups: Vec<Vec<Address<ToReplica>>>, managers: Vec<Address<ToManager>>) -> Self {
        Self { groups, managers }
    }

    fn connect(&self, group: GroupId, ctx: &mut Context<'_, ToMaster>) {
        let chain = &self.groups[group.0 as usize];
        let master = ctx.me();
        for (at, replica) in chain.iter().enumerate() {
            ctx.send(replica, ToReplica::Chain { next: chain.get(at + 1).cloned(), master: master.clone() });
        }
        for manager in &self.managers {
            // At most one of a group fails.
            ctx.send(manager, ToManager::Head(group, chain[0].clone()));
        }
    }
}

impl Actor for Master {
    type Msg = ToMaster;

    fn handle(&mut self, msg: ToMaster, ctx: &mut Context<'_, ToMaster>) {
        match msg {
            ToMaster::Start => (0..).map(GroupId).take(self.groups.len()).for_each(|group| self.connect(group, ctx)),
            ToMaster::Lost { group, replica } => {
                let chain = &mut self.groups[group.0 as usize];
                let before = chain.len();
                chain.retain(|member| *member != replica);
                if chain.len() < before {
                    self.connect(group, ctx);
                }
            }
        }
    }

    fn label(msg: &ToMaster) -> &'static str {
        match msg {
            ToMaster::Start => "Start",
            ToMaster::Lost { .. } => "Lost",
        }
    }
}
