//! What the task of an actor does inside an execution: it receives a message, handles it, and receives again. The scheduler decides only
//! which message it receives.

use std::any::Any;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use raddle_engine::trace::{Class, Effect, Operation, Site};

use crate::actor::actor_mailbox::Taken;
use crate::actor::address::Address;
use crate::actor::behaviour::Actor;
use crate::actor::context::{Context, Host};
use crate::actor::handling::TaskHandling;
use crate::actor::mailbox_handle::MailboxHandle;
use crate::actor::resident::{Resident, known};
use crate::actor::system::{Make, System, lock};
use crate::actor::untraced::After;
use crate::coroutine::act::Act;
use crate::coroutine::current;
use crate::execution::{Ask, Execution, Moment, State, here};
use crate::panics;

static ACT: Operation = Operation { verb: "begin with", class: Class::Update };
static RECEIVE: Operation = Operation { verb: "receive from", class: Class::Receive };

/// An actor from its start to its stop or the end of the execution.
pub(crate) struct Life<A: Actor> {
    mailbox: Arc<MailboxHandle<A::Msg>>,
    me: Address<A::Msg>,
    make: Option<Make<A>>,
    restarts_left: u32,
}

/// An actor with what its handlers need. The execution stores it between two messages.
///
/// It is aligned to a cache line. The fields that most handlers use come first.
#[repr(C, align(64))]
pub(crate) struct Home<A: Actor> {
    pub(crate) handling: TaskHandling,
    pub(crate) actor: A,
    me: Address<A::Msg>,
}

impl<A: Actor> Home<A> {
    pub(crate) fn new(actor: A, system: System, me: Address<A::Msg>) -> Self {
        Self { actor, handling: TaskHandling::new(system), me }
    }

    #[inline]
    pub(crate) fn handle(&mut self, msg: A::Msg) {
        let Self { actor, handling, me } = self;
        actor.handle(msg, &mut Context { me, host: Host::Task(handling) });
    }

    fn started(&mut self) {
        let Self { actor, handling, me } = self;
        actor.started(&mut Context { me, host: Host::Task(handling) });
    }

    /// Drops the actor, then makes a new one in its place.
    fn renew(self, make: &Make<A>) -> Self {
        let Self { actor, handling, me } = self;
        drop(actor);
        Self { actor: make(), handling, me }
    }
}

/// What an actor got when it waited for a message.
enum Received<A: Actor> {
    Message(Box<Home<A>>, A::Msg),
    /// An untraced run received a message and has handled it.
    Handled(Box<Home<A>>, After),
    Crash(Box<Home<A>>),
}

/// A message that was taken out of a mailbox, and the actor that receives it.
type Mail<M> = (Option<M>, Option<Box<dyn Resident>>);

impl<A: Actor> Life<A> {
    pub(crate) fn new(mailbox: Arc<MailboxHandle<A::Msg>>, me: Address<A::Msg>, make: Option<Make<A>>) -> Self {
        let restarts_left = lock(&mailbox.system.inner.rules).restarts.unwrap_or(0);
        Self { mailbox, me, make, restarts_left }
    }

    pub(crate) fn live(mut self) {
        let home = self.mailbox.take_actor().expect("raddle bug: an actor that is gone begins");
        if self.me.who.is_external() && !self.act() {
            return;
        }
        let Some(mut home) = self.start(known(home)) else { return };
        loop {
            if home.handling.stops() {
                return self.close(home);
            }
            let ended = match self.receive(home) {
                None => return,
                Some(Received::Message(received, msg)) => {
                    home = received;
                    guard(|| home.handle(msg))
                }
                Some(Received::Handled(received, after)) => {
                    home = received;
                    after
                }
                Some(Received::Crash(crashed)) => {
                    let Some(make) = &self.make else { return self.close(crashed) };
                    match self.start(Box::new(crashed.renew(make))) {
                        Some(again) => home = again,
                        None => return,
                    }
                    After::Done
                }
            };
            if let After::Panicked(payload) = ended {
                match self.restart(home, payload) {
                    Some(again) => home = again,
                    None => return,
                }
            }
            self.mailbox.drop_cancelled(&mut home.handling);
        }
    }

