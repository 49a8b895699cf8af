//! The steps of an execution, and which objects each of them accessed.

use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

use crate::ids::{ObjectId, StepIx, TaskId};
use crate::random_choices::Draws;
use crate::system::{Choice, Variant};

/// The place in the source where the program requested an operation.
pub type Site = &'static Location<'static>;

/// A kind of operation, such as "lock" or "send". Each kind is one `static`, identified by its address.
#[derive(Debug)]
pub struct Operation {
    /// The verb for reports: "lock", "load".
    pub verb: &'static str,
    /// What strategies need to know about it.
    pub class: Class,
}

/// The kind of an operation as strategies see it, for any program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Class {
    /// Reads shared state.
    Read,
    /// Writes shared state.
    Write,
    /// Reads and writes shared state in one step.
    Update,
    /// Acquires something that others may hold.
    Acquire,
    /// Releases what was acquired.
    Release,
    /// Waits to be woken.
    Wait,
    /// Wakes tasks that wait.
    Notify,
    /// Sends a message.
    Send,
    /// Receives a message.
    Receive,
    /// Creates a task.
    Spawn,
    /// Waits until a task has ended.
    Join,
    /// Ends the task.
    Finish,
    /// Accesses plain memory, where races are failures.
    Cell,
    /// Orders the atomic accesses before and after it. Accesses no object.
    Fence,
    /// Lets other tasks run first.
    Yield,
    /// Reads the clock or waits for it.
    Time,
    /// Asks for one of several values.
    Choice,
}

/// Whether an access reads or changes. Two accesses to one object are dependent if one of them changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Effect {
    /// The object stays the same.
    Read,
    /// The object may change.
    Change,
}

/// How an access orders memory. Data-race detection uses this.
///
/// Every object has a clock of what tasks have published through it. The three flags say what an access does with that clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ordered {
    /// The task adds the object's clock to its own (acquire).
    pub acquire: bool,
    /// The object's clock is cleared first (a plain store ends a release sequence).
    pub reset: bool,
    /// The task adds its clock to the object's (release).
    pub release: bool,
}

impl Ordered {
    /// Orders nothing.
    pub const RELAXED: Self = Self { acquire: false, reset: false, release: false };
    /// Acquire.
    pub const ACQUIRE: Self = Self { acquire: true, reset: false, release: false };
    /// Release.
    pub const RELEASE: Self = Self { acquire: false, reset: false, release: true };
    /// Acquire, then release.
    pub const BOTH: Self = Self { acquire: true, reset: false, release: true };
}

/// What an access means for tasks that wait. An access that gives lets a task that takes continue. This is causality and not a race,
/// because the two cannot happen in the other order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// No task waits for it, and it does not wait.
    #[default]
    Plain,
    /// Waits until the object can be taken.
    Takes,
    /// Waits until the object is ready, and may let other tasks continue: the two sides of a bounded channel wait for each other.
    Waits,
    /// Lets tasks that wait to take the object continue.
    Gives,
    /// Reads something that cannot change any more, so it needs no decision. In an order in which the object can still change, the same
    /// operation is a step of its own.
    Settled,
    /// Ends a timed wait: by its timeout (then it changes the clock) or otherwise (then it does not). Waits with a later deadline can end
    /// only after that.
    Timed,
    /// A receive from this object may take the message that this step sends. Such an access is never dependent with another, and its effect
    /// does not count.
    Offers(Offer),
    /// Belongs to a side of the object that only one task can use (the receiving end of a channel). Such an access is never dependent with
    /// another; the other accesses of the step say what it depends on.
    Alone,
}

impl Role {
    /// Whether accesses of this role are never dependent with others.
    #[must_use]
    pub const fn orders_nothing(self) -> bool {
        matches!(self, Self::Offers(_) | Self::Alone)
    }
}

/// A message, as its possible receivers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Offer {
    /// Its number: a receive takes it by [`Variant::Message`] with this number.
    pub message: u32,
    /// In which order it can be received.
    pub delivery: Delivery,
    /// It is delayed: messages that are sent later can be received before it.
    pub late: bool,
}

