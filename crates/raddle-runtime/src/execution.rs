//! One execution: its tasks, the objects they share, and how an operation becomes a step.
//!
//! A primitive (a mutex, an atomic) asks for an operation with [`ObjectRef::step`]. The task pauses there until the engine chooses it, and
//! only then does the operation take effect. While the task is paused, the engine sees what it [asks for](Ask). So the engine knows the
//! next operation of each task before it happens.

mod budget;
mod crash_view;
mod enabled;
mod ending;
mod facts;
mod frames;
mod object;
mod record;
mod settings;
mod spin;
mod stalling;
mod state;
mod task;
mod unwinding;

use std::cell::{Cell, RefCell};
use std::panic::{self, Location};

use raddle_engine::forward::ForwardChoices;
use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::Failure;
use raddle_engine::system::{Action, Variant};
use raddle_engine::trace::{Access, Effect, Hold, Operation, Ordered, Role, Site, Step, Word};

pub use self::facts::{Facts, RunsOn, Spot};
pub(crate) use self::frames::Contexts;
pub(crate) use self::object::{Kind, Met, Object, ObjectRef, Tag, word_as_number};
pub use self::settings::{LeakedThreads, Settings, Timeouts};
pub(crate) use self::state::{Newborn, State};
pub(crate) use self::task::{Status, Task};
use crate::coroutine::RunningFiber;
use crate::coroutine::act::Act;
use crate::coroutine::current;
use crate::crash;

/// The running execution, shared by the code of its tasks and by the [`System`](crate::threads) that drives them.
pub(crate) struct Execution {
    /// The fiber that runs now. The running task hands control back through it.
    pub(crate) fiber: RunningFiber,
    /// Borrowed for short times only, never while a task is resumed or suspended.
    pub(crate) state: RefCell<State>,
    /// What tasks draw from while the program runs forward.
    pub(crate) drawing: RefCell<Drawing>,
    /// The task to be resumed when the running one has paused, if that has drawn it. The operation of the task has taken effect.
    pub(crate) next: Cell<Option<TaskId>>,
    /// The task whose handler runs on a borrowed stack.
    pub(crate) handles: Cell<TaskId>,
    /// True if the panic hook has seen that the running task is about to abort the process. The handler of `SIGABRT` then cuts the task
    /// off instead.
    pub(crate) aborting: Cell<bool>,
    /// True while the execution resumes tasks only to unwind them, because they can never go on.
    pub(crate) unwinds_all: Cell<bool>,
    /// True if an atomic operation or a fence used an ordering weaker than `SeqCst`. It is here and not in the state, because setting it
    /// must be cheap.
    pub(crate) weak_orderings: Cell<bool>,
}

/// What tasks draw from while the program runs forward. The system has it while no task runs.
#[derive(Default)]
pub(crate) struct Drawing {
    pub(crate) choices: ForwardChoices,
    /// The enabled actions, as they were last listed.
    pub(crate) actions: Vec<Action>,
}

/// The operation that a task wants to do next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask {
    pub(crate) op: &'static Operation,
    pub(crate) object: ObjectId,
    /// The effect as far as it is known before the operation happens.
    pub(crate) effect: Effect,
    pub(crate) role: Role,
    pub(crate) ordered: Ordered,
    pub(crate) site: Site,
    /// Whether the operation is enabled, given the object's word and `key`. `None` if it is always enabled.
    pub(crate) ready: Option<fn(u64, u64) -> bool>,
    /// What `ready` compares the word with.
    pub(crate) key: u64,
    /// The time at which a wait may time out.
    pub(crate) deadline: Option<u64>,
    /// True for an invisible operation: no other task can observe when it happens (a join of an ended task). It needs no decision.
    pub(crate) unseen: bool,
    /// The mailbox that the operation receives from.
    pub(crate) mail: Option<u32>,
    /// True if the operation enables only receivers of the mailboxes that [have changed](State::actors).
    pub(crate) posts: bool,
    /// True if a receiver may crash instead of receiving.
    pub(crate) may_crash: bool,
    /// True if the operation is enabled only when no other one is.
    pub(crate) quiet: bool,
    /// The task whose reply the operation waits for.
    pub(crate) asked: Option<TaskId>,
}

impl Ask {
    /// An operation that is always enabled.
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

/// The moment in which an operation takes effect. Its step is the latest one of the trace, if the trace records steps.
pub(crate) struct Moment<'a> {
    pub(crate) state: &'a mut State,
    object: ObjectId,
    variant: Variant,
    /// What the operation means to spin detection.
    progress: Progress,
}

