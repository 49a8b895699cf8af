//! Those who choose. One promise holds for all slots.

use std::collections::BTreeMap;

use raddle::actor::{Actor, Address, Context};

use super::{Ballot, Entry, Slot, ToLeader, Vote};

/// The messages to an acceptor.
#[derive(Clone, Debug, Hash)]
pub enum ToAcceptor {
    /// Somebody campaigns and wants a promise.
    Prepare(Ballot, Address<ToLeader>),
    /// A leader proposes what to put into a slot.
    Propose(Ballot, Slot, Entry, Address<ToLeader>),
}

/// Promises and accepts.
#[derive(Clone, Debug, Hash)]
pub struct Acceptor {
    number: u32,
    replicas: Vec<Address<Vote>>,
    promised: Option<Ballot>,
    accepted: BTreeMap<Slot, (Ballot, Entry)>,
}

impl Acceptor {
    /// One who has heard of nothing yet.
    #[must_use]
    pub fn new(number: u32, replicas: Vec<Address<Vote>>) -> Self {
        Self { number, replicas, promised: None, accepted: BTreeMap::new() }
    }
}

impl Actor for Acceptor {
    type Msg = ToAcceptor;

    fn handle(&mut self, msg: ToAcceptor, ctx: &mut Context<'_, ToAcceptor>) {
        let by = self.number;
        let (ToAcceptor::Prepare(ballot, from) | ToAcceptor::Propose(ballot, _, _, from)) = &msg;
        if let Some(promised) = self.promised.filter(|promised| promised > ballot) {
            return ctx.send(from, ToLeader::Refused { ballot: *ballot, promised });
        }
        self.promised = Some(*ballot);
        match msg {
            ToAcceptor::Prepare(ballot, from) => {
                ctx.send(&from, ToLeader::Promised { ballot, by, accepted: self.accepted.clone() });
            }
            ToAcceptor::Propose(ballot, slot, entry, _) => {
                for replica in &self.replicas {
                    ctx.send(replica, Vote { ballot, slot, entry: entry.clone(), by });
                }
                self.accepted.insert(slot, (ballot, entry));
            }
        }
    }

    fn label(msg: &ToAcceptor) -> &'static str {
        match msg {
            ToAcceptor::Prepare(..) => "Prepare",
            ToAcceptor::Propose(..) => "Propose",
        }
    }
}
