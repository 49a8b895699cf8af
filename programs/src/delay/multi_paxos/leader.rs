//! Those who may lead.

use std::collections::{BTreeMap, BTreeSet};

use raddle::actor::{Actor, Address, Context};

use super::{Ballot, Bug, Command, Entry, Slot, ToAcceptor};

/// The messages to a leader.
#[derive(Clone, Debug, Hash)]
pub enum ToLeader {
    /// Whoever leads seems to have failed.
    Campaign,
    /// A client wants something.
    Command(Command),
    /// An acceptor takes no part in lower ballots.
    Promised {
        /// Than this one.
        ballot: Ballot,
        /// Which acceptor.
        by: u32,
        /// What it has accepted before.
        accepted: BTreeMap<Slot, (Ballot, Entry)>,
    },
    /// An acceptor takes no part in this ballot, because of another.
    Refused {
        /// This one.
        ballot: Ballot,
        /// The other.
        promised: Ballot,
    },
}

/// What a leader is at the moment.
#[derive(Clone, Debug, Hash)]
enum Role {
    /// Somebody else leads.
    Follows,
    /// It waits for promises.
    Campaigns { promised: BTreeSet<u32>, recovered: BTreeMap<Slot, (Ballot, Entry)> },
    /// It proposes what clients want.
    Leads { next: Slot, proposed: BTreeSet<Command> },
}

/// May lead.
#[derive(Clone, Debug, Hash)]
pub struct Leader {
    number: u32,
    acceptors: Vec<Address<ToAcceptor>>,
    /// The latest that was heard of.
    round: u32,
    ballot: Ballot,
    role: Role,
    /// What clients want, done or not.
    wanted: Vec<Command>,
    bug: Option<Bug>,
}

type Ctx<'a> = Context<'a, ToLeader>;

impl Leader {
    /// One who follows.
    #[must_use]
    pub fn new(number: u32, acceptors: Vec<Address<ToAcceptor>>, bug: Option<Bug>) -> Self {
        let ballot = Ballot { round: 0, leader: number };
        Self { number, acceptors, round: 0, ballot, role: Role::Follows, wanted: Vec::new(), bug }
    }

    fn campaign(&mut self, ctx: &mut Ctx<'_>) {
        if !matches!(self.role, Role::Follows) {
            return;
        }
        self.round += 1;
        self.ballot = Ballot { round: self.round, leader: self.number };
        self.role = Role::Campaigns { promised: BTreeSet::new(), recovered: BTreeMap::new() };
        let me = ctx.me();
        for acceptor in &self.acceptors {
            ctx.send(acceptor, ToAcceptor::Prepare(self.ballot, me.clone()));
        }
    }

    fn promised(&mut self, by: u32, accepted: BTreeMap<Slot, (Ballot, Entry)>, ctx: &mut Ctx<'_>) {
        let Role::Campaigns { promised, recovered } = &mut self.role else { return };
        promised.insert(by);
        for (slot, (ballot, entry)) in accepted {
            if recovered.get(&slot).is_none_or(|(known, _)| *known < ballot) {
                recovered.insert(slot, (ballot, entry));
            }
        }
        if 2 * promised.len() > self.acceptors.len() {
            let recovered = std::mem::take(recovered);
            self.lead(recovered, ctx);
        }
    }

    /// Proposes again what may have been chosen, then what clients want.
    #[expect(clippy::mutable_key_type, reason = "addresses are compared by their numbers, which do not change")]
    fn lead(&mut self, mut recovered: BTreeMap<Slot, (Ballot, Entry)>, ctx: &mut Ctx<'_>) {
        let next = recovered.last_key_value().map_or(0, |(last, _)| last + 1);
        let proposed = recovered.values().filter_map(|(_, entry)| entry.clone()).collect();
        for slot in 0..next {
            match recovered.remove(&slot) {
                Some((_, entry)) => self.propose(slot, &entry, ctx),
                None if self.bug == Some(Bug::LeavesGaps) => {}
                None => self.propose(slot, &None, ctx),
            }
        }
        self.role = Role::Leads { next, proposed };
        for command in self.wanted.clone() {
            self.append(command, ctx);
        }
    }

    /// Proposes a command for the next slot, if it leads and has not done so.
    fn append(&mut self, command: Command, ctx: &mut Ctx<'_>) {
        let Role::Leads { next, proposed } = &mut self.role else { return };
        if proposed.insert(command.clone()) {
            let slot = *next;
            *next += 1;
            self.propose(slot, &Some(command), ctx);
        }
    }

    fn propose(&self, slot: Slot, entry: &Entry, ctx: &mut Ctx<'_>) {
        let me = ctx.me();
        for acceptor in &self.acceptors {
            ctx.send(acceptor, ToAcceptor::Propose(self.ballot, slot, entry.clone(), me.clone()));
        }
    }
}

impl Actor for Leader {
    type Msg = ToLeader;

    fn handle(&mut self, msg: ToLeader, ctx: &mut Ctx<'_>) {
        match msg {
            ToLeader::Campaign => self.campaign(ctx),
            ToLeader::Command(command) => {
                self.wanted.push(command.clone());
                self.append(command, ctx);
            }
            ToLeader::Promised { ballot, by, accepted } if ballot == self.ballot => self.promised(by, accepted, ctx),
            ToLeader::Promised { .. } => {}
            ToLeader::Refused { ballot, promised } => {
                self.round = self.round.max(promised.round);
                if ballot == self.ballot {
                    self.role = Role::Follows;
                }
            }
        }
    }

    fn label(msg: &ToLeader) -> &'static str {
        match msg {
            ToLeader::Campaign => "Campaign",
            ToLeader::Command(_) => "Command",
            ToLeader::Promised { .. } => "Promised",
            ToLeader::Refused { .. } => "Refused",
        }
    }
}
