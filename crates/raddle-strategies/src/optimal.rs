//! Optimal partial-order reduction in independent pieces: one execution of each trace, no shared tree.
//!
//! A trace is a class of executions that differ only in the order of independent steps. Every piece that is left to run is a list of steps,
//! and nothing else is stored: no sleep sets, no wakeup trees, no nodes. A piece gives one execution, and the pieces that follow from it. So
//! pieces can be run in any order, by any number of workers that share nothing, and memory stays flat in depth-first order.
//!
//! # The algorithm
//!
//! It builds on parsimonious reduction (Abdulla, Atig, Das, Jonsson and Sagonas, CAV 2024). To reverse a race of `e` and a later `d`, a piece
//! puts a *schedule* before `e`: what happens before `d` but not because of `e` (its members), and `d` (its head). The step `e` is
//! *undone*. Steps that the policy chose are *free*. After a piece was replayed, the undone task steps at once; then the policy decides to the
//! end. The execution then hands out a piece for each race of `e` and `d` if
//! - `e` is free: the order of a step in a schedule is settled by the schedule;
//! - each head after `e` is `d` or happens before `d`: otherwise another execution hands out the same piece;
//! - schedules that were put before the same step and are concurrent come in the order of their heads' task names.
//!
//! These tests look at the one execution only, and each trace comes from exactly one piece. Only races whose second step is not before the
//! last head can pass them, so the analysis of an execution looks at what is new in it.
//!
//! Two kinds of races (`races`): if `d` took place, `e` is directly before `d` on some object. If `d` waits for an object, whether it got it or
//! not, `e` is any step on this object that `d` could have come before. Receives that choose among messages, data values and other
//! alternatives of one task are handed out without a race (`alternatives`): such a head has no undone step.
//!
//! # Where we differ
//!
//! - The undone step is run at once, and schedules are ordered by name. This takes the place of conflict detection and of sleep sets.
//! - What a step touches may depend on what it finds. If a head touches other objects than was foreseen, steps that conflict with it on
//!   these objects are put before it by extending the schedule (`late`).
//! - Whether a piece is what it was meant to be is checked as soon as its schedule has been run (`check`). If not, the same trace comes from
//!   another piece, and the execution is pruned.
//!
//! # Failures
//!
//! A failing execution ends at the failing step, so it does not show what other tasks would have done. If the search goes on, the same steps
//! are run again without the failing one and with its task held back. The analysis takes the failing step as done, so steps of other tasks
//! that conflict with it are put before it as before any other step. Such an execution is pruned when nothing else can go on. Failing
//! traces are told apart by what happens before the failing step.

mod alternatives;
mod check;
mod execution;
mod joining;
mod late;
mod names;
mod piece;
mod races;
mod receives;
mod schedule;
mod second;
mod share;

use std::mem;
use std::sync::Arc;

use raddle_engine::ids::TaskId;
use raddle_engine::order::events::Label;
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::strategy::{After, ByPiece, Capabilities, Decision, Needs, Next, Run, Sharing, Strategy, Summarize};
use raddle_engine::system::{Action, Choice, Pending as PendingStep, Point, Variant};
use raddle_engine::trace::Trace;
use smallvec::SmallVec;

use self::execution::{Execution, Past};
use self::piece::{Entry, Mark, Pending, Planned, TaskSet};
use crate::time_left::TimeLeft;

/// Runs one execution of each trace.
#[derive(Debug)]
pub struct Optimal {
    /// What is left to run, the newest last.
    stack: Vec<Pending>,
    /// The piece that is being run.
    piece: Pending,
    run: Execution,
    /// How many steps of the schedule were taken.
    planned: usize,
    /// The schedule of the piece is still being run.
    in_schedule: bool,
    /// The schedule was checked.
    checked: bool,
    /// Why the execution was pruned.
    pruned: Option<Pruned>,
    /// Other ways in which the task of an entry could have gone on at its point.
    ways: Vec<(usize, Label)>,
    past: Past,
    /// See [`deviations`](Self::deviations).
    bound: Option<u32>,
    hit_bound: bool,
    mistake: Option<Mistake>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pruned {
    /// The trace comes from another piece, or the piece cannot be run.
    Redundant,
    /// Nothing but tasks that are held back could go on.
    OnlyHeld,
}

/// Wrong variants of the algorithm, for tests that must detect them.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Concurrent schedules before the same step come in any order.
    IgnoresNames,
    /// The undone step is not run at once.
    ForgetsUndone,
    /// Heads between the two steps of a race are not looked at.
    NotParsimonious,
    /// Steps that wait are not put before others that took the object.
    IgnoresWaits,
    /// Schedules are never extended.
    NeverLate,
}

impl Default for Optimal {
    fn default() -> Self {
        Self::new()
    }
}

impl Optimal {
    /// The whole search.
    #[must_use]
    pub fn new() -> Self {
        Self { stack: vec![Pending::whole()], ..Self::empty() }
    }

