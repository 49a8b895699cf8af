//! Begins one transaction after another.

use std::collections::VecDeque;

use raddle::actor::{Actor, Address, Context};

use super::{Decision, Event, Key, ToCoordinator, TxId};

/// The messages to a client.
#[derive(Clone, Debug, Hash)]
pub enum ToClient {
    /// Begin the next transaction.
    Next,
    /// How one has ended.
    Ended(TxId, Decision),
}

/// Somebody with transactions to run.
#[derive(Clone, Debug, Hash)]
pub struct Client {
    coordinator: Address<ToCoordinator>,
    transactions: VecDeque<(TxId, Key)>,
}

impl Client {
    /// A client with these transactions.
    #[must_use]
    pub fn new(coordinator: Address<ToCoordinator>, transactions: VecDeque<(TxId, Key)>) -> Self {
        Self { coordinator, transactions }
    }

    fn begin(&mut self, ctx: &mut Context<'_, ToClient>) {
        let Some((tx, key)) = self.transactions.pop_front() else { return };
        ctx.announce(Event::Begun(tx));
        let client = ctx.me();
        ctx.send(&self.coordinator, ToCoordinator::Begin { tx, key, client });
    }
}

impl Actor for Client {
    type Msg = ToClient;

    fn handle(&mut self, msg: ToClient, ctx: &mut Context<'_, ToClient>) {
        match msg {
            ToClient::Next => self.begin(ctx),
            ToClient::Ended(tx, decision) => {
                ctx.announce(Event::Told(tx, decision));
                self.begin(ctx);
            }
        }
    }

    fn label(msg: &ToClient) -> &'static str {
        match msg {
            ToClient::Next => "Next",
            ToClient::Ended(..) => "Ended",
        }
    }
}
