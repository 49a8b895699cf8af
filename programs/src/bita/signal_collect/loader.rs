//! Who reads the graph.

use std::collections::VecDeque;

use raddle::actor::{Actor, Address, Context};

use super::{Bug, Config, Edge, ToCoordinator, ToWorker};

/// The messages to a loader.
#[derive(Clone, Copy, Debug)]
pub enum ToLoader {
    /// Read the next edge.
    Load,
}

/// Gives edges to those who own where they begin, one after the other.
#[derive(Debug)]
pub struct Loader {
    workers: Vec<Address<ToWorker>>,
    coordinator: Address<ToCoordinator>,
    edges: VecDeque<Edge>,
    config: Config,
}

impl Loader {
    /// One that will read these.
    #[must_use]
    pub fn new(
        workers: Vec<Address<ToWorker>>,
        coordinator: Address<ToCoordinator>,
        edges: VecDeque<Edge>,
        config: Config,
    ) -> Self {
        Self { workers, coordinator, edges, config }
    }

    /// What a loader sends arrives in order, so a worker that answers has everything.
    fn wait_for_arrival(&self, ctx: &mut Context<'_, ToLoader>) {
        for worker in &self.workers {
            ctx.ask(worker, ToWorker::Arrived);
        }
    }
}

impl Actor for Loader {
    type Msg = ToLoader;

    fn handle(&mut self, ToLoader::Load: ToLoader, ctx: &mut Context<'_, ToLoader>) {
        if let Some(edge) = self.edges.pop_front() {
            ctx.send(&self.workers[self.config.owner(edge.from)], ToWorker::Add(edge));
            let me = ctx.me();
            return ctx.send(&me, ToLoader::Load);
        }
        if !self.config.has(Bug::BeginBeforeEdge) {
            self.wait_for_arrival(ctx);
        }
        ctx.send(&self.coordinator, ToCoordinator::Loaded);
    }

    fn label(_: &ToLoader) -> &'static str {
        "Load"
    }
}
