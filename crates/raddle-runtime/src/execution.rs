//! One execution: its tasks, the objects they share, and how an operation becomes a step.
//!
//! A primitive (a mutex, an atomic) asks for an operation with [`Place::step`]; the task pauses there until the engine
//! chooses it, and only then does the operation take effect. In between, the engine sees what the task
//! [asks for](Ask), so what a task will do next is known before it is done.

mod budget;
mod enabled;
mod ending;
mod facts;
mod frames;
mod object;
mod participants;
mod record;
mod settings;
mod spin;
mod stalling;
mod state;
mod task;
mod unwinding;

use std::cell::{Cell, RefCell};
use std::panic::{self, Location};

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::Failure;
use raddle_engine::random_choices::RandomChoices;
use raddle_engine::system::Variant;
use raddle_engine::trace::{Access, Effect, Hold, Operation, Ordered, Role, Site, Step, Word};

pub use self::facts::{Facts, Spot};
pub(crate) use self::frames::Contexts;
pub(crate) use self::object::{Kind, Met, Object, Place, Tag, word_as_number};
pub use self::settings::{LeakedThreads, Settings, Timeouts};
pub(crate) use self::state::{Newborn, State};
pub(crate) use self::task::{Status, Task};
use crate::coroutine::Lane;
use crate::coroutine::act::Act;
use crate::coroutine::current;

/// The running execution, shared by the code of its tasks and by the [`System`](crate::threads) that drives them.
pub(crate) struct Execution {
    /// How the running task hands control back.
    pub(crate) lane: Lane,
    /// Borrowed for moments only, never while control changes hands.
    pub(crate) state: RefCell<State>,
    /// Where choices are drawn from, while they are drawn [by lot](crate::actor).
    pub(crate) lots: RefCell<RandomChoices>,
    /// The task whose handler runs on a stack that is lent.
    pub(crate) handles: Cell<TaskId>,
    /// A task is on its way to abort the process, which is not to happen.
    pub(crate) aborting: Cell<bool>,
    /// Tasks that can never go on are resumed to be unwound.
    pub(crate) unwinds_all: Cell<bool>,
    /// An atomic operation or a fence used an ordering weaker than `SeqCst`. Here and not in the state, as a store must be cheap.
    pub(crate) weak_orderings: Cell<bool>,
}

/// What a task wants to do next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) op: &'static Operation,
    pub(crate) object: ObjectId,
    /// As far as is known before it is done.
    pub(crate) effect: Effect,
    pub(crate) role: Role,
    pub(crate) ordered: Ordered,
    pub(crate) site: Site,
    /// Whether it can be done, by the object's word and `key`; `None` if always.
    pub(crate) ready: Option<fn(u64, u64) -> bool>,
    /// What `ready` compares the word with.
    pub(crate) key: u64,
    /// When the wait may end although it is not ready.
    pub(crate) deadline: Option<u64>,
    /// Nobody can tell when it is done (joining an ended task), so it needs no decision.
    pub(crate) unseen: bool,
    /// It receives from this mailbox.
    pub(crate) mail: Option<u32>,
    /// Whom it lets go on is said by the mailboxes that [have changed](State::actors).
    pub(crate) posts: bool,
    /// Whoever waits for mail may crash instead.
    pub(crate) may_crash: bool,
    /// It can be done when nothing else can.
    pub(crate) quiet: bool,
    /// It waits for an answer of this task.
    pub(crate) asked: Option<TaskId>,
}

impl Ask {
    /// Something that can always be done.
    pub(crate) fn new(op: &'static Operation, object: ObjectId, effect: Effect, site: Site) -> Self {
        Self {
            op,
            object,
            effect,
            role: Role::Plain,
            ordered: Ordered::RELAXED,
            site,
            ready: None,
            key: 0,
            deadline: None,
            unseen: false,
            mail: None,
            posts: false,
            may_crash: false,
            quiet: false,
            asked: None,
        }
    }
}

