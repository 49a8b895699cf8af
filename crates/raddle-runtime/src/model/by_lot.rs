//! Drawing lots for what is received next, where nobody wants to know what happens: see [`crate::actor::by_lot`].
//!
//! How much can be received from each mailbox is all that has to be known. Nothing is listed, named or hashed, until something else is
//! to be decided.

use std::mem;

use raddle_engine::lots::Lots;
use raddle_engine::trace::Trace;

use crate::actor::{Counts, Delivery, Faults};
use crate::model::apply::Stop;
use crate::model::handle::Handled;
use crate::model::handling::Effect;
use crate::model::slot::{Mail, Slot};
use crate::model::step::{Scene, task};

impl Scene {
    /// Goes on by lot as long as nothing has to be decided but who receives what.
    pub(super) fn go_by_lot(&mut self, lots: &mut Lots, trace: &mut Trace) {
        let plain = self.faults == Faults::default() && matches!(self.stop, Stop::Actions) && !self.tells();
        // Where it is not known what can happen, it is not known either whether what must hold does.
        if !plain || !trace.counts_only() || !self.surveyed && !self.holds() {
            return;
        }
        let mut counts = mem::take(&mut self.scratch.counts);
        let mut goes_on = self.count_mail(&mut counts);
        while goes_on && counts.total() > 0 && lots.go_on(trace.len()) {
            (self.unhashed, self.scratch.unhashed, self.surveyed) = (true, true, false);
            let (actor, nth) = counts.find(lots.draw(counts.total()).0);
            goes_on = self.receive_by_lot(actor, nth, &mut counts, trace);
        }
        self.scratch.counts = counts;
        if !self.surveyed {
            self.number_letters();
        }
    }

    /// Counts what can be received; whether nothing else can happen.
    fn count_mail(&self, counts: &mut Counts) -> bool {
        counts.begin(self.actors.len());
        for (actor, slot) in self.actors.iter().enumerate() {
            if !slot.mail.timers.is_empty() {
                return false;
            }
            if slot.body.actor.is_some() {
                counts.set(actor, slot.mail.count_open(self.delivery()));
            }
        }
        true
    }

    /// An actor handles the message that comes after so many others that it could receive; whether to go on.
    fn receive_by_lot(&mut self, actor: usize, nth: u32, counts: &mut Counts, trace: &mut Trace) -> bool {
        let delivery = self.delivery();
        let (card, Slot { body, mail }) = (&self.cards[actor], &*self.actors[actor]);
        let place = mail.place_of_open(delivery, nth);
        let parcel = &mail.queue[place].1;
        let ran = self.scratch.run_handler(&self.code, &self.roster, card, body, parcel, Vec::new());
        trace.count();
        let Slot { body, mail } = self.code.shelf.own(actor, &mut self.actors[actor]);
        let (letter, parcel) = mail.queue.remove(place);
        if delivery == Delivery::Causal {
            body.party.read(&letter, delivery);
        }
        if ran.handling.wants.is_some() {
            self.ask(actor, parcel, ran);
            return false;
        }
        let mut handled = body.replace(ran);
        handled.handling.reuse(parcel);
        if handled.panicked.is_none() && self.only_sends(&handled) {
            counts.set(actor, self.actors[actor].mail.count_open(delivery));
            self.send_all(actor, handled, counts, trace);
        } else {
            self.here = self.code.site;
            self.follow(actor, handled, trace);
            if !matches!(self.stop, Stop::Actions) || !self.count_mail(counts) {
                return false;
            }
        }
        self.holds()
    }

    /// Whether a handler did no more than to send to those who can receive.
    #[inline]
    fn only_sends(&self, handled: &Handled) -> bool {
        handled.handling.effects.iter().all(|(effect, _)| match effect {
            Effect::Send { to, .. } => self.actors.get(*to as usize).is_some_and(|slot| slot.body.actor.is_some()),
            _ => false,
        })
    }

    fn send_all(&mut self, actor: usize, handled: Handled, counts: &mut Counts, trace: &mut Trace) {
        let Handled { mut handling, before, .. } = handled;
        let delivery = self.delivery();
        for (effect, _) in handling.effects.drain(..) {
            let Effect::Send { to, label, parcel } = effect else { continue };
            let to = to as usize;
            let party = &mut self.code.shelf.own(actor, &mut self.actors[actor]).body.party;
            let mut letter = party.write_blank(task(actor), delivery, 0);
            letter.label = label;
            let mail = &mut self.code.shelf.own(to, &mut self.actors[to]).mail;
            mail.put_blank(delivery, letter, parcel);
            counts.set(to, mail.count_open(delivery));
            trace.count();
        }
        self.scratch.keep_memory(handling, before);
    }

    /// What is left in the mailboxes gets numbers, by which it is told apart from here on.
    fn number_letters(&mut self) {
        for (actor, slot) in self.actors.iter_mut().enumerate().filter(|(_, slot)| !slot.mail.queue.is_empty()) {
            let Mail { queue, timers, .. } = &mut self.code.shelf.own(actor, slot).mail;
            let mut free = (0..).filter(|number| timers.iter().all(|timer| timer.1.number != *number));
            queue.iter_mut().zip(&mut free).for_each(|(post, number)| post.0.number = number);
        }
    }
}
