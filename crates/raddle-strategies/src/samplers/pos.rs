//! Partial-order sampling (Yuan, Yang, Gu, CAV 2018).
//!
//! Whatever a task is about to do gets a random priority of its own, and the highest that can happen does. What was in a race
//! with it, because both could happen and their order makes a difference, draws anew. So of several steps that race, each
//! is equally likely to be first, however many others come in between, and no weight is spent on the order of steps that have
//! nothing to do with one another: two tasks, one of which takes a single step, end with that one in 1 of n + 1 executions if
//! it is independent of the n of the other, where a random walk would do that in 1 of 2^n.
//!
//! Where we differ: each way out of a wait, and each message that could be received, is something to do of its own.

use raddle_engine::ids::{ObjectId, StepIx};
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{After, ByNumber, Capabilities, Decision, Needs, Next, Run, Sharing, Strategy};
use raddle_engine::system::{Action, Choice, Point, Variant};
use raddle_engine::trace::{Effect, Trace};

/// Random priorities of steps, drawn again where they race.
#[derive(Debug)]
pub struct Pos {
    seed: u64,
    execution: u64,
    rng: Rng,
    /// By task: what it could do when it was last asked about, and how urgent that is.
    waiting: Vec<Vec<Waiting>>,
    /// Steps that were taken into account.
    followed: usize,
}

/// Something that can happen.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    variant: Variant,
    object: ObjectId,
    effect: Effect,
    priority: u64,
    /// It could have happened at the latest point.
    able: bool,
}

impl Waiting {
    fn races(&self, object: ObjectId, effect: Effect) -> bool {
        self.able && self.object == object && (self.effect == Effect::Change || effect == Effect::Change)
    }
}

impl Pos {
    /// The executions that belong to `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, execution: 0, rng: Rng::new(seed), waiting: Vec::new(), followed: 0 }
    }

    /// Forgets the priorities of what has happened since, and of what that was in a race with.
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

    /// Nothing else can happen, as far as is known.
    fn disable(&mut self) {
        self.waiting.iter_mut().flatten().for_each(|waiting| waiting.able = false);
    }

    /// How urgent an action is; drawn if that is not known.
    fn priority(&mut self, action: &Action) -> u64 {
        let Action { task, variant, object, effect, .. } = *action;
        if self.waiting.len() <= task.index() {
            self.waiting.resize_with(task.index() + 1, Vec::new);
        }
        let own = &mut self.waiting[task.index()];
        if let Some(known) = own.iter_mut().find(|it| it.variant == variant) {
            known.able = true;
            return known.priority;
        }
        let priority = self.rng.bits();
        own.push(Waiting { variant, object, effect, priority, able: true });
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
