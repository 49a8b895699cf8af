//! Does its part of each transaction, or nothing of it.

use std::collections::BTreeMap;
use std::mem;

use raddle::actor::{Actor, Address, Context};

use super::{Bug, Config, Decision, Event, Key, ParticipantId, ToCoordinator, TxId};

/// The messages to a participant.
#[derive(Clone, Debug, Hash)]
pub enum ToParticipant {
    /// Be ready to commit this.
    Prepare {
        /// Which transaction.
        tx: TxId,
        /// What it writes: its own number.
        key: Key,
        /// Who wants the vote.
        coordinator: Address<ToCoordinator>,
    },
    /// The disk is done with what it was given last.
    Flushed,
    /// What was decided.
    Decide {
        /// On which transaction.
        tx: TxId,
        /// What.
        decision: Decision,
        /// Who wants to know that it is done.
        coordinator: Address<ToCoordinator>,
    },
    /// The power fails.
    Crash,
    /// It is back.
    Restart,
}

/// A write that is in the log, or on its way there.
#[derive(Clone, Debug, Hash)]
struct Prepared {
    key: Key,
    coordinator: Address<ToCoordinator>,
}

type Ctx<'a, 'b> = &'a mut Context<'b, ToParticipant>;

/// What survives a crash.
#[derive(Clone, Debug, Default, Hash)]
struct Disk {
    prepared: BTreeMap<TxId, Prepared>,
    values: BTreeMap<Key, TxId>,
}

/// What does not.
#[derive(Clone, Debug, Default, Hash)]
struct Memory {
    locks: BTreeMap<Key, TxId>,
    /// What the disk is busy with.
    flushing: BTreeMap<TxId, Prepared>,
    /// What came meanwhile and is written next, all at once.
    waiting: BTreeMap<TxId, Prepared>,
    /// Those that nobody has voted on yet.
    unanswered: BTreeMap<TxId, Address<ToCoordinator>>,
}

impl Memory {
    /// Gives the disk something to do, unless it is busy.
    fn flush(&mut self, ctx: Ctx<'_, '_>) {
        if self.flushing.is_empty() && !self.waiting.is_empty() {
            self.flushing = mem::take(&mut self.waiting);
            let me = ctx.me();
            ctx.send(&me, ToParticipant::Flushed);
        }
    }

    /// Forgets what is not yet on disk.
    fn forget(&mut self, tx: TxId) {
        self.unanswered.remove(&tx);
        let prepared = self.waiting.remove(&tx).or_else(|| self.flushing.remove(&tx));
        if let Some(Prepared { key, .. }) = prepared {
            self.locks.remove(&key);
        }
    }
}

/// A node with a disk.
#[derive(Clone, Debug, Hash)]
pub struct Participant {
    id: ParticipantId,
    answers_all: bool,
    recovers_no_locks: bool,
    disk: Disk,
    /// `None` while the power is off.
    memory: Option<Memory>,
}

impl Participant {
    /// A participant that has not heard of any transaction.
    #[must_use]
    pub fn new(id: ParticipantId, config: Config) -> Self {
        Self {
            id,
            answers_all: config.has(Bug::VoteBeforeFlush),
            recovers_no_locks: config.has(Bug::RecoveryWithoutLocks),
            disk: Disk::default(),
            memory: Some(Memory::default()),
        }
    }

    /// What was committed last.
    #[must_use]
    pub fn value(&self, key: Key) -> Option<TxId> {
        self.disk.values.get(&key).copied()
    }

    fn vote(&self, tx: TxId, coordinator: &Address<ToCoordinator>, yes: bool, ctx: Ctx<'_, '_>) {
        ctx.announce(Event::Voted(tx, self.id, yes));
        ctx.send(coordinator, ToCoordinator::Vote { tx, from: self.id, yes });
    }

    fn prepare(&mut self, tx: TxId, prepared: Prepared, ctx: Ctx<'_, '_>) {
        let Some(memory) = &mut self.memory else { return };
        if memory.locks.contains_key(&prepared.key) {
            return self.vote(tx, &prepared.coordinator, false, ctx);
        }
        memory.locks.insert(prepared.key, tx);
        memory.unanswered.insert(tx, prepared.coordinator.clone());
        memory.waiting.insert(tx, prepared);
        memory.flush(ctx);
    }

    fn flushed(&mut self, ctx: Ctx<'_, '_>) {
        let Some(memory) = &mut self.memory else { return };
        let mut safe = mem::take(&mut memory.flushing);
        let unanswered = mem::take(&mut memory.unanswered).into_iter();
        let (answered, later): (BTreeMap<_, _>, _) =
            unanswered.partition(|(tx, _)| self.answers_all || safe.contains_key(tx));
        memory.unanswered = later;
        memory.flush(ctx);
        safe.keys().for_each(|&tx| ctx.announce(Event::InDoubt(tx, self.id)));
        self.disk.prepared.append(&mut safe);
        answered.iter().for_each(|(&tx, coordinator)| self.vote(tx, coordinator, true, ctx));
    }

    fn decide(&mut self, tx: TxId, decision: Decision, coordinator: &Address<ToCoordinator>, ctx: Ctx<'_, '_>) {
        let Some(memory) = &mut self.memory else { return };
        memory.forget(tx);
        if let Some(Prepared { key, .. }) = self.disk.prepared.remove(&tx) {
            if let Some(holder) = memory.locks.remove(&key) {
                assert_eq!(holder, tx, "{holder} has taken the lock on {key:?} from {tx}");
            }
            if decision == Decision::Commit {
                self.disk.values.insert(key, tx);
                ctx.announce(Event::Written(tx, self.id, key));
            }
            ctx.announce(Event::Applied(tx, self.id, decision));
        }
        // Even if that was done before: it would not be told again if the coordinator knew.
        if decision == Decision::Commit {
            ctx.send(coordinator, ToCoordinator::Acknowledge(tx, self.id));
        }
    }

    fn restart(&mut self, ctx: Ctx<'_, '_>) {
        let mut memory = Memory::default();
        for (&tx, Prepared { key, coordinator }) in &self.disk.prepared {
            if !self.recovers_no_locks {
                memory.locks.insert(*key, tx);
            }
            ctx.send(coordinator, ToCoordinator::Inquire(tx, self.id));
        }
        self.memory = Some(memory);
    }
}

impl Actor for Participant {
    type Msg = ToParticipant;

    fn handle(&mut self, msg: ToParticipant, ctx: &mut Context<'_, ToParticipant>) {
        match msg {
            ToParticipant::Prepare { tx, key, coordinator } => self.prepare(tx, Prepared { key, coordinator }, ctx),
            ToParticipant::Flushed => self.flushed(ctx),
            ToParticipant::Decide { tx, decision, coordinator } => self.decide(tx, decision, &coordinator, ctx),
            ToParticipant::Crash => {
                // It may be down already.
                if self.memory.take().is_some() {
                    let me = ctx.me();
                    ctx.send(&me, ToParticipant::Restart);
                }
            }
            ToParticipant::Restart => self.restart(ctx),
        }
    }

    fn label(msg: &ToParticipant) -> &'static str {
        match msg {
            ToParticipant::Prepare { .. } => "Prepare",
            ToParticipant::Flushed => "Flushed",
            ToParticipant::Decide { .. } => "Decide",
            ToParticipant::Crash => "Crash",
            ToParticipant::Restart => "Restart",
        }
    }
}
