//! The strategies by name.

use raddle_engine::strategy::Strategy;
use raddle_strategies::optimal::Optimal;
use raddle_strategies::portfolio::Portfolio;
use raddle_strategies::reduction::Dpor;
use raddle_strategies::samplers::pct::Pct;
use raddle_strategies::samplers::random::Random;
use raddle_strategies::samplers::round_robin::RoundRobin;
use raddle_strategies::states::States;
use raddle_strategies::states::delay::{Delay, RoundRobin as InTurn, RunToCompletion};
use raddle_strategies::tree::exhaustive::Exhaustive;
use raddle_strategies::tree::preemption::Preemption;

/// What is used if nobody says otherwise.
pub const DEFAULT: &str = "dpor";

/// A strategy that can be had by name.
pub struct Named {
    /// `name`, or `name:BOUND`, where any number can stand for the capitals.
    pub name: &'static str,
    /// Makes one; the seed is for those that draw random numbers, the bound for those that have one.
    pub make: fn(seed: u64, bound: u32) -> Box<dyn Strategy>,
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
    Named { name: "dpor", make: |_, _| Box::new(Optimal::new()), scope: Scope::Traces },
    Named { name: "dpor-source", make: |_, _| Box::new(Dpor::source()), scope: Scope::Traces },
    Named { name: "dpor-classic", make: |_, _| Box::new(Dpor::classic()), scope: Scope::Everything },
    Named {
        name: "dpor-classic:no-sleep",
        make: |_, _| Box::new(Dpor::classic().without_sleep_sets()),
        scope: Scope::Everything,
    },
    Named { name: "exhaustive", make: |_, _| Box::new(Exhaustive::depth_first()), scope: Scope::Everything },
    Named { name: "preemption", make: |_, _| Box::new(Preemption::unbounded()), scope: Scope::Everything },
    Named { name: "preemption:BOUND", make: |_, bound| Box::new(Preemption::up_to(bound)), scope: Scope::Everything },
    Named { name: "delay", make: |_, _| Box::new(Delay::new(InTurn::default())), scope: Scope::Everything },
    Named {
        name: "delay:rtc",
        make: |_, _| Box::new(Delay::new(RunToCompletion::default())),
        scope: Scope::Everything,
    },
    Named {
        name: "delay:BOUND",
        make: |_, bound| Box::new(Delay::new(InTurn::default()).up_to(bound)),
        scope: Scope::Everything,
    },
    Named { name: "states", make: |_, _| Box::new(States::default()), scope: Scope::Everything },
    Named { name: "random", make: |seed, _| Box::new(Random::new(seed)), scope: Scope::Sample },
    Named { name: "pct", make: |seed, _| Box::new(Pct::new(seed, 3)), scope: Scope::Sample },
    Named { name: "round-robin", make: |_, _| Box::new(RoundRobin::new()), scope: Scope::Sample },
    Named { name: "portfolio", make: |seed, _| Box::new(Portfolio::new(seed)), scope: Scope::Sample },
];

/// The strategy of this name, and its bound, if it has one.
pub fn find(name: &str) -> Result<(&'static Named, u32), String> {
    let bounded = name.split_once(':').and_then(|(stem, bound)| Some((format!("{stem}:BOUND"), bound.parse().ok()?)));
    let (written, bound) = bounded.unwrap_or_else(|| (name.to_owned(), 0));
    let found = ALL.iter().find(|strategy| strategy.name == written && !name.ends_with("BOUND"));
    found.map(|strategy| (strategy, bound)).ok_or_else(|| {
        let names: Vec<_> = ALL.iter().map(|strategy| strategy.name).collect();
        format!("there is no strategy `{name}`; there are {}", names.join(", "))
    })
}
