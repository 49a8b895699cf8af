//! The loop: strategy × program → report.

mod progress;

use std::time::{Duration, Instant};

use crate::estimate::{Estimate, Walks};
use crate::ids::StepIx;
use crate::outcome::{Failure, Outcome};
use crate::replay::Script;
use crate::schedule::Divergence;
use crate::strategy::{Claim, Decision, Next, Run, Strategy};
use crate::system::{Choice, Point, Program, System, Variant};
use crate::trace::{Effect, Trace};

pub use progress::{Counts, Pace, Progress, covered, left};

/// How far a search may go.
#[derive(Clone, Debug)]
pub struct Limits {
    /// At most this many executions.
    pub executions: Option<u64>,
    /// At most this long.
    pub time: Option<Duration>,
    /// At most this many steps in one execution; one more is a failure.
    pub steps: u32,
    /// Go on after a failure, counting the failing executions.
    pub keep_going: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { executions: None, time: None, steps: 100_000, keep_going: false }
    }
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The strategy had nothing left to do.
    Done(Claim),
    /// The allowed executions or the allowed time were used up.
    BudgetSpent,
    /// A failure was found.
    Failed,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The strategy's name.
    pub strategy: &'static str,
    /// Executions that ran to their end, failing ones included.
    pub executions: u64,
    /// Executions given up because nothing new lay beyond.
    pub pruned: u64,
    /// Executions that failed; probes do not count, unless nothing else failed.
    pub failing: u64,
    /// Executions beside the search itself, to find out how large it is. They are no part of the numbers above.
    pub probes: u64,
    /// Executions in which the program left out orders on a guess; see [`System::left_out`].
    pub guessed: u64,
    /// Steps taken in all.
    pub steps: u64,
    /// Steps of the longest execution.
    pub longest: u64,
    /// How many orders there seem to be, if anything is known of that.
    pub estimate: Option<Estimate>,
    /// How long it took.
    pub elapsed: Duration,
    /// Why it ended.
    pub ended: Ended,
    /// The first failure.
    pub found: Option<Found>,
}

impl Report {
    /// Whether every order was covered and none failed.
    #[must_use]
    pub fn verified(&self) -> bool {
        self.found.is_none() && self.ended == Ended::Done(Claim::Exhausted)
    }
}

/// A failure, and how to get it again.
#[derive(Clone, Debug)]
pub struct Found {
    /// What went wrong.
    pub failure: Failure,
    /// The decisions that lead to it, to be [replayed](crate::replay::replay).
    pub script: Script,
    /// After how many executions, itself included.
    pub after: u64,
}

/// A search that can be carried on by another worker. See [`search`] for the simple way.
pub struct Search<'s> {
    strategy: &'s mut dyn Strategy,
    limits: Limits,
    started: Instant,
    report: Report,
    watch: bool,
    every_point: bool,
    wants_pending: bool,
    prefix: Vec<Choice>,
    /// Choices of the latest execution, at the points where the strategy was or could have been asked.
    path: Vec<Chosen>,
    trace: Trace,
    /// What uniform walks tell of the size of the tree.
    walks: Walks,
    /// Executions and steps at which the clock is looked at again: looking costs as much as a short execution.
    next_look: (u64, u64),
}

/// What was decided at a point.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    choice: Choice,
    alternatives: u32,
    /// What the point looked like, where that is watched.
    looks: u64,
}

/// Whether a search is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is.
    Over,
    /// This worker's program [can no longer be executed](Program::sound); carry on with a fresh one.
    NeedsFreshWorker,
}

/// Searches `program` as `strategy` decides, within `limits`.
pub fn search<P: Program>(program: &mut P, strategy: &mut dyn Strategy, limits: &Limits) -> Report {
    let mut search = Search::new(strategy, limits);
    let _ = search.run(program);
    search.report()
}

