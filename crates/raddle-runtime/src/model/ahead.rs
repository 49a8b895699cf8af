//! What a receive would lead to, found out without changing anything.
//!
//! The handler runs on a copy of the actor, and what it does is looked at: where it only sends, the fingerprint of the state that comes
//! of it follows from those of the parts that change. If the receive then happens, the handler has run already.

use raddle_engine::system::{Choice, Foreseen, Variant};
use smallvec::SmallVec;

use crate::actor::{Delivery, Faults, Who, combine};
use crate::model::apply::Stop;
use crate::model::handle::Ran;
use crate::model::handling::{Effect, Parcel};
use crate::model::slot::{Mail, Sent};
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
        let body = &self.actors[actor].body;
        let key = 2 * actor as u64 + 1;
        let mut digest = self.digest ^ combine(body.digest, key) ^ combine(body.digest_with(ran.digest), key);
        let mut mail: SmallVec<[Changed<'_>; 4]> = SmallVec::new();
        mail.push(self.changed(actor, Some(place)));
        let mut steps = 1;
        for effect in &ran.handling.effects {
            match effect {
                Effect::Send { to, parcel, .. } => {
                    steps += 1;
                    self.add_to(&mut mail, *to, parcel)?;
                }
                Effect::Hint(_) | Effect::Becomes => {}
                _ => return None,
            }
        }
        for Changed { of, mail, without, contents } in mail {
            let contents = match self.delivery() {
                Delivery::Unordered => contents,
                delivery => {
                    let sent = ran.handling.effects.iter().filter_map(|effect| effect.sent_to(of));
                    mail.hash_queue(delivery, without, sent.map(|digest| Sent::new(task(actor), digest)))
                }
            };
            let key = 2 * of as u64 + 2;
            digest ^= combine(mail.digest, key) ^ combine(mail.digest_with(contents), key);
        }
        Some(Foreseen { state: self.state_with(digest, 0), steps })
    }

    /// A message is added to somebody's mailbox; `None` if it would not be received.
    #[inline]
    fn add_to<'a>(&'a self, mail: &mut SmallVec<[Changed<'a>; 4]>, to: Who, parcel: &Parcel) -> Option<()> {
        let to = to.index as usize;
        self.actors.get(to)?.body.actor.as_ref()?;
        let contents = combine(parcel.digest, 0);
        match mail.iter_mut().find(|mail| mail.of == to) {
            Some(mail) => mail.contents = mail.contents.wrapping_add(contents),
            None => {
                let changed = self.changed(to, None);
                mail.push(Changed { contents: changed.contents.wrapping_add(contents), ..changed });
            }
        }
        Some(())
    }

    #[inline]
    fn changed(&self, of: usize, without: Option<usize>) -> Changed<'_> {
        let mail = &self.actors[of].mail;
        let taken = without.map_or(0, |place| combine(mail.queue[place].1.digest, 0));
        Changed { of, mail, without, contents: mail.contents.wrapping_sub(taken) }
    }
}

/// A mailbox that would be different.
#[derive(Clone, Copy)]
struct Changed<'a> {
    of: usize,
    mail: &'a Mail,
    without: Option<usize>,
    /// The hash of what is in it, where there is no order.
    contents: u64,
}