/// Which of the messages in one mailbox can be received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Delivery {
    /// Any message.
    Unordered,
    /// A message if no earlier message of the same sender waits.
    PerSender,
    /// A message if no waiting message happened before it, as far as messages carry knowledge.
    Causal,
}

/// An access of a step to one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The object.
    pub object: ObjectId,
    /// Whether it reads or changes the object.
    pub effect: Effect,
    /// What it means for tasks that wait.
    pub role: Role,
    /// How it orders memory.
    pub ordered: Ordered,
}

/// What happened between two decisions. Reports show it, and reduction compares it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The task.
    pub task: TaskId,
    /// Which alternative of the task was taken.
    pub variant: Variant,
    /// The operation.
    pub op: &'static Operation,
    /// The object, and how it was accessed. [`ObjectId::NONE`] if there is none; a [fence](Class::Fence) orders memory without one.
    pub access: Access,
    /// The value that the step found, if reports show it.
    pub found: Option<Word>,
    /// The value that the step left, if reports show it.
    pub left: Option<Word>,
    /// Whether the task holds the object after the step.
    pub hold: Hold,
    /// The operation changes the object only if it finds this value (a compare-exchange, a `try_lock`). `None` if it always changes the
    /// object, never does, or this is not known.
    pub wants: Option<Word>,
    /// The place in the source.
    pub site: Site,
    /// The number of alternatives at the point that led to this step; 0 if the step needed no decision.
    pub alternatives: u32,
    /// The index of its first further access, in the list of the whole trace.
    pub more: u32,
}

/// Whether a step makes its task a holder of the object. Reports of deadlocks use this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    /// No change.
    #[default]
    Unchanged,
    /// The task holds the object from now on.
    Taken,
    /// The task does not hold the object any more.
    Given,
}

/// A received message. Its names are the same in every execution and survive most edits of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The step that received it.
    pub step: StepIx,
    /// The name of the sender.
    pub sender: u64,
    /// The name of the receiver.
    pub receiver: u64,
    /// The name of the message.
    pub message: u64,
    /// The program's label for such messages.
    pub label: &'static str,
    /// True if it answers a request that its receiver waits for: a synchronous receive.
    pub reply: bool,
    /// True if its receiver changed its behaviour while handling it.
    pub changed: bool,
}

/// The calls that led to an operation, as text that the next build also gives if the source is the same. Each is a `static` value like a
/// [`Site`]; several may have the same text.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Context {
    /// The innermost first.
    pub calls: Vec<String>,
}

/// What a step means to strategies that look at more than its accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// The step has sent a message to this task.
    Sent(TaskId),
    /// The program has given this hint.
    Hint(u64),
    /// These calls led to the step. Only if the program records them.
    Context(&'static Context),
    /// A value that the step found behind a lock or in a message, or that its task left behind a lock later. Used only to compare two runs
    /// of one execution; no strategy sees it.
    Contents(Word),
}

/// A value that fits in a word, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Word(pub u64);

/// The steps of an execution so far, in order. Cheap to move: the search lends it to the program for every step.
#[derive(Debug, Default)]
pub struct Trace {
    data: Box<TraceData>,
}

#[derive(Debug, Default)]
struct TraceData {
    /// Steps are only counted and not recorded.
    discards_steps: bool,
    /// The number of counted steps.
    counted: usize,
    /// The latest counted step, as far as it is known.
    latest_counted: Option<Latest>,
    /// The choices between several alternatives that led to the counted steps, without those that are being drawn.
    choices: Vec<Choice>,
    /// The choices that are being drawn; null if none are.
    drawing: AtomicPtr<Draws>,
    steps: Vec<Step>,
    more: Vec<Access>,
    receipts: Vec<Receipt>,
    /// Indices of receipts that were [changed](Receipt::changed) after they were added, in order of the change.
    changes: Vec<u32>,
    /// Each with the number of steps before it.
    notes: Vec<(StepIx, Note)>,
}

