//! The program under test, paused where something must be decided.

use serde::{Deserialize, Serialize};

use crate::caveats::Caveats;
use crate::forward::ForwardChoices;
use crate::ids::{ObjectId, TaskId};
use crate::outcome::{Outcome, Participants, Waiting};
use crate::schedule::TaskName;
use crate::trace::{Context, Effect, Operation, Role, Site, Trace, Word};

/// A program that can be executed again and again. One value per worker; it may keep stacks and tables between
/// executions.
pub trait Program {
    /// One execution.
    type System: System;

    /// Starts an execution and runs it to its first point. Called by the search for every execution that does not go on from a
    /// [copy](Snapshots::fork) of an earlier one.
    ///
    /// `seed` feeds the program's own random numbers, if it draws any: the same seed, the same numbers.
    fn start(&mut self, seed: u64, trace: &mut Trace) -> Self::System;

    /// Whether an execution has shown something of the program by which later executions would have other points than those before. Asked
    /// by the search after each execution; if so, the search ends, and its caller begins another one.
    fn is_outdated(&self) -> bool {
        false
    }

    /// Whether the search has to end because of what executions have used up for good. Asked after each execution.
    fn has_enough(&self) -> bool {
        false
    }

    /// Whether this worker can run another execution after the one that just ended. False if that one was abandoned in the middle of
    /// something that cannot be undone. The search then asks its caller for a new worker.
    fn sound(&self) -> bool {
        true
    }

    /// From here on, `seed` feeds the hash keys of the program. Called before an execution whose schedule says so; the program has
    /// a seed of its own until then.
    fn set_hash_seed(&mut self, seed: u64) {
        let _ = seed;
    }

    /// Whether two different words that an operation found or left, in two runs of the same execution, mean the same to the
    /// program: addresses differ from run to run. The search calls this when it compares runs, for words that differ.
    fn same_word(&self, first: Word, second: Word) -> bool {
        first == second
    }

    /// Whether every run with the same decisions is known to do the same, so that none has to be repeated to find that out.
    fn is_deterministic(&self) -> bool {
        false
    }
}

/// One execution of a concurrent program, paused where something must be decided. Dropping it abandons the execution.
///
/// What most programs cannot do is a capability: a trait of its own, which a system has or has not.
pub trait System: Sized {
    /// What must be decided now. The search calls this after the start and after each [`step`](Self::step); the answer stays the same
    /// until the next one. The actions are listed once [`compute_enabled`](Self::compute_enabled) was called; that the execution has
    /// failed is known before.
    fn point(&self) -> Point<'_>;

    /// Takes the chosen alternative and runs to the next point. Adds the steps to `trace`: at least one, and all that follow without a
    /// decision. The search calls this with a choice within the point's alternatives.
    fn step(&mut self, choice: Choice, trace: &mut Trace);

    /// Computes which actions are enabled, if that is not known yet. The search calls this before it asks for the actions of a
    /// [`point`](Self::point), maybe more than once. It does not call this if the state was visited before: the enabled actions
    /// do not matter then.
    fn compute_enabled(&mut self) {}

    /// Names, participants, and who waits for what.
    fn describe(&self) -> &dyn Describe;

    /// What this execution did that limits what it proves. The search calls this at the end of each execution, also of a
    /// pruned one, and adds it up. If the program drew random numbers, its seed belongs to the schedule.
    fn caveats(&self) -> Caveats {
        Caveats::default()
    }

    /// Copying the program and comparing its states; `None` if it cannot be copied.
    fn snapshots(&mut self) -> Option<&mut dyn Snapshots<Self>> {
        None
    }

    /// Called when the search has pruned this execution. True if the execution has to be run on to its end, because destructors of
    /// values on its stacks must run. The search then takes the remaining steps and drops the system afterwards, which runs nothing on by
    /// itself any more. False, the default, if it can be dropped where it is.
    fn must_run_on(&mut self) -> bool {
        false
    }

    /// Running forward without asking the search at each point; `None` if every step has to be asked for.
    fn forward(&mut self) -> Option<&mut dyn Forward> {
        None
    }

    /// [`step`](Self::step), and then [`compute_enabled`](Self::compute_enabled).
    fn advance(&mut self, choice: Choice, trace: &mut Trace) {
        self.step(choice, trace);
        self.compute_enabled();
    }
}

/// Describes an execution, for reports and for schedules.
pub trait Describe {
    /// How a task came to be. Called when a schedule is written down or followed, for tasks of this execution.
    fn task_name(&self, task: TaskId) -> TaskName;

    /// Who took part and what they touched. Called at most once, at the end of an execution that is to be shown.
    fn participants(&self) -> Participants;

    /// What every task that has not ended is about to do. Called when an execution is cut short.
    fn unfinished(&self, so_far: &Trace) -> Vec<Waiting>;

    /// What every task that has not ended is about to do, and whether it can. Called at the end of an execution, for
    /// strategies that [need](crate::strategy::Needs::pending) it.
    fn pending(&self) -> Vec<Pending> {
        Vec::new()
    }

