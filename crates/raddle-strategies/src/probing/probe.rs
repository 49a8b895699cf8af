//! Random walks that tell how large a search will be before it is done (Knuth 1975, with weights of our own).
//!
//! **Orders.** A walk that takes each alternative with a known probability stands for as many orders as one over the
//! probability of the whole walk. The mean over walks is the number of orders, exactly in expectation, whatever the
//! probabilities are, as long as none is zero; how far single walks are off depends on them.
//!
//! **Traces.** Of the orders that are equivalent to the one a walk has taken, all together should count as one. Give each order
//! `w` of a trace a share `q(w)` such that the shares of a trace add up to one. Then the mean of `q(w) / p(w)`, where `p(w)` is
//! the probability of the walk, is the number of traces. We take as `q(w)` the probability of the order if one were to walk
//! within the trace alone, with the same weights: at each point only those alternatives count whose event is in the trace and
//! has nothing left to come before it. Which these are is known when the execution is over: event `j` is one of them at all points
//! from just after the latest event it depends on up to its own. A tree of sleep sets has one leaf for each trace, too, and one
//! could walk in it; but most such walks end where all that could be done is asleep, and stand for nothing. Here every
//! walk is a whole execution that stands for at least one trace, and what an alternative would touch need not be known
//! before it is taken.
//!
//! **Weights.** Two policies, each good where the other is bad, and each walk follows one of them, drawn at random; `p(w)` and
//! `q(w)` are the means over both, so a walk that one of them hardly ever takes cannot count too much (the balance
//! heuristic; Veach and Guibas 1995). Both go by what was learnt from the walks before, and need not be right:
//!
//! - by *length*: a task is the more likely the more steps it has to go, for where one task has many and the others have few, nearly
//!   all orders begin with that one. For tasks that have nothing to do with one another this is exact;
//! - *evenly*; where traces are counted, with the more weight the nearer a task is to the smallest conflict there is
//!   (`near.rs`).
//!
//! Where traces are counted, both hardly ever take what has no part in that conflict. Otherwise the order of steps that do not
//! matter to one another would be drawn at random, too, which makes some walks stand for many more traces than others.

mod near;
mod walk;

use self::near::Near;
use self::walk::{Alternative, Walk};
use super::futures::Futures;
use super::lengths::{Lengths, Taken};
use raddle_engine::estimate::{Estimate, Walks};
use raddle_engine::order::events::{Events, Label};
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{After, Capabilities, Counting, Decision, Needs, Next, Run, Strategy, Summarize};
use raddle_engine::system::{Action, Choice, Point};
use raddle_engine::trace::Trace;

/// Random walks that estimate how many orders or traces there are.
///
/// As a strategy of its own it never ends: the budget has to. Around a systematic search:
/// [`Probed`](super::Probed).
#[derive(Debug)]
pub struct Probe {
    counting: Counting,
    seed: u64,
    begun: u64,
    rng: Rng,
    policy: Policy,
    lengths: Lengths,
    futures: Futures,
    walks: Walks,
    taken: Taken,
    walk: Walk,
    events: Events,
}

/// Which of its weights a walk goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    Evenly,
    ByLength,
}

/// One for each [`Policy`], in their order.
type Weights = [f64; 2];

impl Probe {
    /// The first walks are there to learn from and do not count. That their number is fixed keeps the mean unbiased.
    pub const PILOTS: u64 = 10;

    /// The walks that belong to `seed`.
    #[must_use]
    pub fn new(counting: Counting, seed: u64) -> Self {
        Self {
            counting,
            seed,
            begun: 0,
            rng: Rng::new(seed),
            policy: Policy::Evenly,
            lengths: Lengths::default(),
            futures: Futures::default(),
            walks: Walks::default(),
            taken: Taken::default(),
            walk: Walk::default(),
            events: Events::default(),
        }
    }

    /// What the walks that count tell so far. Those of several workers can be [merged](Walks::merge).
    #[must_use]
    pub fn walks(&self) -> Walks {
        self.walks
    }

    fn consider(&mut self, at: &Point<'_>, so_far: &Trace) {
        match at {
            Point::Actions(actions) => {
                let wanted = self.counting == Counting::Traces && self.begun > Self::PILOTS;
                let near = if wanted { Near::find(actions, so_far, &self.futures, &self.taken) } else { Near::all() };
                for action in *actions {
                    let weights = self.weigh(action, actions, &near);
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

    /// The ways out of one wait share what the task is given.
    fn weigh(&self, action: &Action, actions: &[Action], near: &Near) -> Weights {
        let ways = actions.iter().filter(|other| other.task == action.task).count() as f64;
        let [evenly, by_length] = near.weights(action.task);
        let left = self.lengths.left(action.task, self.taken.by(action.task));
        [evenly / ways, by_length * left / ways]
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
        // The systematic search that this is about has the same seed for the program's own random numbers.
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