    /// An external actor waits until the schedule lets it start. Returns `false` if the execution ends first.
    fn act(&self) -> bool {
        let begun = current::with(|execution| {
            let ask = Ask::new(&ACT, self.mailbox.head, Effect::Change, here());
            let begin = |moment: &mut Moment<'_>| {
                let turns = moment.state.turns;
                moment.state.actors.mailboxes[self.mailbox.mail].since = turns;
                if moment.state.tells() {
                    moment.state.tell_instead("begins".to_owned());
                }
            };
            execution.step_unless_over(|_| (), |state, act| state.ask(&ask, act), begin)
        });
        begun.flatten().is_some()
    }

    /// Calls `started` of an actor. If that panics, the actor is restarted; returns `None` if it is not restarted either.
    fn start(&mut self, mut home: Box<Home<A>>) -> Option<Box<Home<A>>> {
        match guard(|| home.started()) {
            After::Done => Some(home),
            After::Panicked(payload) => self.restart(home, payload),
        }
    }

    /// Restarts an actor that has panicked, if it may be restarted; otherwise its task panics.
    #[cold]
    fn restart(&mut self, panicked: Box<Home<A>>, payload: Box<dyn Any + Send>) -> Option<Box<Home<A>>> {
        let restarts = self.restarts_left > 0;
        let Some(make) = self.make.as_ref().filter(|_| restarts) else {
            // The task fails with this panic, even if the destructor of the actor panics, too.
            if let Err(another) = panic::catch_unwind(AssertUnwindSafe(|| drop(panicked))) {
                mem::forget(another);
            }
            panic::resume_unwind(payload);
        };
        self.restarts_left -= 1;
        forget_panic();
        tell(format!("panics: {}; starts anew", panics::message(&*payload)), here());
        let made = Box::new(panicked.renew(make));
        self.start(made)
    }

    /// Waits for the next message; `None` if the execution is over. `System::with` can look at the actor meanwhile.
    fn receive(&self, home: Box<Home<A>>) -> Option<Received<A>> {
        let mail = self.mailbox.mail;
        let received = current::with(|execution| {
            let received = execution.step_unless_over(
                |state| state.actors.mailboxes[mail].actor = Some(home),
                |state, act| state.ask_for_mail(mail, act),
                |moment| moment.receive(mail, |state, taken| self.take_out(state, taken)),
            );
            received.map(Ok).or_else(|| execution.state.borrow_mut().take_over(mail).map(Err))
        });
        let (msg, home) = match received.flatten()? {
            Ok(received) => received,
            Err((after, home)) => return Some(Received::Handled(known(home), after)),
        };
        let Some(home) = home else {
            panic!("raddle: {:?} received a message while `with` looked at it: do not wait in what looks", self.me);
        };
        Some(match msg {
            Some(msg) => Received::Message(known(home), msg),
            None => {
                // An actor that crashes loses the messages of its timers.
                let timers = current::with(|execution| {
                    let mut state = execution.state.borrow_mut();
                    state.actors.mailboxes[mail].change_timers(Vec::clear);
                    state.actors.take_timed::<A::Msg>(mail, |_| true)
                });
                drop(timers);
                Received::Crash(known(home))
            }
        })
    }

    /// Returns the message that was received, `None` if the actor crashes, and the actor.
    #[inline]
    fn take_out(&self, state: &mut State, taken: Taken) -> Mail<A::Msg> {
        let mail = self.mailbox.mail;
        let actor = state.actors.mailboxes[mail].actor.take();
        let msg = match taken {
            Taken::Message(place) => Some(state.actors.take_out(mail, place)),
            Taken::Timer(timer) => state.actors.take_timed(mail, |set| set == timer).pop(),
            Taken::Crash => None,
        };
        assert!(msg.is_some() || taken == Taken::Crash, "raddle bug: a timer went off that is not set");
        if state.tells() {
            self.tell_taken(state, taken);
        }
        (msg, actor)
    }

    #[cold]
    fn tell_taken(&self, state: &mut State, taken: Taken) {
        match taken {
            Taken::Crash => {
                let then = if self.make.is_some() { "starts anew" } else { "does not come back" };
                state.tell_instead(format!("crashes and {then} (fault)"));
            }
            _ => state.tell_received(matches!(taken, Taken::Timer(_))),
        }
    }

    /// Stops the actor. Messages that still wait for it become dead letters.
    fn close(&self, home: Box<Home<A>>) {
        let left = current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let mailbox = &mut state.actors.mailboxes[self.mailbox.mail];
            mailbox.stopped = true;
            mailbox.change_timers(Vec::clear);
            let (head, left) = (mailbox.head, mailbox.len());
            state.objects[head.index()].word = 0;
            left
        })
        .unwrap_or_default();
        match left {
            0 => tell("stops".to_owned(), here()),
            1 => tell("stops; a message that waited is a dead letter".to_owned(), here()),
            many => tell(format!("stops; {many} messages that waited are dead letters"), here()),
        }
        drop(home);
        let messages = current::with(|execution| execution.state.borrow_mut().actors.take_all(self.mailbox.mail));
        drop(self.mailbox.vacate());
        for (sender, msg) in messages.unwrap_or_default() {
            self.mailbox.bury(sender, self.me.who, msg);
        }
    }
}

