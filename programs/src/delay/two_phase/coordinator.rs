//! Decides.

use std::collections::{BTreeMap, BTreeSet};

use raddle::actor::{Actor, Address, Context};

use super::{Bug, Config, Decision, Event, Key, ParticipantId, ToClient, ToParticipant, TxId};
use crate::delay::timer::ToTimer;

/// The messages to the coordinator.
#[derive(Clone, Debug, Hash)]
pub enum ToCoordinator {
    /// A client wants this done.
    Begin {
        /// Which transaction.
        tx: TxId,
        /// What it writes, at every participant.
        key: Key,
        /// Who gets the result.
        client: Address<ToClient>,
    },
    /// A participant can do its part, or cannot.
    Vote {
        /// Which transaction.
        tx: TxId,
        /// Whose vote.
        from: ParticipantId,
        /// Whether it can.
        yes: bool,
    },
    /// A participant has committed.
    Acknowledge(TxId, ParticipantId),
    /// A participant wants to know what became of a transaction.
    Inquire(TxId, ParticipantId),
    /// A transaction has taken too long.
    TimeOut(TxId),
}

/// How far a transaction is that is not over.
#[derive(Clone, Debug, Hash)]
enum Phase {
    Voting { yes: BTreeSet<ParticipantId>, client: Address<ToClient> },
    Committing { acknowledged: BTreeSet<ParticipantId>, count: usize },
}

/// Asks everybody, decides, and sees to it that everybody learns of it.
#[derive(Clone, Debug, Hash)]
pub struct Coordinator {
    participants: Vec<Address<ToParticipant>>,
    timer: Address<ToTimer<ToCoordinator>>,
    counts_acknowledgements: bool,
    expects_no_late_yes: bool,
    /// What is not here was aborted, or is committed everywhere.
    transactions: BTreeMap<TxId, Phase>,
}

type Ctx<'a, 'b> = &'a mut Context<'b, ToCoordinator>;

impl Coordinator {
    /// The coordinator of these participants.
    #[must_use]
    pub fn new(
        participants: Vec<Address<ToParticipant>>,
        timer: Address<ToTimer<ToCoordinator>>,
        config: Config,
    ) -> Self {
        Self {
            participants,
            timer,
            counts_acknowledgements: config.has(Bug::AcknowledgementsCounted),
            expects_no_late_yes: config.has(Bug::LateYesUnhandled),
            transactions: BTreeMap::new(),
        }
    }

    fn begin(&mut self, tx: TxId, key: Key, client: Address<ToClient>, ctx: Ctx<'_, '_>) {
        self.transactions.insert(tx, Phase::Voting { yes: BTreeSet::new(), client });
        let coordinator = ctx.me();
        let alarm = ToTimer::Set { alarm: tx.0, to: coordinator.clone(), msg: ToCoordinator::TimeOut(tx) };
        ctx.send(&self.timer, alarm);
        for participant in &self.participants {
            ctx.send(participant, ToParticipant::Prepare { tx, key, coordinator: coordinator.clone() });
        }
    }

    fn vote(&mut self, tx: TxId, from: ParticipantId, yes: bool, ctx: Ctx<'_, '_>) {
        match self.transactions.get_mut(&tx) {
            Some(Phase::Voting { yes: votes, .. }) if yes => {
                votes.insert(from);
                if votes.len() == self.participants.len() {
                    self.decide(tx, Decision::Commit, ctx);
                }
            }
            Some(Phase::Voting { .. }) => self.decide(tx, Decision::Abort, ctx),
            Some(Phase::Committing { .. }) => panic!("{tx}: {from:?} votes again"),
            None if yes && self.expects_no_late_yes => ctx.unhandled(ToCoordinator::Vote { tx, from, yes }),
            // Aborted meanwhile, which the participant has been told.
            None => {}
        }
    }

    fn decide(&mut self, tx: TxId, decision: Decision, ctx: Ctx<'_, '_>) {
        let Some(Phase::Voting { client, .. }) = self.transactions.remove(&tx) else {
            panic!("{tx} is decided twice");
        };
        ctx.announce(Event::Decided(tx, decision));
        ctx.send(&self.timer, ToTimer::Cancel(tx.0));
        if decision == Decision::Commit {
            self.transactions.insert(tx, Phase::Committing { acknowledged: BTreeSet::new(), count: 0 });
        }
        let coordinator = ctx.me();
        for participant in &self.participants {
            ctx.send(participant, ToParticipant::Decide { tx, decision, coordinator: coordinator.clone() });
        }
        ctx.send(&client, ToClient::Ended(tx, decision));
    }

    fn acknowledge(&mut self, tx: TxId, from: ParticipantId) {
        // It may acknowledge again what it has inquired about.
        let Some(Phase::Committing { acknowledged, count }) = self.transactions.get_mut(&tx) else { return };
        acknowledged.insert(from);
        *count += 1;
        let known = if self.counts_acknowledgements { *count } else { acknowledged.len() };
        if known == self.participants.len() {
            self.transactions.remove(&tx);
        }
    }

    fn inquire(&mut self, tx: TxId, from: ParticipantId, ctx: Ctx<'_, '_>) {
        let decision = match self.transactions.get(&tx) {
            // It is told as soon as there is a decision.
            Some(Phase::Voting { .. }) => return,
            Some(Phase::Committing { .. }) => Decision::Commit,
            None => Decision::Abort,
        };
        let coordinator = ctx.me();
        ctx.send(&self.participants[from.0 as usize], ToParticipant::Decide { tx, decision, coordinator });
    }
}

impl Actor for Coordinator {
    type Msg = ToCoordinator;

    fn handle(&mut self, msg: ToCoordinator, ctx: &mut Context<'_, ToCoordinator>) {
        match msg {
            ToCoordinator::Begin { tx, key, client } => self.begin(tx, key, client, ctx),
            ToCoordinator::Vote { tx, from, yes } => self.vote(tx, from, yes, ctx),
            ToCoordinator::Acknowledge(tx, from) => self.acknowledge(tx, from),
            ToCoordinator::Inquire(tx, from) => self.inquire(tx, from, ctx),
            ToCoordinator::TimeOut(tx) => {
                if let Some(Phase::Voting { .. }) = self.transactions.get(&tx) {
                    self.decide(tx, Decision::Abort, ctx);
                }
            }
        }
    }

    fn label(msg: &ToCoordinator) -> &'static str {
        match msg {
            ToCoordinator::Begin { .. } => "Begin",
            ToCoordinator::Vote { .. } => "Vote",
            ToCoordinator::Acknowledge(..) => "Acknowledge",
            ToCoordinator::Inquire(..) => "Inquire",
            ToCoordinator::TimeOut(_) => "TimeOut",
        }
    }
}
