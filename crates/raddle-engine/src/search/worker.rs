//! One worker: takes pieces of the search and runs them, execution by execution.

mod ahead;
mod repeat;
mod run_on;
mod save;
mod share;
mod snapshots;
mod untraced;
mod walk;

use std::mem;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use self::repeat::Repeats;
use self::save::Saving;
pub use self::snapshots::SnapshotStack;
use self::untraced::{Seen, needs_recorded_steps};
use self::walk::{Chosen, Walked};
use super::{Deadline, Found, Pace, Search, Spare};
use crate::board::{Board, Job, TakeResult, Tally, Then, Wait};
use crate::caveats::Caveats;
use crate::estimate::Estimate;
use crate::facts::Fact;
use crate::outcome::{Failure, Outcome, TaskInfo};
use crate::piece::Checkpoint;
use crate::random_choices::RandomChoices;
use crate::replay::Script;
use crate::rng::Rng;
use crate::schedule::TaskName;
use crate::strategy::{After, BacktrackTo, Bound, Claim, Next, Run, Sharing, Start, Strategy};
use crate::system::{Choice, Program, System};
use crate::trace::Trace;

/// One worker of a search: its strategy, its piece, and its results since its latest commit.
pub struct Worker<'s> {
    search: &'s Search,
    strategy: Held<'s>,
    job: Option<Job<'s>>,
    /// It counts as idle.
    waits: bool,
    /// The next execution and the end of the piece, if executions are numbered.
    numbers: Option<(u64, u64)>,
    /// The stage that the piece belongs to.
    stage: u32,
    /// Executions that it may run before it has to ask the board again.
    allowed: u64,
    /// Executions that it has run or skipped.
    done: u64,
    /// Executions that it has run, and the number after which the next one runs from its start.
    walked: u64,
    next_watch: u64,
    /// The latest execution met one of another worker.
    met: bool,
    /// How often that may happen before the search assumes another cause.
    meetings: u32,
    tally: Tally,
    /// The program needs recorded steps, for race detection, so they are recorded.
    keeps_steps: bool,
    /// One failure whose steps were not recorded was run again with recording. Later ones are only counted; if one of them is reported, it
    /// is replayed.
    has_shown: bool,
    choices: RandomChoices,
    /// The number of orders, as estimated by the latest walk, if it was a uniform one.
    product: Option<f64>,
    /// Prefixes are run again, and compared with the earlier run.
    watch: bool,
    every_point: bool,
    /// The strategy searches by states.
    states: bool,
    /// The random choices of the current execution, if it is a uniform random walk.
    uniform: Option<Rng>,
    /// The strategy needs the steps of the current execution.
    wants_steps: bool,
    /// Whether the strategy will return to the point of its latest decision, if it has said so.
    returns: Option<bool>,
    /// The next execution has the same number.
    same_number: bool,
    prefix: Vec<Choice>,
    /// The prefix that the strategy asks for, until it becomes the prefix of the execution.
    next_prefix: Vec<Choice>,
    /// The length of the part that it has in common with the latest execution, if that is known.
    common: Option<usize>,
    /// The choices of the latest execution, at the points where the strategy was or could have been asked.
    path: Vec<Chosen>,
    /// Choices and steps of the latest execution outside the search, such as a probe. They are separate because executions of the search
    /// continue from the latest one of the search.
    beside: (Vec<Chosen>, Trace),
    trace: Trace,
    /// The numbers of executions and steps at which the clock is read again. Reading it costs as much as a short execution.
    next_look: (u64, u64),
    /// The time at which the search has to end, even in the middle of an execution.
    deadline: Deadline,
    /// What is still to be done after the latest execution.
    due: Due,
    /// Which executions are run again and compared.
    repeats: Repeats,
    /// When to report progress; `None` if this worker does not.
    pub(super) pace: Option<Pace>,
    /// When to commit and to save the rest; `None` if nobody wants that.
    saving: Option<Saving>,
}

/// A strategy that the caller lends, or one that this worker owns.
pub(super) enum Held<'s> {
    Lent(&'s mut dyn Strategy),
    Owned(Box<dyn Strategy>),
}

