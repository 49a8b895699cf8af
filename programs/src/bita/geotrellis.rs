//! An engine for geographic data: an operation on a map is split into rows and those into tiles, which workers compute. Nothing is wrong
//! with it: it is there to be covered.
//!
//! - The *dispatcher* takes operations. One on a tile goes to the next worker; for a larger one it creates a *step*.
//! - A *step* splits its operation, has the parts dispatched and puts their results together.
//! - A *worker* gets a tile from the *catalog* and computes.

mod catalog;
mod dispatcher;
mod step;
mod worker;

use raddle::actor::System;

pub use self::catalog::{Catalog, Load};
pub use self::dispatcher::{Dispatcher, Run};
pub use self::step::{Step, ToStep};
pub use self::worker::{Compute, Worker};
use super::Program;

/// How large maps are, and who computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// One operation for each.
    pub maps: u32,
    /// Of each map.
    pub rows: u32,
    /// Of each row.
    pub tiles: u32,
    /// Who compute.
    pub workers: u32,
}

impl Config {
    /// The configuration that is evaluated.
    pub const USUAL: Self = Self { maps: 3, rows: 4, tiles: 4, workers: 6 };

    /// All of its traces can be tried.
    pub const SMALL: Self = Self { maps: 1, rows: 2, tiles: 2, workers: 2 };

    /// More than 20,000 receives of 200 actors.
    pub const LARGE: Self = Self { maps: 4, rows: 30, tiles: 42, workers: 70 };
}

/// What is to be added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A whole map.
    Map(u32),
    /// A row of a map.
    Row(u32, u32),
    /// A tile of a row.
    Tile(u32, u32, u32),
}

/// Adds up all tiles of all maps; returns the sums.
///
/// # Panics
///
/// If one is missing when all is quiet.
#[must_use]
pub fn run(config: Config) -> Vec<u64> {
    let system = System::new();
    let catalog = system.spawn(Catalog);
    let workers = (0..config.workers).map(|_| system.spawn(Worker::new(catalog.clone()))).collect();
    let dispatcher = system.spawn(Dispatcher::new(workers, config));
    let steps: Vec<_> = (0..config.maps)
        .map(|map| system.spawn(Step::new(vec![Operation::Map(map)], dispatcher.clone(), None)))
        .collect();
    for step in &steps {
        step.send(ToStep::Split);
    }
    system.run_until_quiet();
    let sum = |step: &Step| step.sum().expect("every operation comes to its end");
    steps.iter().map(|step| system.with(step, sum)).collect()
}

/// The engine.
pub static PROGRAMS: [Program; 1] = [Program::correct("GeoTrellis", || _ = run(Config::USUAL))];
