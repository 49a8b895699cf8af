//! What a receive would lead to, found out without changing anything.
//!
//! The handler runs on a copy of the actor, and what it does is looked at: where it only sends, the fingerprint of the state that comes
//! of it follows from those of the parts that change. If the receive then happens, the handler has run already.

use raddle_engine::system::{Choice, Foreseen, Variant};
use smallvec::{SmallVec, smallvec};

use crate::actor::{Delivery, Faults};
use crate::model::apply::Stop;
use crate::model::handle::Ran;
use crate::model::handling::Effect;
use crate::model::slot::{Sent, Slot};
use crate::model::step::{Scene, index, task};

impl Scene {
    /// Whether what a handler does can be foreseen at all: what it sends arrives for sure, and in an order that only the queue tells.
    fn is_foreseeable(&self) -> bool {
        let rules = &self.code.rules;
        // What checks may see of the last two is no part of the state that is told apart.
        matches!(self.stop, Stop::Actions)
            && rules.delivery != Delivery::Causal
            && rules.faults == Faults::default()
            && (self.dead_letters, self.unhandled) == (0, 0)
    }

    pub(super) fn foresee_receive(&mut self, choice: Choice) -> Option<Foreseen> {
        self.scratch.discard();
        if !self.is_foreseeable() {
            return None;
        }
        let action = self.actions[choice.index()];
        let actor = index(action.task);
        let slot = &self.actors[actor];
        let place = match action.variant {
            Variant::Ready => 0,
            Variant::Message(number) => slot.mail.place(number)?,
            _ => return None,
        };
        let ran = self.scratch.run_handler(&self.code, &self.roster, slot, &slot.mail.queue[place].1, Vec::new());
        let foreseen = self.foresee_effects(actor, place, &ran);
        match foreseen {
            Some(_) => self.scratch.foreseen = Some((choice, ran)),
            None => self.scratch.take_back(ran),
        }
        foreseen
    }

    /// What comes of it when `actor` has received what lies at `place`; `None` if it does more than send to those who can receive.
    fn foresee_effects(&self, actor: usize, place: usize, ran: &Ran) -> Option<Foreseen> {
        if ran.panicked.is_some() || ran.handling.wants.is_some() {
            return None;
        }
        let Slot { body, mail, .. } = &*self.actors[actor];
        let mut digest = self.digest.wrapping_sub(body.digest).wrapping_add(body.digest_with(ran.digest));
        let ordered = self.delivery() != Delivery::Unordered;
        if !ordered {
            let (letter, parcel) = &mail.queue[place];
            digest = digest.wrapping_sub(mail.adds(Sent::of(letter, parcel)));
        }
        let mut steps = 1;
        for effect in &ran.handling.effects {
            match effect {
                &Effect::Send { to, ref parcel, .. } => {
                    steps += 1;
                    self.actors.get(to as usize)?.body.actor.as_ref()?;
                    // Where there is an order, all that a mailbox gets is looked at together.
                    if !ordered {
                        digest = digest.wrapping_add(Sent::new(task(actor), parcel.digest).adds_to(to));
                    }
                }
                Effect::Hint(_) | Effect::Becomes => {}
                _ => return None,
            }
        }
        if ordered {
            digest = digest.wrapping_add(self.foresee_mail(actor, place, &ran.handling.effects));
        }
        Some(Foreseen { state: self.state_with(digest, 0), steps })
    }

    /// By how much the hash of the state would change with the mailboxes, when `actor` has received what lies at `place`.
    fn foresee_mail(&self, actor: usize, place: usize, effects: &[Effect]) -> u64 {
        let mut changed: SmallVec<[usize; 8]> = smallvec![actor];
        for to in effects.iter().filter_map(Effect::receiver) {
            if !changed.contains(&to) {
                changed.push(to);
            }
        }
        changed.into_iter().fold(0, |sum, of| {
            let mail = &self.actors[of].mail;
            let sent = effects.iter().filter_map(|effect| effect.sent_to(of));
            let sent = sent.map(|digest| Sent::new(task(actor), digest));
            let with = mail.digest_with(self.delivery(), (of == actor).then_some(place), sent);
            sum.wrapping_sub(mail.digest).wrapping_add(with)
        })
    }
}
