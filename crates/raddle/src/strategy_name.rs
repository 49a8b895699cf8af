//! From the name of a strategy to the strategy. The names are in [`raddle_settings::strategy`], where the attribute finds them too.

use raddle_settings::strategy::{self, Form};

use crate::coverage::Criterion;
use crate::strategy::IterativeRandom;
use crate::strategy::delay::{
    Delay, DelayHybrid, DelaySample, ProbabilisticRoundRobin, RoundRobin as TakingTurns, RunToCompletion,
};
use crate::strategy::{
    Backtrack, Counting, Dpor, Exhaustive, Hapset, Pct, Portfolio, Pos, Preemption, Probed, Random, ReceiveOrder,
    RoundRobin, States, Strategy, Surw,
};

/// What a name stands for.
pub(crate) enum Named {
    /// A search.
    Search(Box<dyn Strategy>),
    /// One execution by a schedule.
    Replay,
}

/// Makes the strategy that is written in this form, with this number where the form has one. A seed makes no difference to some.
fn make_form(form: &Form, seed: u64, number: u32) -> Named {
    match form.written {
        "portfolio" => search(Portfolio::new(seed)),
        "random" => search(Random::new(seed)),
        "pct" => search(Pct::new(seed, PCT_DEPTH)),
        "pct:DEPTH" => search(Pct::new(seed, number)),
        "pos" => search(Pos::new(seed)),
        "surw" => search(Surw::new(seed)),
        "round-robin" => search(RoundRobin::new()),
        "dpor" => search(traces(Dpor::optimal())),
        "dpor-source" => search(traces(Dpor::source())),
        "dpor-classic" => search(traces(Dpor::classic())),
        "dpor-classic:no-sleep" => search(traces(Dpor::classic().without_sleep_sets())),
        "preemption" => search(Preemption::unbounded()),
        "preemption:BOUND" => search(Preemption::up_to(number)),
        "hapset" => search(Hapset::new()),
        "hapset:all" => search(Hapset::new().then_the_rest()),
        "hapset:baseline" => search(Hapset::over(Backtrack::Baseline)),
        "hapset:preemption" => search(Hapset::over_few_preemptions()),
        "hapset:preemption:BOUND" => search(Hapset::over(Backtrack::Preemption(number))),
        "delay" => search(Delay::new(TakingTurns::default())),
        "delay:doubling" => search(Delay::new(TakingTurns::default()).doubling()),
        "delay:rtc" => search(Delay::new(RunToCompletion::default())),
        "delay:prr" => search(Delay::new(ProbabilisticRoundRobin::new(seed))),
        "delay:BOUND" => search(Delay::new(TakingTurns::default()).up_to(number)),
        "states" => search(States::default()),
        "exhaustive" => search(orders(Exhaustive::depth_first())),
        "exhaustive:breadth-first" => search(orders(Exhaustive::breadth_first())),
        "exhaustive:random" => search(orders(Exhaustive::random(seed))),
        "delay-sample" => search(DelaySample::new(TakingTurns::default(), seed)),
        "delay-sample:rtc" => search(DelaySample::new(RunToCompletion::default(), seed)),
        "delay-sample:prr" => search(DelaySample::new(ProbabilisticRoundRobin::new(seed), seed)),
        "delay-hybrid" => search(DelayHybrid::new(TakingTurns::default(), seed)),
        "receive-order" => search(ReceiveOrder::new(seed)),
        "receive-order:pr" => by(seed, Criterion::Pairs),
        "receive-order:pbr" => by(seed, Criterion::BehaviourChanges),
        "receive-order:pcr" => by(seed, Criterion::Consecutive),
        "irs" => search(IterativeRandom::new(seed)),
        "replay" => Named::Replay,
        other => unreachable!("raddle bug: there is a form `{other}` and no strategy for it"),
    }
}

/// Most known bugs need two or three ordering constraints.
const PCT_DEPTH: u32 = 3;

fn search(strategy: impl Strategy + 'static) -> Named {
    Named::Search(Box::new(strategy))
}

fn by(seed: u64, criterion: Criterion) -> Named {
    search(ReceiveOrder::by(seed, &[criterion]))
}

/// With probes, which say how many orders there are if there are many.
fn orders<S: Strategy>(strategy: S) -> Probed<S> {
    Probed::new(strategy, Counting::Orders)
}

/// With probes, which say how many traces there are if there are many.
fn traces<S: Strategy>(strategy: S) -> Probed<S> {
    Probed::new(strategy, Counting::Traces)
}

/// What `text` stands for, if it is the name of a strategy.
pub(crate) fn make(text: &str, seed: u64) -> Option<Named> {
    strategy::find(text).map(|(form, number)| make_form(form, seed, number))
}

/// Whether a seed makes a difference to the strategy called `text`.
pub(crate) fn seeded(text: &str) -> bool {
    strategy::find(text).is_some_and(|(form, _)| form.seeded)
}

#[cfg(test)]
mod tests {
    use raddle_settings::strategy::FORMS;

    use super::*;

    #[test]
    fn every_form_makes_the_strategy_it_names() {
        for form in &FORMS {
            let text = form.written.replace("DEPTH", "7").replace("BOUND", "7");
            match make(&text, 1).expect(&text) {
                Named::Search(strategy) => assert_eq!(text.split(':').next(), Some(strategy.name())),
                Named::Replay => assert_eq!(text, "replay"),
            }
        }
    }

    #[test]
    fn the_deepest_that_can_be_written_is_the_deepest_there_is() {
        assert!(make(&format!("pct:{}", Pct::DEEPEST), 0).is_some());
        assert!(make(&format!("pct:{}", Pct::DEEPEST + 1), 0).is_none());
    }
}
