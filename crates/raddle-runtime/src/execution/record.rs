//! How an operation that a task asks for takes effect and becomes a step.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::system::{Action, Choice, Variant};
use raddle_engine::trace::{Access, Class, Effect, Hold, Note, Ordered, Role, Step};

use crate::coroutine::act::Act;
use crate::execution::state::State;
use crate::execution::{Ask, Moment, Progress};
use crate::time::CLOCK;

impl State {
    /// Stores what the current task asks for. The task is about to pause.
    #[inline(always)]
    pub(crate) fn ask(&mut self, ask: &Ask, act: Act) {
        self.judge(ask);
        self.store(ask, act);
    }

    /// Decides whether the current task spins, which is about to ask for an operation.
    #[inline(always)]
    pub(crate) fn judge(&mut self, ask: &Ask) {
        match ask.op.class {
            Class::Yield if !ask.object.is_some() => self.judge_yielding(ask.site),
            Class::Read | Class::Update | Class::Acquire | Class::Send | Class::Receive | Class::Wait | Class::Time
                if ask.object.is_some() =>
            {
                let version = self.objects[ask.object.index()].version;
                let spin = &mut self.spins[self.current.index()];
                if let Some(rounds) = spin.looks_again(ask.object, version, ask.site) {
                    self.judge_spinning(ask.site, rounds);
                }
            }
            _ => {}
        }
    }

    /// Stores what the current task asks for, after it was [judged](Self::judge).
    #[inline(always)]
    pub(crate) fn store(&mut self, ask: &Ask, act: Act) {
        if self.discards_steps {
            self.take_back_ask();
        }
        let task = &mut self.tasks[self.current.index()];
        task.asks = Some(*ask);
        task.act = Some(act);
        if ask.ready.is_some() {
            let object = &mut self.objects[ask.object.index()];
            object.waiting += 1;
            object.waiting_unseen += u32::from(ask.unseen);
        }
    }