/// Even if its task is unwound, no value of the user stays in the tables of the execution.
impl<A: Actor> Drop for Life<A> {
    fn drop(&mut self) {
        drop(self.mailbox.vacate());
    }
}

impl State {
    /// The current task asks to receive from its mailbox.
    #[inline]
    pub(crate) fn ask_for_mail(&mut self, mail: usize, act: Act) {
        let plain = self.actors.mailboxes[mail].timers.is_empty() && !self.actors.may_crash(mail);
        let task = &mut self.tasks[self.current.index()];
        // An actor that received in an untraced run still has its earlier request: nobody withdrew it.
        if plain && task.asks.is_some() {
            task.act = Some(act);
        } else {
            self.ask_for_mail_again(mail, act);
        }
    }

    fn ask_for_mail_again(&mut self, mail: usize, act: Act) {
        let ready: fn(u64, u64) -> bool = |waiting, _| waiting > 0;
        let mailbox = &self.actors.mailboxes[mail];
        let (deadline, may_crash) = (mailbox.first_due(), self.actors.may_crash(mail));
        let ask = Ask::new(&RECEIVE, mailbox.head, Effect::Change, here());
        let ask = Ask { ready: Some(ready), deadline, may_crash, mail: Some(mail as u32), posts: true, ..ask };
        self.ask(&ask, act);
    }
}

/// Runs a handler and catches its panic.
fn guard(run: impl FnOnce()) -> After {
    match panic::catch_unwind(AssertUnwindSafe(run)) {
        Ok(()) => After::Done,
        Err(payload) => After::Panicked(payload),
    }
}

/// Adds a row to the report, if this execution is run for a report.
pub(crate) fn tell(text: String, site: Site) {
    current::with(|execution: &Execution| {
        let mut state = execution.state.borrow_mut();
        if state.tells() {
            state.tell(text, site);
        }
    });
}

/// Removes the latest panic of the current task from its failures: the actor was restarted.
pub(crate) fn forget_panic() {
    current::with(|execution| {
        let mut state = execution.state.borrow_mut();
        let task = state.current;
        state.task().panics.pop();
        state.unwinding.retain(|&unwinding| unwinding != task);
    });
}
