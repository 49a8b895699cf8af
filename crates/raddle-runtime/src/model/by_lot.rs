//! Drawing lots for what is received next, where nobody wants to know what happens: see [`crate::actor::by_lot`].
//!
//! How much can be received from each mailbox is all that has to be known. Nothing is listed, named or hashed, until something else is
//! to be decided. Values that handlers ask for are drawn at once, so that none of what they do is void: each runs on its actor itself,
//! not on a copy.

use std::mem;

use raddle_engine::lots::Lots;
use raddle_engine::trace::Trace;

use crate::actor::{Counts, Delivery, Fate, Faults};
use crate::model::apply::Stop;
use crate::model::handler::own;
use crate::model::handling::{AtOnce, Effect, Handling, Parcel};
use crate::model::slot::{Body, Mail, Slot};
use crate::model::step::{Scene, task};
use crate::panics::{self, Panicked};

impl Scene {
    /// Goes on by lot as long as nothing has to be decided but who receives what, and which values handlers get.
    pub(super) fn go_by_lot(&mut self, lots: &mut Lots, trace: &mut Trace) {
        let plain = self.faults == Faults::default() && matches!(self.stop, Stop::Actions) && !self.tells();
        // Where it is not known what can happen, it is not known either whether what must hold does.
        if !plain || !trace.counts_only() || !self.surveyed && !self.holds() {
            return;
        }
        let mut counts = mem::take(&mut self.scratch.counts);
        self.count_mail(&mut counts);
        if counts.total() > 0 && lots.go_on(trace.len()) {
            (self.unhashed, self.scratch.unhashed, self.surveyed) = (true, true, false);
            // Whose it is first makes no difference.
            let who = self.cards[0].who;
            let mut handling = self.scratch.lend_handling(&self.code, &self.roster, who);
            self.receive_all(&mut handling, lots, &mut counts, trace);
            self.scratch.handling = Some(handling);
            self.number_letters();
        }
        self.scratch.counts = counts;
    }

    /// Counts what can be received.
    #[inline(never)]
    fn count_mail(&mut self, counts: &mut Counts) {
        let delivery = self.delivery();
        counts.begin(self.actors.len());
        for (actor, slot) in self.actors.iter().enumerate().filter(|(_, slot)| slot.body.actor.is_some()) {
            self.odd |= !slot.mail.timers.is_empty();
            counts.set(actor, slot.mail.count_all(delivery));
        }
    }

    /// Somebody receives, as often as that goes.
    fn receive_all(&mut self, handling: &mut Handling, lots: &mut Lots, counts: &mut Counts, trace: &mut Trace) {
        handling.begin(self.cards[0].who, &self.roster, Vec::new(), 0);
        handling.hashed = false;
        handling.at_once = Some(AtOnce { lots: mem::take(lots), steps: 0 });
        while let Some(AtOnce { lots, steps }) = &mut handling.at_once
            && counts.total() > 0
            && lots.go_on(trace.len())
        {
            let (actor, nth) = counts.find(lots.draw(counts.total()).0);
            trace.count();
            *steps = trace.len();
            if !self.receive_by_lot(actor, nth, handling, counts, trace) || !self.holds() {
                break;
            }
        }
        *lots = handling.at_once.take().expect("raddle bug: the lots are gone").lots;
    }

