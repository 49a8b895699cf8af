//! The way back to one who asked and waits.

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use raddle_engine::ids::{ObjectId, StepIx, TaskId};
use raddle_engine::trace::{Class, Effect, Operation, Ordered, Receipt, Role, Site};

use crate::actor::digest::mix;
use crate::coroutine::current;
use crate::execution::{Ask, Progress, here};

static REPLY: Operation = Operation { verb: "reply", class: Class::Send };
static AWAIT_REPLY: Operation = Operation { verb: "receive the reply to", class: Class::Receive };

/// Answers a request that [somebody waits](crate::actor::Context::ask) for the answer to. Part of the request.
pub struct ReplyTo<R>(Back<R>);

enum Back<R> {
    Task { slot: Slot<R>, object: ObjectId, execution: u64 },
    Free(SyncSender<R>),
}

type Slot<R> = Arc<Mutex<Option<(R, u64)>>>;

/// What the one who asked keeps.
pub(crate) struct Awaited<R> {
    slot: Slot<R>,
    object: ObjectId,
    asked: TaskId,
    site: Site,
}

impl<R: Send + 'static> ReplyTo<R> {
    pub(crate) fn free() -> (Self, Receiver<R>) {
        let (sender, receiver) = sync_channel(1);
        (Self(Back::Free(sender)), receiver)
    }

    pub(crate) fn task(object: ObjectId, execution: u64, asked: TaskId, site: Site) -> (Self, Awaited<R>) {
        let slot = Slot::default();
        (Self(Back::Task { slot: slot.clone(), object, execution }), Awaited { slot, object, asked, site })
    }

    /// Gives the answer.
    ///
    /// # Panics
    ///
    /// If the one who asked belongs to an execution that is over.
    #[track_caller]
    pub fn reply(self, answer: R) {
        let site = here();
        match self.0 {
            // Whoever asked may have ended; then nobody wants to know.
            Back::Free(sender) => drop(sender.send(answer)),
            Back::Task { slot, object, execution: number } => {
                let replied = current::with(|execution| {
                    if execution.state.borrow().number != number {
                        return false;
                    }
                    let ask = Ask::new(&REPLY, object, Effect::Change, site);
                    execution.step_unseen(Ask { role: Role::Gives, ordered: Ordered::RELEASE, ..ask }, |moment| {
                        let task = moment.state.current;
                        let name = moment.state.actors.party(task).name;
                        *moment.word() = 1;
                        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some((answer, name));
                    });
                    true
                });
                assert!(replied == Some(true), "raddle: this reply goes to an execution that is over");
            }
        }
    }
}

impl<R> Awaited<R> {
    /// Waits for the answer.
    pub(crate) fn wait(self) -> R {
        let ready: fn(u64, u64) -> bool = |word, _| word != 0;
        let answer = current::with(|execution| {
            let ask = Ask::new(&AWAIT_REPLY, self.object, Effect::Change, self.site);
            let ask = Ask {
                role: Role::Takes,
                ordered: Ordered::ACQUIRE,
                ready: Some(ready),
                asked: Some(self.asked),
                ..ask
            };
            execution.step(ask, |moment| {
                moment.progress(Progress::Changed);
                let (answer, sender) = self.slot.lock().unwrap_or_else(PoisonError::into_inner).take()?;
                let task = moment.state.current;
                let receiver = moment.state.actors.party(task).name;
                let step = StepIx::next_of(moment.state.trace.len() - 1);
                let message = mix(mix(sender, receiver), u64::from(step.number()));
                let label = std::any::type_name::<R>();
                let receipt = Receipt { step, sender, receiver, message, label, reply: true, changed: false };
                moment.state.trace.receive(receipt);
                Some(answer)
            })
        });
        answer.flatten().expect("raddle bug: a reply without an answer")
    }
}

impl<R> fmt::Debug for ReplyTo<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyTo").finish_non_exhaustive()
    }
}
