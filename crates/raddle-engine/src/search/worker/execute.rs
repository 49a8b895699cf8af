//! Runs one execution for the strategy, processes its outcome, and counts it.

use std::mem;
use std::sync::PoisonError;

use super::forward::{Seen, needs_recorded_steps};
use super::snapshots::SnapshotStack;
use super::walk::{Chosen, Walked};
use super::{Due, Found, Worker};
use crate::caveats::Caveats;
use crate::outcome::{Failure, Outcome, TaskInfo};
use crate::replay::Script;
use crate::schedule::TaskName;
use crate::strategy::{After, BacktrackTo, Run, Sharing, Start};
use crate::system::{Choice, Program, System};

/// Every so many executions, one runs from its start instead of from a snapshot, to detect nondeterminism.
const WATCH_EVERY: (u64, u64) = (512, 16);

impl Worker<'_> {
    /// Sets the prefix of the next execution: what the strategy asked for, or the latest execution with another last choice.
    pub(super) fn set_prefix(&mut self, backtrack: Option<BacktrackTo>) {
        let Some(BacktrackTo { depth, choice }) = backtrack else {
            mem::swap(&mut self.prefix, &mut self.next_prefix);
            self.common = None;
            return;
        };
        assert!(depth <= self.path.len(), "raddle bug: {depth} choices of an execution with {}", self.path.len());
        self.prefix.truncate(depth);
        let known = self.prefix.len();
        debug_assert!(self.prefix.iter().zip(&self.path).all(|(next, at)| *next == at.choice));
        self.prefix.extend(self.path[known..depth].iter().map(|at| at.choice));
        self.prefix.push(choice);
        self.common = Some(depth);
    }

    pub(super) fn execute<P: Program>(
        &mut self,
        program: &mut P,
        snapshots: &mut SnapshotStack<P::System>,
        start: Start,
    ) {
        let Start { seed, backtrack, uniform, steps, probe } = start;
        self.set_prefix(backtrack);
        (self.uniform, self.wants_steps) = (uniform, steps);
        // If steps are only counted, there is nothing that the next execution could continue from.
        let counted = self.watch && !self.shows_steps();
        let beside = probe || counted || !snapshots.follows(seed, self.prefix.is_empty());
        let latest = self.repeats.replace_latest(None);
        if beside {
            self.step_aside();
        }
        let snapshots = (self.watch && self.search.forks && !beside).then_some(snapshots);
        if self.run(program, snapshots, seed, probe) == Seen::Counted {
            // There is nothing to compare it with.
            self.path.clear();
        }
        if beside {
            self.step_aside();
            // It is not the prefix of the path whose snapshots are stored.
            self.prefix.clear();
            self.repeats.replace_latest(latest);
        }
    }

    /// Switches to the choices and steps of an execution outside the search, or back.
    pub(super) fn step_aside(&mut self) {
        mem::swap(&mut self.path, &mut self.beside.0);
        mem::swap(&mut self.trace, &mut self.beside.1);
    }

    /// Brings the program to its first point, or to the deepest snapshot on the path. Returns the number of choices up to there.
    pub(super) fn begin<P: Program>(
        &mut self,
        program: &mut P,
        snapshots: Option<&mut SnapshotStack<P::System>>,
        seed: u64,
    ) -> (P::System, usize) {
        if let Some(snapshots) = snapshots {
            let common = self.common.unwrap_or_else(|| {
                self.prefix.iter().zip(&self.path).take_while(|(next, at)| **next == at.choice).count()
            });
            snapshots.settle(common, |depth| depth == common && depth < self.prefix.len() && depth < self.path.len());
            // To check that the program does the same twice.
            let watched = self.walked.is_power_of_two() || self.walked >= self.next_watch;
            if !watched && let Some((system, depth, mark)) = snapshots.go_on() {
                self.trace.continue_from(mark);
                return (system, depth);
            }
            let (every, each) = WATCH_EVERY;
            self.next_watch = self.walked + every.max(each * self.path.len() as u64);
        }
        if !self.shows_steps() {
            self.trace.discard_steps();
        } else {
            self.begin_recording();
        }
        (program.start(seed, &mut self.trace), 0)
    }

    /// Prepares the trace for an execution whose steps are recorded. The steps of the latest execution stay, to compare them with those of
    /// the new one as far as both have the same choices.
    fn begin_recording(&mut self) {
        let same = |(next, at): &(&Choice, &Chosen)| **next == at.choice;
        let common = self.common.unwrap_or_else(|| self.prefix.iter().zip(&self.path).take_while(same).count());
        self.shared = match self.path.get(common) {
            _ if common == 0 || self.trace.discards_steps() => 0,
            Some(parts) => parts.steps,
            None => self.trace.len(),
        };
        mem::swap(&mut self.trace, &mut self.earlier);
        self.trace.begin_like(&self.earlier, self.shared);
    }

    /// Counts the caveats and the steps of an execution that has ended after so many steps.
    pub(super) fn count(&mut self, caveats: &Caveats, steps: usize) {
        let concurrent = self.path.iter().any(|at| at.alternatives > 1);
        self.tally.caveats.count(caveats, concurrent);
        self.tally.steps += steps as u64;
        self.tally.longest = self.tally.longest.max(steps as u64);
    }

    pub(super) fn run<P: Program>(
        &mut self,
        program: &mut P,
        mut snapshots: Option<&mut SnapshotStack<P::System>>,
        seed: u64,
        probing: bool,
    ) -> Seen {
        let (mut system, from) = self.begin(program, snapshots.as_deref_mut(), seed);
        let mut walked = self.walk(&mut system, from, snapshots.as_deref_mut());
        let mut caveats = system.caveats();
        let needs_steps = needs_recorded_steps(&mut system);
        let mut system = Some(system);
        let seen = if self.trace.discards_steps() { Seen::Counted } else { Seen::Kept };
        if seen == Seen::Counted && (needs_steps || walked.failed() && !self.has_shown) {
            self.keeps_steps |= needs_steps;
            self.has_shown |= walked.failed();
            drop(system.take());
            if program.sound() {
                let again;
                (again, walked) = self.look_again(program, seed, walked);
                caveats = again.caveats();
                system = Some(again);
            }
        }
        if matches!(walked, Walked::OutOfTime) {
            self.give_up_for_time();
            return seen;
        }
        if let Some(product) = self.product.take() {
            self.tally.walks.add(product);
        }
        let (outcome, not_taken) = match walked {
            Walked::To(outcome) => (Some(outcome), 0),
            Walked::Pruned | Walked::OutOfTime => (None, 0),
            Walked::Short(steps) => (None, steps),
        };
        if matches!(&outcome, Some(Outcome::Failed(failure)) if self.meets_another(failure)) {
            return seen;
        }
        let wanted = self.search.needs.pending;
        let pending = system.as_ref().filter(|_| wanted).map(|system| system.describe().pending()).unwrap_or_default();
        let choices = self.path.len();
        let deadline = self.deadline.at();
        let run = Run { outcome: outcome.as_ref(), trace: &self.trace, choices, pending: &pending, deadline };
        // Nobody needs to know what follows from an execution that ends the search. If it has too many steps, that takes long.
        let too_long = |outcome: &Outcome| matches!(outcome.failure(), Some(Failure::TooManySteps { .. }));
        let is_last = wanted && !self.search.limits.keep_going && outcome.as_ref().is_some_and(too_long);
        let after = if is_last { After::OutOfTime } else { self.strategy.get().end(&run) };
        self.same_number = after == After::SameNumber;
        if let Some(coverage) = self.search.coverage.as_ref().filter(|_| outcome.is_some()) {
            let cast = || system.as_ref().map(|system| system.describe().participants()).unwrap_or_default();
            let who = || cast().tasks.iter().map(name_of).collect();
            coverage.lock().unwrap_or_else(PoisonError::into_inner).observe(&self.trace, who);
        }
        self.count(&caveats, self.trace.len() + not_taken);
        self.count_states();
        let done = u64::from(!self.same_number);
        let number = self.numbers.as_mut().map(|(next, _)| mem::replace(next, *next + done));
        self.tally.probes += u64::from(probing);
        self.tally.executions += u64::from(!probing && outcome.is_some());
        self.tally.pruned += u64::from(!probing && outcome.is_none());
        let ended = outcome.clone();
        if let (None, Some(system)) = (&outcome, &mut system)
            && after != After::OutOfTime
            && let Some(found) = self.run_on(system, seed, number)
        {
            self.tally.found.get_or_insert(Found { probe: probing, ..found });
        }
        if let Some(Outcome::Failed(failure)) = outcome {
            self.tally.failing += u64::from(!probing);
            if self.tally.found.is_none() {
                let seed = if caveats.drew_random { seed } else { 0 };
                let remark = self.strategy.get().summary().and_then(|summary| summary.about_failure());
                self.tally.found = Some(Found { remark, probe: probing, ..self.found(*failure, seed, number) });
            }
        }
        if after == After::OutOfTime {
            self.give_up_as_committed();
            return seen;
        }
        let copies = snapshots.as_ref().is_some_and(|snapshots| snapshots.has_copies());
        match (snapshots, system) {
            (Some(snapshots), Some(system)) => snapshots.leave(system),
            (_, system) => drop(system),
        }
        if let Some(failure) = self.repeat_if_due(program, seed, ended, copies) {
            let seed = if caveats.drew_random { seed } else { 0 };
            self.note_nondeterminism(failure, seed, number, probing);
        }
        self.done += 1;
        self.walked += 1;
        self.allowed = self.allowed.saturating_sub(u64::from(!probing));
        if self.due == Due::Little {
            self.due = Due::Others;
        } else {
            self.call_others_if_long();
            self.see_needs();
        }
        seen
    }

    /// Counts the states that the latest execution was the first to visit.
    pub(super) fn count_states(&mut self) {
        if self.states {
            self.tally.states += self.strategy.get().states().map_or(0, |states| states.new_states());
        }
    }

    pub(super) fn found(&mut self, failure: Failure, seed: u64, number: Option<u64>) -> Found {
        let after = match (number, self.strategy.get().sharing()) {
            (Some(number), Sharing::ByNumber(by_number)) => by_number.executions(number),
            _ => self.tally.run(),
        };
        let real = self.path.iter().filter(|chosen| chosen.alternatives > 1);
        let choices = real.map(|chosen| chosen.choice).collect();
        let script = Script::Choices { seed, choices };
        Found { failure, script, after, number, stage: self.stage, remark: None, probe: false }
    }
}

/// The name of a task in reports.
pub(super) fn name_of(task: &TaskInfo) -> String {
    let by_name = |name: &TaskName| if name.0.is_empty() { name.to_string() } else { format!("thread {name}") };
    task.label.clone().unwrap_or_else(|| by_name(&task.name))
}
