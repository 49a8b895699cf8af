//! Schedules that receive messages in orders not seen before (Tasharofi, Pradel, Lin and Johnson: "Bita", ICSE 2013).
//!
//! One execution is run at random and its receives are recorded. From these, schedules are generated that achieve further
//! [goals](Criterion), one at a time, and forced. After its schedule, an execution continues at random.
//!
//! Where we go further:
//! - A goal is achieved when an execution has achieved it, whatever its schedule was meant to achieve.
//! - An execution with receives that no earlier one had is a new base for generation. When nothing is left to generate, a few
//!   random executions are run to find such a base.
//! - A schedule that could not be followed is counted, and its goal is not tried again. What the execution did instead counts as in any
//!   other execution.
//! - Data choices of the recorded execution are repeated during the same receives.
//!
//! Every schedule can be followed if messages can be held back, as in all [delivery orders](raddle_engine::trace::Delivery) but the order of
//! arrival: there, messages that are sent during a receive that was moved may arrive before the message that the schedule waits for.

mod data_choices;
#[cfg(test)]
mod example;
mod following;
mod force;
mod generate;

use std::collections::VecDeque;

use raddle_engine::coverage::receive_index::{Goals, ReceiveIndex, orders};
use raddle_engine::coverage::{Criterion, Generated, Name, Recorded, Scheduled, short};
use raddle_engine::facts::Fact;
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{After, Capabilities, Claim, Decision, Goal, Needs, Next, Run, Strategy, Summarize};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

use self::data_choices::DataChoices;
pub use self::following::{Followed, Following};
use self::force::Forced;
use self::generate::{Base, Cursor, PlannedSchedule};

/// Covers orders of receives.
pub struct ReceiveOrder {
    seed: u64,
    criteria: Vec<Criterion>,
    execution: u64,
    rng: Rng,
    index: ReceiveIndex,
    /// By [criterion](Criterion::index).
    achieved: [Goals; 3],
    tried: [Goals; 3],
    /// The execution from which schedules are generated, and the progress of that by criterion.
    base: Option<(Base, [Cursor; 3])>,
    /// Executions from which schedules will be generated next.
    waiting: VecDeque<Recorded>,
    /// Executions without new receives, but with new orders.
    spare: VecDeque<Recorded>,
    /// The schedule of the current execution.
    forced: Forced,
    planned: Option<(Criterion, PlannedSchedule)>,
    data_choices: DataChoices,
    counts: ScheduleCounts,
    /// The number of random executions in a row that showed nothing new.
    fruitless: u32,
    /// Schedules that were followed to their end, to be saved.
    generated: Vec<Generated>,
    saved_receives: usize,
    /// The receive that did not happen in the first schedule that was not followed.
    first_missed: Option<String>,
}

/// Counts of the schedules so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduleCounts {
    /// Schedules that were generated and run.
    pub generated: u64,
    /// Those that the program did not follow to their end.
    pub infeasible: u64,
    /// Executions from which schedules were generated.
    pub bases: u64,
    /// Executions that would have been a base, but were too many to be stored.
    pub dropped: u64,
}

/// When nothing is left to generate, the search ends after so many random executions in a row that show nothing new.
const MAX_FRUITLESS: u32 = 10;

/// The largest number of receives of saved schedules.
const MAX_SAVED_RECEIVES: usize = 200_000;

/// The largest number of waiting bases: each takes memory, and every execution may be one.
const MAX_WAITING_BASES: usize = 64;

