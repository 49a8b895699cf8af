//! Who takes part.

use raddle_engine::strategy::Strategy;
use raddle_strategies::hapset::{Backtrack, Hapset};
use raddle_strategies::optimal::Optimal;
use raddle_strategies::portfolio::Portfolio;
use raddle_strategies::reduction::Dpor;
use raddle_strategies::samplers::pct::Pct;
use raddle_strategies::samplers::pos::Pos;
use raddle_strategies::samplers::random::Random;
use raddle_strategies::samplers::surw::Surw;
use raddle_strategies::tree::preemption::Preemption;

/// A strategy of the tables.
pub struct Contender {
    pub name: &'static str,
    /// Different seeds, different executions.
    pub seeded: bool,
    pub make: fn(seed: u64) -> Box<dyn Strategy>,
}

const fn search(name: &'static str, make: fn(u64) -> Box<dyn Strategy>) -> Contender {
    Contender { name, seeded: false, make }
}

const fn sampler(name: &'static str, make: fn(u64) -> Box<dyn Strategy>) -> Contender {
    Contender { name, seeded: true, make }
}

/// Everybody: who is guided, who searches, who samples.
pub const CONTENDERS: [Contender; 16] = [
    search("hapset", |_| Box::new(Hapset::new())),
    sampler("hapset, 20 learned", |seed| Box::new(Hapset::new().learn(20, seed))),
    search("hapset, baseline", |_| Box::new(Hapset::over(Backtrack::Baseline))),
    search("hapset, preemption", |_| Box::new(Hapset::over_few_preemptions())),
    search("hapset, all", |_| Box::new(Hapset::new().then_the_rest())),
    search("dpor", |_| Box::new(Optimal::new())),
    search("dpor-classic", |_| Box::new(Dpor::classic())),
    search("preemption 0", |_| Box::new(Preemption::up_to(0))),
    search("1", |_| Box::new(Preemption::up_to(1))),
    search("2", |_| Box::new(Preemption::up_to(2))),
    search("3", |_| Box::new(Preemption::up_to(3))),
    sampler("random", |seed| Box::new(Random::new(seed))),
    sampler("pct", |seed| Box::new(Pct::new(seed, 3))),
    sampler("pos", |seed| Box::new(Pos::new(seed))),
    sampler("surw", |seed| Box::new(Surw::new(seed))),
    sampler("portfolio", |seed| Box::new(Portfolio::new(seed))),
];

/// Which contender this is.
pub fn place(name: &str) -> usize {
    CONTENDERS.iter().position(|contender| contender.name == name).expect("raddle bug: nobody has this name")
}
