//! How a channel ends: its senders go one by one, and its receiver.
//!
//! Only the last sender is noticed, by a receiver, and the receiver by senders: only these take steps that others may come before,
//! and none if nobody is left to notice. But who is the last and who is left depends on the order in which they go. So
//! each sender changes that and the receiver looks at it, as part of their latest decisions.

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
    /// A sender is cloned, so there is one who is not the last.
    #[track_caller]
    pub(super) fn add_sender(&self) {
        if !current::inside() {
            uncontrolled::note(CHANNEL.noun, Some(self.tag.made()));
        }
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    /// A sender is dropped.
    pub(super) fn remove_sender(&self, site: Site) {
        // Whoever is the last knows what the others knew.
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
                    moment.gives();
                    *moment.word() |= NO_SENDERS;
                    moment.state.also_touch(self.end, Effect::Change, Role::Gives, Ordered::RELAXED);
                });
            },
        );
    }

    /// The receiver is dropped, and with it what it did not receive; a rendezvous gives its senders back what they offer.
    pub(super) fn remove_receiver(&self, site: Site) {
        if self.leave(Effect::Read, Ordered::ACQUIRE, site, || self.senders.load(Ordering::Relaxed) > 0) {
            self.tag.with(
                &CHANNEL,
                |_| self.first_word(),
                |place| {
                    place.step(&DROP_RECEIVER, Effect::Change, Ordered::RELEASE, site, |moment| {
                        *moment.word() |= NO_RECEIVER;
                        moment.state.also_touch(self.leaving, Effect::Read, Role::Plain, Ordered::RELAXED);
                        self.know_unreceived(moment);
                    });
                },
            );
        }
        self.receiver_gone.store(true, Ordering::Relaxed);
        if !self.is_rendezvous() {
            // Destructors of messages may take operations, so the lock must be free by then.
            let left = std::mem::take(&mut *self.queue());
            drop(left);
        }
    }

    /// Whoever drops messages knows what their senders knew.
    fn know_unreceived(&self, moment: &mut Moment<'_>) {
        if self.is_unbounded() {
            for (ticket, _) in &*self.queue() {
                moment.state.also_touch(message_of(*ticket), Effect::Read, Role::Plain, Ordered::ACQUIRE);
            }
        }
    }

    /// Changes who is left, or looks at it.
    fn leave(&self, effect: Effect, ordered: Ordered, site: Site, leave: impl Fn() -> bool) -> bool {
        let left = current::with(|execution| {
            execution.look(Ask::new(&LEAVE, ObjectId::NONE, Effect::Read, site), |moment| {
                moment.state.also_touch(self.leaving, effect, Role::Plain, ordered);
                leave()
            })
        });
        left.unwrap_or_else(|| {
            // Destructors have no caller, so the place is that where this end was made.
            uncontrolled::note_at("an end of a channel that was dropped", Some(self.tag.made()), site);
            leave()
        })
    }
}
