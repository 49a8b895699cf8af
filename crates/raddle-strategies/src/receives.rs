//! Schedules that are generated to receive messages in orders that have not been seen (Tasharofi, Pradel, Lin, Johnson: "Bita", ICSE
//! 2013; ALGORITHMS.md §2).
//!
//! One execution is run at random and its receives are recorded. From these, schedules are generated that achieve further
//! [goals](Criterion), one at a time, and forced; what remains of an execution after its schedule is random again.
//!
//! Where we go further. Goals count as achieved when an execution has achieved them, whatever its schedule had promised. An execution with
//! receives that nobody has seen before is a new base to generate from; where nothing is left to generate, a few random executions are run
//! to find one. A schedule that could not be followed is counted, its goal is not tried again, and what the execution did instead counts
//! like any other. What the program drew in the recorded execution is drawn again in the course of the same receives.
//!
//! Every schedule can be followed if messages can be held back, as in all [delivery orders](raddle_engine::trace::Delivery) but that of arrival:
//! there, what is sent in the course of a receive that has changed its place may come before what the schedule waits for.

mod draws;
#[cfg(test)]
mod example;
mod following;
mod force;
mod generate;

use std::collections::VecDeque;

use self::draws::Draws;
pub use self::following::{Followed, Following};
use self::force::Forced;
use self::generate::{Base, Cursor, Planned};
use raddle_engine::coverage::roll::{Goals, Roll, orders};
use raddle_engine::coverage::{Criterion, Generated, Name, Recorded, Scheduled, short};
use raddle_engine::facts::Fact;
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{After, Capabilities, Claim, Decision, Goal, Needs, Next, Run, Strategy, Summarize};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

/// Covers orders of receives.
pub struct ReceiveOrder {
    seed: u64,
    criteria: Vec<Criterion>,
    execution: u64,
    rng: Rng,
    roll: Roll,
    /// By [criterion](Criterion::index).
    achieved: [Goals; 3],
    tried: [Goals; 3],
    /// What schedules are generated from now, and how far, by criterion.
    base: Option<(Base, [Cursor; 3])>,
    /// What is to be generated from next.
    waiting: VecDeque<Recorded>,
    /// What has no receives that nobody had seen, but orders.
    spare: VecDeque<Recorded>,
    /// The schedule of the current execution.
    forced: Forced,
    planned: Option<(Criterion, Planned)>,
    draws: Draws,
    counts: Counts,
    /// Random executions in a row that have brought nothing new.
    in_vain: u32,
    /// Schedules that were followed to their end, to be run again some day.
    generated: Vec<Generated>,
    kept_receives: usize,
    /// What was waited for in vain in the first schedule that was not followed.
    first_missed: Option<String>,
}

/// What has come of the schedules so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Schedules that were generated and run.
    pub generated: u64,
    /// Those that the program did not follow to their end.
    pub infeasible: u64,
    /// Executions whose receives were generated from.
    pub bases: u64,
    /// Executions that would have been worth that, but were too many to be kept.
    pub left_out: u64,
}

/// Random executions in a row that bring nothing new, where nothing is left to generate: then the search is over.
const MOST_IN_VAIN: u32 = 10;

/// So many receives of generated schedules are kept at most.
const MOST_KEPT: usize = 200_000;

/// Bases that wait at most: each takes memory, and there may be one for every execution.
const MOST_WAITING: usize = 64;

