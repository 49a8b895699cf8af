//! Replies to requests whose sender waits for the answer.

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use raddle_engine::ids::{ObjectId, StepIx, TaskId};
use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Effect, Operation, Ordered, Receipt, Role, Site};

use crate::actor::address::Who;
use crate::actor::context::no_reply;
use crate::actor::digest::mix;
use crate::coroutine::current;
use crate::execution::{Ask, Progress, here};

static REPLY: Operation = Operation { verb: "reply", class: Class::Send };
static DROP_REQUEST: Operation = Operation { verb: "drop the request without a reply, of", class: Class::Send };
static AWAIT_REPLY: Operation = Operation { verb: "receive the reply to", class: Class::Receive };

/// The way to answer a request whose sender [waits](crate::actor::Context::ask) for the answer. It is part of the request. If it is dropped
/// without an answer, the sender of the request panics.
pub struct ReplyTo<R>(Option<Back<R>>);

enum Back<R> {
    Task { slot: Slot<R>, object: ObjectId, execution: u64 },
    Free(SyncSender<R>),
}

type Slot<R> = Arc<Mutex<Option<(R, u64)>>>;

/// The receiving end of a reply. The actor that asked has it.
pub(crate) struct Awaited<R> {
    slot: Slot<R>,
    object: ObjectId,
    asked: TaskId,
    whom: Who,
    site: Site,
}

/// The word of a reply: the answer is there, or there will never be one.
const ANSWERED: u64 = 1;
const DROPPED: u64 = 2;

impl<R: Send + 'static> ReplyTo<R> {
    pub(crate) fn free() -> (Self, Receiver<R>) {
        let (sender, receiver) = sync_channel(1);
        (Self(Some(Back::Free(sender))), receiver)
    }

    pub(crate) fn task(object: ObjectId, execution: u64, asked: TaskId, whom: Who, site: Site) -> (Self, Awaited<R>) {
        let slot = Slot::default();
        let back = Back::Task { slot: slot.clone(), object, execution };
        (Self(Some(back)), Awaited { slot, object, asked, whom, site })
    }

    /// Sends the answer.
    ///
    /// # Panics
    ///
    /// If the one who asked belongs to an execution that is over.
    #[track_caller]
    pub fn reply(mut self, answer: R) {
        let site = here();
        match self.0.take().expect("a reply is given once") {
            // The actor that asked may have ended; then the answer is dropped.
            Back::Free(sender) => drop(sender.send(answer)),
            Back::Task { slot, object, execution } => {
                let replied = give(object, execution, ANSWERED, &REPLY, site, |name| {
                    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some((answer, name));
                });
                assert!(replied, "raddle: this reply goes to an execution that is over");
            }
        }
    }
}

/// Wakes the task that asked. Returns whether it belongs to the running execution.
fn give(object: ObjectId, number: u64, word: u64, op: &'static Operation, site: Site, act: impl FnOnce(u64)) -> bool {
    let given = current::with(|execution| {
        let mut state = execution.state.borrow_mut();
        if state.number != number {
            return false;
        }
        let ask = Ask::new(op, object, Effect::Change, site);
        let ask = Ask { role: Role::Gives, ordered: Ordered::RELEASE, ..ask };
        state.record(&ask, Variant::Ready, |moment| {
            let task = moment.state.current;
            let name = moment.state.actors.clock(task).name;
            *moment.word() = word;
            act(name);
            if moment.state.tells() {
                moment.state.tell_reply(object, word == ANSWERED);
            }
        });
        true
    });
    if given.is_none() {
        crate::uncontrolled::note_at("a reply to an actor", None, site);
    }
    given == Some(true)
}

impl<R> Drop for ReplyTo<R> {
    fn drop(&mut self) {
        if let Some(Back::Task { object, execution, .. }) = self.0.take() {
            let over = current::with(|e| e.state.borrow().over).unwrap_or(true);
            if !over {
                give(object, execution, DROPPED, &DROP_REQUEST, here(), |_| ());
            }
        }
    }
}

impl<R> Awaited<R> {
    /// Waits for the answer to what `who` has asked.
    pub(crate) fn wait(self, who: Who) -> R {
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
                let receiver = moment.state.actors.clock(task).name;
                let step = StepIx::next_of(moment.state.trace.len() - 1);
                let message = mix(mix(sender, receiver), u64::from(step.number()));
                let label = std::any::type_name::<R>();
                let receipt = Receipt { step, sender, receiver, message, label, reply: true, changed: false };
                moment.state.trace.receive(receipt);
                if moment.state.tells() {
                    moment.state.tell_instead(format!("receive the reply of {}", self.whom));
                }
                Some(answer)
            })
        });
        answer.expect("raddle bug: a reply without an execution").unwrap_or_else(|| no_reply(who, self.whom))
    }
}

impl<R> fmt::Debug for ReplyTo<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyTo").finish_non_exhaustive()
    }
}