/// The moment in which an operation takes effect. Its step is the latest of the trace, if steps are kept.
pub(crate) struct Moment<'a> {
    pub(crate) state: &'a mut State,
    object: ObjectId,
    variant: Variant,
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
    #[inline]
    pub(crate) fn word(&mut self) -> &mut u64 {
        &mut self.state.objects[self.object.index()].word
    }

    /// What it is done to.
    pub(crate) fn object(&self) -> ObjectId {
        self.object
    }

    /// Whether what was waited for came true, or the time, or nothing.
    pub(crate) fn variant(&self) -> Variant {
        self.variant
    }

    /// Says more of the step, if it is kept.
    #[inline]
    fn say(&mut self, say: impl FnOnce(&mut Step)) {
        if let Some(step) = self.state.trace.last_mut() {
            say(step);
        }
    }

    /// Shows what was found in the object.
    #[inline]
    pub(crate) fn found(&mut self, word: u64) {
        self.state.trace.found(Word(word));
    }

    /// It changes the object only where it finds this.
    #[inline]
    pub(crate) fn wants(&mut self, word: u64) {
        self.say(|step| step.wants = Some(Word(word)));
    }

    /// Shows what was left in the object.
    #[inline]
    pub(crate) fn left(&mut self, word: u64) {
        self.say(|step| step.left = Some(Word(word)));
    }

    /// It turned out that nothing was changed, and that the memory is ordered like this.
    pub(crate) fn only_looked(&mut self, ordered: Ordered) {
        self.say(|Step { access, .. }| {
            access.effect = Effect::Read;
            access.ordered = ordered;
        });
        self.progress = Progress::Looked;
    }

    /// It lets those who wait for the object go on.
    #[inline]
    pub(crate) fn gives(&mut self) {
        self.say(|step| step.access.role = Role::Gives);
    }

    /// Says what this means to those who spin, where it is not what the access suggests.
    pub(crate) fn progress(&mut self, progress: Progress) {
        self.progress = progress;
    }

    /// To those who spin, the task has looked at the object, from `site`.
    pub(crate) fn looked_from(&mut self, site: Site) {
        let version = self.state.objects[self.object.index()].version;
        self.state.somebody_looked = true;
        self.state.spin().looked(self.object, version, site);
    }

    /// It turned out that nothing was changed, and that the memory is ordered like this. The access still counts as a change:
    /// what it saw may be the work of accesses that count as reads.
    pub(crate) fn changed_nothing(&mut self, ordered: Ordered) {
        self.say(|step| step.access.ordered = ordered);
        self.progress = Progress::Looked;
    }

    /// Records a further object touched.
    pub(crate) fn touch(&mut self, access: Access) {
        self.state.trace.touch(access);
        if access.effect == Effect::Change {
            self.state.objects[access.object.index()].version += 1;
            self.state.stale = true;
        }
    }

    /// The task now holds the object.
    #[inline]
    pub(crate) fn hold(&mut self) {
        self.say(|step| step.hold = Hold::Taken);
    }

    /// The task no longer holds the object.
    #[inline]
    pub(crate) fn release(&mut self) {
        self.say(|step| step.hold = Hold::Given);
    }
}

impl Execution {
    pub(crate) fn new() -> Self {
        Self {
            lane: Lane::default(),
            state: RefCell::new(State::default()),
            lots: RefCell::default(),
            handles: Cell::new(TaskId::MAIN),
            aborting: Cell::new(false),
            unwinds_all: Cell::new(false),
            weak_orderings: Cell::new(false),
        }
    }