impl<'s> Search<'s> {
    /// A search that has not run anything yet.
    #[must_use]
    pub fn new(strategy: &'s mut dyn Strategy, limits: &Limits) -> Self {
        let report = Report {
            strategy: strategy.name(),
            executions: 0,
            pruned: 0,
            failing: 0,
            probes: 0,
            guessed: 0,
            steps: 0,
            longest: 0,
            estimate: None,
            elapsed: Duration::ZERO,
            ended: Ended::BudgetSpent,
            found: None,
        };
        Self {
            watch: strategy.revisits(),
            every_point: strategy.sees_every_point(),
            wants_pending: strategy.wants_pending(),
            strategy,
            limits: limits.clone(),
            started: Instant::now(),
            report,
            prefix: Vec::new(),
            path: Vec::new(),
            trace: Trace::default(),
            walks: Walks::default(),
            next_look: (0, 0),
        }
    }

    /// Runs executions until the search is over or the worker is spent.
    pub fn run<P: Program>(&mut self, program: &mut P) -> Status {
        while !self.budget_spent() {
            self.prefix.clear();
            let seed = match self.strategy.begin(&mut self.prefix) {
                Next::Run { seed } => seed,
                Next::Done(claim) => {
                    let whole = claim != Claim::Exhausted || self.report.guessed == 0;
                    self.report.ended = Ended::Done(if whole { claim } else { Claim::Selective });
                    return Status::Over;
                }
            };
            self.execute(program, seed);
            if self.report.found.is_some() && !self.limits.keep_going {
                self.report.ended = Ended::Failed;
                return Status::Over;
            }
            if !program.sound() {
                return Status::NeedsFreshWorker;
            }
        }
        self.report.ended = Ended::BudgetSpent;
        Status::Over
    }

    /// What was found so far.
    #[must_use]
    pub fn report(self) -> Report {
        let estimate = self.strategy.estimate().or_else(|| self.walks.estimate());
        // What a probe found counts only where the search itself has not come to a failure.
        let failing = self.report.failing.max(u64::from(self.report.found.is_some()));
        Report { elapsed: self.started.elapsed(), estimate, failing, ..self.report }
    }

    fn budget_spent(&mut self) -> bool {
        let done = self.report.executions + self.report.pruned;
        if self.limits.executions.is_some_and(|limit| done >= limit) {
            return true;
        }
        let Some(limit) = self.limits.time else {
            return false;
        };
        if done < self.next_look.0 && self.report.steps < self.next_look.1 {
            return false;
        }
        self.next_look = (done + 64, self.report.steps + 4_096);
        self.started.elapsed() >= limit
    }

    fn execute<P: Program>(&mut self, program: &mut P, seed: u64) {
        self.trace.clear();
        let mut system = program.start(seed, &mut self.trace);
        let outcome = match self.walk(&mut system) {
            Walked::To(outcome) => Some(outcome),
            Walked::Pruned => None,
        };
        let pending = if self.wants_pending { system.pending() } else { Vec::new() };
        self.strategy.end(&Run { outcome: outcome.as_ref(), trace: &self.trace, pending: &pending });
        self.report.guessed += u64::from(system.left_out());
        self.report.steps += self.trace.len() as u64;
        self.report.longest = self.report.longest.max(self.trace.len() as u64);
        let probing = self.strategy.probing();
        self.report.probes += u64::from(probing);
        self.report.executions += u64::from(!probing && outcome.is_some());
        self.report.pruned += u64::from(!probing && outcome.is_none());
        if let Some(Outcome::Failed(failure)) = outcome {
            self.report.failing += u64::from(!probing);
            if self.report.found.is_none() {
                let seed = if system.drew_random() { seed } else { 0 };
                let real = self.path.iter().filter(|chosen| chosen.alternatives > 1);
                let choices = real.map(|chosen| chosen.choice).collect();
                let after = self.report.executions + self.report.pruned + self.report.probes;
                self.report.found = Some(Found { failure: *failure, script: Script::Choices { seed, choices }, after });
            }
        }
    }

