//! A client: updates and asks in turn, one operation after another, and asks again if whom it asked has failed.

use raddle::actor::{Actor, Address, Context};

use super::message::{ToClient, ToNode, Update};
use super::monitor::Served;

/// Uses the chain.
#[derive(Clone, Debug, Hash)]
pub struct Client {
    operations: u32,
    /// The operation it is at: an update if it is even, else a query.
    current: u32,
    head: Option<Address<ToNode>>,
    tail: Option<Address<ToNode>>,
    /// Own updates that are done.
    updates: usize,
}

impl Client {
    /// One with so many operations before it.
    #[must_use]
    pub fn new(operations: u32) -> Self {
        Self { operations, current: 0, head: None, tail: None, updates: 0 }
    }

    fn is_at_query(&self) -> bool {
        self.current % 2 == 1
    }

    fn send(&self, ctx: &mut Context<'_, ToClient>) {
        if self.current == self.operations {
            return;
        }
        let me = ctx.me();
        let (to, msg) = if self.is_at_query() {
            (&self.tail, ToNode::Query(me, self.current))
        } else {
            (&self.head, ToNode::Update(Update { client: me, operation: self.current }))
        };
        if let Some(node) = to {
            ctx.send(node, msg);
        }
    }

    fn chain(&mut self, head: Address<ToNode>, tail: Address<ToNode>, ctx: &mut Context<'_, ToClient>) {
        let (head, tail) = (Some(head), Some(tail));
        let asked_is_gone = if self.is_at_query() { self.tail != tail } else { self.head != head };
        (self.head, self.tail) = (head, tail);
        if asked_is_gone {
            self.send(ctx);
        }
    }

    fn next(&mut self, ctx: &mut Context<'_, ToClient>) {
        self.current += 1;
        self.send(ctx);
        if self.current == self.operations {
            ctx.announce(Served);
        }
    }
}

impl Actor for Client {
    type Msg = ToClient;

    fn handle(&mut self, msg: ToClient, ctx: &mut Context<'_, ToClient>) {
        match msg {
            ToClient::Chain { head, tail } => self.chain(head, tail, ctx),
            ToClient::Done(operation) if operation == self.current => {
                self.updates += 1;
                self.next(ctx);
            }
            ToClient::Count(operation, count) if operation == self.current => {
                assert!(count >= self.updates, "a client sees its own updates");
                self.next(ctx);
            }
            // Said twice: once by a tail that has failed, and once by the next.
            ToClient::Done(_) | ToClient::Count(..) => {}
        }
    }

    fn label(msg: &ToClient) -> &'static str {
        match msg {
            ToClient::Chain { .. } => "Chain",
            ToClient::Done(_) => "Done",
            ToClient::Count(..) => "Count",
        }
    }
}