/// The latest step of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Latest {
    /// The task.
    pub task: TaskId,
    /// The operation.
    pub op: &'static Operation,
    /// The place in the source.
    pub site: Site,
}

/// A position in a trace, to which it can be [truncated](Trace::truncate).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    steps: usize,
    more: usize,
    receipts: usize,
    changes: usize,
    notes: usize,
}

impl Mark {
    /// The number of steps at this position.
    #[must_use]
    pub const fn steps(self) -> usize {
        self.steps
    }
}

impl Trace {
    /// The number of steps.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.data.counted + self.data.steps.len()
    }

    /// Whether there are no steps.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// From now on steps are only counted, until the trace is [cleared](Self::clear).
    pub fn discard_steps(&mut self) {
        self.clear();
        self.data.discards_steps = true;
    }

    /// Whether steps are only counted.
    #[inline]
    #[must_use]
    pub fn discards_steps(&self) -> bool {
        self.data.discards_steps
    }

    /// Counts a step without recording it.
    #[inline]
    pub fn count(&mut self) {
        debug_assert!(self.data.discards_steps, "raddle bug: a step is lost");
        self.data.counted += 1;
    }

    /// Records a choice between several alternatives, if the next step is only counted. The search calls this before that step.
    #[inline]
    pub(crate) fn choose(&mut self, choice: Choice) {
        self.data.choices.push(choice);
    }

    /// Sets the address of the choices that are being drawn; null if none are.
    pub(crate) fn draw(&mut self, draws: *mut Draws) {
        *self.data.drawing.get_mut() = draws;
    }

    /// The choices that led to counted steps, oldest first, without those that are [being drawn](Self::drawing).
    #[must_use]
    pub fn choices(&self) -> &[Choice] {
        &self.data.choices
    }

    /// The address of the choices that are being drawn while an execution runs [with random
    /// choices](crate::system::Untraced::run_randomly); null otherwise. A crash handler uses it to find the schedule.
    #[must_use]
    pub fn drawing(&self) -> *const Draws {
        self.data.drawing.load(Relaxed)
    }

    /// The latest step, as far as it is known if steps are only counted.
    #[must_use]
    pub fn latest(&self) -> Option<Latest> {
        let kept = |step: &Step| Latest { task: step.task, op: step.op, site: step.site };
        self.data.steps.last().map(kept).or(self.data.latest_counted)
    }

    /// All steps, oldest first.
    #[inline]
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.data.steps
    }

    /// The latest step, if steps are recorded.
    #[inline]
    #[must_use]
    pub fn last(&self) -> Option<&Step> {
        self.data.steps.last()
    }

    /// The latest step, if steps are recorded. For the [`System`](crate::system::System) that is still taking it.
    #[inline]
    pub fn last_mut(&mut self) -> Option<&mut Step> {
        self.data.steps.last_mut()
    }

    /// Sets the value that the latest step found.
    #[inline]
    pub fn found(&mut self, word: Word) {
        if let Some(step) = self.last_mut() {
            step.found = Some(word);
        }
    }

    /// All accesses of a step: its own first, then the further ones.
    pub fn accesses(&self, step: StepIx) -> impl Iterator<Item = Access> + '_ {
        let at = &self.data.steps[step.index()];
        let end = self.data.steps.get(step.index() + 1).map_or(self.data.more.len(), |next| next.more as usize);
        let own = at.access.object.is_some().then_some(at.access);
        own.into_iter().chain(self.data.more[at.more as usize..end].iter().copied())
    }

    /// Adds a step. Called by a [`System`](crate::system::System) as it advances.
    #[inline]
    pub fn push(&mut self, mut step: Step) {
        if self.data.discards_steps {
            self.data.latest_counted = Some(Latest { task: step.task, op: step.op, site: step.site });
            return self.count();
        }
        step.more = u32::try_from(self.data.more.len()).expect("raddle bug: more than 2^32 accesses in one execution");
        self.data.steps.push(step);
    }

    /// Adds a further access to the latest step. Called by a [`System`](crate::system::System) as it advances.
    ///
    /// # Panics
    ///
    /// If there is no step yet.
    #[inline]
    pub fn touch(&mut self, access: Access) {
        if self.data.discards_steps {
            return;
        }
        assert!(!self.data.steps.is_empty(), "raddle bug: an access without a step: {access:?}");
        self.data.more.push(access);
    }

    /// The messages that were received, oldest first. Empty if the program does not name its messages.
    #[must_use]
    pub fn receipts(&self) -> &[Receipt] {
        &self.data.receipts
    }

    /// Adds the message that the latest step received. Called by a [`System`](crate::system::System) as it advances.
    #[inline]
    pub fn receive(&mut self, receipt: Receipt) {
        if self.data.discards_steps {
            return;
        }
        self.data.receipts.push(receipt);
    }

    /// Adds a note about the latest step. Called by a [`System`](crate::system::System) as it advances.
    #[inline]
    pub fn note(&mut self, note: Note) {
        if self.data.discards_steps {
            return;
        }
        self.data.notes.push((StepIx::next_of(self.len().saturating_sub(1)), note));
    }

    /// The notes about the steps from `first` on, oldest first.
    #[inline]
    #[must_use]
    pub fn notes_from(&self, first: StepIx) -> &[(StepIx, Note)] {
        // Callers have seen most of the notes, so this searches from the end.
        let new = self.data.notes.iter().rev().take_while(|note| note.0 >= first).count();
        &self.data.notes[self.data.notes.len() - new..]
    }

    /// The values that tasks found and left behind locks, each with the number of steps before it, oldest first.
    pub fn contents(&self) -> impl Iterator<Item = (StepIx, Word)> + '_ {
        self.data.notes.iter().filter_map(|(step, note)| match note {
            Note::Contents(word) => Some((*step, *word)),
            _ => None,
        })
    }

    /// Marks the latest receipt of `receiver` as one that changed its behaviour.
    pub fn change_behaviour(&mut self, receiver: u64) {
        let latest = self.data.receipts.iter().rposition(|receipt| receipt.receiver == receiver);
        if let Some(latest) = latest.filter(|at| !self.data.receipts[*at].changed) {
            self.data.receipts[latest].changed = true;
            self.data.changes.push(StepIx::next_of(latest).number());
        }
    }

    /// The current position.
    #[inline]
    #[must_use]
    pub fn mark(&self) -> Mark {
        let TraceData { steps, more, receipts, changes, notes, .. } = &*self.data;
        Mark {
            steps: steps.len(),
            more: more.len(),
            receipts: receipts.len(),
            changes: changes.len(),
            notes: notes.len(),
        }
    }

    /// Removes everything after `mark`. Changes of steps [before it](Self::last_mut) stay.
    ///
    /// # Panics
    ///
    /// If the trace is shorter than that.
    pub fn truncate(&mut self, mark: Mark) {
        let data = &mut *self.data;
        assert!(mark.steps <= data.steps.len(), "raddle bug: {mark:?} is after {} steps", data.steps.len());
        for change in data.changes.drain(mark.changes..) {
            data.receipts[change as usize].changed = false;
        }
        data.steps.truncate(mark.steps);
        data.more.truncate(mark.more);
        data.receipts.truncate(mark.receipts);
        data.notes.truncate(mark.notes);
    }

    /// Removes all steps and keeps the memory for the next execution, whose steps are recorded.
    pub fn clear(&mut self) {
        self.data.discards_steps = false;
        self.data.counted = 0;
        self.data.latest_counted = None;
        self.data.choices.clear();
        *self.data.drawing.get_mut() = ptr::null_mut();
        self.data.steps.clear();
        self.data.more.clear();
        self.data.receipts.clear();
        self.data.changes.clear();
        self.data.notes.clear();
    }
}