impl Held<'_> {
    fn get(&mut self) -> &mut dyn Strategy {
        match self {
            Held::Lent(strategy) => *strategy,
            Held::Owned(strategy) => &mut **strategy,
        }
    }
}

/// What is still to be done after an execution. It is all done at once, except in tests that simulate several workers on one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    All,
    Little,
    Others,
    Needs,
}

/// Whether a search is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is over for this worker.
    Over,
    /// This worker's program [can no longer be executed](Program::sound); continue with a new one.
    NeedsFreshWorker,
}

/// Every so many executions, one runs from its start instead of from a snapshot, to detect nondeterminism.
const WATCH_EVERY: (u64, u64) = (512, 16);

impl<'s> Worker<'s> {
    pub(super) fn new(search: &'s Search, mut strategy: Held<'s>, is_first: bool) -> Self {
        let needs = search.needs;
        Self {
            watch: needs.revisits,
            repeats: Repeats::new(needs.revisits),
            every_point: needs.every_point,
            states: strategy.get().states().is_some(),
            uniform: None,
            wants_steps: true,
            returns: None,
            same_number: false,
            next_prefix: Vec::new(),
            search,
            strategy,
            job: None,
            waits: false,
            numbers: None,
            stage: 0,
            allowed: 0,
            done: 0,
            walked: 0,
            next_watch: 0,
            met: false,
            meetings: 1_000,
            tally: Tally::default(),
            keeps_steps: false,
            has_shown: false,
            choices: RandomChoices::default(),
            product: None,
            prefix: Vec::new(),
            common: None,
            path: Vec::new(),
            beside: Default::default(),
            trace: Trace::default(),
            next_look: (0, 0),
            deadline: search.deadline(),
            due: Due::All,
            pace: None,
            saving: search.saver.as_ref().map(|(first, _)| Saving::new(is_first, *first)),
        }
    }

    pub(super) fn estimate(&mut self) -> Option<Estimate> {
        self.strategy.get().summary()?.estimate()
    }

    pub(super) fn covered(&mut self, stage: u32) -> Option<Bound> {
        self.strategy.get().summary()?.covered(stage)
    }

    pub(super) fn guarantee(&mut self, drawn: u64) -> Option<Fact> {
        self.strategy.get().summary()?.guarantee(drawn)
    }

    /// What the strategy has learned, if the rest of the search depends on it.
    pub(super) fn checkpoint(&mut self) -> Option<Checkpoint> {
        match self.strategy.get().sharing() {
            Sharing::ByNumber(by_number) => Some(by_number.checkpoint()),
            Sharing::Alone | Sharing::ByPiece(_) => None,
        }
    }

    /// Works until the search is over or the program cannot be used any more.
    pub fn work<P: Program>(&mut self, program: &mut P) -> Status {
        let mut snapshots = SnapshotStack::default();
        loop {
            if self.job.is_none() {
                let board = &self.search.board;
                board.give_back(mem::take(&mut self.allowed));
                match board.take(Wait::UntilThereIsOne) {
                    TakeResult::Piece(job) => self.take_up(job),
                    TakeResult::Never | TakeResult::NotNow => {
                        self.search.call_others(Spare::Over);
                        return Status::Over;
                    }
                }
                if !self.is_worth_running() {
                    self.leave();
                    continue;
                }
            }
            self.run_one(program, &mut snapshots);
            if program.has_enough() {
                self.search.board.stop();
            }
            if program.is_outdated() {
                self.search.outdated.store(true, Relaxed);
                self.search.board.stop();
                self.search.call_others(Spare::Over);
                return Status::Over;
            }
            if self.met && !self.search.stays() {
                return Status::Over;
            }
            if !program.sound() {
                return Status::NeedsFreshWorker;
            }
        }
    }

