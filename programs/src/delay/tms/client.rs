//! Makes one transfer after another.

use std::collections::VecDeque;

use raddle::actor::{Actor, Address, Context};

use super::{Decision, Event, ToManager, Transfer, TxId};
use crate::delay::timer::ToTimer;

/// The messages to a client.
#[derive(Clone, Debug, Hash)]
pub enum ToClient {
    /// Begin the next transfer.
    Next,
    /// How one has ended.
    Ended(TxId, Decision),
    /// One takes too long.
    TimeOut(TxId),
}

/// Somebody with transfers to make, and two managers to turn to.
#[derive(Clone, Debug, Hash)]
pub struct Client {
    managers: [Address<ToManager>; 2],
    timer: Address<ToTimer<ToClient>>,
    transfers: VecDeque<Transfer>,
    current: Option<Transfer>,
}

impl Client {
    /// A client with these transfers, who turns to the first manager first.
    #[must_use]
    pub fn new(
        managers: [Address<ToManager>; 2],
        timer: Address<ToTimer<ToClient>>,
        transfers: VecDeque<Transfer>,
    ) -> Self {
        Self { managers, timer, transfers, current: None }
    }

    fn begin(&mut self, ctx: &mut Context<'_, ToClient>) {
        self.current = self.transfers.pop_front();
        let Some(transfer) = self.current else { return };
        let (tx, me) = (transfer.tx, ctx.me());
        ctx.announce(Event::Begun(tx));
        ctx.send(&self.timer, ToTimer::Set { alarm: tx.0, to: me.clone(), msg: ToClient::TimeOut(tx) });
        ctx.send(&self.managers[0], ToManager::Begin(transfer, me));
    }

    /// What it waits for, if that is `tx`.
    fn waits_for(&self, tx: TxId) -> Option<Transfer> {
        self.current.filter(|transfer| transfer.tx == tx)
    }
}

impl Actor for Client {
    type Msg = ToClient;

    fn handle(&mut self, msg: ToClient, ctx: &mut Context<'_, ToClient>) {
        match msg {
            ToClient::Next => self.begin(ctx),
            ToClient::Ended(tx, decision) => {
                ctx.announce(Event::Told(tx, decision));
                // Both managers may say so.
                if self.waits_for(tx).is_some() {
                    ctx.send(&self.timer, ToTimer::Cancel(tx.0));
                    self.begin(ctx);
                }
            }
            ToClient::TimeOut(tx) => {
                if let Some(transfer) = self.waits_for(tx) {
                    let me = ctx.me();
                    ctx.send(&self.managers[1], ToManager::Resolve(transfer, me));
                }
            }
        }
    }

    fn label(msg: &ToClient) -> &'static str {
        match msg {
            ToClient::Next => "Next",
            ToClient::Ended(..) => "Ended",
            ToClient::TimeOut(_) => "TimeOut",
        }
    }
}
