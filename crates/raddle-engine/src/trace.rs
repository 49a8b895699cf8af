//! The steps an execution has taken, and what each of them touched.

use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

use crate::ids::{ObjectId, StepIx, TaskId};
use crate::random_choices::Draws;
use crate::system::{Choice, Variant};

/// Where in the source an operation was asked for.
pub type Site = &'static Location<'static>;

/// A kind of operation, such as "lock" or "send". Each is one `static`, known by its address.
#[derive(Debug)]
pub struct Operation {
    /// What the report says the task does, as a verb: "lock", "load".
    pub verb: &'static str,
    /// What strategies need to know of it.
    pub class: Class,
}

/// What an operation is to a strategy, whichever kind of program it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Class {
    /// Looks at shared state.
    Read,
    /// Replaces shared state.
    Write,
    /// Looks at shared state and replaces it in one go.
    Update,
    /// Takes something others may hold.
    Acquire,
    /// Gives back what was taken.
    Release,
    /// Waits to be woken.
    Wait,
    /// Wakes those who wait.
    Notify,
    /// Puts a message somewhere.
    Send,
    /// Takes a message.
    Receive,
    /// Creates a task.
    Spawn,
    /// Learns that a task has ended.
    Join,
    /// Ends the task.
    Finish,
    /// Plain memory that must not be raced on.
    Cell,
    /// Orders the memory around the atomic accesses before and after it. Touches no object.
    Fence,
    /// Lets others go first.
    Yield,
    /// Looks at or waits for the clock.
    Time,
    /// Picks one of several values.
    Choice,
}

/// Whether an access looks or changes. Two accesses to one object are dependent if one of them changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Effect {
    /// The object is as it was.
    Read,
    /// The object may be different.
    Change,
}

/// How an access orders the memory around it; what data-race detection goes by.
///
/// Every object carries a clock of what was published through it. The three flags say what an access does to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ordered {
    /// The task learns what was published.
    pub acquire: bool,
    /// What was published before is no longer learnt from here on (a plain store ends a release sequence).
    pub reset: bool,
    /// The task publishes all it knows.
    pub release: bool,
}

impl Ordered {
    /// Orders nothing.
    pub const RELAXED: Self = Self { acquire: false, reset: false, release: false };
    /// The task learns.
    pub const ACQUIRE: Self = Self { acquire: true, reset: false, release: false };
    /// The task publishes.
    pub const RELEASE: Self = Self { acquire: false, reset: false, release: true };
    /// The task learns, then publishes.
    pub const BOTH: Self = Self { acquire: true, reset: false, release: true };
}

/// What an access is to those who wait. What gives lets somebody who takes go on: that is causality and not a race, for the
/// one cannot come before the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// Nobody waits for it, and it waits for nobody.
    #[default]
    Plain,
    /// Waits until the object can be taken.
    Takes,
    /// Waits until the object lets it go on, and may let others go on itself: the two sides of a bounded channel wait for each other.
    Waits,
    /// Lets those who wait to take the object go on.
    Gives,
    /// Looks at something that cannot change any more, so it needs no decision. In an order in which the object can still change, the same
    /// operation is a step of its own.
    Settled,
    /// Ends a wait that has a time, by this clock (which changes it) or otherwise (which does not): those whose time comes later
    /// waited for that.
    Timed,
    /// Whoever receives at the object may take the message that this step sends. Orders nothing: such an access is never
    /// dependent with another, and its effect does not count.
    Offers(Offer),
    /// A side of the object that no two tasks can be at (the receiving end of a channel). Orders nothing either: what the step
    /// depends on is said by its further accesses.
    Alone,
}

impl Role {
    /// Whether accesses of this role are never dependent with others.
    #[must_use]
    pub const fn orders_nothing(self) -> bool {
        matches!(self, Self::Offers(_) | Self::Alone)
    }
}

/// A message, as those see it who may receive it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Offer {
    /// Which it is; a receive takes it in the way of [`Variant::Message`] with this number.
    pub message: u32,
    /// Which messages come before it.
    pub delivery: Delivery,
    /// It is late: those that are sent after it need not wait for it.
    pub late: bool,
}

/// Which of the messages that wait in one place can be received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Delivery {
    /// Any.
    Unordered,
    /// Those before which their sender has not sent another.
    PerSender,
    /// Those before which, as far as messages tell, nobody has sent another.
    Causal,
}

