//! The master: gives the nodes their places, finds out who has failed, and closes the gaps.
//!
//! It never takes a node that runs for a failed one: a machine whose process has ended refuses pings, and nothing else counts.

use std::collections::{BTreeMap, BTreeSet};

use raddle::actor::{Actor, Address, Context};

use super::Bug;
use super::message::{ToClient, ToMaster, ToNode};

type Ctx<'a> = Context<'a, ToMaster>;
type Node = Address<ToNode>;

/// What a delaying explorer is told when clients know of the chain, so that failures may come.
pub const STARTED: u64 = 1;

/// Looks after the chain.
#[derive(Clone, Debug, Hash)]
pub struct Master {
    /// The nodes of the chain, from head to tail.
    chain: Vec<Node>,
    clients: Vec<Address<ToClient>>,
    /// Nodes that do not know their first place yet. The clients are told of the chain when there are none.
    unready: BTreeSet<Node>,
    health: Health,
    /// Two nodes that are to be neighbours, the latter of which was told, by the number of the change.
    attaching: BTreeMap<u32, (Node, Node)>,
    changes: u32,
    bug: Option<Bug>,
}

/// A round of pings.
#[derive(Clone, Debug, Default, Hash)]
struct Health {
    round: u32,
    /// Those who have not answered.
    asked: BTreeSet<Node>,
    failed: BTreeSet<Node>,
    /// Another round is due.
    again: bool,
}

impl Master {
    /// One who knows of nobody yet.
    #[must_use]
    pub fn new(bug: Option<Bug>) -> Self {
        Self {
            chain: Vec::new(),
            clients: Vec::new(),
            unready: BTreeSet::new(),
            health: Health::default(),
            attaching: BTreeMap::new(),
            changes: 0,
            bug,
        }
    }

    fn is(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    fn open(&mut self, nodes: Vec<Node>, clients: Vec<Address<ToClient>>, ctx: &mut Ctx<'_>) {
        for (at, node) in nodes.iter().enumerate() {
            let predecessor = at.checked_sub(1).map(|before| nodes[before].clone());
            let successor = nodes.get(at + 1).cloned();
            ctx.send(node, ToNode::Configure { master: ctx.me(), predecessor, successor });
        }
        self.unready = nodes.iter().cloned().collect();
        (self.chain, self.clients) = (nodes, clients);
        if self.is(Bug::OpensEarly) {
            self.unready.clear();
            self.tell_clients(ctx);
        }
        if self.health.again {
            self.start_round(ctx);
        }
    }

    fn ends(&self) -> (&Node, &Node) {
        let none = "one node at least does not fail";
        (self.chain.first().expect(none), self.chain.last().expect(none))
    }

    fn tell_clients(&self, ctx: &mut Ctx<'_>) {
        ctx.hint_explorer(STARTED);
        let (head, tail) = self.ends();
        for client in &self.clients {
            ctx.send(client, ToClient::Chain { head: head.clone(), tail: tail.clone() });
        }
    }

    fn ready(&mut self, node: &Node, ctx: &mut Ctx<'_>) {
        if self.unready.remove(node) && self.unready.is_empty() {
            self.tell_clients(ctx);
        }
    }

    fn tick(&mut self, ctx: &mut Ctx<'_>) {
        if self.chain.is_empty() || !self.health.asked.is_empty() {
            self.health.again |= !self.is(Bug::MissedTick) || self.chain.is_empty();
        } else {
            self.start_round(ctx);
        }
    }

    fn start_round(&mut self, ctx: &mut Ctx<'_>) {
        self.health.again = false;
        self.health.round += 1;
        self.health.asked = self.chain.iter().cloned().collect();
        for node in &self.chain {
            ctx.send(node, ToNode::Ping(self.health.round, ctx.me()));
        }
    }

    fn answered(&mut self, round: u32, node: Node, failed: bool, ctx: &mut Ctx<'_>) {
        if round != self.health.round || !self.health.asked.remove(&node) {
            return;
        }
        if failed {
            self.health.failed.insert(node);
        }
        if self.health.asked.is_empty() {
            self.repair(ctx);
            if self.health.again {
                self.start_round(ctx);
            }
        }
    }

    /// Takes those who have failed out of the chain.
    #[expect(clippy::mutable_key_type, reason = "addresses are compared by their numbers, which do not change")]
    fn repair(&mut self, ctx: &mut Ctx<'_>) {
        // Nodes that are being attached may have failed as well, and then do not answer any more.
        if self.health.failed.is_empty() || (self.is(Bug::OneChangeAtATime) && !self.attaching.is_empty()) {
            return;
        }
        let failed = std::mem::take(&mut self.health.failed);
        let old = self.chain.clone();
        self.chain.retain(|node| !failed.contains(node));
        self.attaching.retain(|_, (before, after)| !failed.contains(before) && !failed.contains(after));
        let (head, tail) = self.ends();
        let (new_head, new_tail) = (old.first() != Some(head), old.last() != Some(tail));
        if new_head {
            ctx.send(head, ToNode::BecomeHead);
        }
        if new_tail {
            ctx.send(tail, ToNode::BecomeTail);
        }
        for pair in self.chain.clone().windows(2).filter(|pair| !old.windows(2).any(|known| known == *pair)) {
            self.attach(&pair[0], &pair[1], ctx);
        }
        let was_open = self.unready.is_empty();
        self.unready.retain(|node| !failed.contains(node));
        if self.unready.is_empty() && (!was_open || new_head || new_tail) {
            self.tell_clients(ctx);
        }
    }

    /// Makes neighbours of two nodes between which others have failed.
    fn attach(&mut self, before: &Node, after: &Node, ctx: &mut Ctx<'_>) {
        self.changes += 1;
        self.attaching.insert(self.changes, (before.clone(), after.clone()));
        ctx.send(after, ToNode::NewPredecessor { predecessor: before.clone(), change: self.changes });
    }

    fn attached(&mut self, change: u32, received: usize, stable: usize, ctx: &mut Ctx<'_>) {
        // One of the two may have failed meanwhile.
        if let Some((before, successor)) = self.attaching.remove(&change) {
            ctx.send(&before, ToNode::NewSuccessor { successor, received, stable });
        }
        if self.is(Bug::OneChangeAtATime) {
            self.repair(ctx);
        }
    }
}

impl Actor for Master {
    type Msg = ToMaster;

    fn handle(&mut self, msg: ToMaster, ctx: &mut Ctx<'_>) {
        match msg {
            ToMaster::Open(nodes, clients) => self.open(nodes, clients, ctx),
            ToMaster::Ready(node) => self.ready(&node, ctx),
            ToMaster::Tick => self.tick(ctx),
            ToMaster::Pong(round, node) => self.answered(round, node, false, ctx),
            ToMaster::Refused(round, node) => self.answered(round, node, true, ctx),
            ToMaster::Attached { change, received, stable } => self.attached(change, received, stable, ctx),
        }
    }

    fn label(msg: &ToMaster) -> &'static str {
        match msg {
            ToMaster::Open(..) => "Open",
            ToMaster::Ready(_) => "Ready",
            ToMaster::Tick => "Tick",
            ToMaster::Pong(..) => "Pong",
            ToMaster::Refused(..) => "Refused",
            ToMaster::Attached { .. } => "Attached",
        }
    }
}
