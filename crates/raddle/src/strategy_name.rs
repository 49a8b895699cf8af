//! Strategies by name. One table: what can be asked for is what is listed when somebody asks for something else.

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

/// One way to write a strategy.
struct Form {
    /// `name`, or `name:option`; an option in capitals stands for a number.
    written: &'static str,
    /// Whether a seed makes a difference.
    seeded: bool,
    make: fn(seed: u64, number: u32) -> Named,
}

static FORMS: [Form; 37] = [
    Form { written: "portfolio", seeded: true, make: |seed, _| search(Portfolio::new(seed)) },
    Form { written: "random", seeded: true, make: |seed, _| search(Random::new(seed)) },
    Form { written: "pct", seeded: true, make: |seed, _| search(Pct::new(seed, PCT_DEPTH)) },
    Form { written: "pct:DEPTH", seeded: true, make: |seed, depth| search(Pct::new(seed, depth)) },
    Form { written: "pos", seeded: true, make: |seed, _| search(Pos::new(seed)) },
    Form { written: "surw", seeded: true, make: |seed, _| search(Surw::new(seed)) },
    Form { written: "round-robin", seeded: false, make: |_, _| search(RoundRobin::new()) },
    Form { written: "dpor", seeded: false, make: |_, _| search(traces(Dpor::optimal())) },
    Form { written: "dpor-source", seeded: false, make: |_, _| search(traces(Dpor::source())) },
    Form { written: "dpor-classic", seeded: false, make: |_, _| search(traces(Dpor::classic())) },
    Form {
        written: "dpor-classic:no-sleep",
        seeded: false,
        make: |_, _| search(traces(Dpor::classic().without_sleep_sets())),
    },
    Form { written: "preemption", seeded: false, make: |_, _| search(Preemption::unbounded()) },
    Form { written: "preemption:BOUND", seeded: false, make: |_, bound| search(Preemption::up_to(bound)) },
    Form { written: "hapset", seeded: false, make: |_, _| search(Hapset::new()) },
    Form { written: "hapset:all", seeded: false, make: |_, _| search(Hapset::new().then_the_rest()) },
    Form { written: "hapset:baseline", seeded: false, make: |_, _| search(Hapset::over(Backtrack::Baseline)) },
    Form { written: "hapset:preemption", seeded: false, make: |_, _| search(Hapset::over_few_preemptions()) },
    Form {
        written: "hapset:preemption:BOUND",
        seeded: false,
        make: |_, bound| search(Hapset::over(Backtrack::Preemption(bound))),
    },
    Form { written: "delay", seeded: false, make: |_, _| search(Delay::new(TakingTurns::default())) },
    Form {
        written: "delay:doubling",
        seeded: false,
        make: |_, _| search(Delay::new(TakingTurns::default()).doubling()),
    },
    Form { written: "delay:rtc", seeded: false, make: |_, _| search(Delay::new(RunToCompletion::default())) },
    Form { written: "delay:prr", seeded: true, make: |seed, _| search(Delay::new(ProbabilisticRoundRobin::new(seed))) },
    Form {
        written: "delay:BOUND",
        seeded: false,
        make: |_, bound| search(Delay::new(TakingTurns::default()).up_to(bound)),
    },
    Form { written: "states", seeded: false, make: |_, _| search(States::default()) },
    Form { written: "exhaustive", seeded: false, make: |_, _| search(orders(Exhaustive::depth_first())) },
    Form {
        written: "exhaustive:breadth-first",
        seeded: false,
        make: |_, _| search(orders(Exhaustive::breadth_first())),
    },
    Form { written: "exhaustive:random", seeded: true, make: |seed, _| search(orders(Exhaustive::random(seed))) },
    Form {
        written: "delay-sample",
        seeded: true,
        make: |seed, _| search(DelaySample::new(TakingTurns::default(), seed)),
    },
    Form {
        written: "delay-sample:rtc",
        seeded: true,
        make: |seed, _| search(DelaySample::new(RunToCompletion::default(), seed)),
    },
    Form {
        written: "delay-sample:prr",
        seeded: true,
        make: |seed, _| search(DelaySample::new(ProbabilisticRoundRobin::new(seed), seed)),
    },
    Form {
        written: "delay-hybrid",
        seeded: true,
        make: |seed, _| search(DelayHybrid::new(TakingTurns::default(), seed)),
    },
    Form { written: "receive-order", seeded: true, make: |seed, _| search(ReceiveOrder::new(seed)) },
    Form { written: "receive-order:pr", seeded: true, make: |seed, _| by(seed, Criterion::Pairs) },
    Form { written: "receive-order:pbr", seeded: true, make: |seed, _| by(seed, Criterion::BehaviourChanges) },
    Form { written: "receive-order:pcr", seeded: true, make: |seed, _| by(seed, Criterion::Consecutive) },
    Form { written: "irs", seeded: true, make: |seed, _| search(IterativeRandom::new(seed)) },
    Form { written: "replay", seeded: false, make: |_, _| Named::Replay },
];

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

