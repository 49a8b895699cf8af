//! Who adds up what the workers found.

use raddle::actor::{Actor, Address, Context};

use super::{Bug, Config, ToCoordinator};

/// The messages to the aggregator.
#[derive(Clone, Debug)]
pub enum ToAggregator {
    /// What one worker found.
    Part(u32),
    /// What do all of them come to?
    Sum(Address<ToCoordinator>),
}

/// Adds up.
#[derive(Debug)]
pub struct Aggregator {
    config: Config,
    parts: u32,
    sum: u32,
    asked: Option<Address<ToCoordinator>>,
}

impl Aggregator {
    /// One that waits for a part of each worker.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { config, parts: 0, sum: 0, asked: None }
    }

    fn answer(&mut self, ctx: &mut Context<'_, ToAggregator>) {
        let complete = self.parts == self.config.workers;
        if self.config.has(Bug::SumTooEarly) {
            assert!(complete || self.asked.is_none(), "a sum of {} of {} parts", self.parts, self.config.workers);
        }
        if complete && let Some(coordinator) = self.asked.take() {
            ctx.send(&coordinator, ToCoordinator::Sum(self.sum));
        }
    }
}

impl Actor for Aggregator {
    type Msg = ToAggregator;

    fn handle(&mut self, msg: ToAggregator, ctx: &mut Context<'_, ToAggregator>) {
        match msg {
            ToAggregator::Part(part) => {
                self.parts += 1;
                self.sum += part;
            }
            ToAggregator::Sum(coordinator) => self.asked = Some(coordinator),
        }
        self.answer(ctx);
    }

    fn label(msg: &ToAggregator) -> &'static str {
        match msg {
            ToAggregator::Part(_) => "Part",
            ToAggregator::Sum(_) => "Sum",
        }
    }
}
