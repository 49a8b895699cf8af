//! What the transaction manager promises.

use std::collections::{BTreeMap, BTreeSet};

use raddle::actor::Monitor;

use super::{Answer, Command, Decision, GroupId, TxId};

/// What happens to transfers and replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A client wants it.
    Begun(TxId),
    /// A replica has carried out a command.
    Done {
        /// Of which group.
        group: GroupId,
        /// Which replica.
        member: u32,
        /// The command.
        command: Command,
        /// What comes of it.
        answer: Answer,
    },
    /// A replica has failed.
    Failed {
        /// Of which group.
        group: GroupId,
        /// Which replica.
        member: u32,
    },
    /// The client hears how it has ended.
    Told(TxId, Decision),
}

#[derive(Clone, Debug, Default, Hash)]
struct Transaction {
    decision: Option<Decision>,
    told: bool,
    /// Replicas that hold a lock for it.
    locked: BTreeSet<(GroupId, u32)>,
}

/// Each transfer is decided once, nobody acts differently or is told otherwise, and nothing is committed that a shard cannot do. In the end
/// each client knows, and no replica that has not failed holds a lock.
#[derive(Clone, Debug, Default, Hash)]
pub struct AllOrNothing {
    transactions: BTreeMap<TxId, Transaction>,
    failed: BTreeSet<(GroupId, u32)>,
}

impl AllOrNothing {
    fn decided(&mut self, tx: TxId, decision: Decision, what: &str) -> Result<(), String> {
        let known = *self.transactions.entry(tx).or_default().decision.get_or_insert(decision);
        if known == decision { Ok(()) } else { Err(format!("{tx}: {known:?} was decided, but {what} {decision:?}")) }
    }
}

impl Monitor for AllOrNothing {
    type Event = Event;

    fn observe(&mut self, event: &Event) -> Result<(), String> {
        match *event {
            Event::Begun(tx) => {
                self.transactions.entry(tx).or_default();
                Ok(())
            }
            Event::Failed { group, member } => {
                self.failed.insert((group, member));
                Ok(())
            }
            Event::Told(tx, decision) => {
                self.transactions.entry(tx).or_default().told = true;
                self.decided(tx, decision, "the client is told")
            }
            Event::Done { group, member, command, answer } => match (command, answer) {
                (Command::Prepare { tx, .. }, Answer::Vote(true)) => {
                    self.transactions.entry(tx).or_default().locked.insert((group, member));
                    Ok(())
                }
                (Command::Finish(tx, decision), _) => {
                    self.transactions.entry(tx).or_default().locked.remove(&(group, member));
                    self.decided(tx, decision, "a shard does")
                }
                // What one replica has recorded counts only if it gets to the tail, and then somebody acts on it.
                _ => Ok(()),
            },
        }
    }

    fn at_quiet(&self) -> Result<(), String> {
        for (tx, transaction) in &self.transactions {
            if !transaction.told {
                return Err(format!("the client never hears of {tx}"));
            }
            if let Some((group, member)) = transaction.locked.difference(&self.failed).next() {
                return Err(format!("{tx}: replica {member} of {group:?} holds its lock for ever"));
            }
        }
        Ok(())
    }
}