impl Form {
    /// The number in `text` if it is written in this form; 0 where the form has none.
    fn fits(&self, text: &str) -> Option<u32> {
        match self.written.rsplit_once(':') {
            Some((name, option)) if option.chars().all(char::is_uppercase) => {
                let (given, number) = text.rsplit_once(':')?;
                // None is a bound, but no depth.
                let least = u32::from(option != "BOUND");
                number.parse().ok().filter(|&n| n >= least && given == name)
            }
            _ => (self.written == text).then_some(0),
        }
    }
}

fn find(text: &str) -> Option<(&'static Form, u32)> {
    FORMS.iter().find_map(|form| Some((form, form.fits(text)?)))
}

/// What `text` stands for, if it is the name of a strategy.
pub(crate) fn make(text: &str, seed: u64) -> Option<Named> {
    find(text).map(|(form, number)| (form.make)(seed, number))
}

/// Whether a seed makes a difference to the strategy called `text`.
pub(crate) fn seeded(text: &str) -> bool {
    find(text).is_some_and(|(form, _)| form.seeded)
}

/// All that can be asked for.
pub(crate) fn allowed() -> String {
    FORMS.each_ref().map(|form| form.written).join(", ")
}

/// What was probably meant by `text`.
pub(crate) fn nearest(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase().replace('_', "-");
    let distance = |form: &&Form| edit_distance(&text, form.written);
    let near = FORMS.iter().min_by_key(distance).filter(|form| distance(form) <= 2 + text.len() / 8)?;
    Some(near.written)
}

/// How many letters have to be added, left out or replaced to turn one word into the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.chars().count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_without_a_number_makes_the_strategy_it_names() {
        for form in FORMS.iter().filter(|form| !form.written.contains(char::is_uppercase)) {
            match make(form.written, 1).unwrap() {
                Named::Search(strategy) => assert_eq!(form.written.split(':').next(), Some(strategy.name())),
                Named::Replay => assert_eq!(form.written, "replay"),
            }
        }
    }

    #[test]
    fn numbers_are_checked() {
        assert!(make("pct:5", 0).is_some());
        assert!(make("preemption:0", 0).is_some() && make("preemption:2", 0).is_some());
        assert!(make("hapset:preemption:2", 0).is_some() && make("hapset:2", 0).is_none());
        for wrong in [
            "preemption:",
            "preemption:-1",
            "preemption:BOUND",
            "pct:0",
            "pct:",
            "pct:x",
            "pct:-1",
            "random:5",
            "exhaustive:5",
            "",
            "pct:DEPTH",
        ] {
            assert!(make(wrong, 0).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_slip_is_understood_and_nonsense_is_not() {
        assert_eq!(nearest("rnadom"), Some("random"));
        assert_eq!(nearest("round_robin"), Some("round-robin"));
        assert_eq!(nearest("Exhaustive"), Some("exhaustive"));
        assert_eq!(nearest("helicopter"), None);
    }

    #[test]
    fn distances() {
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
