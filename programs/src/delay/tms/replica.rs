//! One replica of a store, and its place in the chain.

use std::mem;

use raddle::actor::{Actor, Address, Context};

use super::{Answer, Command, Config, Event, GroupId, Store, ToManager, ToMaster};

/// The messages to a replica.
#[derive(Clone, Debug, Hash)]
pub enum ToReplica {
    /// From the master: this is the chain now.
    Chain {
        /// Who comes next; nobody if this is the tail.
        next: Option<Address<ToReplica>>,
        /// Whom to tell of a failure.
        master: Address<ToMaster>,
    },
    /// From a manager, to the head, or from the replica before this one.
    Request {
        /// What is to be done.
        command: Command,
        /// Who wants to know.
        manager: Address<ToManager>,
    },
    /// The replica fails for good. Whoever is connected to it notices.
    Crash,
}

#[derive(Clone, Debug, Hash)]
struct Done {
    command: Command,
    answer: Answer,
    manager: Address<ToManager>,
}

/// Keeps a copy of what its group keeps.
#[derive(Clone, Debug, Hash)]
pub struct Replica {
    group: GroupId,
    member: u32,
    store: Store,
    next: Option<Address<ToReplica>>,
    master: Option<Address<ToMaster>>,
    /// In the order in which it was done, which is the same everywhere.
    log: Vec<Done>,
    /// What came before this replica knew its place.
    early: Vec<(Command, Address<ToManager>)>,
    failed: bool,
}

type Ctx<'a, 'b> = &'a mut Context<'b, ToReplica>;

impl Replica {
    /// A replica that does not know its place yet.
    #[must_use]
    pub fn new(group: GroupId, member: u32, config: Config) -> Self {
        let store = Store::new(config);
        Self { group, member, store, next: None, master: None, log: Vec::new(), early: Vec::new(), failed: false }
    }

    fn join(&mut self, next: Option<Address<ToReplica>>, master: Address<ToMaster>, ctx: Ctx<'_, '_>) {
        let changed = self.master.is_some() && self.next != next;
        (self.next, self.master) = (next, Some(master));
        if self.failed {
            return self.disconnect(ctx);
        }
        // Nobody knows what the one that failed had passed on or answered.
        if changed {
            self.log.iter().for_each(|done| self.pass_on(done, ctx));
        }
        for (command, manager) in mem::take(&mut self.early) {
            self.request(command, manager, ctx);
        }
    }

    fn request(&mut self, command: Command, manager: Address<ToManager>, ctx: Ctx<'_, '_>) {
        if self.master.is_none() {
            return self.early.push((command, manager));
        }
        let answer = self.store.apply(command);
        ctx.announce(Event::Done { group: self.group, member: self.member, command, answer });
        let done = Done { command, answer, manager };
        self.pass_on(&done, ctx);
        self.log.push(done);
    }

    fn pass_on(&self, done: &Done, ctx: Ctx<'_, '_>) {
        let Done { command, answer, manager } = done.clone();
        match &self.next {
            Some(next) => ctx.send(next, ToReplica::Request { command, manager }),
            None => ctx.send(&manager, ToManager::Answer { group: self.group, command, answer }),
        }
    }

    fn disconnect(&self, ctx: Ctx<'_, '_>) {
        if let Some(master) = &self.master {
            let replica = ctx.me();
            ctx.send(master, ToMaster::Lost { group: self.group, replica });
        }
    }
}

impl Actor for Replica {
    type Msg = ToReplica;

    fn handle(&mut self, msg: ToReplica, ctx: &mut Context<'_, ToReplica>) {
        match msg {
            ToReplica::Chain { next, master } => self.join(next, master, ctx),
            ToReplica::Request { command, manager } if !self.failed => self.request(command, manager, ctx),
            ToReplica::Request { .. } => {}
            ToReplica::Crash => {
                self.failed = true;
                ctx.announce(Event::Failed { group: self.group, member: self.member });
                self.disconnect(ctx);
            }
        }
    }

    fn label(msg: &ToReplica) -> &'static str {
        match msg {
            ToReplica::Chain { .. } => "Chain",
            ToReplica::Request { .. } => "Request",
            ToReplica::Crash => "Crash",
        }
    }
}