impl ReceiveOrder {
    /// By all criteria, in the order in which they are worth trying.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::by(seed, &Criterion::ALL)
    }

    /// By these criteria, in this order.
    #[must_use]
    pub fn by(seed: u64, criteria: &[Criterion]) -> Self {
        Self {
            seed,
            criteria: criteria.to_vec(),
            execution: 0,
            rng: Rng::new(seed),
            roll: Roll::default(),
            achieved: Default::default(),
            tried: Default::default(),
            base: None,
            waiting: VecDeque::new(),
            spare: VecDeque::new(),
            in_vain: 0,
            generated: Vec::new(),
            kept_receives: 0,
            first_missed: None,
            forced: Forced::default(),
            planned: None,
            draws: Draws::default(),
            counts: Counts::default(),
        }
    }

    /// What has come of the schedules so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// What the schedule of the latest execution was generated for: the first receive is to come before the second.
    #[must_use]
    pub fn goal(&self) -> Option<(Criterion, Name, Name)> {
        let (criterion, planned) = self.planned.as_ref()?;
        let events = &self.base.as_ref()?.0.recorded.events;
        Some((*criterion, events[planned.goal.0].name, events[planned.goal.1].name))
    }

    /// The receive at which the latest execution went another way than its schedule.
    #[must_use]
    pub fn missed(&self) -> Option<&Scheduled> {
        self.forced.missed()
    }

    /// The next schedule; goes on to the next base where nothing is left of this one.
    fn plan(&mut self) -> Option<(Criterion, Planned)> {
        loop {
            if let Some((base, cursors)) = &mut self.base {
                for &criterion in &self.criteria {
                    let at = criterion.index();
                    let (achieved, tried) = (&self.achieved[at], &self.tried[at]);
                    if criterion == Criterion::BehaviourChanges && !base.recorded.changes() {
                        continue;
                    }
                    if let Some(planned) = base.next(criterion, achieved, tried, &mut cursors[at]) {
                        return Some((criterion, planned));
                    }
                }
            }
            let recorded = self.waiting.pop_front().or_else(|| self.spare.pop_front())?;
            let places = self.roll.enter_all(&recorded);
            self.base = Some((Base::new(recorded, places), Default::default()));
            self.counts.bases += 1;
        }
    }

    /// The receives of what was planned; none if nothing was.
    fn expected(&mut self) -> Vec<Scheduled> {
        let (Some((_, planned)), Some((base, _))) = (&self.planned, &self.base) else { return Vec::new() };
        self.counts.generated += 1;
        planned.order.iter().map(|&event| Scheduled::from(&base.recorded.events[event])).collect()
    }

    /// Takes in what an execution has received.
    fn take_in(&mut self, recorded: Recorded) {
        let known = self.roll.len();
        let places = self.roll.enter_all(&recorded);
        let own = orders(places.iter().copied().zip(recorded.events.iter().map(|event| event.changes)));
        let mut new = 0;
        for criterion in Criterion::ALL {
            let added = self.achieved[criterion.index()].add(criterion, &own);
            new += if self.criteria.contains(&criterion) { added } else { 0 };
        }
        // What must come before what is not the same in every execution, so one that achieves more than it was to is worth a look.
        let bases = match (self.roll.len() > known, new > 1) {
            (true, _) => &mut self.waiting,
            (false, true) => &mut self.spare,
            (false, false) => {
                self.in_vain += u32::from(self.planned.is_none());
                return;
            }
        };
        self.in_vain = 0;
        if bases.len() < MOST_WAITING {
            bases.push_back(recorded);
        } else {
            self.counts.left_out += 1;
        }
    }
}

impl Strategy for ReceiveOrder {
    fn needs(&self) -> Needs {
        Needs { goal: Goal::Select, receives: true, ..Needs::sampler("receive-order") }
    }

    fn begin(&mut self, _: &mut Vec<Choice>) -> Next {
        let seed = mix(self.seed, self.execution);
        self.rng = Rng::new(seed);
        self.planned = None;
        if self.execution == 0 {
            self.forced = Forced::default();
        } else {
            self.planned = self.plan();
            if self.planned.is_none() && self.in_vain >= MOST_IN_VAIN {
                return Next::Done(Claim::Selective);
            }
            self.forced = Forced::new(self.expected());
        }
        self.draws = Draws::default();
        self.execution += 1;
        Next::run(seed)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        let forced = match at {
            Point::Data { task, choices, .. } => {
                let drawn = self.base.as_ref().map(|(base, _)| &base.recorded.drawn);
                let draw = self.draws.next(*task, so_far);
                drawn.and_then(|drawn| drawn.get(&draw)).filter(|value| *value < choices).map(|value| Choice(*value))
            }
            _ => self.forced.choose(at, so_far),
        };
        Decision::Take(forced.unwrap_or_else(|| Choice(self.rng.below(at.alternatives()))))
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.forced.follow(run.trace);
        self.take_in(Recorded::of(run.trace));
        if let Some((criterion, planned)) = &self.planned
            && let Some((base, _)) = &self.base
        {
            // Whether or not it was achieved, there is nothing more to be had by the same schedule.
            self.tried[criterion.index()].add(*criterion, &base.only(planned.goal));
            if let Some(missed) = self.forced.missed() {
                self.counts.infeasible += 1;
                self.first_missed.get_or_insert_with(|| short(&missed.label).to_owned());
            }
            let receives = self.forced.expected();
            if self.forced.is_done() && self.kept_receives + receives.len() <= MOST_KEPT {
                self.kept_receives += receives.len();
                let say = |event: usize| short(base.recorded.events[event].label).to_owned();
                let goal = (say(planned.goal.0), say(planned.goal.1));
                self.generated.push(Generated { criterion: *criterion, goal, receives: receives.to_vec() });
            }
        }
        After::Next
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl Capabilities for ReceiveOrder {
    fn summary(&mut self) -> Option<&dyn Summarize> {
        Some(self)
    }
}

impl Summarize for ReceiveOrder {
    fn generated(&self) -> &[Generated] {
        &self.generated
    }

    fn guarantee(&self, _: u64) -> Option<Fact> {
        let Counts { generated, infeasible, .. } = self.counts;
        let (followed, missed) = (generated - infeasible, self.first_missed.clone());
        (generated > 0).then_some(Fact::Followed { generated, followed, missed })
    }

    fn about_failure(&self) -> Option<Fact> {
        let (criterion, planned) = self.planned.as_ref()?;
        let events = &self.base.as_ref()?.0.recorded.events;
        let [first, second] = [planned.goal.0, planned.goal.1].map(|event| short(events[event].label).to_owned());
        Some(Fact::ReceivedBefore { first, second, directly: *criterion == Criterion::Consecutive })
    }
}
