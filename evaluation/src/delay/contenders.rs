//! The strategies of the table.

use raddle_engine::strategy::Strategy;
use raddle_strategies::samplers::iterative_random::IterativeRandom;
use raddle_strategies::samplers::pct::Pct;
use raddle_strategies::samplers::random::Random;
use raddle_strategies::states::delay::{
    Delay, DelaySample, DelayingExplorer, ProbabilisticRoundRobin, RoundRobin, RunToCompletion,
};
use raddle_strategies::tree::preemption::Preemption;

use super::explorer::AfterStart;

/// A strategy of the table.
pub struct Contender {
    /// Its name in the paper.
    pub name: &'static str,
    pub kind: Kind,
    /// It depends on the seed.
    pub seeded: bool,
    /// Makes it with this seed, and at most so many states in memory.
    pub make: fn(seed: u64, states: usize) -> Box<dyn Strategy>,
    /// It is made for the programs whose labels begin like this.
    pub only: &'static str,
}

/// What a strategy does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Draws executions.
    Samples,
    /// Draws executions, by a delaying explorer.
    DelaySamples,
    /// Runs all executions.
    Searches,
    /// Visits all states, by a delaying explorer.
    DelaySearches,
}

impl Kind {
    /// Whether it is a sampler.
    pub fn samples(self) -> bool {
        matches!(self, Kind::Samples | Kind::DelaySamples)
    }

    /// Whether it has a delaying explorer.
    pub fn delays(self) -> bool {
        matches!(self, Kind::DelaySamples | Kind::DelaySearches)
    }
}

const fn any(
    name: &'static str,
    kind: Kind,
    seeded: bool,
    make: fn(seed: u64, states: usize) -> Box<dyn Strategy>,
) -> Contender {
    Contender { name, kind, seeded, make, only: "" }
}

/// Delays: how many executions are drawn, and from which explorer.
fn sample<E: DelayingExplorer + Clone + Send + 'static>(explorer: E, seed: u64) -> Box<dyn Strategy> {
    Box::new(DelaySample::new(explorer, seed))
}

fn search<E: DelayingExplorer + Clone + Send + 'static>(explorer: E, states: usize) -> Box<dyn Strategy> {
    Box::new(Delay::new(explorer).with_states(states))
}

/// All contenders: samplers first, then searches.
pub const CONTENDERS: [Contender; 12] = [
    any("RS", Kind::Samples, true, |seed, _| Box::new(Random::new(seed))),
    any("IRS", Kind::Samples, true, |seed, _| Box::new(IterativeRandom::new(seed))),
    any("PCT", Kind::Samples, true, |seed, _| Box::new(Pct::new(seed, 3))),
    any("SS RR", Kind::DelaySamples, true, |seed, _| sample(RoundRobin::default(), seed)),
    any("SS RTC", Kind::DelaySamples, true, |seed, _| sample(RunToCompletion::default(), seed)),
    any("SS PRR", Kind::DelaySamples, true, |seed, _| sample(ProbabilisticRoundRobin::new(seed), seed)),
    any("PB", Kind::Searches, false, |_, states| Box::new(Preemption::unbounded().with_room(states * STATE_BYTES))),
    any("SES RR", Kind::DelaySearches, false, |_, states| search(RoundRobin::default(), states)),
    any("SES RTC", Kind::DelaySearches, false, |_, states| search(RunToCompletion::default(), states)),
    any("SES PRR", Kind::DelaySearches, true, |seed, states| search(ProbabilisticRoundRobin::new(seed), states)),
    Contender {
        name: OWN_SAMPLES,
        kind: Kind::DelaySamples,
        seeded: true,
        make: |seed, _| sample(AfterStart::default(), seed),
        only: CHAIN,
    },
    Contender {
        name: OWN_SEARCH,
        kind: Kind::DelaySearches,
        seeded: false,
        make: |_, states| search(AfterStart::default(), states),
        only: CHAIN,
    },
];

/// The approximate memory of a state.
const STATE_BYTES: usize = 12;

/// The programs that have an explorer made for them.
pub const CHAIN: &str = "ChainRep";
/// Stratified sampling by that one.
pub const OWN_SAMPLES: &str = "SS own";
/// Stratified search by that one.
pub const OWN_SEARCH: &str = "SES own";

/// The index of this contender.
pub fn place(name: &str) -> usize {
    CONTENDERS.iter().position(|contender| contender.name == name).expect("raddle bug: nobody has this name")
}