    fn empty() -> Self {
        Self {
            stack: Vec::new(),
            piece: Pending::whole(),
            run: Execution::default(),
            planned: 0,
            in_schedule: false,
            checked: false,
            pruned: None,
            ways: Vec::new(),
            past: Past::default(),
            bound: None,
            hit_bound: false,
            mistake: None,
        }
    }

    /// Bounds the distance from the first execution: each execution comes from another one by a reversal, and at most `most` reversals
    /// lead to it. A bound that is large enough drops nothing.
    #[must_use]
    pub fn deviations(self, most: u32) -> Self {
        Self { bound: Some(most), ..self }
    }

    /// With a mistake, for tests only.
    #[doc(hidden)]
    #[must_use]
    pub fn with_mistake(self, mistake: Mistake) -> Self {
        Self { mistake: Some(mistake), ..self }
    }

    fn makes(&self, mistake: Mistake) -> bool {
        self.mistake == Some(mistake)
    }

    /// The task that is to step as soon as the schedule was run.
    fn undone(&self) -> Option<TaskId> {
        self.piece.schedule.last()?.mark.head()?.undone.filter(|_| !self.makes(Mistake::ForgetsUndone))
    }

    /// The alternative that the piece or the policy takes at a point; `None` if the execution ends here.
    fn decide(&mut self, at: &Point<'_>, so_far: &Trace) -> Option<(u32, Mark)> {
        if let Some(step) = self.piece.schedule.get(self.planned) {
            let asks = matches!(at, Point::Data { .. });
            if asks && !matches!(step.label, Some(Label::Value(_))) {
                return Some((0, Mark::LateValue));
            }
            let choice = find(at, step.task, step.label);
            if choice.is_none() {
                self.pruned = Some(Pruned::Redundant);
            }
            self.planned += 1;
            return choice.map(|choice| (choice, step.mark.clone()));
        }
        let Point::Actions(actions) = at else { return Some((0, Mark::Free)) };
        // The head may have asked for values that the piece does not give, so the schedule ends here and not where the piece ends.
        let schedule_ends = mem::replace(&mut self.in_schedule, false);
        if schedule_ends && let Some(choice) = self.undone().and_then(|task| find(at, task, None)) {
            return Some((choice, Mark::Free));
        }
        if !self.checked {
            self.run.follow(so_far);
            if !self.check() {
                self.pruned = Some(Pruned::Redundant);
                return None;
            }
        }
        let mut choice = self.policy(actions, &[]);
        let mut late: SmallVec<[u32; 4]> = SmallVec::new();
        while let Some(joins) = choice.filter(|&choice| self.joins_too_late(&actions[choice as usize], so_far)) {
            late.push(joins);
            choice = self.policy(actions, &late);
        }
        if choice.is_none() {
            self.pruned = Some(if late.is_empty() { Pruned::OnlyHeld } else { Pruned::Redundant });
        }
        choice.map(|choice| (choice, Mark::Free))
    }

    /// Prefers the latest task, then the first that can go on without a timeout or a crash. Leaves out these actions.
    fn policy(&self, actions: &[Action], without: &[u32]) -> Option<u32> {
        let latest = self.run.entries.last().map(|entry| entry.task);
        let goes = |&at: &usize| !self.run.held.contains(&actions[at].task) && !without.contains(&number(at));
        let ordinary = |at: &usize| goes(at) && matches!(actions[*at].variant, Variant::Ready | Variant::Message(_));
        let stays = |at: &usize| Some(actions[*at].task) == latest && ordinary(at);
        let mut all = 0..actions.len();
        let place = all.clone().find(stays).or_else(|| all.clone().find(ordinary)).or_else(|| all.find(goes));
        place.map(number)
    }

    /// The entry for a choice at a point.
    fn entry(&mut self, at: &Point<'_>, choice: u32, mark: Mark) -> Entry {
        let mut known_objects = self.run.entries.last().map_or(0, |entry| entry.known_objects);
        let mut enabled = TaskSet::default();
        match at {
            Point::Actions(actions) => {
                for action in *actions {
                    enabled.insert(action.task);
                    let object = action.object;
                    if object.is_some() && object.as_message().is_none() {
                        known_objects = known_objects.max(object.number() + 1);
                    }
                }
                let Action { task, variant, .. } = actions[choice as usize];
                if mark.is_free() {
                    let other = |action: &&Action| action.task == task && !is_message(action.variant);
                    let others = actions.iter().filter(other).filter(|action| action.variant != variant);
                    let index = self.run.entries.len();
                    self.ways.extend(others.map(|action| (index, Label::Way(action.variant))));
                }
                Entry { task, label: Label::Way(variant), mark, choice: Some(choice), enabled, known_objects }
            }
            Point::Data { task, .. } => {
                let label = Label::Value(choice);
                Entry { task: *task, label, mark, choice: Some(choice), enabled, known_objects }
            }
            Point::End(_) => unreachable!("raddle bug: a decision at the end"),
        }
    }

