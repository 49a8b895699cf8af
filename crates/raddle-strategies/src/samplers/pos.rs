//! Partial-order sampling (Yuan, Yang and Gu, CAV 2018).
//!
//! Every pending step gets a random priority, and the enabled step with the highest one runs. Steps that raced with it (both were enabled,
//! and they are dependent) draw new priorities. So of several racing steps, each is equally likely to be first, however many others
//! come in between. No probability is spent on the order of independent steps. Example: one task takes a single step, which is
//! independent of the n steps of another task. The single step comes last in 1 of n + 1 executions; in a random walk, in 1 of 2^n.
//!
//! Difference from the paper: each alternative of a task (timeout, spurious wakeup, message) has a priority of its own.

use raddle_engine::ids::{ObjectId, StepIx};
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{After, ByNumber, Capabilities, Decision, Needs, Next, Run, Sharing, Strategy};
use raddle_engine::system::{Action, Choice, Point, Variant};
use raddle_engine::trace::{Effect, Trace};

/// Random priorities of steps, drawn again after a race.
#[derive(Debug)]
pub struct Pos {
    seed: u64,
    execution: u64,
    rng: Rng,
    /// By task: its pending alternatives when it was last seen, with their priorities.
    waiting: Vec<Vec<PendingAlternative>>,
    /// The number of steps that were processed.
    followed: usize,
}

/// A pending alternative.
#[derive(Clone, Copy, Debug)]
struct PendingAlternative {
    variant: Variant,
    object: ObjectId,
    effect: Effect,
    priority: u64,
    /// It was enabled at the latest point.
    enabled: bool,
}

impl PendingAlternative {
    fn races(&self, object: ObjectId, effect: Effect) -> bool {
        self.enabled && self.object == object && (self.effect == Effect::Change || effect == Effect::Change)
    }
}

impl Pos {
    /// The executions of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, execution: 0, rng: Rng::new(seed), waiting: Vec::new(), followed: 0 }
    }

    /// Drops the priorities of the steps that have happened since, and of those that raced with them.
    fn follow(&mut self, so_far: &Trace) {
        while let Some(step) = so_far.steps().get(self.followed) {
            if step.alternatives == 1 {
                self.disable();
            }
            for access in so_far.accesses(StepIx::next_of(self.followed)).filter(|it| !it.role.orders_nothing()) {
                for waiting in &mut self.waiting {
                    waiting.retain(|it| !it.races(access.object, access.effect));
                }
            }
            if let Some(own) = self.waiting.get_mut(step.task.index()) {
                own.clear();
            }
            self.followed += 1;
        }
        self.disable();
    }

    /// Marks all alternatives as not enabled.
    fn disable(&mut self) {
        self.waiting.iter_mut().flatten().for_each(|waiting| waiting.enabled = false);
    }

    /// The priority of an action; drawn if it has none.
    fn priority(&mut self, action: &Action) -> u64 {
        let Action { task, variant, object, effect, .. } = *action;
        if self.waiting.len() <= task.index() {
            self.waiting.resize_with(task.index() + 1, Vec::new);
        }
        let own = &mut self.waiting[task.index()];
        if let Some(known) = own.iter_mut().find(|it| it.variant == variant) {
            known.enabled = true;
            return known.priority;
        }
        let priority = self.rng.bits();
        own.push(PendingAlternative { variant, object, effect, priority, enabled: true });
        priority
    }
}

impl Strategy for Pos {
    fn needs(&self) -> Needs {
        Needs::sampler("pos")
    }

    fn begin(&mut self, _: &mut Vec<Choice>) -> Next {
        let seed = mix(self.seed, self.execution);
        self.execution += 1;
        self.rng = Rng::new(seed);
        self.waiting.iter_mut().for_each(Vec::clear);
        self.followed = 0;
        Next::run(seed)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        let Point::Actions(actions) = at else {
            return Decision::Take(Choice(self.rng.below(at.alternatives())));
        };
        self.follow(so_far);
        let first = (0..).zip(actions.iter()).max_by_key(|(_, action)| self.priority(action));
        let (first, _) = first.expect("raddle bug: a point without actions");
        Decision::Take(Choice(first))
    }

    fn end(&mut self, _: &Run<'_>) -> After {
        After::Next
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl Capabilities for Pos {
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByNumber(self)
    }
}

impl ByNumber for Pos {
    fn jump(&mut self, number: u64) {
        self.execution = number;
    }

    fn copy(&mut self) -> Box<dyn Strategy> {
        Box::new(Self::new(self.seed))
    }
}