/// What an operation means to [spin detection](spin).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The task has only looked at the object.
    Looked,
    /// The operation counts neither as a look nor as a change (taking a lock).
    Neutral,
    /// Other tasks may find the object different from before.
    Changed,
}

impl Moment<'_> {
    /// The object's word.
    #[inline]
    pub(crate) fn word(&mut self) -> &mut u64 {
        &mut self.state.objects[self.object.index()].word
    }

    /// The object of the operation.
    pub(crate) fn object(&self) -> ObjectId {
        self.object
    }

    /// How the operation was chosen: because it is enabled, because its time is over, or for no reason.
    pub(crate) fn variant(&self) -> Variant {
        self.variant
    }

    /// Calls `edit` with the step, if the trace records steps.
    #[inline]
    fn edit_step(&mut self, edit: impl FnOnce(&mut Step)) {
        if let Some(step) = self.state.trace.last_mut() {
            edit(step);
        }
    }

    /// Records the value that the operation found in the object.
    #[inline]
    pub(crate) fn found(&mut self, word: u64) {
        self.state.trace.found(Word(word));
    }

    /// Records that the operation changes the object only if it finds this value.
    #[inline]
    pub(crate) fn wants(&mut self, word: u64) {
        self.edit_step(|step| step.wants = Some(Word(word)));
    }

    /// Records the value that the operation left in the object.
    #[inline]
    pub(crate) fn left(&mut self, word: u64) {
        self.edit_step(|step| step.left = Some(Word(word)));
    }

    /// Records the operation as a read with this memory ordering: it turned out to change nothing.
    pub(crate) fn only_looked(&mut self, ordered: Ordered) {
        self.edit_step(|Step { access, .. }| {
            access.effect = Effect::Read;
            access.ordered = ordered;
        });
        self.progress = Progress::Looked;
    }

    /// Records that the operation enables the tasks that wait for the object.
    #[inline]
    pub(crate) fn gives(&mut self) {
        self.edit_step(|step| step.access.role = Role::Gives);
    }

    /// Sets what the operation means to spin detection, if that is not what its effect suggests.
    pub(crate) fn progress(&mut self, progress: Progress) {
        self.progress = progress;
    }

    /// Tells spin detection that the task has looked at the object from `site`.
    pub(crate) fn looked_from(&mut self, site: Site) {
        let version = self.state.objects[self.object.index()].version;
        self.state.somebody_looked = true;
        self.state.spin().looked(self.object, version, site);
    }

    /// Records that the operation changed nothing, with this memory ordering. The step remains a change for reduction, because what it
    /// found may depend on steps that are recorded as reads.
    pub(crate) fn changed_nothing(&mut self, ordered: Ordered) {
        self.edit_step(|step| step.access.ordered = ordered);
        self.progress = Progress::Looked;
    }

    /// Records that the operation accesses a further object.
    pub(crate) fn touch(&mut self, access: Access) {
        self.state.trace.touch(access);
        if access.effect == Effect::Change {
            self.state.objects[access.object.index()].version += 1;
            self.state.stale = true;
        }
    }

    /// Records that the task holds the object from now on.
    #[inline]
    pub(crate) fn hold(&mut self) {
        self.edit_step(|step| step.hold = Hold::Taken);
    }

    /// Records that the task no longer holds the object.
    #[inline]
    pub(crate) fn release(&mut self) {
        self.edit_step(|step| step.hold = Hold::Given);
    }
}

impl Execution {
    pub(crate) fn new() -> Self {
        Self {
            fiber: RunningFiber::default(),
            state: RefCell::new(State::default()),
            drawing: RefCell::default(),
            next: Cell::new(None),
            handles: Cell::new(TaskId::MAIN),
            aborting: Cell::new(false),
            unwinds_all: Cell::new(false),
            weak_orderings: Cell::new(false),
        }
    }

