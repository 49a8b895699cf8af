//! Who gives replies to those that wait for them.

use std::collections::VecDeque;

use raddle::actor::{Actor, Address, Context, ReplyTo};

use super::{Bug, Config, Reply, ToCaller};

/// Who wants a reply.
#[derive(Debug)]
pub enum Waiter {
    /// It is told when the reply is there.
    Told(Address<ToCaller>),
    /// It does nothing else until then.
    Asked(ReplyTo<Reply>),
}

/// The messages to the reader.
#[derive(Debug)]
pub enum ToReader {
    /// The next reply that nobody waits for is for this one.
    Expect(Waiter),
    /// From the connection.
    Data(Reply),
}

/// Matches replies and waiters by their order.
#[derive(Debug)]
pub struct Reader {
    config: Config,
    waiting: VecDeque<Waiter>,
    /// Replies that came before the word that somebody waits for them.
    early: VecDeque<Reply>,
}

impl Reader {
    /// A reader to whom nothing was sent.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { config, waiting: VecDeque::new(), early: VecDeque::new() }
    }

    fn give(waiter: Waiter, reply: Reply, ctx: &mut Context<'_, ToReader>) {
        match waiter {
            Waiter::Told(caller) => ctx.send(&caller, ToCaller::Reply(reply)),
            Waiter::Asked(back) => back.reply(reply),
        }
    }
}

impl Actor for Reader {
    type Msg = ToReader;

    fn handle(&mut self, msg: ToReader, ctx: &mut Context<'_, ToReader>) {
        match msg {
            ToReader::Expect(waiter) => match self.early.pop_front() {
                Some(reply) => Self::give(waiter, reply, ctx),
                None => self.waiting.push_back(waiter),
            },
            ToReader::Data(reply) => match self.waiting.pop_front() {
                Some(waiter) => Self::give(waiter, reply, ctx),
                None if self.config.has(Bug::ReplyBeforeWaiter) => panic!("nobody waits for {reply:?}"),
                None => self.early.push_back(reply),
            },
        }
    }

    fn label(msg: &ToReader) -> &'static str {
        match msg {
            ToReader::Expect(_) => "Expect",
            ToReader::Data(_) => "Data",
        }
    }
}
