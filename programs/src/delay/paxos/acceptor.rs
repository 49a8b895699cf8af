//! Those who choose: each remembers the highest ballot it has heard of, and what it has accepted last.

use raddle::actor::{Actor, Address, Context};

use super::{Ballot, Bug, ToProposer, Value, Vote};

/// The messages to an acceptor.
#[derive(Clone, Debug, Hash)]
pub enum ToAcceptor {
    /// Somebody begins a ballot and wants a promise.
    Prepare(Ballot, Address<ToProposer>),
    /// Somebody proposes a value.
    Propose(Ballot, Value, Address<ToProposer>),
    /// The power has failed and is back.
    Restart,
}

/// What an acceptor must not forget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Disk {
    /// No part is taken in lower ballots.
    pub promised: Option<Ballot>,
    /// What was accepted last, and in which ballot.
    pub accepted: Option<(Ballot, Value)>,
}

/// Promises and accepts.
#[derive(Clone, Debug, Hash)]
pub struct Acceptor {
    number: u32,
    learners: Vec<Address<Vote>>,
    memory: Disk,
    disk: Disk,
    bug: Option<Bug>,
}

impl Acceptor {
    /// One who has heard of nothing yet.
    #[must_use]
    pub fn new(number: u32, learners: Vec<Address<Vote>>, bug: Option<Bug>) -> Self {
        Self { number, learners, memory: Disk::default(), disk: Disk::default(), bug }
    }

    fn prepare(&mut self, ballot: Ballot, from: &Address<ToProposer>, ctx: &mut Context<'_, ToAcceptor>) {
        if let Some(promised) = self.memory.promised.filter(|promised| *promised > ballot) {
            return ctx.send(from, ToProposer::Refused { ballot, promised });
        }
        self.memory.promised = Some(ballot);
        if self.bug != Some(Bug::UnwrittenPromise) {
            self.disk = self.memory;
        }
        let by = self.number;
        ctx.send(from, ToProposer::Promised { ballot, by, accepted: self.memory.accepted });
    }

    fn propose(&mut self, ballot: Ballot, value: Value, from: &Address<ToProposer>, ctx: &mut Context<'_, ToAcceptor>) {
        if let Some(promised) = self.memory.promised.filter(|promised| *promised > ballot) {
            return ctx.send(from, ToProposer::Refused { ballot, promised });
        }
        self.memory = Disk { promised: Some(ballot), accepted: Some((ballot, value)) };
        self.disk = self.memory;
        let by = self.number;
        ctx.send(from, ToProposer::Accepted { ballot, by });
        for learner in &self.learners {
            ctx.send(learner, Vote { ballot, value, by });
        }
    }
}

impl Actor for Acceptor {
    type Msg = ToAcceptor;

    fn handle(&mut self, msg: ToAcceptor, ctx: &mut Context<'_, ToAcceptor>) {
        match msg {
            ToAcceptor::Prepare(ballot, from) => self.prepare(ballot, &from, ctx),
            ToAcceptor::Propose(ballot, value, from) => self.propose(ballot, value, &from, ctx),
            ToAcceptor::Restart => self.memory = self.disk,
        }
    }

    fn label(msg: &ToAcceptor) -> &'static str {
        match msg {
            ToAcceptor::Prepare(..) => "Prepare",
            ToAcceptor::Propose(..) => "Propose",
            ToAcceptor::Restart => "Restart",
        }
    }
}
