//! Untraced runs of models: random choices of the next receive, without a trace. See `actor/untraced.rs`.
//!
//! Only the number of messages that can be received from each mailbox is needed. Actions are not listed, and messages are not named or
//! hashed, until something else has to be decided. Values that handlers ask for are drawn immediately, so no handler runs twice: each runs
//! on its actor, not on a copy. Meanwhile the messages are in an [`UntracedMailbox`] per actor.

mod mailbox;

use std::mem;

use raddle_engine::forward::ForwardChoices;
use raddle_engine::trace::Trace;

pub(super) use self::mailbox::UntracedMailbox;
use self::mailbox::UntracedMessage;
use crate::actor::{Counts, Delivery, Fate, Faults};
use crate::crash;
use crate::model::apply::Stop;
use crate::model::handler::own;
use crate::model::handling::{AtOnce, Effect, Mailed, ModelHandling, Payload, PayloadCell};
use crate::model::slot::{Body, Slot};
use crate::model::step::{ModelState, task};
use crate::panics::{self, Panicked};

impl ModelState {
    /// Runs with random choices while the only decisions are the next receive and the values that handlers ask for.
    pub(super) fn run_untraced(&mut self, choices: &mut ForwardChoices, trace: &mut Trace) {
        let plain = self.faults == Faults::default() && matches!(self.stop, Stop::Actions) && !self.tells();
        // The checks of this state run when the enabled actions are computed, which has not happened yet.
        if !plain || !trace.discards_steps() || !self.enabled_known && !self.holds() {
            return;
        }
        if !choices.go_on(trace.len()) || self.actors.iter().all(|slot| slot.is_idle()) {
            return;
        }
        (self.unhashed, self.scratch.unhashed, self.enabled_known) = (true, true, false);
        let mut handling = self.scratch.lend_handling(&self.code, &self.roster, self.infos[0].who);
        self.scratch.mailboxes = self.code.spare_slots.mailboxes();
        self.receive_all(&mut handling, choices, trace);
        self.scratch.handling = Some(handling);
        (0..self.actors.len()).for_each(|actor| self.clear_desk(actor));
        self.code.spare_slots.keep_mailboxes(mem::take(&mut self.scratch.mailboxes));
    }

    /// Moves the waiting messages to untraced mailboxes, and counts how many can be received.
    #[inline(never)]
    fn count_mail(&mut self, counts: &mut Counts) {
        let delivery = self.delivery();
        counts.begin(self.actors.len());
        self.scratch.mailboxes.resize_with(self.actors.len(), UntracedMailbox::default);
        for actor in 0..self.actors.len() {
            let slot = &mut self.actors[actor];
            if !slot.mail.queue.is_empty() {
                let queue = &mut self.code.spare_slots.own(actor, slot).mail.queue;
                self.scratch.mailboxes[actor].collect(queue.take_all(), delivery);
            }
            self.count_one(actor, counts);
        }
    }

    /// Counts what one actor can receive.
    fn count_one(&mut self, actor: usize, counts: &mut Counts) {
        let (mailbox, Slot { body, mail }) = (&mut self.scratch.mailboxes[actor], &*self.actors[actor]);
        (mailbox.timers, mailbox.receives) = (mail.timers.len() as u32, body.actor.is_some());
        self.reduction_unproven |= mailbox.timers > 0;
        counts.set(actor, mailbox.count_all());
    }

    /// Moves the messages that are left back to the traced mailboxes, with numbers that tell them apart.
    #[inline(never)]
    fn clear_desk(&mut self, actor: usize) {
        let delivery = self.delivery();
        let mailbox = &mut self.scratch.mailboxes[actor];
        if mailbox.len() > 0 {
            let mail = &mut self.code.spare_slots.own(actor, &mut self.actors[actor]).mail;
            let free = (0..).filter(|number| mail.timers.iter().all(|timer| timer.1.number != *number));
            let messages: Vec<_> = mailbox.clear(free).collect();
            messages.into_iter().for_each(|message| mail.queue.append(delivery, message));
        }
    }

    /// Performs random receives until something else has to be decided.
    fn receive_all(&mut self, handling: &mut ModelHandling, choices: &mut ForwardChoices, trace: &mut Trace) {
        let mut counts = mem::take(&mut self.scratch.counts);
        self.count_mail(&mut counts);
        handling.forget();
        handling.hashed = false;
        handling.at_once = Some(AtOnce { choices: mem::take(choices), steps: 0 });
        while let Some(AtOnce { choices, steps }) = &mut handling.at_once
            && counts.total() > 0
            && choices.go_on(trace.len())
        {
            let (actor, nth) = counts.find(choices.draw(counts.total()).0);
            trace.count();
            crash::handles(task(actor));
            *steps = trace.len();
            if !self.receive_at_random(actor, nth, handling, &mut counts, trace) || !self.holds() {
                break;
            }
        }
        *choices = handling.at_once.take().expect("raddle bug: the choices are gone").choices;
        self.scratch.counts = counts;
    }

