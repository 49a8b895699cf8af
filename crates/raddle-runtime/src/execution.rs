//! One execution: its tasks, the objects they share, and how an operation becomes a step.
//!
//! A primitive (a mutex, an atomic) asks for an operation with [`Place::step`]; the task pauses there until the engine
//! chooses it, and only then does the operation take effect. In between, the engine sees what the task
//! [asks for](Ask), so what a task will do next is known before it is done.

mod object;
mod spin;
mod state;
mod task;

use std::cell::RefCell;
use std::panic::{self, Location};

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::system::Variant;
use raddle_engine::trace::{Access, Effect, Operation, Ordered, Site, Step, Word};

pub(crate) use self::object::{Kind, Met, Object, Place, Tag, word_as_number};
pub use self::state::Settings;
pub(crate) use self::state::{Newborn, State};
pub(crate) use self::task::{Status, Task};
use crate::coroutine::Lane;

/// The running execution, shared by the code of its tasks and by the [`System`](crate::threads) that drives them.
pub(crate) struct Execution {
    /// How the running task hands control back.
    pub(crate) lane: Lane,
    /// Borrowed for moments only, never while control changes hands.
    pub(crate) state: RefCell<State>,
}

/// What a task wants to do next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) op: &'static Operation,
    pub(crate) object: ObjectId,
    /// As far as is known before it is done.
    pub(crate) effect: Effect,
    pub(crate) ordered: Ordered,
    pub(crate) site: Site,
    /// Whether it can be done, by the object's word and `key`; `None` if always.
    pub(crate) ready: Option<fn(u64, u64) -> bool>,
    /// What `ready` compares the word with.
    pub(crate) key: u64,
    /// When the wait may end although it is not ready.
    pub(crate) deadline: Option<u64>,
    /// Whether the wait may end for no reason.
    pub(crate) spurious: bool,
    /// Nobody can tell when it is done (joining an ended task), so it needs no decision.
    pub(crate) unseen: bool,
}

impl Ask {
    /// Something that can always be done.
    pub(crate) fn new(op: &'static Operation, object: ObjectId, effect: Effect, site: Site) -> Self {
        Self {
            op,
            object,
            effect,
            ordered: Ordered::RELAXED,
            site,
            ready: None,
            key: 0,
            deadline: None,
            spurious: false,
            unseen: false,
        }
    }
}

/// The moment in which an operation takes effect.
pub(crate) struct Moment<'a> {
    pub(crate) state: &'a mut State,
    pub(crate) step: &'a mut Step,
    /// Whether others can find the object different from before; decides what a spinning task waits for.
    progress: Progress,
}

/// What an operation means to those who spin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The task has only looked.
    Looked,
    /// Neither looked nor changed (taking a lock).
    Neutral,
    /// The object may be different now.
    Changed,
}

impl Moment<'_> {
    /// The object's word.
    pub(crate) fn word(&mut self) -> &mut u64 {
        &mut self.state.objects[self.step.access.object.index()].word
    }

    /// Who is doing this.
    pub(crate) fn task(&self) -> TaskId {
        self.step.task
    }

    /// Whether what was waited for came true, or the time, or nothing.
    pub(crate) fn variant(&self) -> Variant {
        self.step.variant
    }

    /// Shows what was found in the object.
    pub(crate) fn found(&mut self, word: u64) {
        self.step.found = Some(Word(word));
    }

    /// Shows what was left in the object.
    pub(crate) fn left(&mut self, word: u64) {
        self.step.left = Some(Word(word));
    }

    /// It turned out that nothing was changed, and that the memory is ordered like this.
    pub(crate) fn only_looked(&mut self, ordered: Ordered) {
        self.step.access.effect = Effect::Read;
        self.step.access.ordered = ordered;
        self.progress = Progress::Looked;
    }

    /// Says what this means to those who spin, where it is not what the access suggests.
    pub(crate) fn progress(&mut self, progress: Progress) {
        self.progress = progress;
    }

    /// Records a further object touched.
    pub(crate) fn touch(&mut self, access: Access) {
        self.state.touched.push(access);
        if access.effect == Effect::Change {
            self.state.objects[access.object.index()].version += 1;
        }
    }

    /// The task now holds the object.
    pub(crate) fn hold(&mut self) {
        self.state.holds.push((self.step.access.object, self.step.task, self.step.site));
    }

    /// The task no longer holds the object.
    pub(crate) fn release(&mut self) {
        self.state.release(self.step.access.object, self.step.task);
    }
}

