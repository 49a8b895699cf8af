//! The names of all strategies, in one table. Parsing and the list in error messages both use it.

use std::fmt;

use raddle_engine::coverage::Criterion;
use raddle_engine::estimate::Kind;
use raddle_engine::strategy::{Counting, Strategy, Summarize};

use crate::hapset::{Backtrack, Hapset};
use crate::optimal::Optimal;
use crate::portfolio::Portfolio;
use crate::probing::Probed;
use crate::receives::ReceiveOrder;
use crate::reduction::Dpor;
use crate::samplers::iterative_random::IterativeRandom;
use crate::samplers::pct::Pct;
use crate::samplers::pos::Pos;
use crate::samplers::random::Random;
use crate::samplers::round_robin::RoundRobin;
use crate::samplers::surw::Surw;
use crate::states::States;
use crate::states::delay::{self, Delay, DelayHybrid, DelaySample, ProbabilisticRoundRobin, RunToCompletion};
use crate::tree::exhaustive::Exhaustive;
use crate::tree::preemption::Preemption;

/// One form of a strategy's name.
#[derive(Debug)]
pub struct Form {
    /// `name`, or `name:option`; an option in capitals stands for a number.
    written: &'static str,
    /// The strategy depends on the seed.
    seeded: bool,
    /// The strategy accepts a bound on [deviations](Options::deviations).
    bounded: bool,
    /// The strategy can [learn](Options::learn) from random executions first.
    learns: bool,
    /// Another search first tries to cover everything, with a part of the budget.
    proof_first: bool,
    make: Make,
}

/// Makes a strategy; `None` for `replay`, which runs one schedule.
type Make = fn(&Options) -> Option<Box<dyn Strategy>>;

/// The options of a strategy.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The seed of the strategy's random numbers.
    pub seed: u64,
    /// Drops executions that deviate more than this from the first one; see [`Dpor::deviations`].
    pub deviations: Option<u32>,
    /// Learns from so many random executions before the search.
    pub learn: u64,
    /// The number in the name, for forms that have one; [`Name::make`] sets it.
    pub number: u32,
}

/// The name of an existing strategy.
#[derive(Clone, Copy)]
pub struct Name {
    form: &'static Form,
    number: u32,
}

/// All forms.
static FORMS: [Form; 37] = [
    form("portfolio", |with| some(Portfolio::new(with.seed))).seeded().proof_first(),
    form("random", |with| some(Random::new(with.seed))).seeded(),
    form("pct", |with| some(Pct::new(with.seed, PCT_DEPTH))).seeded(),
    form("pct:DEPTH", |with| some(Pct::new(with.seed, with.number))).seeded(),
    form("pos", |with| some(Pos::new(with.seed))).seeded(),
    form("surw", |with| some(Surw::new(with.seed))).seeded(),
    form("round-robin", |_| some(RoundRobin::new())),
    form("dpor", |with| optimal(Optimal::new(), with)).bounded(),
    form("dpor-source", |with| traces(Dpor::source(), with)).bounded(),
    form("dpor-classic", |with| traces(Dpor::classic(), with)).bounded(),
    form("dpor-classic:no-sleep", |with| traces(Dpor::classic().without_sleep_sets(), with)).bounded(),
    form("preemption", |_| some(Preemption::unbounded())),
    form("preemption:BOUND", |with| some(Preemption::up_to(with.number))),
    form("hapset", |with| hapset(Hapset::new(), with)).learns(),
    form("hapset:all", |with| hapset(Hapset::new().then_the_rest(), with)).learns(),
    form("hapset:baseline", |with| hapset(Hapset::over(Backtrack::Baseline), with)).learns(),
    form("hapset:preemption", |with| hapset(Hapset::over_few_preemptions(), with)).learns(),
    form("hapset:preemption:BOUND", |with| hapset(Hapset::over(Backtrack::Preemption(with.number)), with)).learns(),
    form("delay", |_| some(Delay::new(delay::RoundRobin::default()))),
    form("delay:doubling", |_| some(Delay::new(delay::RoundRobin::default()).doubling())),
    form("delay:rtc", |_| some(Delay::new(RunToCompletion::default()))),
    form("delay:prr", |with| some(Delay::new(ProbabilisticRoundRobin::new(with.seed)))).seeded(),
    form("delay:BOUND", |with| some(Delay::new(delay::RoundRobin::default()).up_to(with.number))),
    form("states", |_| some(States::default())),
    form("exhaustive", |with| orders(Exhaustive::depth_first(), with)).bounded(),
    form("exhaustive:breadth-first", |with| orders(Exhaustive::breadth_first(), with)).bounded(),
    form("exhaustive:random", |with| orders(Exhaustive::random(with.seed), with)).seeded().bounded(),
    form("delay-sample", |with| some(DelaySample::new(delay::RoundRobin::default(), with.seed))).seeded(),
    form("delay-sample:rtc", |with| some(DelaySample::new(RunToCompletion::default(), with.seed))).seeded(),
    form("delay-sample:prr", |with| some(DelaySample::new(ProbabilisticRoundRobin::new(with.seed), with.seed)))
        .seeded(),
    form("delay-hybrid", |with| some(DelayHybrid::new(delay::RoundRobin::default(), with.seed))).seeded(),
    form("receive-order", |with| some(ReceiveOrder::new(with.seed))).seeded(),
    form("receive-order:pr", |with| some(ReceiveOrder::by(with.seed, &[Criterion::Pairs]))).seeded(),
    form("receive-order:pbr", |with| some(ReceiveOrder::by(with.seed, &[Criterion::BehaviourChanges]))).seeded(),
    form("receive-order:pcr", |with| some(ReceiveOrder::by(with.seed, &[Criterion::Consecutive]))).seeded(),
    form("irs", |with| some(IterativeRandom::new(with.seed))).seeded(),
    form("replay", |_| None),
];