    /// Lets the operation that the current task asks for take effect at once: it was drawn.
    #[inline(always)]
    pub(crate) fn go_on_with(&mut self, ask: &Ask, act: &mut dyn FnMut(&mut Moment<'_>)) {
        self.count_turn(self.current, ask.op.class);
        self.record(ask, Variant::Ready, act);
    }

    /// Lets an operation of the current task take effect and records it as a step.
    #[inline(always)]
    pub(crate) fn record<R>(&mut self, ask: &Ask, variant: Variant, act: impl FnOnce(&mut Moment<'_>) -> R) -> R {
        let task = self.current;
        if self.alternatives > 0 {
            self.tasks[task.index()].let_go = false;
        } else if ask.unseen {
            self.tasks[task.index()].let_go = true;
        }
        // A wait that times out does not change the object it waited for.
        let effect = if variant == Variant::TimedOut { Effect::Read } else { ask.effect };
        self.trace.push(Step {
            task,
            variant,
            op: ask.op,
            access: Access { object: ask.object, effect, role: role(ask, variant), ordered: ask.ordered },
            found: None,
            left: None,
            hold: Hold::Unchanged,
            wants: None,
            site: ask.site,
            alternatives: std::mem::take(&mut self.alternatives),
            more: 0,
        });
        if let Some(contexts) = &mut self.contexts
            && let Some(context) = contexts.take_of(task)
        {
            self.trace.note(Note::Context(context));
        }
        let progress = match ask.effect {
            Effect::Change if variant == Variant::Ready => Progress::Changed,
            _ => Progress::Looked,
        };
        let before = self.objects.get(ask.object.index()).map_or(0, |object| object.word);
        let mut moment = Moment { state: self, object: ask.object, variant, progress };
        let result = act(&mut moment);
        let progress = moment.progress;
        if ask.deadline.is_some() {
            self.trace.touch(end_of_timed_wait(variant));
            // Other waits may time out now that were held back by this deadline.
            self.stale = true;
        }
        if ask.object.is_some() {
            self.note_progress(task, ask, before, progress);
        }
        result
    }

    /// An operation of `task` has taken effect on its object, whose word was `before`.
    #[inline(always)]
    fn note_progress(&mut self, task: TaskId, ask: &Ask, before: u64, progress: Progress) {
        let spin = &mut self.spins[task.index()];
        let object = &mut self.objects[ask.object.index()];
        if object.word != before {
            spin.replaced(ask.object, before, object.word);
        }
        match progress {
            Progress::Looked => {
                self.somebody_looked = true;
                spin.looked(ask.object, object.version, ask.site);
            }
            Progress::Neutral => {}
            Progress::Changed => {
                object.version += 1;
                self.changes += 1;
                spin.changed();
            }
        }
        self.cells_touched |= ask.op.class == Class::Cell;
        // Operations of these classes change only their own object. Others may enable any task.
        let alone = match ask.op.class {
            Class::Read | Class::Write | Class::Update | Class::Cell | Class::Acquire | Class::Release => true,
            // Without actors, these are operations on channels.
            Class::Send | Class::Receive => self.actors.mailboxes.is_empty(),
            _ => false,
        };
        if !ask.posts && !alone || object.watched {
            self.stale = true;
        } else if object.waiting > 0 && !ask.posts {
            // The list can be brought up to date after a change of one object, not of several.
            self.stale |= self.waited_for.is_some() && self.waited_for != ask.object;
            self.waited_for = ask.object;
        }
        self.unsettled |= object.waiting_unseen > 0;
    }

    /// One of the listed actions was chosen, and is to take effect next.
    #[inline(always)]
    pub(crate) fn choose(&mut self, choice: Choice, actions: &[Action]) -> (TaskId, Variant) {
        let Action { task, variant, .. } = actions[choice.index()];
        self.taken = Some(choice.index());
        self.alternatives = actions.len() as u32;
        (task, variant)
    }

    /// Lets one of the listed actions take effect. Returns its task.
    #[inline(always)]
    pub(crate) fn take_action(&mut self, choice: Choice, actions: &[Action]) -> TaskId {
        let (task, variant) = self.choose(choice, actions);
        self.take_effect(task, variant);
        task
    }

    /// Counts that `task` was chosen for an operation of this class.
    #[inline(always)]
    fn count_turn(&mut self, task: TaskId, class: Class) {
        self.turns += 1;
        self.tasks[task.index()].turns += 1;
        if self.alternatives > 1 || self.resting.is_some() {
            self.note_turn(task, class);
        }
    }

    /// Gives the current task the value that was chosen for it. Returns the task.
    pub(crate) fn take_value(&mut self, choice: Choice) -> TaskId {
        let (choices, site, op) = self.data.take().expect("raddle bug: nobody has asked for a value");
        self.taken = None;
        self.alternatives = choices;
        self.drawn = choice.0;
        let ask = Ask::new(op, ObjectId::NONE, Effect::Read, site);
        self.record(&ask, Variant::Ready, |moment| moment.found(u64::from(choice.0)));
        self.stale = true;
        self.current
    }

    /// The engine has chosen `task` and how its operation ends. Lets the operation take effect.
    #[inline(always)]
    pub(crate) fn take_effect(&mut self, task: TaskId, variant: Variant) {
        self.current = task;
        let chosen = &mut self.tasks[task.index()];
        let (Some(ask), Some(act)) = (chosen.asks.take(), chosen.act.take()) else {
            unreachable!("raddle bug: a task that asks for nothing was chosen");
        };
        if ask.ready.is_some() {
            let object = &mut self.objects[ask.object.index()];
            object.waiting -= 1;
            object.waiting_unseen -= u32::from(ask.unseen);
        }
        self.count_turn(task, ask.op.class);
        if let Variant::Message(_) = variant {
            self.go_on(task);
        } else if variant != Variant::Ready {
            self.stale = true;
            self.go_on(task);
            if variant == Variant::TimedOut {
                self.move_clock(ask.deadline.expect("raddle bug: a wait without a time timed out"));
            }
        }
        self.record(&ask, variant, |moment| act.call(moment));
    }

    /// Tells spin detection that the current task has changed a mailbox. No task spins on mailboxes.
    #[inline]
    pub(crate) fn note_change(&mut self) {
        self.changes += 1;
        if self.somebody_looked {
            self.spins[self.current.index()].changed();
        }
    }

    /// Counts a decision for `task`, one of `alternatives`. The caller lets the operation take effect.
    #[inline]
    pub(crate) fn begin_turn(&mut self, task: TaskId, alternatives: u32) {
        self.current = task;
        self.turns += 1;
        self.tasks[task.index()].turns += 1;
        if alternatives > 1 || self.resting.is_some() {
            self.note_turn(task, Class::Receive);
        }
    }
}

/// The access to the clock at the end of a timed wait. A timeout moves the clock. Any other end only lets the clock move past the deadline.
fn end_of_timed_wait(variant: Variant) -> Access {
    let effect = if variant == Variant::TimedOut { Effect::Change } else { Effect::Read };
    Access { object: CLOCK, effect, role: Role::Timed, ordered: Ordered::RELAXED }
}

/// The role of the step. A wait that times out, or ends for no reason, was enabled by no other task.
#[inline]
pub(super) fn role(ask: &Ask, variant: Variant) -> Role {
    match variant {
        Variant::TimedOut | Variant::Spurious => Role::Plain,
        Variant::Ready | Variant::Message(_) => ask.role,
    }
}