/// What unwinds the tasks of an execution that is over.
pub(crate) struct Teardown;

impl Execution {
    pub(crate) fn new() -> Self {
        Self { lane: Lane::default(), state: RefCell::new(State::default()) }
    }

    /// Does what is asked once the engine chooses this task. `act` is called at the moment it takes effect.
    #[inline]
    pub(crate) fn step<R>(&self, ask: Ask, act: impl FnOnce(&mut Moment<'_>) -> R) -> R {
        let variant = self.pause(&ask);
        self.state.borrow_mut().record(&ask, variant, act)
    }

    /// Does what is asked at once, without a decision: for what no other task can notice.
    pub(crate) fn step_unseen<R>(&self, ask: Ask, act: impl FnOnce(&mut Moment<'_>) -> R) -> R {
        self.state.borrow_mut().record(&ask, Variant::Ready, act)
    }

    /// Does what is asked once it is ready, without a decision, and is not unwound by teardown: what waits here must not end
    /// before what it waits for.
    pub(crate) fn outlast(&self, ask: Ask) {
        loop {
            {
                let mut state = self.state.borrow_mut();
                if state.is_ready(&ask) {
                    state.record(&ask, Variant::Ready, |_| ());
                    return;
                }
                state.ask(&ask, &self.lane);
            }
            self.lane.suspend();
        }
    }

    /// Waits until the engine chooses this task for what it asks.
    #[inline]
    fn pause(&self, ask: &Ask) -> Variant {
        // A task that unwinds does not wait to be chosen: its destructors run as one with the panic, unless they block.
        if std::thread::panicking() || self.state.borrow().tearing_down {
            return self.pause_at_the_end(ask);
        }
        {
            let mut state = self.state.borrow_mut();
            if ask.unseen && state.is_ready(ask) {
                return Variant::Ready;
            }
            state.ask(ask, &self.lane);
        }
        self.lane.suspend();
        let state = self.state.borrow();
        let variant = state.tasks[state.current.index()].resumed_by;
        let over = state.tearing_down;
        drop(state);
        if over { self.pause_at_the_end(ask) } else { variant }
    }

    /// Waiting while the task unwinds or the execution is torn down.
    #[cold]
    fn pause_at_the_end(&self, ask: &Ask) -> Variant {
        loop {
            let state = self.state.borrow();
            if state.tearing_down && !std::thread::panicking() {
                drop(state);
                panic::resume_unwind(Box::new(Teardown));
            }
            if state.is_ready(ask) {
                return Variant::Ready;
            }
            if ask.deadline.is_some() {
                return Variant::TimedOut;
            }
            drop(state);
            self.state.borrow_mut().ask(ask, &self.lane);
            self.lane.suspend();
        }
    }

    /// Draws one of `choices` values, as the strategy decides.
    pub(crate) fn choose(&self, choices: u32, site: Site, op: &'static Operation) -> u32 {
        if choices <= 1 || std::thread::panicking() || self.state.borrow().tearing_down {
            return 0;
        }
        self.state.borrow_mut().data = Some((choices, site, op));
        self.lane.suspend();
        if self.state.borrow().tearing_down && !std::thread::panicking() {
            panic::resume_unwind(Box::new(Teardown));
        }
        self.state.borrow().drawn
    }

    /// Ends the execution as failed, now: the task that calls this does not go on.
    pub(crate) fn fail(&self, failure: Failure) {
        {
            let mut state = self.state.borrow_mut();
            if state.outcome.is_none() {
                state.outcome = Some(failure.into());
            }
        }
        if !std::thread::panicking() {
            self.lane.suspend();
            panic::resume_unwind(Box::new(Teardown));
        }
    }
}

impl State {
    /// Whether the execution is decided.
    pub(crate) fn over(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }
}

/// The caller's place in the source.
#[track_caller]
pub(crate) fn here() -> Site {
    Location::caller()
}