    /// Keeps the pieces that follow from the execution that has just ended.
    fn hand_out(&mut self, run: &Run<'_>) {
        let failed = self.failed_at(run);
        let mut children = Vec::new();
        self.reverse_races(run, failed.is_some(), &mut children);
        if self.pruned.is_none() {
            self.list_alternatives(run.trace, &mut children);
        }
        self.choose_other_messages(&mut children);
        if children.is_empty() && failed.is_none() {
            return;
        }
        let reversals = self.piece.reversals + 1;
        // What leaves the execution late is run first: it shares most with what was run last.
        children.sort_by_key(|child: &Child| child.from_base);
        let shared = children.last().map_or(0, |child| child.from_base);
        let base = self.run.share(shared);
        for child in children {
            if self.bound.is_some_and(|most| reversals > most) {
                self.hit_bound = true;
                break;
            }
            let Child { from_base, schedule } = child;
            self.stack.push(Pending { base: Arc::clone(&base), from_base, schedule, reversals });
        }
        if let Some(failed) = failed {
            let base = self.run.with_failed(failed);
            let reversals = self.piece.reversals;
            self.stack.push(Pending { from_base: base.len(), base, schedule: Vec::new(), reversals });
        }
    }

    /// The first event that the search has not looked at in an earlier execution.
    fn first_new(&self) -> usize {
        let head = self.last_head().map_or(0, |head| self.run.group(head).start);
        if self.run.held.is_empty() {
            return head;
        }
        let failed = self.run.entries.iter().rposition(|entry| entry.mark.failed().is_some());
        failed.map_or(head, |failed| head.max(failed + 1))
    }

    fn last_head(&self) -> Option<usize> {
        self.run.heads.last().copied()
    }

    /// The event with which the execution failed, if the policy chose it and other tasks were not at their ends.
    fn failed_at(&self, run: &Run<'_>) -> Option<usize> {
        let failure = run.outcome.and_then(Outcome::failure)?;
        let last = self.run.events.len().checked_sub(1)?;
        let group = self.run.group(last);
        let nobody_can = matches!(failure, Failure::Deadlock { .. } | Failure::Livelock { .. });
        let task = self.run.entries[group.start].task;
        // A step with a clock can go on because its time is up, though it is not ready.
        let can = |pending: &PendingStep| pending.ready || pending.clock.is_some();
        let others = run.pending.iter().any(|pending| can(pending) && pending.action.task != task);
        (!nobody_can && others && self.run.is_free(group.clone())).then_some(group.start)
    }
}

/// A piece that follows from an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Child {
    from_base: usize,
    schedule: Vec<Planned>,
}

fn number(place: usize) -> u32 {
    u32::try_from(place).expect("raddle bug: more than 2^32 actions")
}

fn is_message(variant: Variant) -> bool {
    matches!(variant, Variant::Message(_))
}

/// The alternative of a point in which this task goes on so, or in the first way.
fn find(at: &Point<'_>, task: TaskId, label: Option<Label>) -> Option<u32> {
    match (at, label) {
        (Point::Actions(actions), None) => actions.iter().position(|action| action.task == task).map(number),
        (Point::Actions(actions), Some(Label::Way(variant))) => {
            actions.iter().position(|action| (action.task, action.variant) == (task, variant)).map(number)
        }
        (Point::Data { task: asks, choices, .. }, Some(Label::Value(value))) => {
            (*asks == task && value < *choices).then_some(value)
        }
        _ => None,
    }
}

impl Strategy for Optimal {
    fn needs(&self) -> Needs {
        Needs::reduction("dpor")
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        let Some(piece) = self.stack.pop() else { return Next::Done(self.claim()) };
        self.run.return_to(&piece.base, piece.from_base);
        prefix.extend(self.run.entries.iter().filter_map(|entry| entry.choice).map(Choice));
        self.piece = piece;
        self.planned = 0;
        self.in_schedule = !self.piece.schedule.is_empty();
        self.checked = !self.in_schedule;
        self.pruned = None;
        self.ways.clear();
        Next::run(0)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.run.list_events(so_far);
        let Some((choice, mark)) = self.decide(at, so_far) else { return Decision::Prune };
        let entry = self.entry(at, choice, mark);
        self.run.push(entry);
        Decision::Take(Choice(choice))
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        if matches!(run.outcome.and_then(Outcome::failure), Some(Failure::Nondeterminism(_))) {
            self.run = Execution::default();
            return After::Next;
        }
        self.run.follow(run.trace);
        self.run.drop_entries_without_event();
        let followed = self.run.entries.len() == self.run.events.len() && self.planned == self.piece.schedule.len();
        if followed && self.pruned != Some(Pruned::Redundant) && (self.checked || self.check()) {
            self.run.time = TimeLeft::until(run.deadline);
            self.hand_out(run);
            if self.run.time.was_over() {
                return After::OutOfTime;
            }
        }
        After::Next
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl Capabilities for Optimal {
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByPiece(self)
    }

    fn summary(&mut self) -> Option<&dyn Summarize> {
        Some(self)
    }
}

impl Summarize for Optimal {}