    /// An actor receives and handles the n-th of the messages that it can receive. Returns whether the untraced run can go on.
    #[inline(never)]
    fn receive_at_random(
        &mut self,
        actor: usize,
        nth: u32,
        handling: &mut ModelHandling,
        counts: &mut Counts,
        trace: &mut Trace,
    ) -> bool {
        let delivery = self.delivery();
        let mut body = self.take_untraced(actor, nth, delivery, counts);
        let own = &mut self.code.spare_slots.own(actor, &mut self.actors[actor]).body;
        handling.begin_again(&self.infos[actor].who, &self.roster, own.next_timer);
        let panicked = handle_for_good(own, &mut body, handling);
        while handling.at_once.as_ref().is_some_and(|drawn| drawn.steps > trace.len()) {
            trace.count();
        }
        if let Some((choices, site)) = handling.wants {
            // The bound on steps is reached, so the execution ends here.
            self.stop = Stop::Draw { actor, payload: Payload::unhashed(body), draws: Vec::new(), choices, site };
            return false;
        }
        handling.reuse(body);
        if let Some(panicked) = panicked {
            handling.forget();
            return self.supervise_untraced(actor, panicked, counts, trace);
        }
        own.next_timer = handling.next_timer;
        // In the order in which they were sent.
        handling.mailed.reverse();
        while let Some(mailed) = handling.mailed.pop() {
            if !self.send_untraced(actor, mailed, delivery, counts, trace) {
                return false;
            }
        }
        handling.effects.is_empty() || self.follow_untraced(actor, handling, counts, trace)
    }

    /// Takes out what an actor receives.
    #[inline]
    fn take_untraced(&mut self, actor: usize, nth: u32, delivery: Delivery, counts: &mut Counts) -> PayloadCell {
        let mailbox = &mut self.scratch.mailboxes[actor];
        if mailbox.timers > 0 && nth >= mailbox.count_open() {
            return self.take_timer(actor, nth, counts);
        }
        let message = mailbox.take_open(delivery, nth);
        counts.set(actor, mailbox.count_all());
        if let Some(envelope) = message.envelope {
            self.own_body(actor).clock.read(&envelope, delivery);
        }
        message.body
    }

    /// The same for a timer. Timers are counted after the messages.
    #[inline(never)]
    fn take_timer(&mut self, actor: usize, nth: u32, counts: &mut Counts) -> PayloadCell {
        let (delivery, open) = (self.delivery(), self.scratch.mailboxes[actor].count_open());
        let Slot { body, mail } = self.code.spare_slots.own(actor, &mut self.actors[actor]);
        let (_, envelope, payload) = mail.timers.remove((nth - open) as usize);
        if delivery == Delivery::Causal {
            body.clock.read(&envelope, delivery);
        }
        self.count_one(actor, counts);
        payload.into_cell()
    }

    /// Sends a message. Returns whether the untraced run can go on.
    #[inline(always)]
    fn send_untraced(
        &mut self,
        actor: usize,
        Mailed { to, label, body }: Mailed,
        delivery: Delivery,
        counts: &mut Counts,
        trace: &mut Trace,
    ) -> bool {
        let receiver = to as usize;
        if !self.scratch.mailboxes[receiver].receives {
            let effect = Effect::Send { to, label, payload: Payload::unhashed(body) };
            return self.apply_untraced(actor, effect, counts, trace);
        }
        let mut message = UntracedMessage { sender: task(actor), delayed: false, label, body, envelope: None };
        if delivery == Delivery::Causal {
            message.envelope = Some(Box::new(self.own_body(actor).clock.write_blank(task(actor), delivery, 0)));
        }
        let mailbox = &mut self.scratch.mailboxes[receiver];
        mailbox.put(message, delivery);
        counts.set(receiver, mailbox.count_all());
        trace.count();
        true
    }

    /// Applies the effects of a handler that did more than send, one after another. Returns whether the untraced run can go on.
    #[inline(never)]
    fn follow_untraced(
        &mut self,
        actor: usize,
        handling: &mut ModelHandling,
        counts: &mut Counts,
        trace: &mut Trace,
    ) -> bool {
        for (effect, site) in handling.effects.drain(..) {
            self.here = site;
            let goes_on = match effect {
                Effect::Send { to, label, payload } => {
                    let mailed = Mailed { to, label, body: payload.into_cell() };
                    self.send_untraced(actor, mailed, self.delivery(), counts, trace)
                }
                effect => self.apply_untraced(actor, effect, counts, trace),
            };
            if !goes_on {
                return false;
            }
        }
        true
    }

    /// Applies an effect other than a send to an actor that can receive. Returns whether the untraced run can go on.
    #[inline(never)]
    fn apply_untraced(&mut self, actor: usize, effect: Effect, counts: &mut Counts, trace: &mut Trace) -> bool {
        let before = self.actors.len();
        if matches!(effect, Effect::Stop) {
            self.clear_desk(actor);
        }
        self.apply_one(actor, effect, Fate::Arrives, trace);
        if self.actors.len() > before {
            self.count_mail(counts);
        } else {
            self.count_one(actor, counts);
        }
        matches!(self.stop, Stop::Actions)
    }

    /// Restarts an actor that has panicked, or fails. Returns whether the untraced run can go on.
    #[cold]
    fn supervise_untraced(&mut self, actor: usize, panicked: Panicked, counts: &mut Counts, trace: &mut Trace) -> bool {
        self.here = self.code.site;
        self.supervise(actor, panicked, trace);
        self.count_mail(counts);
        matches!(self.stop, Stop::Actions)
    }
}

/// Runs a handler on its actor, which is copied only if others share it.
#[inline]
fn handle_for_good(body: &mut Body, message: &mut PayloadCell, handling: &mut ModelHandling) -> Option<Panicked> {
    let state = body.actor.as_mut().expect("raddle bug: an actor that has stopped receives");
    panics::catch(|| own(state).handle_for_good(message, handling)).err()
}
