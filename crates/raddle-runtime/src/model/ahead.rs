//! What a receive would lead to, found out without changing anything.
//!
//! The handler runs on a copy of the actor, and what it does is looked at: where it only sends, the fingerprint of the state that comes
//! of it follows from those of the parts that change. If the receive then happens, the handler has run already.

use raddle_engine::system::{Choice, Foreseen, Variant};
use smallvec::SmallVec;

use crate::actor::{Delivery, Faults, Who, mix};
use crate::model::apply::Stop;
use crate::model::handle::Ran;
use crate::model::handling::{Effect, Parcel};
use crate::model::slot::{Mail, Sent};
use crate::model::step::{Run, index, task};

impl Run {
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
        let mut digest = self.digest ^ mix(body.digest, key) ^ mix(body.digest_with(ran.digest), key);
        let mut mail: SmallVec<[Changed<'_>; 4]> = SmallVec::new();
        mail.push(self.changed(actor, Some(place)));
        let mut steps = 1;
        for effect in &ran.handling.effects {
            match effect {
                Effect::Send { to, parcel, .. } => {
                    steps += 1;
                    self.add_to(&mut mail, *to, actor, parcel)?;
                }
                Effect::Hint(_) | Effect::Becomes => {}
                _ => return None,
            }
        }
        for Changed { of, mail, without, contents, sent } in &mail {
            let contents = match self.delivery() {
                Delivery::Unordered => *contents,
                delivery => mail.hash_queue(delivery, *without, sent.iter().copied()),
            };
            let key = 2 * *of as u64 + 2;
            digest ^= mix(mail.digest, key) ^ mix(mail.digest_with(contents), key);
        }
        Some(Foreseen { state: self.state_with(digest, 0), steps })
    }

    /// A message is added to somebody's mailbox; `None` if it would not be received.
    fn add_to<'a>(
        &'a self,
        mail: &mut SmallVec<[Changed<'a>; 4]>,
        to: Who,
        actor: usize,
        parcel: &Parcel,
    ) -> Option<()> {
        let to = to.index as usize;
        self.actors.get(to)?.body.actor.as_ref()?;
        let at = mail.iter().position(|mail| mail.of == to).unwrap_or_else(|| {
            mail.push(self.changed(to, None));
            mail.len() - 1
        });
        let sent = Sent::new(task(actor), parcel.digest);
        mail[at].contents = mail[at].contents.wrapping_add(sent.contents());
        if self.delivery() != Delivery::Unordered {
            mail[at].sent.push(sent);
        }
        Some(())
    }

    fn changed(&self, of: usize, without: Option<usize>) -> Changed<'_> {
        let mail = &self.actors[of].mail;
        let taken = without.map_or(0, |place| Sent::new(task(of), mail.queue[place].1.digest).contents());
        Changed { of, mail, without, contents: mail.contents.wrapping_sub(taken), sent: Vec::new() }
    }
}

/// A mailbox that would be different.
struct Changed<'a> {
    of: usize,
    mail: &'a Mail,
    without: Option<usize>,
    /// The hash of what is in it, where there is no order.
    contents: u64,
    /// What is sent to it, where there is.
    sent: Vec<Sent>,
}