    /// Pauses the current task until the engine chooses it. Then the operation takes effect: `act` is called.
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
        state.take_context(&self.fiber);
        if self.unwinds_all.get() || ask.unseen && state.is_ready(ask) {
            if !state.is_ready(ask) {
                // This task is being unwound, and a destructor blocks. The execution abandons the task here.
                drop(state);
                loop {
                    self.fiber.suspend();
                }
            }
            return state.record(ask, Variant::Ready, act);
        }
        if state.settings.facts.runs_on != RunsOn::Never && state.runs_on(ask) {
            return state.record(ask, Variant::Ready, act);
        }
        state.note_if_unwinding();
        if !state.draws {
            state.ask(ask, Act::lend(act));
        } else if self.draw_next(&mut state, ask, act) {
            return;
        }
        drop(state);
        // When the task is resumed, the operation has taken effect. A task that can never go on is not resumed: the execution abandons
        // it with its stack as it is, unless the task holds a lock that outlives the execution.
        self.fiber.suspend();
        self.unwind_if_told();
    }

    /// Draws the next action while the program runs forward, where the current task asks for an operation, and lets it take effect. Does nothing but store
    /// the operation if more has to be found out first. Returns whether the current task was drawn and goes on.
    #[inline(never)]
    fn draw_next(&self, state: &mut State, ask: &Ask, act: &mut dyn FnMut(&mut Moment<'_>)) -> bool {
        state.find_races();
        state.judge(ask);
        let Drawing { choices, actions } = &mut *self.drawing.borrow_mut();
        let asking = state.current;
        let may_draw = state.nothing_but_steps() && choices.go_on(state.trace.len());
        if may_draw && state.update_actions(ask, actions) {
            let (task, variant) = state.choose(choices.draw(actions.len() as u32), actions);
            crash::note_step();
            if task == asking {
                state.go_on_with(ask, act);
                return true;
            }
            state.store(ask, Act::lend(act));
            state.take_effect(task, variant);
            self.next.set(Some(task));
            return false;
        }
        state.store(ask, Act::lend(act));
        may_draw && self.list_and_draw(state, choices, actions)
    }

    /// Lists the actions, as the list could not be brought up to date, and draws one. Returns whether the current task was drawn and goes on.
    #[inline(never)]
    fn list_and_draw(&self, state: &mut State, choices: &mut ForwardChoices, actions: &mut Vec<Action>) -> bool {
        let asking = state.current;
        if !state.list_if_awake(actions) {
            return false;
        }
        let task = state.take_action(choices.draw(actions.len() as u32), actions);
        crash::note_step();
        if task != asking {
            self.next.set(Some(task));
        }
        task == asking
    }

    /// Unwinds the current task if it can never go on, so that it releases locks that outlive the execution.
    #[inline(always)]
    fn unwind_if_told(&self) {
        if self.unwinds_all.get() && !std::thread::panicking() {
            panic::resume_unwind(Box::new(Unwound));
        }
    }

    /// Pauses the current task until the engine chooses it, then lets the operation take effect. `None` if the execution is over before
    /// that. The task is not unwound then, so the caller has to return. `before` is called at once in any case; `ask` is called to ask
    /// for the operation.
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
            state.take_context(&self.fiber);
            ask(&mut state, Act::lend(&mut take_effect));
        }
        self.fiber.suspend();
        result
    }

    /// Lets the operation take effect at once, without a decision. For invisible operations: no other task can observe when they happen.
    #[inline]
    pub(crate) fn step_unseen<R>(&self, ask: Ask, act: impl FnOnce(&mut Moment<'_>) -> R) -> R {
        let mut state = self.state.borrow_mut();
        state.take_context(&self.fiber);
        state.record(&ask, Variant::Ready, act)
    }

    /// Looks at an object where a wait begins. Other tasks can observe when this happens. So the look belongs to the latest decision for
    /// this task. But if another task has enabled this one since then, that decision is not the latest in every equivalent order, and
    /// the look gets a decision of its own.
    pub(crate) fn look<R>(&self, ask: Ask, look: impl FnOnce(&mut Moment<'_>) -> R) -> R {
        if self.state.borrow_mut().task().let_go { self.step(ask, look) } else { self.step_unseen(ask, look) }
    }

    /// Returns one of `choices` values, from 0. The strategy decides which.
    pub(crate) fn choose(&self, choices: u32, site: Site, op: &'static Operation) -> u32 {
        {
            let mut state = self.state.borrow_mut();
            if choices <= 1 {
                return 0;
            }
            state.take_context(&self.fiber);
            state.note_if_unwinding();
            state.data = Some((choices, site, op));
        }
        self.fiber.suspend();
        self.unwind_if_told();
        self.state.borrow().drawn
    }

    /// Ends the execution with a failure. The calling task never goes on; the execution abandons it.
    pub(crate) fn fail(&self, failure: Failure) -> ! {
        {
            let mut state = self.state.borrow_mut();
            state.note_if_unwinding();
            if state.outcome.is_none() {
                state.outcome = Some(failure.into());
            }
        }
        loop {
            self.fiber.suspend();
            self.unwind_if_told();
        }
    }
}

/// The panic payload that unwinds a task which can never go on and holds a lock that outlives the execution.
struct Unwound;

/// Whether the calling thread is unwinding because of a panic, as [`std::thread::panicking`].
#[must_use]
pub fn panicking() -> bool {
    std::thread::panicking() && current::with(|execution| execution.state.borrow().unwinds()).unwrap_or(true)
}

/// The place of the caller in the source.
#[track_caller]
pub(crate) fn here() -> Site {
    Location::caller()
}
