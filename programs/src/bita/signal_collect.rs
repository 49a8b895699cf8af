//! A framework for computations on graphs: vertices collect signals and send signals along their edges, until none is on its way. Here
//! they compute how far each is from the first one.
//!
//! - *Loaders* read the edges and give them to the workers.
//! - A *worker* owns some of the vertices. It notes signals as they come, and then lets all vertices that got some collect and signal
//!   in one operation.
//! - The *coordinator* begins when everything is loaded, and finds out when the computation is over: a worker that has nothing to do says how
//!   many signals it has sent and received. If what was sent was received, the coordinator asks all of them once more, since
//!   what it knows of them may be of different times. If nothing has changed since, that is the end.
//! - The *aggregator* adds up what the workers found.

mod aggregator;
mod coordinator;
mod loader;
mod worker;

use raddle::actor::System;
use raddle::coverage::Criterion;

pub use self::aggregator::{Aggregator, ToAggregator};
pub use self::coordinator::{Coordinator, ToCoordinator};
pub use self::loader::{Loader, ToLoader};
pub use self::worker::{Counts, ToWorker, Worker};
use super::Program;

/// A vertex by its number. The first one is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vertex(pub u32);

/// A way from one vertex to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// Where it begins.
    pub from: Vertex,
    /// Where it ends.
    pub to: Vertex,
    /// How long it is.
    pub length: u32,
}

/// The bugs that can be switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bug {
    /// The coordinator does not ask once more. What it knows of one worker must be out of date by the very signals by which
    /// it is too early for another.
    OneWave,
    /// The coordinator asks for the sum when all workers have stopped, and the aggregator says what it has. What a worker found may
    /// still be on its way there.
    SumTooEarly,
    /// Loaders say that they are done when they have sent everything, and not when it has arrived. The word to begin may be
    /// faster than the last edge.
    BeginBeforeEdge,
}

/// How large the graph is, who computes, and what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How many vertices there are. They form a ring with some shortcuts.
    pub vertices: u32,
    /// Every so many vertices there is a shortcut.
    pub shortcuts: u32,
    /// Who own them in turn.
    pub workers: u32,
    /// Who read the edges.
    pub loaders: u32,
    /// The mistake, if there is one.
    pub bug: Option<Bug>,
}

impl Config {
    /// The configuration that is evaluated.
    pub const USUAL: Self = Self { vertices: 12, shortcuts: 4, workers: 4, loaders: 2, bug: None };

    /// Small enough for all of its traces.
    pub const SMALL: Self = Self { vertices: 2, shortcuts: 3, workers: 2, loaders: 1, bug: None };

    /// The same with a mistake.
    #[must_use]
    pub const fn with(self, bug: Bug) -> Self {
        Self { bug: Some(bug), ..self }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    /// Which worker owns a vertex.
    fn owner(&self, vertex: Vertex) -> usize {
        (vertex.0 % self.workers) as usize
    }

    /// The edges of the graph.
    pub fn edges(self) -> impl Iterator<Item = Edge> {
        let vertices = self.vertices;
        let edge = move |from, to, length| Edge { from: Vertex(from), to: Vertex(to % vertices), length };
        let ring = (0..vertices).map(move |from| edge(from, from + 1, 1));
        let shortcuts = (0..vertices).step_by(self.shortcuts as usize).map(move |from| edge(from, from + 3, 2));
        ring.chain(shortcuts.filter(|edge| edge.to.0 > edge.from.0))
    }
}

/// Computes all distances; returns their sum.
///
/// # Panics
///
/// If there is none when all is quiet.
pub fn run(config: Config) -> u32 {
    let system = System::new();
    let aggregator = system.spawn(Aggregator::new(config));
    let coordinator = system.spawn(Coordinator::new(aggregator.clone(), config));
    let workers: Vec<_> = (0..config.workers)
        .map(|number| system.spawn(Worker::new(number, coordinator.clone(), aggregator.clone(), config)))
        .collect();
    coordinator.send(ToCoordinator::Workers(workers.clone()));
    for part in 0..config.loaders {
        let edges = config.edges().skip(part as usize).step_by(config.loaders as usize).collect();
        let loader = system.spawn(Loader::new(workers.clone(), coordinator.clone(), edges, config));
        loader.send(ToLoader::Load);
    }
    system.run_until_quiet();
    system.with(&coordinator, |coordinator: &Coordinator| coordinator.sum).expect("the computation comes to its end")
}

const CORRECT: Program = Program::correct("Signal/Collect", || _ = run(Config::USUAL));

/// The framework and its bugs.
pub static PROGRAMS: [Program; 4] = [
    CORRECT,
    CORRECT.with("Signal/Collect 1", "panic", Criterion::Pairs, || _ = run(Config::USUAL.with(Bug::OneWave))),
    CORRECT.with("Signal/Collect 2", "panic", Criterion::Pairs, || _ = run(Config::USUAL.with(Bug::SumTooEarly))),
    CORRECT.with("Signal/Collect 3", "panic", Criterion::Pairs, || _ = run(Config::USUAL.with(Bug::BeginBeforeEdge))),
];
