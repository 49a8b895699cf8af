//! Dropping the senders and the receiver of a channel.
//!
//! The receiver can observe only that the last sender is dropped, and senders can observe that the receiver is dropped. So only these two
//! are steps with a decision, and only if the other side is still there to observe them. But which sender is the last depends on the order
//! in which they are dropped. So each dropped sender changes the object `leaving`, and the receiver reads it, as part of the latest decision
//! for their tasks. What the task does next is then a decision of its own, whether or not it was the last: what a step touches must not
//! depend on what it finds.

use std::sync::atomic::Ordering;

use raddle_engine::ids::ObjectId;
use raddle_engine::trace::{Class, Effect, Operation, Ordered, Role, Site};

use crate::coroutine::current;
use crate::execution::{Ask, Moment};
use crate::sync::mpsc::channel::{CHANNEL, Channel, message_of};
use crate::sync::mpsc::word::{NO_RECEIVER, NO_SENDERS};
use crate::uncontrolled;

static LEAVE: Operation = Operation { verb: "leave a channel", class: Class::Write };
static DROP_SENDER: Operation = Operation { verb: "drop the last sender", class: Class::Write };
static DROP_RECEIVER: Operation = Operation { verb: "drop the receiver", class: Class::Write };

impl<T> Channel<T> {
    /// Counts a sender that was cloned.
    #[track_caller]
    pub(super) fn add_sender(&self) {
        if !current::inside() {
            uncontrolled::note(CHANNEL.noun, Some(self.tag.made()));
        }
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    /// Called when a sender is dropped.
    pub(super) fn remove_sender(&self, site: Site) {
        // What the other senders did happens before the last one is dropped.
        let last =
            self.leave(Effect::Change, Ordered::BOTH, site, || self.senders.fetch_sub(1, Ordering::Relaxed) == 1);
        if !last || self.receiver_gone.load(Ordering::Relaxed) {
            return;
        }
        self.tag.with(
            &CHANNEL,
            |_| self.first_word(),
            |place| {
                place.step(&DROP_SENDER, Effect::Change, Ordered::RELEASE, site, |moment| {
                    // In a bounded channel the two sides wait for each other, so no access has only one role.
                    if self.is_unbounded() {
                        moment.gives();
                    }
                    *moment.word() |= NO_SENDERS;
                    moment.state.also_touch(self.end, Effect::Change, Role::Gives, Ordered::RELAXED);
                });
            },
        );
    }

    /// Called when the receiver is dropped. Drops the messages that it did not receive. In a rendezvous the senders get theirs back.
    pub(super) fn remove_receiver(&self, site: Site) {
        if self.leave(Effect::Read, Ordered::ACQUIRE, site, || self.senders.load(Ordering::Relaxed) > 0) {
            self.tag.with(
                &CHANNEL,
                |_| self.first_word(),
                |place| {
                    place.step(&DROP_RECEIVER, Effect::Change, Ordered::RELEASE, site, |moment| {
                        *moment.word() |= NO_RECEIVER;
                        moment.state.also_touch(self.leaving, Effect::Read, Role::Plain, Ordered::RELAXED);
                        self.acquire_unreceived(moment);
                    });
                },
            );
        }
        self.receiver_gone.store(true, Ordering::Relaxed);
        if !self.is_rendezvous() {
            // Destructors of messages may ask for operations, so the lock must be free then.
            let left = std::mem::take(&mut *self.queue());
            drop(left);
        }
    }

    /// Records that the sends of the dropped messages happen before.
    fn acquire_unreceived(&self, moment: &mut Moment<'_>) {
        if self.is_unbounded() {
            for (ticket, _) in &*self.queue() {
                moment.state.also_touch(message_of(*ticket), Effect::Read, Role::Plain, Ordered::ACQUIRE);
            }
        }
    }

    /// Changes the number of ends that are left, or reads it.
    fn leave(&self, effect: Effect, ordered: Ordered, site: Site, leave: impl Fn() -> bool) -> bool {
        let left = current::with(|execution| {
            execution.look(Ask::new(&LEAVE, ObjectId::NONE, Effect::Read, site), |moment| {
                moment.state.also_touch(self.leaving, effect, Role::Plain, ordered);
                // Whether a decision follows depends on what is left. So what comes next is no part of this decision in any case.
                moment.state.task().let_go = true;
                leave()
            })
        });
        left.unwrap_or_else(|| {
            // A destructor has no caller, so the report gives the place where this end was made.
            uncontrolled::note_at("an end of a channel that was dropped", Some(self.tag.made()), site);
            leave()
        })
    }
}
