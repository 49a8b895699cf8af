//! Random walks that estimate how large a search is before it is done (Knuth 1975, with weights of our own).
//!
//! **Executions.** A walk takes each alternative with a known probability. It stands for `1/p` executions, where `p` is the probability of the
//! whole walk. The expected value over all walks is exactly the number of executions, whatever the probabilities are, if none of them is
//! zero. The variance depends on the probabilities.
//!
//! **Traces.** All executions of one trace together should count as one. Give each execution `w` of a trace a share `q(w)` such
//! that the shares of a trace add up to one. Then the expected value of `q(w) / p(w)`, where `p(w)` is the probability of the walk, is the
//! number of traces. We choose as `q(w)` the probability of `w` in a walk restricted to the trace, with the same weights: at each point
//! only those alternatives count whose event is in the trace and has no predecessor left. These are known when the execution is over:
//! event `j` is enabled in this sense at all points from just after the latest event it depends on up to its own. A tree of
//! sleep sets also has one leaf per trace, and one could walk in it. But most such walks end at a node where all alternatives are
//! asleep, and stand for nothing. The pieces of optimal reduction form a tree with one node per trace. But each piece reverses one race,
//! so this tree is deep and its subtrees are uneven. Walks in it are much worse, also if they are stratified (Chen 1992): for fib(5) they
//! told 0.05 to 5 times the number of traces from 120 executions (the middle 90 % of 100 seeds), and walks as here 0.8 to 1.2 times. Here
//! every walk is a complete execution that stands for at least one trace, and it need not be known
//! beforehand what an alternative touches.
//!
//! **Weights.** There are two policies, each good where the other is bad. Each walk follows one of them, drawn at random. `p(w)` and `q(w)`
//! are the means over both, so a walk that one policy rarely takes cannot count too much (the balance heuristic; Veach and Guibas
//! 1995). Both use what was learned from earlier walks, and stay correct if that is wrong:
//!
//! - by *length*: the weight of a task is the number of its remaining steps. If one task has many and the others few, nearly all
//!   executions begin with that one. For independent tasks this is exact;
//! - *evenly*; when traces are counted, with more weight the nearer a task is to the smallest conflict (`conflict_set.rs`).
//!
//! When traces are counted, both rarely take alternatives that are no part of that conflict. Otherwise the order of independent steps would
//! be drawn at random, too, and some walks would stand for many more traces than others.

mod conflict_set;
mod walk;

use raddle_engine::estimate::{Estimate, Walks};
use raddle_engine::order::events::{Events, Label};
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{After, Capabilities, Counting, Decision, Needs, Next, Run, Strategy, Summarize};
use raddle_engine::system::{Action, Choice, Point};
use raddle_engine::trace::Trace;

use self::conflict_set::ConflictSet;
use self::walk::{Alternative, Walk};
use super::futures::FutureTouches;
use super::lengths::{Lengths, StepCounts};

/// Random walks that estimate how many executions or traces there are.
///
/// As a strategy of its own it has no end; the budget must end it. [`Probed`](super::Probed) adds it to a systematic search.
#[derive(Debug)]
pub struct Probe {
    counting: Counting,
    seed: u64,
    begun: u64,
    rng: Rng,
    policy: Policy,
    lengths: Lengths,
    futures: FutureTouches,
    walks: Walks,
    taken: StepCounts,
    walk: Walk,
    events: Events,
}

/// The weights that a walk uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    Evenly,
    ByLength,
}

/// One for each [`Policy`], in their order.
type Weights = [f64; 2];

impl Probe {
    /// The number of initial walks to learn from, which do not count. It is fixed, so that the mean stays unbiased.
    pub const PILOTS: u64 = 10;

    /// The walks of `seed`.
    #[must_use]
    pub fn new(counting: Counting, seed: u64) -> Self {
        Self {
            counting,
            seed,
            begun: 0,
            rng: Rng::new(seed),
            policy: Policy::Evenly,
            lengths: Lengths::default(),
            futures: FutureTouches::default(),
            walks: Walks::default(),
            taken: StepCounts::default(),
            walk: Walk::default(),
            events: Events::default(),
        }
    }

    /// The result of the walks that count, so far. Those of several workers can be [merged](Walks::merge).
    #[must_use]
    pub fn walks(&self) -> Walks {
        self.walks
    }

    fn consider(&mut self, at: &Point<'_>, so_far: &Trace) {
        match at {
            Point::Actions(actions) => {
                let wanted = self.counting == Counting::Traces && self.begun > Self::PILOTS;
                let conflict_set = if wanted {
                    ConflictSet::find(actions, so_far, &self.futures, &self.taken)
                } else {
                    ConflictSet::all()
                };
                for action in *actions {
                    let weights = self.weigh(action, actions, &conflict_set);
                    self.walk.offer(Alternative { task: action.task, label: Label::Way(action.variant), weights });
                }
            }
            Point::Data { task, choices, .. } => {
                for value in 0..*choices {
                    self.walk.offer(Alternative { task: *task, label: Label::Value(value), weights: [1.0; 2] });
                }
            }
            Point::End(_) => {}
        }
    }

    /// The alternatives of one task share the weight of the task.
    fn weigh(&self, action: &Action, actions: &[Action], conflict_set: &ConflictSet) -> Weights {
        let alternatives = actions.iter().filter(|other| other.task == action.task).count() as f64;
        let [evenly, by_length] = conflict_set.weights(action.task);
        let left = self.lengths.left(action.task, self.taken.by(action.task));
        [evenly / alternatives, by_length * left / alternatives]
    }
}

impl Strategy for Probe {
    fn needs(&self) -> Needs {
        let traces = self.counting == Counting::Traces;
        Needs { every_point: traces, pending: traces, ..Needs::sampler("probe") }
    }

    fn begin(&mut self, _: &mut Vec<Choice>) -> Next {
        self.rng = Rng::new(mix(self.seed, self.begun));
        self.begun += 1;
        self.policy = if self.rng.below(2) == 0 { Policy::Evenly } else { Policy::ByLength };
        self.taken.clear();
        self.walk.clear();
        // The program's own random numbers are those of the systematic search, which uses the same seed.
        Next::run(0)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.taken.follow(so_far);
        self.consider(at, so_far);
        Decision::Take(self.walk.take(self.policy, &mut self.rng))
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.taken.follow(run.trace);
        self.lengths.learn(&self.taken);
        let stands_for = match self.counting {
            Counting::Orders => self.walk.orders(),
            Counting::Traces => {
                self.events.clear();
                self.events.follow(run.trace);
                self.futures.learn(&self.events, run.pending);
                self.walk.traces(&self.events)
            }
        };
        if self.begun > Self::PILOTS && run.outcome.is_some() {
            self.walks.add(stands_for);
        }
        After::Next
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl Capabilities for Probe {
    fn summary(&mut self) -> Option<&dyn Summarize> {
        Some(self)
    }
}

impl Summarize for Probe {
    fn estimate(&self) -> Option<Estimate> {
        self.walks.estimate()
    }
}
