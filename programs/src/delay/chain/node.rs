//! A node of the chain: has a copy of the history, and passes updates down and acknowledgements up.
//!
//! The histories of the nodes are prefixes of each other, the head's being the longest. What the tail has is *stable*: it is
//! never lost, as long as one node of the chain is left.

use raddle::actor::{Actor, Address, Context};

use super::Bug;
use super::message::{Place, ToClient, ToMaster, ToNode, ToSaboteur, Update};
use super::monitor::Tail;

/// Whether a node can do anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Mode {
    /// Its place is not known yet.
    New,
    /// It has a place in the chain.
    Serving,
    /// Its process has ended. The machine it ran on says so to those who ask, and drops everything else.
    Down,
}

/// A node of the chain.
#[derive(Clone, Debug, Hash)]
pub struct Node {
    mode: Mode,
    master: Option<Address<ToMaster>>,
    predecessor: Option<Address<ToNode>>,
    successor: Option<Address<ToNode>>,
    history: Vec<Update>,
    /// How many of these the tail has, as far as this node knows.
    stable: usize,
    /// What clients sent who knew of this node's new place before it did itself.
    early: Vec<ToNode>,
    bug: Option<Bug>,
}

type Ctx<'a> = Context<'a, ToNode>;

impl Node {
    /// One that waits for its place.
    #[must_use]
    pub fn new(bug: Option<Bug>) -> Self {
        let (history, early) = (Vec::new(), Vec::new());
        Self { mode: Mode::New, master: None, predecessor: None, successor: None, history, stable: 0, early, bug }
    }

    fn is(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    fn tell_master(&self, msg: ToMaster, ctx: &mut Ctx<'_>) {
        let master = self.master.as_ref().expect("a node with a place knows who gave it");
        ctx.send(master, msg);
    }

    /// Writes an update down and sees that those after do too.
    fn append(&mut self, update: Update, ctx: &mut Ctx<'_>) {
        self.history.push(update);
        match &self.successor {
            Some(_) => self.forward(self.history.len() - 1, ctx),
            None => self.stabilize(self.history.len(), ctx),
        }
    }

    fn forward(&mut self, place: Place, ctx: &mut Ctx<'_>) {
        if let Some(successor) = &self.successor {
            let (from, update) = (ctx.me(), self.history[place].clone());
            ctx.send(successor, ToNode::Forward { from, place, update });
        }
    }

    /// The tail has the first `count` updates: tells those before, and if this node is the tail, the clients.
    fn stabilize(&mut self, count: usize, ctx: &mut Ctx<'_>) {
        for place in self.stable..count {
            if self.successor.is_none() {
                let update = self.history[place].clone();
                ctx.send(&update.client, ToClient::Done(update.operation));
                ctx.announce(Tail::Stable(place, update));
            }
            if let Some(predecessor) = &self.predecessor {
                ctx.send(predecessor, ToNode::Ack(place));
            }
        }
        self.stable = self.stable.max(count);
    }

    fn update(&mut self, update: Update, ctx: &mut Ctx<'_>) {
        if self.predecessor.is_some() {
            return self.early.push(ToNode::Update(update));
        }
        // A client that heard of a new head asks again. If the update has come down the chain, it is or will be done.
        if !self.history.contains(&update) || self.is(Bug::RepeatedUpdate) {
            self.append(update, ctx);
        }
    }

    fn query(&mut self, client: Address<ToClient>, operation: u32, ctx: &mut Ctx<'_>) {
        match &self.successor {
            Some(_) if self.is(Bug::UnpreparedTail) => ctx.unhandled(ToNode::Query(client, operation)),
            Some(_) if !self.is(Bug::HastyTail) => self.early.push(ToNode::Query(client, operation)),
            _ => {
                ctx.announce(Tail::Answered(self.stable));
                ctx.send(&client, ToClient::Count(operation, self.stable));
            }
        }
    }

    fn forwarded(&mut self, from: &Address<ToNode>, place: Place, update: Update, ctx: &mut Ctx<'_>) {
        // What a node sent before it failed may come in after others have taken over from it.
        if self.predecessor.as_ref() != Some(from) && !self.is(Bug::FormerPredecessor) {
            return;
        }
        assert_eq!(place, self.history.len(), "updates come down the chain one after another");
        self.append(update, ctx);
    }

    fn acknowledged(&mut self, place: Place, ctx: &mut Ctx<'_>) {
        // The tail may have been told to be so, or a failed node replaced, while this was on its way: it may be known.
        if self.is(Bug::FormerSuccessor) {
            assert_eq!(place, self.stable, "acknowledgements come up the chain one after another");
        }
        self.stabilize(place + 1, ctx);
    }

    fn become_tail(&mut self, ctx: &mut Ctx<'_>) {
        self.successor = None;
        if self.is(Bug::SilentTail) {
            self.stable = self.history.len();
        }
        self.stabilize(self.history.len(), ctx);
    }

    fn new_successor(&mut self, successor: Address<ToNode>, received: usize, stable: usize, ctx: &mut Ctx<'_>) {
        self.successor = Some(successor);
        self.stabilize(stable, ctx);
        let missing = if self.is(Bug::NothingResent) { self.history.len() } else { received };
        for place in missing..self.history.len() {
            self.forward(place, ctx);
        }
    }

    /// Handles what came too early.
    fn catch_up(&mut self, ctx: &mut Ctx<'_>) {
        for msg in std::mem::take(&mut self.early) {
            self.serve(msg, ctx);
        }
    }

    fn serve(&mut self, msg: ToNode, ctx: &mut Ctx<'_>) {
        match msg {
            ToNode::Update(update) => self.update(update, ctx),
            ToNode::Query(client, operation) => self.query(client, operation, ctx),
            ToNode::Forward { from, place, update } => self.forwarded(&from, place, update, ctx),
            ToNode::Ack(place) => self.acknowledged(place, ctx),
            ToNode::BecomeHead => {
                self.predecessor = None;
                self.catch_up(ctx);
            }
            ToNode::BecomeTail => {
                self.become_tail(ctx);
                self.catch_up(ctx);
            }
            ToNode::NewPredecessor { predecessor, change } => {
                self.predecessor = Some(predecessor);
                let (received, stable) = (self.history.len(), self.stable);
                self.tell_master(ToMaster::Attached { change, received, stable }, ctx);
            }
            ToNode::NewSuccessor { successor, received, stable } => {
                self.new_successor(successor, received, stable, ctx);
            }
            other => ctx.unhandled(other),
        }
    }
}

impl Actor for Node {
    type Msg = ToNode;

