//! What a group keeps: accounts with locks, and decisions. A state machine whose commands can be repeated.

use std::collections::BTreeMap;

use super::{Account, Bug, Config, Decision, TxId};

/// What can be asked of a store. Asked again, it has no further effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Command {
    /// Get ready to change an account.
    Prepare {
        /// For which transaction.
        tx: TxId,
        /// Which account.
        account: Account,
        /// What to add to it.
        change: i32,
    },
    /// Do what was prepared, or give it up.
    Finish(TxId, Decision),
    /// Record a decision, if there is none.
    Decide(TxId, Decision),
}

/// What a store says to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Whether it can be done.
    Vote(bool),
    /// It is done, or given up.
    Finished,
    /// This was decided.
    Decided(Decision),
}

#[derive(Clone, Copy, Debug, Hash)]
struct Prepared {
    account: Account,
    change: i32,
}

/// Accounts and decisions.
#[derive(Clone, Debug, Hash)]
pub struct Store {
    remembers_early_aborts: bool,
    /// What differs from the first balance.
    balances: BTreeMap<Account, i32>,
    prepared: BTreeMap<TxId, Prepared>,
    finished: BTreeMap<TxId, Decision>,
    decisions: BTreeMap<TxId, Decision>,
}

/// What is in every account at first.
const FIRST_BALANCE: i32 = 2;

impl Store {
    /// A store that nobody has changed.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            remembers_early_aborts: !config.has(Bug::EarlyAbortForgotten),
            balances: BTreeMap::new(),
            prepared: BTreeMap::new(),
            finished: BTreeMap::new(),
            decisions: BTreeMap::new(),
        }
    }

    /// Does what is asked. The same commands in the same order give the same answers.
    pub fn apply(&mut self, command: Command) -> Answer {
        match command {
            Command::Prepare { tx, account, change } => Answer::Vote(self.prepare(tx, Prepared { account, change })),
            Command::Finish(tx, decision) => {
                self.finish(tx, decision);
                Answer::Finished
            }
            Command::Decide(tx, decision) => Answer::Decided(*self.decisions.entry(tx).or_insert(decision)),
        }
    }

    /// What is in an account.
    #[must_use]
    pub fn balance(&self, account: Account) -> i32 {
        FIRST_BALANCE + self.balances.get(&account).copied().unwrap_or(0)
    }

    fn prepare(&mut self, tx: TxId, prepared: Prepared) -> bool {
        if self.finished.contains_key(&tx) {
            return false;
        }
        if self.prepared.contains_key(&tx) {
            return true;
        }
        let locked = self.prepared.values().any(|other| other.account == prepared.account);
        let possible = !locked && self.balance(prepared.account) + prepared.change >= 0;
        if possible {
            self.prepared.insert(tx, prepared);
        }
        possible
    }

    fn finish(&mut self, tx: TxId, decision: Decision) {
        if self.finished.contains_key(&tx) {
            return;
        }
        let prepared = self.prepared.remove(&tx);
        match (prepared, decision) {
            (Some(Prepared { account, change }), Decision::Commit) => {
                *self.balances.entry(account).or_default() += change;
            }
            (None, Decision::Commit) => panic!("{tx} is to be committed, but was not prepared"),
            (_, Decision::Abort) => {}
        }
        if prepared.is_some() || self.remembers_early_aborts {
            self.finished.insert(tx, decision);
        }
    }
}