/// One object touched by a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// What was touched.
    pub object: ObjectId,
    /// Looked at or changed.
    pub effect: Effect,
    /// What it is to those who wait.
    pub role: Role,
    /// What memory order it brings.
    pub ordered: Ordered,
}

/// What happened between two decisions, as the report shows it and as reduction sees it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Who.
    pub task: TaskId,
    /// Which of the task's possibilities was taken.
    pub variant: Variant,
    /// Did what.
    pub op: &'static Operation,
    /// To what, and how. [`ObjectId::NONE`] if to nothing; a [fence](Class::Fence) orders memory all the same.
    pub access: Access,
    /// What was found there, if that is worth telling.
    pub found: Option<Word>,
    /// What was left there, if that is worth telling.
    pub left: Option<Word>,
    /// Whether the task holds the object from here on.
    pub hold: Hold,
    /// The operation changes the object only if it finds this there (a compare-exchange, a `try_lock`); `None` if it always
    /// does, never does, or it is not known.
    pub wants: Option<Word>,
    /// Where in the source.
    pub site: Site,
    /// How many alternatives there were at the point that led to this step; 0 if it followed from the step before without
    /// any decision.
    pub alternatives: u32,
    /// Where its further accesses begin among those of the whole trace.
    pub more: u32,
}

/// Whether a step makes its task a holder of what it touches; for telling who waits for whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hold {
    /// As it was.
    #[default]
    Unchanged,
    /// The task holds the object from here on.
    Taken,
    /// The task does not hold it any more.
    Given,
}

/// A message that was received, by names that are the same in every execution and survive most edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Which step received it.
    pub step: StepIx,
    /// The name of who sent it.
    pub sender: u64,
    /// The name of who received it.
    pub receiver: u64,
    /// The name of the message.
    pub message: u64,
    /// What the program calls such messages.
    pub label: &'static str,
    /// Whether it answers a request that its receiver waits for: a synchronous receive.
    pub reply: bool,
    /// Whether its receiver changed its behaviour while handling it.
    pub changed: bool,
}

/// The calls that led to an operation, in words that are the same in the next build as far as the source is. Each is one value
/// that stays, as a [`Site`] is; there may be several with the same words.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Context {
    /// The innermost first.
    pub calls: Vec<String>,
}

/// What a step means to those who decide by more than what it touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// It has sent a message to this task.
    Sent(TaskId),
    /// The program has said this.
    Hint(u64),
    /// These calls have led to it; only if the program was asked to find that out.
    Context(&'static Context),
    /// It has found this behind a lock that it took or in a message, or its task has left this behind a lock after it. Only for comparing runs:
    /// nobody decides by it.
    Contents(Word),
}

/// A value small enough to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Word(pub u64);

/// The steps taken so far, in order. Cheap to pass on: a search lends it to the program for every step.
#[derive(Debug, Default)]
pub struct Trace {
    data: Box<TraceData>,
}

#[derive(Debug, Default)]
struct TraceData {
    /// Nobody will look at the steps, so they are only counted.
    discards_steps: bool,
    /// How many were counted.
    counted: usize,
    /// The latest of those that were counted, as far as is known.
    latest_counted: Option<Latest>,
    /// The choices between several alternatives that led to the counted steps, but for those that are being drawn.
    choices: Vec<Choice>,
    /// The choices that are being drawn; null if none are.
    drawing: AtomicPtr<Draws>,
    steps: Vec<Step>,
    more: Vec<Access>,
    receipts: Vec<Receipt>,
    /// Receipts that came to be ones that [changed](Receipt::changed) their receiver's behaviour, in that order.
    changes: Vec<u32>,
    /// By the latest step before each.
    notes: Vec<(StepIx, Note)>,
}

/// The latest step of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Latest {
    /// Who.
    pub task: TaskId,
    /// Did what.
    pub op: &'static Operation,
    /// Where in the source.
    pub site: Site,
}

/// How far a trace has come, to be [gone back](Trace::truncate) to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    steps: usize,
    more: usize,
    receipts: usize,
    changes: usize,
    notes: usize,
}

impl Mark {
    /// How many steps there were.
    #[must_use]
    pub const fn steps(self) -> usize {
        self.steps
    }
}

