//! The strategies by name.

use raddle_engine::strategy::Strategy;
use raddle_engine::strategy::dpor::Dpor;
use raddle_engine::strategy::exhaustive::Exhaustive;
use raddle_engine::strategy::pct::Pct;
use raddle_engine::strategy::portfolio::Portfolio;
use raddle_engine::strategy::random::Random;
use raddle_engine::strategy::round_robin::RoundRobin;

/// What is used if nobody says otherwise.
pub const DEFAULT: &str = "dpor";

/// A strategy that can be had by name.
pub struct Named {
    pub name: &'static str,
    /// Makes one; the seed is for those that draw random numbers.
    pub make: fn(u64) -> Box<dyn Strategy>,
    pub scope: Scope,
}

/// How far a strategy goes, which is what decides which expectations can be held against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One complete execution for each trace.
    Traces,
    /// Every trace, some of them more than once.
    Everything,
    /// As long as it is let.
    Sample,
}

/// All of them.
pub const ALL: &[Named] = &[
    Named { name: "dpor", make: |_| Box::new(Dpor::optimal()), scope: Scope::Traces },
    Named { name: "dpor-source", make: |_| Box::new(Dpor::source()), scope: Scope::Traces },
    Named { name: "dpor-classic", make: |_| Box::new(Dpor::classic()), scope: Scope::Everything },
    Named {
        name: "dpor-classic:no-sleep",
        make: |_| Box::new(Dpor::classic().without_sleep_sets()),
        scope: Scope::Everything,
    },
    Named { name: "exhaustive", make: |_| Box::new(Exhaustive::depth_first()), scope: Scope::Everything },
    Named { name: "random", make: |seed| Box::new(Random::new(seed)), scope: Scope::Sample },
    Named { name: "pct", make: |seed| Box::new(Pct::new(seed, 3)), scope: Scope::Sample },
    Named { name: "round-robin", make: |_| Box::new(RoundRobin::new()), scope: Scope::Sample },
    Named { name: "portfolio", make: |seed| Box::new(Portfolio::new(seed)), scope: Scope::Sample },
];

/// The strategy of this name.
pub fn find(name: &str) -> Result<&'static Named, String> {
    ALL.iter().find(|strategy| strategy.name == name).ok_or_else(|| {
        let names: Vec<_> = ALL.iter().map(|strategy| strategy.name).collect();
        format!("there is no strategy `{name}`; there are {}", names.join(", "))
    })
}