    fn walk<S: System>(&mut self, system: &mut S) -> Walked {
        // As long as the choices are those of the latest execution, the points must look as they did there.
        let mut familiar = self.watch;
        let mut depth = 0;
        let uniform = self.strategy.walks_uniformly();
        let mut product = 1.0;
        loop {
            let point = system.point();
            let choice = match point {
                Point::End(outcome) => {
                    self.path.truncate(depth);
                    if uniform {
                        self.walks.add(product);
                    }
                    return Walked::To(outcome.clone());
                }
                _ if self.trace.len() >= self.limits.steps as usize => {
                    self.path.truncate(depth);
                    return Walked::To(too_many_steps(system, &self.trace, self.limits.steps));
                }
                _ if point.alternatives() == 1 && !self.every_point => Choice(0),
                _ => {
                    let alternatives = point.alternatives();
                    let looks = if self.watch { appearance(&point) } else { 0 };
                    if familiar && depth < self.path.len() && self.path[depth].looks != looks {
                        self.path.truncate(depth);
                        return Walked::To(self.different(&point, depth));
                    }
                    let choice = match self.prefix.get(depth) {
                        Some(&choice) => choice,
                        None => match self.strategy.choose(&point, &self.trace) {
                            Decision::Take(choice) => choice,
                            Decision::Prune => {
                                self.path.truncate(depth);
                                return Walked::Pruned;
                            }
                        },
                    };
                    assert!(
                        choice.0 < alternatives,
                        "raddle bug: strategy {} chose {choice:?} of {alternatives}",
                        self.strategy.name()
                    );
                    if familiar && self.path.get(depth).is_none_or(|before| before.choice != choice) {
                        familiar = false;
                    }
                    match self.path.get_mut(depth) {
                        Some(slot) => *slot = Chosen { choice, alternatives, looks },
                        None => self.path.push(Chosen { choice, alternatives, looks }),
                    }
                    depth += 1;
                    product *= f64::from(alternatives);
                    choice
                }
            };
            system.advance(choice, &mut self.trace);
        }
    }

    fn different(&self, point: &Point<'_>, depth: usize) -> Outcome {
        let now = match point {
            Point::Actions(actions) => {
                let list: Vec<_> = actions
                    .iter()
                    .map(|a| format!("{} by task {} at {}", a.op.verb, a.task.number(), a.site))
                    .collect();
                format!("one of: {}", list.join("; "))
            }
            Point::Data { choices, site, .. } => format!("a value out of {choices} at {site}"),
            Point::End(_) => "the end".to_owned(),
        };
        Failure::Nondeterminism(Divergence {
            step: StepIx::next_of(self.trace.len()),
            followed: depth,
            of: self.prefix.len(),
            why: format!(
                "the same decisions led elsewhere in an earlier execution; now possible: {now}. Does the program depend on \
                 time, random numbers, addresses, hash order or state outside Raddle's control?"
            ),
        })
        .into()
    }
}

enum Walked {
    To(Outcome),
    Pruned,
}

/// How an execution ends that takes more steps than it may.
pub(crate) fn too_many_steps<S: System>(system: &S, trace: &Trace, bound: u32) -> Outcome {
    Failure::TooManySteps { bound, unfinished: system.unfinished(trace) }.into()
}

/// A hash of what can be seen of a point: equal programs show equal points after equal decisions.
fn appearance(point: &Point<'_>) -> u64 {
    let fold = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    match point {
        Point::Actions(actions) => actions.iter().fold(1, |hash, action| {
            let who = u64::from(action.task.number()) << 34 | variant_number(action.variant);
            let site = u64::from(action.site.line()) << 32 | u64::from(action.site.column());
            let what = u64::from(action.object.number()) << 1 | u64::from(action.effect == Effect::Change);
            fold(fold(fold(hash, who), what), site ^ std::ptr::from_ref(action.op).addr() as u64)
        }),
        Point::Data { task, choices, .. } => fold(fold(2, u64::from(task.number())), u64::from(*choices)),
        Point::End(_) => 0,
    }
}

fn variant_number(variant: Variant) -> u64 {
    match variant {
        Variant::Ready => 0,
        Variant::TimedOut => 1,
        Variant::Spurious => 2,
        Variant::Message(message) => 3 + u64::from(message),
    }
}
