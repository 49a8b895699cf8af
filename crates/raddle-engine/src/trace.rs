//! The steps of an execution, and which objects each of them accessed.

mod access;
mod step;

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Relaxed};

pub use self::access::{Access, Delivery, Effect, Offer, Ordered, Role};
pub use self::step::{Class, Context, Hold, Note, Operation, Receipt, Site, Step, Word};
use crate::forward::Taken;
use crate::ids::{StepIx, TaskId};
use crate::system::Choice;

/// The number of the next recording.
static NEXT_RECORDING: AtomicU64 = AtomicU64::new(1);

/// The steps of an execution so far, in order. Cheap to move: the search lends it to the program for every step.
#[derive(Debug, Default)]
pub struct Trace {
    data: Box<TraceData>,
}

#[derive(Debug, Default)]
struct TraceData {
    /// Identifies what is recorded; 0 if that was never [begun](Trace::begin_like).
    recording: u64,
    /// An earlier recording that begins with the same steps, and how many.
    like: (u64, usize),
    /// Steps are only counted and not recorded.
    discards_steps: bool,
    /// The number of counted steps.
    counted: usize,
    /// The latest counted step, as far as it is known.
    latest_counted: Option<Latest>,
    /// The choices between several alternatives that led to the counted steps, without those that are being drawn.
    choices: Vec<Choice>,
    /// The choices that are being drawn; null if none are.
    drawing: AtomicPtr<Taken>,
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

    /// Begins to record another execution, whose first `steps` steps will be the same as in `earlier`.
    pub(crate) fn begin_like(&mut self, earlier: &Self, steps: usize) {
        self.clear();
        self.data.recording = NEXT_RECORDING.fetch_add(1, Relaxed);
        self.data.like = (earlier.data.recording, steps);
    }

    /// Identifies the execution that is recorded; 0 if it has no number.
    #[inline]
    #[must_use]
    pub fn recording(&self) -> u64 {
        self.data.recording
    }

    /// An earlier recording that begins with the same steps, and how many these are.
    #[must_use]
    pub fn like(&self) -> (u64, usize) {
        self.data.like
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
    pub(crate) fn draw(&mut self, draws: *mut Taken) {
        *self.data.drawing.get_mut() = draws;
    }

    /// The choices that led to counted steps, oldest first, without those that are [being drawn](Self::drawing).
    #[must_use]
    pub fn choices(&self) -> &[Choice] {
        &self.data.choices
    }

    /// The address of the choices that are being drawn while an execution runs [with random
    /// choices](crate::system::Forward::run_forward); null otherwise. A crash handler uses it to find the schedule.
    #[must_use]
    pub fn drawing(&self) -> *const Taken {
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
    #[inline(always)]
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

    /// Removes everything after `mark`, to record other steps from there. What is recorded has no number from now on.
    pub(crate) fn continue_from(&mut self, mark: Mark) {
        self.truncate(mark);
        self.data.recording = 0;
    }

    /// Removes all steps and keeps the memory for the next execution, whose steps are recorded.
    pub fn clear(&mut self) {
        self.data.recording = 0;
        self.data.like = (0, 0);
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