    /// An actor handles the message that comes after so many others that it could receive; whether to go on.
    #[inline(never)]
    fn receive_by_lot(
        &mut self,
        actor: usize,
        nth: u32,
        handling: &mut Handling,
        counts: &mut Counts,
        trace: &mut Trace,
    ) -> bool {
        let delivery = self.delivery();
        let Slot { body, mail } = self.code.shelf.own(actor, &mut self.actors[actor]);
        let (letter, mut parcel) = mail.take_open(delivery, nth);
        if delivery == Delivery::Causal {
            body.party.read(&letter, delivery);
        }
        counts.set(actor, mail.count_all(delivery));
        handling.begin_again(&self.cards[actor].who, &self.roster, body.next_timer);
        let panicked = handle_for_good(body, &mut parcel, handling);
        while handling.at_once.as_ref().is_some_and(|drawn| drawn.steps > trace.len()) {
            trace.count();
        }
        if let Some((choices, site)) = handling.wants {
            // There are no steps left to draw it, so nobody goes on from here.
            self.stop = Stop::Draw { actor, parcel, draws: Vec::new(), choices, site };
            return false;
        }
        handling.reuse(parcel);
        match panicked {
            None => {
                body.next_timer = handling.next_timer;
                self.follow_by_lot(actor, handling, counts, trace)
            }
            Some(panicked) => {
                self.supervise_by_lot(actor, panicked, trace);
                self.count_mail(counts);
                matches!(self.stop, Stop::Actions)
            }
        }
    }

    #[cold]
    fn supervise_by_lot(&mut self, actor: usize, panicked: Panicked, trace: &mut Trace) {
        self.here = self.code.site;
        self.supervise(actor, panicked, trace);
    }

    /// What a handler did takes effect, one thing after another; whether to go on.
    fn follow_by_lot(&mut self, actor: usize, handling: &mut Handling, counts: &mut Counts, trace: &mut Trace) -> bool {
        // The first comes out first.
        handling.effects.reverse();
        while let Some((effect, site)) = handling.effects.pop() {
            match effect {
                Effect::Send { to, label, parcel } if self.receives(to as usize) => {
                    self.send_by_lot(actor, to as usize, label, parcel, counts);
                    trace.count();
                }
                effect => {
                    self.here = site;
                    if !self.apply_by_lot(actor, effect, counts, trace) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Something takes effect that is more than to send to one who can receive; whether to go on.
    #[inline(never)]
    fn apply_by_lot(&mut self, actor: usize, effect: Effect, counts: &mut Counts, trace: &mut Trace) -> bool {
        let before = self.actors.len();
        self.apply_one(actor, effect, Fate::Arrives, trace);
        if self.actors.len() > before {
            self.count_mail(counts);
        } else {
            let Slot { body, mail } = &*self.actors[actor];
            self.odd |= !mail.timers.is_empty();
            counts.set(actor, if body.actor.is_some() { mail.count_all(self.delivery()) } else { 0 });
        }
        matches!(self.stop, Stop::Actions)
    }

    /// Whether there is such an actor, which has not stopped.
    #[inline]
    fn receives(&self, actor: usize) -> bool {
        self.actors.get(actor).is_some_and(|slot| slot.body.actor.is_some())
    }

    #[inline]
    fn send_by_lot(&mut self, actor: usize, to: usize, label: &'static str, parcel: Parcel, counts: &mut Counts) {
        let delivery = self.delivery();
        let party = &mut self.code.shelf.own(actor, &mut self.actors[actor]).body.party;
        let mut letter = party.write_blank(task(actor), delivery, 0);
        letter.label = label;
        let mail = &mut self.code.shelf.own(to, &mut self.actors[to]).mail;
        mail.put_blank(delivery, letter, parcel);
        counts.set(to, mail.count_all(delivery));
    }

    /// What is left in the mailboxes gets numbers, by which it is told apart from here on.
    #[inline(never)]
    fn number_letters(&mut self) {
        for (actor, slot) in self.actors.iter_mut().enumerate().filter(|(_, slot)| !slot.mail.queue.is_empty()) {
            let Mail { queue, timers, .. } = &mut self.code.shelf.own(actor, slot).mail;
            let mut free = (0..).filter(|number| timers.iter().all(|timer| timer.1.number != *number));
            queue.iter_mut().zip(&mut free).for_each(|(post, number)| post.0.number = number);
        }
    }
}

/// Runs a handler on its actor; a copy is made only of one that others share.
#[inline]
fn handle_for_good(body: &mut Body, parcel: &mut Parcel, handling: &mut Handling) -> Option<Panicked> {
    let state = body.actor.as_mut().expect("raddle bug: an actor that has stopped receives");
    panics::catch(|| own(state).handle_for_good(parcel, handling)).err()
}
