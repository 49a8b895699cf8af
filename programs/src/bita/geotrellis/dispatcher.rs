//! Who finds somebody for every operation.

use raddle::actor::{Actor, Address, Context};

use super::{Compute, Config, Operation, Step, ToStep};

/// What the dispatcher hears: have an operation carried out.
#[derive(Clone, Debug)]
pub struct Run {
    /// Which.
    pub operation: Operation,
    /// Where the result goes.
    pub step: Address<ToStep>,
}

/// Splits what is large, and gives the rest to the workers in turn.
#[derive(Debug)]
pub struct Dispatcher {
    workers: Vec<Address<Compute>>,
    config: Config,
    next: usize,
}

impl Dispatcher {
    /// One with these workers.
    #[must_use]
    pub fn new(workers: Vec<Address<Compute>>, config: Config) -> Self {
        Self { workers, config, next: 0 }
    }
}

impl Actor for Dispatcher {
    type Msg = Run;

    fn handle(&mut self, Run { operation, step }: Run, ctx: &mut Context<'_, Run>) {
        let parts = match operation {
            Operation::Tile(map, row, tile) => {
                ctx.send(&self.workers[self.next], Compute { tile: (map, row, tile), step });
                self.next = (self.next + 1) % self.workers.len();
                return;
            }
            Operation::Map(map) => (0..self.config.rows).map(|row| Operation::Row(map, row)).collect(),
            Operation::Row(map, row) => (0..self.config.tiles).map(|tile| Operation::Tile(map, row, tile)).collect(),
        };
        let me = ctx.me();
        let split = ctx.spawn(Step::new(parts, me, Some(step)));
        ctx.send(&split, ToStep::Split);
    }

    fn label(_: &Run) -> &'static str {
        "Run"
    }
}