impl Trace {
    /// How many steps there are.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.data.counted + self.data.steps.len()
    }

    /// Whether nothing has happened yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// From here on steps are only counted, as nobody will look at them; for ever, until it is [cleared](Self::clear).
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

    /// Counts a step that is not kept.
    #[inline]
    pub fn count(&mut self) {
        debug_assert!(self.data.discards_steps, "raddle bug: a step is lost");
        self.data.counted += 1;
    }

    /// Keeps a choice between several alternatives, where the step that it leads to is only counted. Called by the search before that step.
    #[inline]
    pub(crate) fn choose(&mut self, choice: Choice) {
        self.data.choices.push(choice);
    }

    /// Says where the choices are that are being drawn; null if they are not any more.
    pub(crate) fn draw(&mut self, draws: *mut Draws) {
        *self.data.drawing.get_mut() = draws;
    }

    /// The choices that led to steps that were only counted, oldest first, but for those that are [being drawn](Self::drawing).
    #[must_use]
    pub fn choices(&self) -> &[Choice] {
        &self.data.choices
    }

    /// Where the choices are that are being drawn while an execution runs [with random choices](crate::system::Untraced::run_randomly); null otherwise. For
    /// those who have to tell, in the middle of that, how the execution came to where it is.
    #[must_use]
    pub fn drawing(&self) -> *const Draws {
        self.data.drawing.load(Relaxed)
    }

    /// The latest step, also if steps are only counted, as far as it is known then.
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

    /// The latest step, if it is kept.
    #[inline]
    #[must_use]
    pub fn last(&self) -> Option<&Step> {
        self.data.steps.last()
    }

    /// The latest step, if it is kept, for the [`System`](crate::system::System) that is still taking it.
    #[inline]
    pub fn last_mut(&mut self) -> Option<&mut Step> {
        self.data.steps.last_mut()
    }

    /// The latest step has found this.
    #[inline]
    pub fn found(&mut self, word: Word) {
        if let Some(step) = self.last_mut() {
            step.found = Some(word);
        }
    }

    /// Everything a step touched: its own access first, then the further ones.
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

    /// The messages that were received, oldest first; only of programs that name their messages.
    #[must_use]
    pub fn receipts(&self) -> &[Receipt] {
        &self.data.receipts
    }

    /// Adds what the latest step received. Called by a [`System`](crate::system::System) as it advances.
    #[inline]
    pub fn receive(&mut self, receipt: Receipt) {
        if self.data.discards_steps {
            return;
        }
        self.data.receipts.push(receipt);
    }

    /// Adds what is to be known of the latest step. Called by a [`System`](crate::system::System) as it advances.
    #[inline]
    pub fn note(&mut self, note: Note) {
        if self.data.discards_steps {
            return;
        }
        self.data.notes.push((StepIx::next_of(self.len().saturating_sub(1)), note));
    }

    /// What is to be known of the steps from `first` on, oldest first.
    #[inline]
    #[must_use]
    pub fn notes_from(&self, first: StepIx) -> &[(StepIx, Note)] {
        // Who asks has come nearly as far, so they are counted from the end.
        let new = self.data.notes.iter().rev().take_while(|note| note.0 >= first).count();
        &self.data.notes[self.data.notes.len() - new..]
    }

    /// What tasks have found and left behind locks, with the latest step at that time, oldest first.
    pub fn contents(&self) -> impl Iterator<Item = (StepIx, Word)> + '_ {
        self.data.notes.iter().filter_map(|(step, note)| match note {
            Note::Contents(word) => Some((*step, *word)),
            _ => None,
        })
    }

    /// The latest receipt of `receiver` counts as one that changed its behaviour.
    pub fn change_behaviour(&mut self, receiver: u64) {
        let latest = self.data.receipts.iter().rposition(|receipt| receipt.receiver == receiver);
        if let Some(latest) = latest.filter(|at| !self.data.receipts[*at].changed) {
            self.data.receipts[latest].changed = true;
            self.data.changes.push(StepIx::next_of(latest).number());
        }
    }

    /// How far it has come.
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

    /// Goes back to how it was at `mark`. What has been [said of a step](Self::last_mut) since then stays said.
    ///
    /// # Panics
    ///
    /// If it has not come that far.
    pub fn truncate(&mut self, mark: Mark) {
        let data = &mut *self.data;
        assert!(mark.steps <= data.steps.len(), "raddle bug: {mark:?} lies beyond {} steps", data.steps.len());
        for change in data.changes.drain(mark.changes..) {
            data.receipts[change as usize].changed = false;
        }
        data.steps.truncate(mark.steps);
        data.more.truncate(mark.more);
        data.receipts.truncate(mark.receipts);
        data.notes.truncate(mark.notes);
    }

    /// Forgets all steps and keeps the memory for the next execution, whose steps are kept.
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