    /// Does what is asked once the engine chooses this task. `act` is called at the moment it takes effect.
    #[inline(always)]
    pub(crate) fn step<R>(&self, ask: Ask, act: impl FnOnce(&mut Moment<'_>) -> R) -> R {
        let mut act = Some(act);
        let mut result = None;
        let mut take_effect = |moment: &mut Moment<'_>| result = act.take().map(|act| act(moment));
        self.take_turn(&ask, &mut take_effect);
        result.expect("raddle bug: a task went on before its operation took effect")
    }

    #[inline(always)]
    fn take_turn(&self, ask: &Ask, act: &mut dyn FnMut(&mut Moment<'_>)) {
        let mut state = self.state.borrow_mut();
        state.take_context(&self.lane);
        if self.unwinds_all.get() || ask.unseen && state.is_ready(ask) {
            if !state.is_ready(ask) {
                // A task that is unwound and waits again is abandoned there.
                drop(state);
                loop {
                    self.lane.suspend();
                }
            }
            return state.record(ask, Variant::Ready, act);
        }
        if state.settings.facts.runs_on && state.runs_on(ask) {
            return state.record(ask, Variant::Ready, act);
        }
        state.note_if_unwinding();
        state.ask(ask, Act::lend(act));
        drop(state);
        // Whoever resumes the task has let the operation take effect. A task that can never go on is not resumed at all: its
        // execution abandons it with its stack as it is, unless it has to give back what outlives the execution.
        self.lane.suspend();
        self.unwind_if_told();
    }

    /// Unwinds a task that can never go on, so that it gives back locks that outlive the execution.
    #[inline(always)]
    fn unwind_if_told(&self) {
        if self.unwinds_all.get() && !std::thread::panicking() {
            panic::resume_unwind(Box::new(Unwound));
        }
    }

    /// Does what is asked once the engine chooses this task; `None` if the execution is over before that. Nothing is unwound then,
    /// so the caller has to end by itself. `before` is called at once in any case, `ask` where it is to be asked.
    #[inline]
    pub(crate) fn step_unless_over<R>(
        &self,
        before: impl FnOnce(&mut State),
        ask: impl FnOnce(&mut State, Act),
        act: impl FnOnce(&mut Moment<'_>) -> R,
    ) -> Option<R> {
        let mut act = Some(act);
        let mut result = None;
        let mut take_effect = |moment: &mut Moment<'_>| result = act.take().map(|act| act(moment));
        {
            let mut state = self.state.borrow_mut();
            before(&mut state);
            if state.over {
                return None;
            }
            state.take_context(&self.lane);
            ask(&mut state, Act::lend(&mut take_effect));
        }
        self.lane.suspend();
        result
    }

    /// Does what is asked at once, without a decision: for what no other task can tell the time of.
    #[inline]
    pub(crate) fn step_unseen<R>(&self, ask: Ask, act: impl FnOnce(&mut Moment<'_>) -> R) -> R {
        let mut state = self.state.borrow_mut();
        state.take_context(&self.lane);
        state.record(&ask, Variant::Ready, act)
    }

    /// Looks at something where a wait begins. Others can tell when, so the look belongs to the task's latest decision; if the task
    /// was let go on by others since, there is none that it could belong to in every order, and it is one of its own.
    pub(crate) fn look<R>(&self, ask: Ask, look: impl FnOnce(&mut Moment<'_>) -> R) -> R {
        if self.state.borrow_mut().task().let_go { self.step(ask, look) } else { self.step_unseen(ask, look) }
    }

    /// Draws one of `choices` values, as the strategy decides.
    pub(crate) fn choose(&self, choices: u32, site: Site, op: &'static Operation) -> u32 {
        {
            let mut state = self.state.borrow_mut();
            if choices <= 1 {
                return 0;
            }
            state.take_context(&self.lane);
            state.note_if_unwinding();
            state.data = Some((choices, site, op));
        }
        self.lane.suspend();
        self.unwind_if_told();
        self.state.borrow().drawn
    }

    /// Ends the execution as failed, now. The task that calls this never goes on; its execution abandons it.
    pub(crate) fn fail(&self, failure: Failure) -> ! {
        {
            let mut state = self.state.borrow_mut();
            state.note_if_unwinding();
            if state.outcome.is_none() {
                state.outcome = Some(failure.into());
            }
        }
        loop {
            self.lane.suspend();
            self.unwind_if_told();
        }
    }
}

/// What unwinds tasks that can never go on and hold locks that outlive the execution.
struct Unwound;

/// Whether the calling thread unwinds because of a panic, as [`std::thread::panicking`].
#[must_use]
pub fn panicking() -> bool {
    std::thread::panicking() && current::with(|execution| execution.state.borrow().unwinds()).unwrap_or(true)
}

/// The caller's place in the source.
#[track_caller]
pub(crate) fn here() -> Site {
    Location::caller()
}
