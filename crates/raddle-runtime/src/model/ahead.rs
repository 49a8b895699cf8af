//! Peeking: the fingerprint of the state that a receive would lead to, without changing the state.
//!
//! The handler runs on a copy of the actor. If it only sends messages, the new fingerprint is computed from the parts that change. If the
//! receive is then chosen, the handler does not run a second time. Without a delivery order, what a handler adds to the fingerprint depends
//! on its actor and the message alone, and is [cached](super::memo).

use raddle_engine::system::{Choice, Peeked, Variant};
use raddle_engine::trace::Site;
use smallvec::{SmallVec, smallvec};

use crate::actor::{Delivery, combine};
use crate::mailbox::HashedMessage;
use crate::model::apply::Stop;
use crate::model::handle::Ran;
use crate::model::handling::Effect;
use crate::model::memo::Done;
use crate::model::slot::{Slot, adds};
use crate::model::step::{ModelState, index, task};

impl ModelState {
    /// Whether peeking is possible: every message arrives, so that the state after a send is certain.
    fn can_be_peeked(&self) -> bool {
        // Checks may look at the last two counts, which are not part of the fingerprint.
        self.code.plain
            && !self.unhashed
            && matches!(self.stop, Stop::Actions)
            && self.dead_letters | self.unhandled == 0
    }

    pub(super) fn peek_receive(&mut self, choice: Choice) -> Option<Peeked> {
        self.scratch.discard();
        if !self.can_be_peeked() {
            return None;
        }
        let action = &self.actions[choice.index()];
        let actor = index(action.task);
        let slot = &self.actors[actor];
        let number = match action.variant {
            Variant::Ready => None,
            Variant::Message(number) => Some(number),
            _ => return None,
        };
        // Peeking cannot handle timers.
        let (envelope, payload) = slot.mail.queue.get(number)?;
        if self.delivery() != Delivery::Unordered {
            return self.peek_ordered(choice, actor, number);
        }
        // The name distinguishes actors that different executions have created with the same number.
        let key = combine(slot.body.digest ^ slot.body.clock.name, payload.digest);
        let taken = slot.mail.adds(envelope, payload).wrapping_add(slot.body.digest);
        // If an actor has stopped, a result depends on more than the actor and the message.
        let known = if self.stopped { None } else { self.code.memo.get(key) };
        let done = match known {
            Some(done) => {
                debug_assert!(
                    self.discard_run(actor, number) == Some(done),
                    "raddle: {} does not do the same with the same message in the same state. Does it depend on time, random numbers, \
                     hash order, or on something that is no part of the hash of the actor or the message?",
                    self.infos[actor].who
                );
                done
            }
            None => self.peek_uncached(choice, actor, number, key)?,
        };
        let digest = self.digest.wrapping_sub(taken).wrapping_add(done.adds);
        Some(Peeked { state: self.state_with(digest, 0), steps: 1 + done.sent as usize })
    }

    /// Runs a handler whose result is not in the cache, and adds the result.
    #[inline(never)]
    fn peek_uncached(&mut self, choice: Choice, actor: usize, number: Option<u32>, key: u64) -> Option<Done> {
        let ran = self.run_ahead(actor, number);
        let done = self.peek_unordered(actor, &ran);
        self.scratch.keep(choice, ran, done.is_some());
        if !self.stopped {
            self.code.memo.put(key, done?);
        }
        done
    }

    /// Runs the handler for the message with this number, or the oldest.
    fn run_ahead(&mut self, actor: usize, number: Option<u32>) -> Ran {
        let (info, Slot { body, mail }) = (&self.infos[actor], &*self.actors[actor]);
        self.scratch.run_handler(&self.code, &self.roster, info, body, mail.look(number), Vec::new())
    }

    fn discard_run(&mut self, actor: usize, number: Option<u32>) -> Option<Done> {
        let ran = self.run_ahead(actor, number);
        let done = self.peek_unordered(actor, &ran);
        self.scratch.take_back(ran);
        done
    }

    /// The result of a handler, without a delivery order; `None` if it did more than send to actors that have not stopped.
    fn peek_unordered(&self, actor: usize, ran: &Ran) -> Option<Done> {
        if ran.panicked.is_some() || ran.handling.wants.is_some() {
            return None;
        }
        let (mut sum, mut sent) = (self.actors[actor].body.digest_with(ran.digest), 0);
        for (effect, _) in &ran.handling.effects {
            if let Some((to, digest)) = self.send_ahead(effect)? {
                sum = sum.wrapping_add(adds(digest, false, to));
                sent += 1;
            }
        }
        Some(Done { adds: sum, sent })
    }

    /// The receiver and the hash of a message, if the effect is to send one; `None` if it is more than that.
    fn send_ahead(&self, effect: &Effect) -> Option<Option<(u32, u64)>> {
        match effect {
            &Effect::Send { to, ref payload, .. } => {
                self.actors.get(to as usize)?.body.actor.as_ref()?;
                Some(Some((to, payload.digest)))
            }
            Effect::Hint(_) | Effect::Becomes(_) => Some(None),
            _ => None,
        }
    }

    /// Peeks at the receive of the message with this number, or the oldest, where messages have an order. `None` if the handler does more than
    /// send to actors that have not stopped.
    #[inline(never)]
    fn peek_ordered(&mut self, choice: Choice, actor: usize, number: Option<u32>) -> Option<Peeked> {
        let ran = self.run_ahead(actor, number);
        let peeked = self.peek_all(actor, number, &ran);
        self.scratch.keep(choice, ran, peeked.is_some());
        peeked
    }

    fn peek_all(&self, actor: usize, number: Option<u32>, ran: &Ran) -> Option<Peeked> {
        if ran.panicked.is_some() || ran.handling.wants.is_some() {
            return None;
        }
        let mut steps = 1;
        for (effect, _) in &ran.handling.effects {
            steps += usize::from(self.send_ahead(effect)?.is_some());
        }
        let body = &self.actors[actor].body;
        let digest = self.digest.wrapping_sub(body.digest).wrapping_add(body.digest_with(ran.digest));
        let digest = digest.wrapping_add(self.peek_mail(actor, number, &ran.handling.effects));
        Some(Peeked { state: self.state_with(digest, 0), steps })
    }

    /// How much the mailboxes change the hash of the state if `actor` receives the message with this number, or the oldest.
    fn peek_mail(&self, actor: usize, number: Option<u32>, effects: &[(Effect, Site)]) -> u64 {
        let mut changed: SmallVec<[usize; 8]> = smallvec![actor];
        for to in effects.iter().filter_map(|(effect, _)| effect.receiver()) {
            if !changed.contains(&to) {
                changed.push(to);
            }
        }
        changed.into_iter().fold(0, |sum, of| {
            let mail = &self.actors[of].mail;
            let sent = effects.iter().filter_map(|(effect, _)| effect.sent_to(of));
            let sent = sent.map(|digest| HashedMessage::new(task(actor), digest));
            let with = mail.digest_with(self.delivery(), (of == actor).then_some(number), sent);
            sum.wrapping_sub(mail.digest).wrapping_add(with)
        })
    }
}
