//! Those who want a value to be chosen.

use std::collections::BTreeSet;

use raddle::actor::{Actor, Address, Context};

use super::{Ballot, Bug, Config, ToAcceptor, Value};

/// The messages to a proposer.
#[derive(Clone, Debug, Hash)]
pub enum ToProposer {
    /// Begin.
    Begin,
    /// An acceptor takes no part in lower ballots.
    Promised {
        /// Than this one.
        ballot: Ballot,
        /// Which acceptor.
        by: u32,
        /// What it has accepted before.
        accepted: Option<(Ballot, Value)>,
    },
    /// An acceptor takes no part in this ballot, because of another.
    Refused {
        /// This one.
        ballot: Ballot,
        /// The other.
        promised: Ballot,
    },
    /// An acceptor has accepted the proposal.
    Accepted {
        /// In this ballot.
        ballot: Ballot,
        /// Which acceptor.
        by: u32,
    },
}

/// What a proposer waits for.
#[derive(Clone, Debug, Hash)]
enum Phase {
    /// To begin, or to end: it has given up or knows that its proposal is chosen.
    Idle,
    /// For promises.
    Preparing { promised: BTreeSet<u32>, best: Option<(Ballot, Value)> },
    /// For votes.
    Proposing { accepted: BTreeSet<u32> },
}

/// Proposes its own value unless another may have been chosen.
#[derive(Clone, Debug, Hash)]
pub struct Proposer {
    number: u32,
    acceptors: Vec<Address<ToAcceptor>>,
    attempts: u32,
    ballot: Ballot,
    phase: Phase,
    bug: Option<Bug>,
}

impl Proposer {
    /// One who has begun nothing yet. It wants its own number to be chosen.
    #[must_use]
    pub fn new(number: u32, acceptors: Vec<Address<ToAcceptor>>, config: Config) -> Self {
        let ballot = Ballot { round: 0, proposer: number };
        Self { number, acceptors, attempts: config.attempts, ballot, phase: Phase::Idle, bug: config.bug }
    }

    fn is_majority(&self, count: usize) -> bool {
        2 * count > self.acceptors.len()
    }

    /// Begins a ballot above all that it has heard of.
    fn prepare(&mut self, above: u32, ctx: &mut Context<'_, ToProposer>) {
        self.phase = Phase::Idle;
        if self.attempts == 0 {
            return;
        }
        self.attempts -= 1;
        self.ballot = Ballot { round: above + 1, proposer: self.number };
        self.phase = Phase::Preparing { promised: BTreeSet::new(), best: None };
        let me = ctx.me();
        for acceptor in &self.acceptors {
            ctx.send(acceptor, ToAcceptor::Prepare(self.ballot, me.clone()));
        }
    }

    fn promised(&mut self, by: u32, accepted: Option<(Ballot, Value)>, ctx: &mut Context<'_, ToProposer>) {
        // The promise of one more than a majority changes nothing.
        let Phase::Preparing { promised, best } = &mut self.phase else { return };
        promised.insert(by);
        *best = if self.bug == Some(Bug::FirstValue) { best.or(accepted) } else { (*best).max(accepted) };
        let (count, value) = (promised.len(), best.map_or(self.number, |(_, value)| value));
        if self.is_majority(count) {
            self.phase = Phase::Proposing { accepted: BTreeSet::new() };
            let me = ctx.me();
            for acceptor in &self.acceptors {
                ctx.send(acceptor, ToAcceptor::Propose(self.ballot, value, me.clone()));
            }
        }
    }

    fn accepted(&mut self, ballot: Ballot, by: u32, ctx: &mut Context<'_, ToProposer>) {
        match &mut self.phase {
            Phase::Proposing { accepted } if ballot == self.ballot => {
                accepted.insert(by);
                let count = accepted.len();
                if self.is_majority(count) {
                    self.phase = Phase::Idle;
                }
            }
            // A ballot given up may still be voted for.
            Phase::Preparing { .. } if self.bug == Some(Bug::LateVote) => {
                ctx.unhandled(ToProposer::Accepted { ballot, by });
            }
            _ => {}
        }
    }
}

impl Actor for Proposer {
    type Msg = ToProposer;

    fn handle(&mut self, msg: ToProposer, ctx: &mut Context<'_, ToProposer>) {
        match msg {
            ToProposer::Begin => self.prepare(0, ctx),
            ToProposer::Promised { ballot, by, accepted } if ballot == self.ballot => self.promised(by, accepted, ctx),
            ToProposer::Refused { ballot, promised } if ballot == self.ballot => self.prepare(promised.round, ctx),
            ToProposer::Accepted { ballot, by } => self.accepted(ballot, by, ctx),
            // About a ballot that was given up.
            ToProposer::Promised { .. } | ToProposer::Refused { .. } => {}
        }
    }

    fn label(msg: &ToProposer) -> &'static str {
        match msg {
            ToProposer::Begin => "Begin",
            ToProposer::Promised { .. } => "Promised",
            ToProposer::Refused { .. } => "Refused",
            ToProposer::Accepted { .. } => "Accepted",
        }
    }
}