    /// What the program was told about itself before this execution, in words that a [schedule](crate::schedule::Schedule::facts) can
    /// keep: which points there are may depend on it.
    fn facts(&self) -> Vec<String> {
        Vec::new()
    }

    /// The seed of the program's hash keys, if it has made a hash map, so that the seed belongs to the schedule. Called at the end of an
    /// execution that is replayed.
    fn hash_seed(&self) -> Option<u64> {
        None
    }
}

/// Copies a program in the middle of an execution, and compares its states.
pub trait Snapshots<S> {
    /// Returns a copy, paused at the same point. The search calls this at points to which the strategy returns later. Later executions
    /// continue from the copy, each as if it had been run from its start. A copy should cost no more than a step or two.
    fn fork(&self) -> S;

    /// As [`fork`](Self::fork), but replaces `other`, an execution of the same program that is over, whose memory may be used again.
    fn fork_onto(&self, other: &mut S) {
        *other = self.fork();
    }

    /// A hash of the program's state, equal for equal states; `None` if the state cannot be seen.
    fn fingerprint(&self) -> Option<u64> {
        None
    }

    /// The state that a choice would lead to, if it costs less to compute than to take the choice. The program stays where it is.
    /// Searches by states call this at a point; unless they prune the execution, the next call is [`step`](System::step) with the same
    /// choice. `so_far` is the trace up to here.
    fn peek(&mut self, choice: Choice, so_far: &Trace) -> Option<Peeked> {
        let _ = (choice, so_far);
        None
    }
}

/// What a choice [would lead to](Snapshots::peek).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peeked {
    /// The [fingerprint](Snapshots::fingerprint) there.
    pub state: u64,
    /// How many steps it takes.
    pub steps: usize,
}

/// Runs a program forward with choices that are known before, without asking the search at each point.
pub trait Forward {
    /// Runs the system forward until it needs a decision that the search must see, or the [choices](ForwardChoices::go_on) say that it has to
    /// stop. The alternatives of a point are in the order in which [`compute_enabled`](System::compute_enabled) would list them. The search
    /// calls this where steps are [discarded](Trace::discard_steps), and elsewhere if the system [records steps](Self::records_steps).
    fn run_forward(&mut self, choices: &mut ForwardChoices, trace: &mut Trace);

    /// True if the system can run forward and record its steps.
    fn records_steps(&self) -> bool {
        false
    }

    /// True if race detection needs the steps of this execution, which were not recorded. The search calls this at the end of an
    /// execution and then runs it again with its steps recorded.
    fn needs_recorded_steps(&self) -> bool {
        false
    }
}

/// A place where something must be decided.
#[derive(Debug)]
pub enum Point<'a> {
    /// One of these happens next. Never empty; in a stable order: by task, in order of creation, then by variant.
    Actions(&'a [Action]),
    /// A task has asked for one of `choices` values; nothing else can happen before it has it.
    Data {
        /// Who asked.
        task: TaskId,
        /// How many values there are, at least one.
        choices: u32,
        /// Where in the source.
        site: Site,
    },
    /// The execution is over.
    End(&'a Outcome),
}

impl Point<'_> {
    /// How many alternatives there are; 0 at the end.
    #[inline]
    #[must_use]
    pub fn alternatives(&self) -> u32 {
        match self {
            Point::Actions(actions) => u32::try_from(actions.len()).expect("raddle bug: more than 2^32 actions"),
            Point::Data { choices, .. } => *choices,
            Point::End(_) => 0,
        }
    }
}

/// One of a point's alternatives, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Choice(pub u32);

impl Choice {
    /// For indexing the point's actions.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a task would do next if it were chosen: known before it is done.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    /// Who.
    pub task: TaskId,
    /// Which of the task's possibilities.
    pub variant: Variant,
    /// What it would do.
    pub op: &'static Operation,
    /// To what; [`ObjectId::NONE`] if to nothing.
    pub object: ObjectId,
    /// As far as is known before: a compare-exchange that turns out to fail only reads.
    pub effect: Effect,
    /// What it is to those who wait.
    pub role: Role,
    /// Where in the source.
    pub site: Site,
}

/// What a task is about to do where an execution stops.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// What.
    pub action: Action,
    /// Whether it could be done now.
    pub ready: bool,
    /// The clock that the wait for it may end by; [`ObjectId::NONE`] if it does not end by time.
    pub clock: ObjectId,
    /// The calls that led to it, if the program was asked to find that out.
    pub context: Option<&'static Context>,
}

/// Which way out of its wait a task takes. Ordered: the ordinary way first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Variant {
    /// What it asked for has come true.
    Ready,
    /// Its time has come.
    TimedOut,
    /// For no reason at all, as condition variables and parked threads may.
    Spurious,
    /// With this one of the messages that wait for it, counted in order of sending to where it receives.
    Message(u32),
}