    /// Does one small part of the work and does not wait for other workers. Tests simulate several workers on one thread with this, so that
    /// anything can happen between two such parts.
    #[doc(hidden)]
    pub fn work_a_little<P: Program>(
        &mut self,
        program: &mut P,
        snapshots: &mut SnapshotStack<P::System>,
    ) -> Option<Status> {
        match mem::replace(&mut self.due, Due::Little) {
            Due::Others => {
                self.call_others_if_long();
                self.due = Due::Needs;
                return None;
            }
            Due::Needs => {
                self.see_needs();
                return None;
            }
            Due::All | Due::Little => {}
        }
        let board = &self.search.board;
        while self.job.is_none() {
            board.give_back(mem::take(&mut self.allowed));
            match board.take(Wait::No { still_waits: self.waits }) {
                TakeResult::Piece(job) => {
                    self.waits = false;
                    self.take_up(job);
                    if self.is_worth_running() {
                        return None;
                    }
                    self.leave();
                }
                TakeResult::NotNow => {
                    self.waits = true;
                    return None;
                }
                TakeResult::Never => {
                    self.waits = false;
                    return Some(Status::Over);
                }
            }
        }
        self.run_one(program, snapshots);
        None
    }

    fn run_one<P: Program>(&mut self, program: &mut P, snapshots: &mut SnapshotStack<P::System>) {
        self.met = false;
        if !self.may_run() {
            return self.leave();
        }
        if self.numbers.is_some_and(|(next, end)| next >= end) {
            return self.finish(Then::Done(Claim::Sampled));
        }
        // The rest of the budget is for other workers, whose numbers are lower.
        if self.numbers.is_some_and(|(next, _)| next >= self.search.board.last_number()) {
            return self.leave();
        }
        self.next_prefix.clear();
        match self.strategy.get().begin(&mut self.next_prefix) {
            Next::Run(start) => self.execute(program, snapshots, start),
            Next::Done(claim) => {
                self.repeat_last(program);
                let by_number = self.numbers.is_some();
                self.finish(if by_number { Then::AllDone(claim) } else { Then::Done(claim) });
            }
        }
    }

    /// Sets the prefix of the next execution: what the strategy asked for, or the latest execution with another last choice.
    fn set_prefix(&mut self, backtrack: Option<BacktrackTo>) {
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

    fn execute<P: Program>(&mut self, program: &mut P, snapshots: &mut SnapshotStack<P::System>, start: Start) {
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
    fn step_aside(&mut self) {
        mem::swap(&mut self.path, &mut self.beside.0);
        mem::swap(&mut self.trace, &mut self.beside.1);
    }

    /// Brings the program to its first point, or to the deepest snapshot on the path. Returns the number of choices up to there.
    fn begin<P: Program>(
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
                self.trace.truncate(mark);
                return (system, depth);
            }
            let (every, each) = WATCH_EVERY;
            self.next_watch = self.walked + every.max(each * self.path.len() as u64);
        }
        if !self.shows_steps() {
            self.trace.discard_steps();
        } else {
            self.trace.clear();
        }
        (program.start(seed, &mut self.trace), 0)
    }

    /// Counts the caveats and the steps of an execution that has ended after so many steps.
    fn count(&mut self, caveats: &Caveats, steps: usize) {
        let concurrent = self.path.iter().any(|at| at.alternatives > 1);
        self.tally.caveats.count(caveats, concurrent);
        self.tally.steps += steps as u64;
        self.tally.longest = self.tally.longest.max(steps as u64);
    }

    fn run<P: Program>(
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
        let run = Run { outcome: outcome.as_ref(), trace: &self.trace, choices, pending: &pending };
        self.same_number = self.strategy.get().end(&run) == After::SameNumber;
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
    fn count_states(&mut self) {
        if self.states {
            self.tally.states += self.strategy.get().states().map_or(0, |states| states.new_states());
        }
    }

    fn found(&mut self, failure: Failure, seed: u64, number: Option<u64>) -> Found {
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
fn name_of(task: &TaskInfo) -> String {
    let by_name = |name: &TaskName| if name.0.is_empty() { name.to_string() } else { format!("thread {name}") };
    task.label.clone().unwrap_or_else(|| by_name(&task.name))
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        // No other worker may wait for a worker that panics.
        if std::thread::panicking() {
            self.search.board.stop();
            self.search.call_others(Spare::Over);
        }
        if self.waits {
            self.search.board.waits_no_more();
        }
        self.give_up();
    }
}
