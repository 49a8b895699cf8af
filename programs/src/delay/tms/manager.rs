//! Runs transfers: prepare, decide, finish.

use std::collections::{BTreeMap, BTreeSet};

use raddle::actor::{Actor, Address, Context};

use super::{Answer, Bug, Command, Config, DECISIONS, Decision, GroupId, Part, ToClient, ToReplica, Transfer, TxId};

/// The messages to a manager.
#[derive(Clone, Debug, Hash)]
pub enum ToManager {
    /// From the master: the head of a group.
    Head(GroupId, Address<ToReplica>),
    /// From a client: make this transfer.
    Begin(Transfer, Address<ToClient>),
    /// From a client: it has begun this elsewhere, and heard nothing.
    Resolve(Transfer, Address<ToClient>),
    /// From the tail of a group: this is done.
    Answer {
        /// Which group.
        group: GroupId,
        /// What was asked.
        command: Command,
        /// What comes of it.
        answer: Answer,
    },
    /// The manager fails for good.
    Crash,
}

#[derive(Clone, Debug, Hash)]
enum Phase {
    Voting { yes: BTreeSet<GroupId>, count: usize },
    Deciding { proposal: Decision },
    Finishing { decision: Decision, left: BTreeSet<GroupId> },
}

#[derive(Clone, Debug, Hash)]
struct OpenTransfer {
    transfer: Transfer,
    client: Address<ToClient>,
    phase: Phase,
}

/// Sees transfers through. Keeps nothing that others could not find out.
#[derive(Clone, Debug, Hash)]
pub struct Manager {
    bug: Option<Bug>,
    heads: BTreeMap<GroupId, Address<ToReplica>>,
    /// What was asked and not answered.
    asked: BTreeSet<(GroupId, Command)>,
    open: BTreeMap<TxId, OpenTransfer>,
    failed: bool,
}

type Ctx<'a, 'b> = &'a mut Context<'b, ToManager>;

impl Manager {
    /// A manager that does not know anybody yet.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { bug: config.bug, heads: BTreeMap::new(), asked: BTreeSet::new(), open: BTreeMap::new(), failed: false }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    fn ask(&mut self, group: GroupId, command: Command, ctx: Ctx<'_, '_>) {
        self.asked.insert((group, command));
        if let Some(head) = self.heads.get(&group) {
            ctx.send(head, ToReplica::Request { command, manager: ctx.me() });
        }
    }

    /// A group has another head, or its first: what it has not answered may be lost.
    fn connect(&mut self, group: GroupId, head: Address<ToReplica>, ctx: Ctx<'_, '_>) {
        for (_, command) in self.asked.iter().filter(|asked| asked.0 == group) {
            ctx.send(&head, ToReplica::Request { command: *command, manager: ctx.me() });
        }
        self.heads.insert(group, head);
    }

    fn begin(&mut self, transfer: Transfer, client: Address<ToClient>, ctx: Ctx<'_, '_>) {
        let tx = transfer.tx;
        let phase = Phase::Voting { yes: BTreeSet::new(), count: 0 };
        self.open.insert(tx, OpenTransfer { transfer, client, phase });
        for Part { shard, account, change } in transfer.parts {
            self.ask(shard, Command::Prepare { tx, account, change }, ctx);
        }
    }

    fn resolve(&mut self, transfer: Transfer, client: Address<ToClient>, ctx: Ctx<'_, '_>) {
        let phase = Phase::Deciding { proposal: Decision::Abort };
        self.open.insert(transfer.tx, OpenTransfer { transfer, client, phase });
        self.ask(DECISIONS, Command::Decide(transfer.tx, Decision::Abort), ctx);
    }

    fn voted(&mut self, tx: TxId, shard: GroupId, vote: bool, ctx: Ctx<'_, '_>) {
        let counts = self.has(Bug::VotesCounted);
        // One that is not waited for has come twice.
        let Some(OpenTransfer { phase, .. }) = self.open.get_mut(&tx) else { return };
        let Phase::Voting { yes, count } = phase else { return };
        let proposal = if vote {
            yes.insert(shard);
            *count += 1;
            let votes = if counts { *count } else { yes.len() };
            if votes < 2 {
                return;
            }
            Decision::Commit
        } else {
            Decision::Abort
        };
        *phase = Phase::Deciding { proposal };
        self.ask(DECISIONS, Command::Decide(tx, proposal), ctx);
    }

    fn decided(&mut self, tx: TxId, recorded: Decision, ctx: Ctx<'_, '_>) {
        let takes_own = self.has(Bug::OwnDecisionTaken);
        let Some(OpenTransfer { transfer, phase, .. }) = self.open.get_mut(&tx) else { return };
        let Phase::Deciding { proposal } = *phase else { return };
        let decision = if takes_own { proposal } else { recorded };
        let shards = transfer.parts.map(|part| part.shard);
        *phase = Phase::Finishing { decision, left: shards.into() };
        for shard in shards {
            self.ask(shard, Command::Finish(tx, decision), ctx);
        }
    }

    fn finished(&mut self, tx: TxId, shard: GroupId, ctx: Ctx<'_, '_>) {
        let Some(OpenTransfer { client, phase, .. }) = self.open.get_mut(&tx) else { return };
        let Phase::Finishing { decision, left } = phase else { return };
        left.remove(&shard);
        if left.is_empty() {
            ctx.send(client, ToClient::Ended(tx, *decision));
            self.open.remove(&tx);
        }
    }

    fn answered(&mut self, group: GroupId, command: Command, answer: Answer, ctx: Ctx<'_, '_>) {
        self.asked.remove(&(group, command));
        let (Command::Prepare { tx, .. } | Command::Finish(tx, _) | Command::Decide(tx, _)) = command;
        if self.has(Bug::AnswerUnhandled) && !self.open.contains_key(&tx) {
            return ctx.unhandled(ToManager::Answer { group, command, answer });
        }
        match answer {
            Answer::Vote(vote) => self.voted(tx, group, vote, ctx),
            Answer::Decided(recorded) => self.decided(tx, recorded, ctx),
            Answer::Finished => self.finished(tx, group, ctx),
        }
    }
}

impl Actor for Manager {
    type Msg = ToManager;

    fn handle(&mut self, msg: ToManager, ctx: &mut Context<'_, ToManager>) {
        if self.failed {
            return;
        }
        match msg {
            ToManager::Head(group, head) => self.connect(group, head, ctx),
            ToManager::Begin(transfer, client) => self.begin(transfer, client, ctx),
            ToManager::Resolve(transfer, client) => self.resolve(transfer, client, ctx),
            ToManager::Answer { group, command, answer } => self.answered(group, command, answer, ctx),
            ToManager::Crash => self.failed = true,
        }
    }

    fn label(msg: &ToManager) -> &'static str {
        match msg {
            ToManager::Head(..) => "Head",
            ToManager::Begin(..) => "Begin",
            ToManager::Resolve(..) => "Resolve",
            ToManager::Answer { .. } => "Answer",
            ToManager::Crash => "Crash",
        }
    }
}
