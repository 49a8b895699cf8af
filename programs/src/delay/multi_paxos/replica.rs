//! Those who count votes and execute the log.

use std::collections::{BTreeMap, BTreeSet};

use raddle::actor::{Actor, Context};

use super::{Ballot, Bug, Chosen, Command, Entry, Executed, Slot, ToClient};

/// An acceptor has accepted something.
#[derive(Clone, Debug, Hash)]
pub struct Vote {
    /// In this ballot.
    pub ballot: Ballot,
    /// For this slot.
    pub slot: Slot,
    /// This.
    pub entry: Entry,
    /// Which acceptor.
    pub by: u32,
}

/// Executes the log.
#[derive(Clone, Debug, Hash)]
pub struct Replica {
    number: u32,
    acceptors: u32,
    votes: BTreeMap<(Slot, Ballot), BTreeSet<u32>>,
    /// What is known of the log.
    chosen: BTreeMap<Slot, Entry>,
    /// How much of it was executed.
    next: Slot,
    executed: BTreeSet<Command>,
    bug: Option<Bug>,
}

impl Replica {
    /// One who knows how many acceptors there are.
    #[must_use]
    pub fn new(number: u32, acceptors: u32, bug: Option<Bug>) -> Self {
        let (votes, chosen, executed) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        Self { number, acceptors, votes, chosen, next: 0, executed, bug }
    }

    fn choose(&mut self, slot: Slot, entry: Entry, ctx: &mut Context<'_, Vote>) {
        ctx.announce(Chosen { slot, entry: entry.clone() });
        let before = self.chosen.insert(slot, entry);
        if self.bug == Some(Bug::ChosenOnce) {
            assert_eq!(before, None, "a slot is chosen once");
        }
        while let Some(entry) = self.chosen.get(&self.next) {
            self.next += 1;
            if let Some(command) = entry.clone() {
                self.execute(command, ctx);
            }
        }
    }

    fn execute(&mut self, command: Command, ctx: &mut Context<'_, Vote>) {
        if self.executed.insert(command.clone()) || self.bug == Some(Bug::ExecutesTwice) {
            ctx.send(&command.client, ToClient::Done(command.number));
            ctx.announce(Executed { by: self.number, command });
        }
    }
}

impl Actor for Replica {
    type Msg = Vote;

    fn handle(&mut self, Vote { ballot, slot, entry, by }: Vote, ctx: &mut Context<'_, Vote>) {
        let votes = self.votes.entry((slot, ballot)).or_default();
        let is_new = votes.insert(by);
        if is_new && votes.len() as u32 == self.acceptors / 2 + 1 {
            self.choose(slot, entry, ctx);
        }
    }

    fn label(_: &Vote) -> &'static str {
        "Vote"
    }
}
