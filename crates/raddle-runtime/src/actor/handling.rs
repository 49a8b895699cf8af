//! What a handler can do inside an execution.

use std::mem;
use std::sync::atomic::Ordering;
use std::time::Duration;

use raddle_engine::outcome::Failure;
use raddle_engine::trace::{Effect, Ordered, Role, Site};

use crate::actor::address::{Address, Route, Who};
use crate::actor::context::Timer;
use crate::actor::envelope::Envelope;
use crate::actor::life::tell;
use crate::actor::mailbox_handle::MailboxHandle;
use crate::actor::reply::{Awaited, ReplyTo};
use crate::actor::system::{System, lock};
use crate::actor::tell::shorten;
use crate::coroutine::current;
use crate::execution::{Kind, here, word_as_number};
use crate::time::after;

static ANSWER: Kind = Kind { noun: "reply", show: word_as_number };

/// A handler while it runs.
pub(crate) struct TaskHandling {
    pub(crate) system: System,
    /// Fields that most handlers do not need, allocated at the first use.
    plans: Option<Box<Plans>>,
}

/// What remains to be done when a handler has ended, and its timers.
#[derive(Default)]
struct Plans {
    stops: bool,
    next_timer: u32,
    cancelled: Vec<Timer>,
}

impl TaskHandling {
    pub(crate) fn new(system: System) -> Self {
        Self { system, plans: None }
    }

    fn plans(&mut self) -> &mut Plans {
        self.plans.get_or_insert_default()
    }

    /// Whether something remains to be done after the handler.
    #[inline]
    pub(crate) fn wants_more(&self) -> bool {
        self.plans.as_ref().is_some_and(|plans| plans.stops || !plans.cancelled.is_empty())
    }

    /// The actor stops after the handler.
    pub(crate) fn stop(&mut self) {
        self.plans().stops = true;
    }

    /// Whether it stops after the handler.
    #[inline]
    pub(crate) fn stops(&self) -> bool {
        self.plans.as_ref().is_some_and(|plans| plans.stops)
    }

    #[track_caller]
    pub(crate) fn becomes(&mut self, behaviour: &'static str, site: Site) {
        current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let task = state.current;
            let name = state.actors.clock(task).name;
            state.trace.change_behaviour(name);
        });
        tell(format!("becomes {behaviour}"), site);
    }

    #[track_caller]
    pub(crate) fn unhandled<M>(&mut self, who: Who, msg: M, describe: fn(&M) -> String) {
        self.system.inner.unhandled.fetch_add(1, Ordering::SeqCst);
        let fails = lock(&self.system.inner.rules).fail_on_unhandled;
        let message = fails.then(|| format!("{who} does not handle {} now", shorten(&describe(&msg))));
        drop(msg);
        tell("does not handle it".to_owned(), here());
        if let Some(message) = message {
            current::with(|execution| {
                let task = execution.state.borrow().current;
                execution.fail(Failure::Unhandled { task, message });
            });
        }
    }

    /// The `ReplyTo` for a request, and the object at which the answer is awaited.
    pub(crate) fn question<N, R: Send + 'static>(&mut self, to: &Address<N>, site: Site) -> (ReplyTo<R>, Awaited<R>) {
        let asked = match &to.route {
            Route::Task { mailbox, .. } if to.who.world == self.system.inner.world => mailbox.task(),
            _ => None,
        };
        let Some(asked) = asked else { panic!("raddle: {to:?} belongs to another system or execution") };
        let question = current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let object = state.add_object(&ANSWER, 0);
            state.tell_question(object);
            ReplyTo::task(object, state.number, asked, to.who, site)
        });
        question.expect("raddle bug: a task asks outside an execution")
    }

    pub(crate) fn set_timer<M: Send + 'static>(
        &mut self,
        me: &Address<M>,
        delay: Duration,
        msg: M,
        site: Site,
    ) -> Timer {
        let Route::Task { mailbox, .. } = &me.route else {
            unreachable!("raddle bug: a task's actor has another address")
        };
        let plans = self.plans();
        let timer = Timer(plans.next_timer);
        plans.next_timer += 1;
        let label = mailbox.label(&msg);
        let tells = current::with(|execution| execution.state.borrow().tells()) == Some(true);
        let text = tells.then(|| (mailbox.message_fns.describe)(&msg));
        current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let (task, due) = (state.current, after(state.now(), delay));
            let delivery = state.actors.system(mailbox.mail).rules.delivery;
            let kind = state.actors.labels.type_of_message(&msg, label);
            let envelope = state.actors.clock(task).write(task, delivery, label, kind);
            if let Some(text) = text {
                state.tell_timer(envelope.name, text, delay, site);
            }
            state.also_touch(envelope.object(), Effect::Change, Role::Gives, Ordered::RELEASE);
            state.actors.mailboxes[mailbox.mail].change_timers(|timers| timers.push((timer, due, envelope)));
            state.actors.put_timed(mailbox.mail, timer, msg);
        });
        timer
    }

    pub(crate) fn cancel(&mut self, timer: Timer, site: Site) {
        tell("cancels a timer".to_owned(), site);
        self.plans().cancelled.push(timer);
    }
}

impl<M: Send + 'static> MailboxHandle<M> {
    /// Forgets timers that were cancelled by the handler that has ended.
    #[inline]
    pub(crate) fn drop_cancelled(&self, handling: &mut TaskHandling) {
        let Some(plans) = handling.plans.as_mut().filter(|plans| !plans.cancelled.is_empty()) else { return };
        let cancelled = mem::take(&mut plans.cancelled);
        let dropped = current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let is_set = |timer: &(Timer, u64, Envelope)| !cancelled.contains(&timer.0);
            state.actors.mailboxes[self.mail].change_timers(|timers| timers.retain(is_set));
            state.actors.take_timed::<M>(self.mail, |timer| cancelled.contains(&timer))
        });
        drop(dropped);
    }
}
