//! Who uses the client.

use std::collections::VecDeque;

use raddle::actor::{Actor, Address, Context};

use super::{Bug, Command, Config, Reply, Request, ToReader, Waiter};

/// The messages to a caller.
#[derive(Clone, Copy, Debug)]
pub enum ToCaller {
    /// Begin.
    Start,
    /// The reply to the oldest command that has none.
    Reply(Reply),
}

/// Stores values, and reads each of them back at once.
#[derive(Debug)]
pub struct Caller {
    number: u32,
    pipeline: Address<Request>,
    reader: Address<ToReader>,
    config: Config,
    stored: u32,
    /// The replies that its commands must get, in order.
    expected: VecDeque<Reply>,
}

type Ctx<'a, 'b> = &'a mut Context<'b, ToCaller>;

impl Caller {
    /// A caller with keys of its own.
    #[must_use]
    pub fn new(number: u32, pipeline: Address<Request>, reader: Address<ToReader>, config: Config) -> Self {
        Self { number, pipeline, reader, config, stored: 0, expected: VecDeque::new() }
    }

    /// How many of its commands have no reply.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.expected.len() + (self.config.values - self.stored) as usize
    }

    fn call(&mut self, command: Command, expected: Reply, ctx: Ctx<'_, '_>) {
        self.expected.push_back(expected);
        let waiter = Waiter::Told(ctx.me());
        if self.config.has(Bug::WaitersInOtherOrder) {
            ctx.send(&self.reader, ToReader::Expect(waiter));
            ctx.send(&self.pipeline, Request { command, waiter: None });
        } else {
            ctx.send(&self.pipeline, Request { command, waiter: Some(waiter) });
        }
    }

    /// Two commands at once, for as long as there are values left.
    fn store_and_read(&mut self, ctx: Ctx<'_, '_>) {
        if self.stored < self.config.values {
            let (key, value) = (self.number, self.number * 100 + self.stored);
            self.stored += 1;
            self.call(Command::Set(key, value), Reply::Stored, ctx);
            self.call(Command::Get(key), Reply::Value(Some(value)), ctx);
        }
    }
}

impl Actor for Caller {
    type Msg = ToCaller;

    fn handle(&mut self, msg: ToCaller, ctx: &mut Context<'_, ToCaller>) {
        match msg {
            ToCaller::Start => self.store_and_read(ctx),
            ToCaller::Reply(reply) => {
                assert_eq!(self.expected.pop_front(), Some(reply), "caller {} got a wrong reply", self.number);
                if self.expected.is_empty() {
                    self.store_and_read(ctx);
                }
            }
        }
    }

    fn label(msg: &ToCaller) -> &'static str {
        match msg {
            ToCaller::Start => "Start",
            ToCaller::Reply(_) => "Reply",
        }
    }
}

/// What the probe hears: begin.
#[derive(Clone, Copy, Debug)]
pub struct ToProbe;

/// Looks whether the server is there, and waits for each reply.
#[derive(Debug)]
pub struct Probe {
    pipeline: Address<Request>,
    reader: Address<ToReader>,
    config: Config,
}

impl Probe {
    /// A probe that has not begun.
    #[must_use]
    pub fn new(pipeline: Address<Request>, reader: Address<ToReader>, config: Config) -> Self {
        Self { pipeline, reader, config }
    }

    fn ping(&self, ctx: &mut Context<'_, ToProbe>) -> Reply {
        let command = Command::Ping;
        if self.config.has(Bug::WaitersInOtherOrder) {
            ctx.send(&self.pipeline, Request { command, waiter: None });
            ctx.ask(&self.reader, |reply| ToReader::Expect(Waiter::Asked(reply)))
        } else {
            ctx.ask(&self.pipeline, |reply| Request { command, waiter: Some(Waiter::Asked(reply)) })
        }
    }
}

impl Actor for Probe {
    type Msg = ToProbe;

    fn handle(&mut self, ToProbe: ToProbe, ctx: &mut Context<'_, ToProbe>) {
        for _ in 0..self.config.pings {
            assert_eq!(self.ping(ctx), Reply::Pong, "the probe got a wrong reply");
        }
    }

    fn label(_: &ToProbe) -> &'static str {
        "Start"
    }
}