/// Most known bugs need two or three ordering constraints.
const PCT_DEPTH: u32 = 3;

/// The smallest and the largest number for an option in capitals.
const RANGES: [(&str, (u32, u32)); 2] = [
    // Bugs of a depth beyond ten are hardly ever found; each unit takes memory and time in every execution.
    ("DEPTH", (1, Pct::DEEPEST)),
    // No execution of the default length has more.
    ("BOUND", (0, 100_000)),
];

const fn form(written: &'static str, make: Make) -> Form {
    Form { written, seeded: false, bounded: false, learns: false, proof_first: false, make }
}

fn some(strategy: impl Strategy + 'static) -> Option<Box<dyn Strategy>> {
    Some(Box::new(strategy))
}

fn orders(strategy: Exhaustive, with: &Options) -> Option<Box<dyn Strategy>> {
    match with.deviations {
        None => probed(strategy, Counting::Orders, Kind::Knuth),
        Some(most) => probed(strategy.deviations(most), Counting::Orders, Kind::Recursive),
    }
}

fn optimal(strategy: Optimal, with: &Options) -> Option<Box<dyn Strategy>> {
    match with.deviations {
        None => probed(strategy, Counting::Traces, Kind::Knuth),
        Some(most) => probed(strategy.deviations(most), Counting::Traces, Kind::Recursive),
    }
}

fn traces(strategy: Dpor, with: &Options) -> Option<Box<dyn Strategy>> {
    match with.deviations {
        None => probed(strategy, Counting::Traces, Kind::Knuth),
        Some(most) => probed(strategy.deviations(most), Counting::Traces, Kind::Recursive),
    }
}

/// Adds probes, which estimate the size of a large search. They ignore bounds, so a bounded search has none.
fn probed(strategy: impl Strategy + Summarize + 'static, counting: Counting, kind: Kind) -> Option<Box<dyn Strategy>> {
    some(Probed::new(strategy, counting).estimating(kind))
}

fn hapset(strategy: Hapset, with: &Options) -> Option<Box<dyn Strategy>> {
    some(if with.learn > 0 { strategy.learn(with.learn, with.seed) } else { strategy })
}

impl Form {
    const fn seeded(self) -> Self {
        Self { seeded: true, ..self }
    }

    const fn bounded(self) -> Self {
        Self { bounded: true, ..self }
    }

    const fn learns(self) -> Self {
        Self { learns: true, ..self }
    }

    const fn proof_first(self) -> Self {
        Self { proof_first: true, ..self }
    }

    /// The name before the number, and the range of the number, if this form has one.
    fn number(&self) -> Option<(&'static str, (u32, u32))> {
        let (name, option) = self.written.rsplit_once(':')?;
        let (_, range) = RANGES.iter().find(|(stands_for, _)| *stands_for == option)?;
        Some((name, *range))
    }

    /// The number in `text`, if `text` has this form; 0 for forms without a number.
    fn read(&self, text: &str) -> Option<u32> {
        let Some((name, (least, most))) = self.number() else { return (self.written == text).then_some(0) };
        let (given, number) = text.rsplit_once(':')?;
        number.parse().ok().filter(|n| given == name && (least..=most).contains(n))
    }
}

