//! What two-phase commit promises.

use std::collections::{BTreeMap, BTreeSet};

use raddle::actor::Monitor;

use super::{Decision, Key, ParticipantId, TxId};

/// What happens to transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A client has begun it.
    Begun(TxId),
    /// A participant can do its part, or cannot.
    Voted(TxId, ParticipantId, bool),
    /// A participant has it in its log, and may do nothing before it knows the decision.
    InDoubt(TxId, ParticipantId),
    /// The coordinator has decided.
    Decided(TxId, Decision),
    /// A participant has done its part, or given it up.
    Applied(TxId, ParticipantId, Decision),
    /// A participant has written something for it.
    Written(TxId, ParticipantId, Key),
    /// The client knows.
    Told(TxId, Decision),
}

/// What is known of one transaction.
#[derive(Clone, Debug, Default, Hash)]
struct Transaction {
    yes: BTreeSet<ParticipantId>,
    no: BTreeSet<ParticipantId>,
    in_doubt: BTreeSet<ParticipantId>,
    decision: Option<Decision>,
    applied: BTreeMap<ParticipantId, Decision>,
    informed: bool,
}

/// All or nothing: there is one decision for each transaction, a commit only if all have voted yes, and nobody acts differently. In the end
/// nobody is in doubt, everybody has committed who has voted for what was committed, and the client knows.
#[derive(Clone, Debug, Hash)]
pub struct Atomicity {
    participants: u32,
    transactions: BTreeMap<TxId, Transaction>,
}

impl Atomicity {
    /// For so many participants.
    #[must_use]
    pub fn new(participants: u32) -> Self {
        Self { participants, transactions: BTreeMap::new() }
    }
}

fn demand(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

impl Monitor for Atomicity {
    type Event = Event;

    fn observe(&mut self, event: &Event) -> Result<(), String> {
        let (Event::Begun(tx)
        | Event::Voted(tx, ..)
        | Event::InDoubt(tx, _)
        | Event::Decided(tx, _)
        | Event::Applied(tx, ..)
        | Event::Written(tx, ..)
        | Event::Told(tx, _)) = *event;
        let transaction = self.transactions.entry(tx).or_default();
        match *event {
            Event::Begun(_) | Event::Written(..) => Ok(()),
            Event::Voted(_, who, yes) => {
                if yes { &mut transaction.yes } else { &mut transaction.no }.insert(who);
                demand(!(transaction.yes.contains(&who) && transaction.no.contains(&who)), || {
                    format!("{tx}: {who:?} votes twice")
                })
            }
            Event::InDoubt(_, who) => {
                transaction.in_doubt.insert(who);
                Ok(())
            }
            Event::Decided(_, decision) => {
                let before = transaction.decision.replace(decision);
                demand(before.is_none(), || format!("{tx} is decided twice"))?;
                let all = transaction.yes.len() == self.participants as usize;
                demand(decision == Decision::Abort || all, || format!("{tx} commits without everybody's vote"))
            }
            Event::Applied(_, who, decision) => {
                demand(transaction.decision == Some(decision), || {
                    format!("{tx}: {who:?} does {decision:?}, decided was {:?}", transaction.decision)
                })?;
                demand(transaction.applied.insert(who, decision).is_none(), || format!("{tx}: {who:?} acts twice"))
            }
            Event::Told(_, decision) => {
                transaction.informed = true;
                demand(transaction.decision == Some(decision), || format!("{tx}: the client is told {decision:?}"))
            }
        }
    }

    fn at_quiet(&self) -> Result<(), String> {
        for (tx, transaction) in &self.transactions {
            demand(transaction.informed, || format!("the client never hears of {tx}"))?;
            let committed = if transaction.decision == Some(Decision::Commit) { Some(&transaction.yes) } else { None };
            let concerned = transaction.in_doubt.iter().chain(committed.into_iter().flatten());
            if let Some(who) = concerned.into_iter().find(|who| !transaction.applied.contains_key(who)) {
                return Err(format!("{tx}: decided was {:?}, but {who:?} does nothing", transaction.decision));
            }
        }
        Ok(())
    }
}

/// What is written to a key is written everywhere in the same order.
#[derive(Clone, Debug, Default, Hash)]
pub struct Serial {
    written: BTreeMap<Key, BTreeMap<ParticipantId, Vec<TxId>>>,
}

impl Monitor for Serial {
    type Event = Event;

    fn observe(&mut self, event: &Event) -> Result<(), String> {
        let Event::Written(tx, who, key) = *event else { return Ok(()) };
        let everywhere = self.written.entry(key).or_default();
        everywhere.entry(who).or_default().push(tx);
        let mut orders = everywhere.values();
        let longest = orders.clone().max_by_key(|order| order.len());
        let fits = orders.all(|order| longest.is_none_or(|longest| longest.starts_with(order)));
        demand(fits, || format!("{key:?} is written in different orders: {everywhere:?}"))
    }
}
