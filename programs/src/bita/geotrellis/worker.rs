//! Who computes.

use raddle::actor::{Actor, Address, Context};

use super::{Load, ToStep};

/// What a worker hears: compute a tile.
#[derive(Clone, Debug)]
pub struct Compute {
    /// Map, row, and place in the row.
    pub tile: (u32, u32, u32),
    /// Where the result goes.
    pub step: Address<ToStep>,
}

/// Computes one tile after the other.
#[derive(Debug)]
pub struct Worker {
    catalog: Address<Load>,
}

impl Worker {
    /// A worker that gets tiles from this catalog.
    #[must_use]
    pub fn new(catalog: Address<Load>) -> Self {
        Self { catalog }
    }
}

impl Actor for Worker {
    type Msg = Compute;

    fn handle(&mut self, Compute { tile, step }: Compute, ctx: &mut Context<'_, Compute>) {
        let content = ctx.ask(&self.catalog, |reply| Load { tile, reply });
        ctx.send(&step, ToStep::Result(content));
    }

    fn label(_: &Compute) -> &'static str {
        "Compute"
    }
}