impl ReceiveOrder {
    /// By all criteria, the most promising first.
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
            index: ReceiveIndex::default(),
            achieved: Default::default(),
            tried: Default::default(),
            base: None,
            waiting: VecDeque::new(),
            spare: VecDeque::new(),
            fruitless: 0,
            generated: Vec::new(),
            saved_receives: 0,
            first_missed: None,
            forced: Forced::default(),
            planned: None,
            data_choices: DataChoices::default(),
            counts: ScheduleCounts::default(),
        }
    }

    /// Counts of the schedules so far.
    #[must_use]
    pub fn counts(&self) -> ScheduleCounts {
        self.counts
    }

    /// The goal of the latest schedule: the first receive is to come before the second.
    #[must_use]
    pub fn goal(&self) -> Option<(Criterion, Name, Name)> {
        let (criterion, planned) = self.planned.as_ref()?;
        let events = &self.base.as_ref()?.0.recorded.events;
        Some((*criterion, events[planned.goal.0].name, events[planned.goal.1].name))
    }

    /// The receive at which the latest execution left its schedule.
    #[must_use]
    pub fn missed(&self) -> Option<&Scheduled> {
        self.forced.missed()
    }

    /// Generates the next schedule. Continues with the next base if nothing is left of this one.
    fn plan(&mut self) -> Option<(Criterion, PlannedSchedule)> {
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
            let places = self.index.add_all(&recorded);
            self.base = Some((Base::new(recorded, places), Default::default()));
            self.counts.bases += 1;
        }
    }

    /// The receives of the planned schedule; none if nothing is planned.
    fn expected(&mut self) -> Vec<Scheduled> {
        let (Some((_, planned)), Some((base, _))) = (&self.planned, &self.base) else { return Vec::new() };
        self.counts.generated += 1;
        planned.order.iter().map(|&event| Scheduled::from(&base.recorded.events[event])).collect()
    }

    /// Processes the receives of an execution.
    fn process(&mut self, recorded: Recorded) {
        let known = self.index.receives();
        let places = self.index.add_all(&recorded);
        let own = orders(places.iter().copied().zip(recorded.events.iter().map(|event| event.changes)));
        let mut new = 0;
        for criterion in Criterion::ALL {
            let added = self.achieved[criterion.index()].add(criterion, &own);
            new += if self.criteria.contains(&criterion) { added } else { 0 };
        }
        // The must-happen-before relation differs between executions, so an execution with more new goals than its own may be a useful base.
        let bases = match (self.index.receives() > known, new > 1) {
            (true, _) => &mut self.waiting,
            (false, true) => &mut self.spare,
            (false, false) => {
                self.fruitless += u32::from(self.planned.is_none());
                return;
            }
        };
        self.fruitless = 0;
        if bases.len() < MAX_WAITING_BASES {
            bases.push_back(recorded);
        } else {
            self.counts.dropped += 1;
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
            if self.planned.is_none() && self.fruitless >= MAX_FRUITLESS {
                return Next::Done(Claim::Selective);
            }
            self.forced = Forced::new(self.expected());
        }
        self.data_choices = DataChoices::default();
        self.execution += 1;
        Next::run(seed)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        let forced = match at {
            Point::Data { task, choices, .. } => {
                let drawn = self.base.as_ref().map(|(base, _)| &base.recorded.drawn);
                let draw = self.data_choices.next(*task, so_far);
                drawn.and_then(|drawn| drawn.get(&draw)).filter(|value| *value < choices).map(|value| Choice(*value))
            }
            _ => self.forced.choose(at, so_far),
        };
        Decision::Take(forced.unwrap_or_else(|| Choice(self.rng.below(at.alternatives()))))
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.forced.follow(run.trace);
        self.process(Recorded::of(run.trace));
        if let Some((criterion, planned)) = &self.planned
            && let Some((base, _)) = &self.base
        {
            // Achieved or not, the same schedule would give nothing new.
            self.tried[criterion.index()].add(*criterion, &base.only(planned.goal));
            if let Some(missed) = self.forced.missed() {
                self.counts.infeasible += 1;
                self.first_missed.get_or_insert_with(|| short(&missed.label).to_owned());
            }
            let receives = self.forced.expected();
            if self.forced.is_done() && self.saved_receives + receives.len() <= MAX_SAVED_RECEIVES {
                self.saved_receives += receives.len();
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
        let ScheduleCounts { generated, infeasible, .. } = self.counts;
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
