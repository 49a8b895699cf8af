//! Those who want to know what was chosen, and what must hold for it.

use std::collections::{BTreeMap, BTreeSet};

use raddle::actor::{Actor, Context, Monitor};

use super::{Ballot, Value};

/// An acceptor has accepted something.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Vote {
    /// In this ballot.
    pub ballot: Ballot,
    /// This value.
    pub value: Value,
    /// Which acceptor.
    pub by: u32,
}

/// A learner has found out what was chosen; announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen(pub Value);

/// Counts votes.
#[derive(Clone, Debug, Hash)]
pub struct Learner {
    acceptors: u32,
    votes: BTreeMap<Ballot, BTreeSet<u32>>,
}

impl Learner {
    /// One who knows how many acceptors there are.
    #[must_use]
    pub fn new(acceptors: u32) -> Self {
        Self { acceptors, votes: BTreeMap::new() }
    }
}

impl Actor for Learner {
    type Msg = Vote;

    fn handle(&mut self, Vote { ballot, value, by }: Vote, ctx: &mut Context<'_, Vote>) {
        let votes = self.votes.entry(ballot).or_default();
        votes.insert(by);
        if 2 * votes.len() as u32 > self.acceptors {
            ctx.announce(Chosen(value));
        }
    }

    fn label(_: &Vote) -> &'static str {
        "Vote"
    }
}

/// A value that somebody has proposed is chosen, and no other.
#[derive(Clone, Debug, Hash)]
pub struct OneDecision {
    proposers: u32,
    chosen: Option<Value>,
}

impl OneDecision {
    /// Nothing is chosen yet.
    #[must_use]
    pub fn new(proposers: u32) -> Self {
        Self { proposers, chosen: None }
    }
}

impl Monitor for OneDecision {
    type Event = Chosen;

    fn observe(&mut self, &Chosen(value): &Chosen) -> Result<(), String> {
        if value >= self.proposers {
            return Err(format!("{value} is chosen, which nobody has proposed"));
        }
        match self.chosen.replace(value) {
            Some(before) if before != value => Err(format!("{value} is chosen, and {before} was")),
            _ => Ok(()),
        }
    }

    fn at_quiet(&self) -> Result<(), String> {
        self.chosen.map(|_| ()).ok_or_else(|| "nothing was chosen".to_owned())
    }
}