impl Name {
    /// The strategy that `text` names, if there is one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        FORMS.iter().find_map(|form| Some(Self { form, number: form.read(text)? }))
    }

    /// All forms, as they are written, with options for numbers in capitals.
    pub fn forms() -> impl Iterator<Item = &'static str> {
        FORMS.iter().map(|form| form.written)
    }

    /// Makes the strategy; `None` for `replay`, which is no search.
    #[must_use]
    pub fn make(self, options: &Options) -> Option<Box<dyn Strategy>> {
        (self.form.make)(&Options { number: self.number, ..*options })
    }

    /// True if the strategy depends on the seed.
    #[must_use]
    pub fn is_seeded(self) -> bool {
        self.form.seeded
    }

    /// True if the strategy accepts a bound on [deviations](Options::deviations).
    #[must_use]
    pub fn is_bounded(self) -> bool {
        self.form.bounded
    }

    /// True if the strategy can [learn](Options::learn) from random executions first.
    #[must_use]
    pub fn learns(self) -> bool {
        self.form.learns
    }

    /// True if another search first tries to cover everything, with a part of the budget.
    #[must_use]
    pub fn wants_proof_first(self) -> bool {
        self.form.proof_first
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.form.number() {
            Some((name, _)) => write!(f, "{name}:{}", self.number),
            None => f.write_str(self.form.written),
        }
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

/// Says why `text` is not a strategy, to complete "… is `text`, which is not …", and what to write instead.
#[must_use]
pub fn problem(text: &str) -> String {
    let out_of_range = FORMS.iter().find_map(|form| {
        let (name, range) = form.number()?;
        let (given, number) = text.rsplit_once(':')?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        (given == name && is_number).then_some((form.written, range))
    });
    if let Some((written, (least, most))) = out_of_range {
        let option = written.rsplit(':').next().unwrap_or_default();
        return format!("a strategy: in `{written}`, {option} is a number between {least} and {most}");
    }
    let hint = nearest(text).map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
    format!("a strategy{hint}; there are: {}", Name::forms().collect::<Vec<_>>().join(", "))
}

/// The form that was probably meant by `text`.
fn nearest(text: &str) -> Option<&'static str> {
    // A longer text is no mistyped name, and the comparison takes time.
    if text.len() > 100 {
        return None;
    }
    let text = text.to_lowercase().replace('_', "-");
    let distance = |written: &&str| strsim::levenshtein(&text, written);
    Name::forms().min_by_key(distance).filter(|written| distance(written) <= 2 + text.len() / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_makes_the_strategy_it_names() {
        for form in Name::forms() {
            let text = form.replace("DEPTH", "7").replace("BOUND", "7");
            let name = Name::parse(&text).expect(&text);
            assert_eq!(name.to_string(), text);
            match name.make(&Options { seed: 1, ..Options::default() }) {
                Some(strategy) => assert_eq!(text.split(':').next(), Some(strategy.needs().name)),
                None => assert_eq!(text, "replay"),
            }
        }
    }

    #[test]
    fn numbers_are_checked() {
        for right in ["pct:5", "pct:1000", "preemption:0", "preemption:100000", "hapset:preemption:2", "delay:3"] {
            assert!(Name::parse(right).is_some(), "{right}");
        }
        for wrong in [
            "preemption:",
            "preemption:-1",
            "preemption:BOUND",
            "preemption:100001",
            "hapset:2",
            "pct:0",
            "pct:",
            "pct:x",
            "pct:-1",
            "pct:1001",
            "pct:4294967295",
            "random:5",
            "exhaustive:5",
            "",
            "pct:DEPTH",
        ] {
            assert!(Name::parse(wrong).is_none(), "{wrong}");
        }
        assert_eq!(problem("pct:4294967295"), "a strategy: in `pct:DEPTH`, DEPTH is a number between 1 and 1000");
        assert_eq!(
            problem("hapset:preemption:99999999999999"),
            "a strategy: in `hapset:preemption:BOUND`, BOUND is a number between 0 and 100000"
        );
    }

    #[test]
    fn a_mistyped_name_gets_a_suggestion_and_nonsense_does_not() {
        assert_eq!(nearest("rnadom"), Some("random"));
        assert_eq!(nearest("round_robin"), Some("round-robin"));
        assert_eq!(nearest("Exhaustive"), Some("exhaustive"));
        assert_eq!(nearest("helicopter"), None);
        assert!(problem("dporr").starts_with("a strategy (did you mean `dpor`?); there are: portfolio, random, pct, "));
        assert!(problem("helicopter").starts_with("a strategy; there are: "));
    }
}