    fn handle(&mut self, msg: ToNode, ctx: &mut Ctx<'_>) {
        let me = ctx.me();
        match (self.mode, msg) {
            (Mode::Down, ToNode::Ping(round, master)) => ctx.send(&master, ToMaster::Refused(round, me)),
            (Mode::Down, _) => {}
            (_, ToNode::Crash(by)) => {
                self.mode = Mode::Down;
                ctx.send(&by, ToSaboteur::Gone);
            }
            (Mode::New, ToNode::Configure { master, predecessor, successor }) => {
                self.mode = Mode::Serving;
                (self.predecessor, self.successor) = (predecessor, successor);
                ctx.send(&master, ToMaster::Ready(me));
                self.master = Some(master);
            }
            (_, ToNode::Ping(round, master)) => ctx.send(&master, ToMaster::Pong(round, me)),
            (Mode::Serving, msg) => self.serve(msg, ctx),
            (Mode::New, msg) => ctx.unhandled(msg),
        }
    }

    fn label(msg: &ToNode) -> &'static str {
        match msg {
            ToNode::Configure { .. } => "Configure",
            ToNode::Update(_) => "Update",
            ToNode::Query(..) => "Query",
            ToNode::Forward { .. } => "Forward",
            ToNode::Ack(_) => "Ack",
            ToNode::BecomeHead => "BecomeHead",
            ToNode::BecomeTail => "BecomeTail",
            ToNode::NewPredecessor { .. } => "NewPredecessor",
            ToNode::NewSuccessor { .. } => "NewSuccessor",
            ToNode::Ping(..) => "Ping",
            ToNode::Crash(_) => "Crash",
        }
    }
}
