//! How an operation that a task asks for takes effect and becomes a step.

use raddle_engine::ids::TaskId;
use raddle_engine::system::Variant;
use raddle_engine::trace::{Access, Class, Effect, Hold, Note, Ordered, Role, Step};

use crate::coroutine::act::Act;
use crate::execution::state::State;
use crate::execution::{Ask, Moment, Progress};
use crate::time::CLOCK;

impl State {
    /// Stores what the current task asks for. The task is about to pause.
    #[inline(always)]
    pub(crate) fn ask(&mut self, ask: &Ask, act: Act) {
        if self.discards_steps {
            self.take_back_ask();
        }
        let task = &mut self.tasks[self.current.index()];
        task.asks = Some(*ask);
        task.act = Some(act);
        if !ask.object.is_some() {
            if ask.op.class == Class::Yield {
                self.judge_yielding(ask.site);
            }
            return;
        }
        let object = &mut self.objects[ask.object.index()];
        object.waiting += u32::from(ask.ready.is_some());
        object.waiting_unseen += u32::from(ask.unseen);
        let looks = matches!(
            ask.op.class,
            Class::Read | Class::Update | Class::Acquire | Class::Send | Class::Receive | Class::Wait | Class::Time
        );
        if looks {
            let spin = &mut self.spins[self.current.index()];
            if let Some(rounds) = spin.looks_again(ask.object, object.version, ask.site) {
                self.judge_spinning(ask.site, rounds);
            }
        }
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
        let before = if ask.object.is_some() { self.objects[ask.object.index()].word } else { 0 };
        let mut moment = Moment { state: self, object: ask.object, variant, progress };
        let result = act(&mut moment);
        let progress = moment.progress;
        if ask.object.is_some() {
            let after = self.objects[ask.object.index()].word;
            if before != after {
                self.spins[self.current.index()].replaced(ask.object, before, after);
            }
        }
        if ask.deadline.is_some() {
            self.trace.touch(end_of_timed_wait(variant));
        }
        self.note_progress(ask, progress);
        result
    }

    #[inline(always)]
    fn note_progress(&mut self, ask: &Ask, progress: Progress) {
        let spin = &mut self.spins[self.current.index()];
        if ask.object.is_some() {
            let object = &mut self.objects[ask.object.index()];
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
            // Operations of these classes change only their own object. Others may enable any task.
            self.cells_touched |= ask.op.class == Class::Cell;
            let alone = matches!(
                ask.op.class,
                Class::Read | Class::Write | Class::Update | Class::Cell | Class::Acquire | Class::Release
            );
            self.stale |= !ask.posts && (!alone || object.waiting > 0) || object.watched;
            self.unsettled |= object.waiting_unseen > 0;
        }
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
        self.turns += 1;
        self.tasks[task.index()].turns += 1;
        if self.alternatives > 1 || self.resting.is_some() {
            self.note_turn(task, ask.op.class);
        }
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
