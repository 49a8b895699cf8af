//! The life of an actor inside an execution: a task that receives, handles, and receives again. Which message it receives is its only
//! decision.

use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use raddle_engine::trace::{Class, Effect, Operation, Site};

use crate::actor::address::Address;
use crate::actor::behaviour::Actor;
use crate::actor::context::{Context, Host};
use crate::actor::handling::Handling;
use crate::actor::mailbox::Mailbox;
use crate::actor::post::Taken;
use crate::actor::system::{Make, lock};
use crate::coroutine::current;
use crate::execution::{Ask, Execution, State, Teardown, here};
use crate::panics;

static ACT: Operation = Operation { verb: "begin with", class: Class::Update };
static RECEIVE: Operation = Operation { verb: "receive from", class: Class::Receive };

/// An actor from its start to its stop or the end of the execution.
pub(crate) struct Life<A: Actor> {
    mailbox: Arc<Mailbox<A::Msg>>,
    me: Address<A::Msg>,
    make: Option<Make<A>>,
    restarts_left: u32,
}

enum Received<A: Actor> {
    Message(Box<A>, A::Msg),
    Crash(Box<A>),
}

/// How the handling of a message ended.
enum Handled {
    Done,
    Panicked(Box<dyn std::any::Any + Send>),
}

impl<A: Actor> Life<A> {
    pub(crate) fn new(mailbox: Arc<Mailbox<A::Msg>>, me: Address<A::Msg>, make: Option<Make<A>>) -> Self {
        let restarts_left = lock(&mailbox.system.inner.rules).restarts.unwrap_or(0);
        Self { mailbox, me, make, restarts_left }
    }

    pub(crate) fn live(mut self) {
        let mut handling = Handling::new(self.mailbox.system.clone(), self.mailbox.mail);
        let actor = self.mailbox.take_actor().expect("raddle bug: an actor that is gone begins");
        if self.me.who.external && !self.act() {
            return;
        }
        let Some(mut actor) = self.start(known(actor), &mut handling) else { return };
        loop {
            if handling.stopped {
                return self.close(actor);
            }
            match self.receive(actor) {
                None => return,
                Some(Received::Message(received, msg)) => {
                    actor = received;
                    let handled = self.guard(&mut handling, |context| actor.handle(msg, context));
                    if let Handled::Panicked(payload) = handled {
                        match self.restart(actor, payload, &mut handling) {
                            Some(again) => actor = again,
                            None => return,
                        }
                    }
                }
                Some(Received::Crash(crashed)) => {
                    let Some(make) = &self.make else { return self.close(crashed) };
                    drop(crashed);
                    let made = Box::new(make());
                    match self.start(made, &mut handling) {
                        Some(again) => actor = again,
                        None => return,
                    }
                }
            }
            self.mailbox.drop_cancelled(&mut handling);
        }
    }

    /// Whoever is outside begins when the schedule says so; `false` if the execution is over before.
    fn act(&self) -> bool {
        let begun = current::with(|execution| {
            let ask = Ask::new(&ACT, self.mailbox.head, Effect::Change, here());
            execution.step_unless_over(&ask, |moment| {
                let turns = moment.state.turns;
                moment.state.actors.posts[self.mailbox.mail].since = turns;
                if moment.state.tells() {
                    moment.state.tell_instead("begins".to_owned());
                }
            })
        });
        begun.flatten().is_some()
    }

    fn guard(&self, handling: &mut Handling, run: impl FnOnce(&mut Context<'_, A::Msg>)) -> Handled {
        let mut context = Context { me: &self.me, host: Host::Task(handling) };
        match panic::catch_unwind(AssertUnwindSafe(|| run(&mut context))) {
            Ok(()) => Handled::Done,
            Err(payload) => Handled::Panicked(payload),
        }
    }

    /// Starts an actor that was made; where it panics, what is made in its stead.
    fn start(&mut self, mut actor: Box<A>, handling: &mut Handling) -> Option<Box<A>> {
        match self.guard(handling, |context| actor.started(context)) {
            Handled::Done => Some(actor),
            Handled::Panicked(payload) => self.restart(actor, payload, handling),
        }
    }

    /// An actor that has panicked is made anew, or the task fails.
    #[cold]
    fn restart(
        &mut self,
        panicked: Box<A>,
        payload: Box<dyn std::any::Any + Send>,
        handling: &mut Handling,
    ) -> Option<Box<A>> {
        let restarts = self.restarts_left > 0 && !payload.is::<Teardown>();
        let Some(make) = self.make.as_ref().filter(|_| restarts) else {
            // The panic is what the task fails with, whatever the destructor of the actor has to add.
            if let Err(another) = panic::catch_unwind(AssertUnwindSafe(|| drop(panicked))) {
                mem::forget(another);
            }
            panic::resume_unwind(payload);
        };
        self.restarts_left -= 1;
        forget_panic();
        tell(format!("panics: {}; starts anew", panics::message(&*payload)), here());
        drop(panicked);
        let made = Box::new(make());
        self.start(made, handling)
    }

    /// Waits for the next message; `None` if the execution is over. The actor can be looked at meanwhile.
    fn receive(&self, actor: Box<A>) -> Option<Received<A>> {
        let mail = self.mailbox.mail;
        let received = current::with(|execution| {
            let ready: fn(u64, u64) -> bool = |waiting, _| waiting > 0;
            let (deadline, may_crash) = {
                let mut state = execution.state.borrow_mut();
                let post = &mut state.actors.posts[mail];
                post.actor = Some(actor);
                (post.first_due(), state.actors.may_crash(mail))
            };
            let ask = Ask::new(&RECEIVE, self.mailbox.head, Effect::Change, here());
            let ask = Ask { ready: Some(ready), deadline, may_crash, mail: Some(mail as u32), posts: true, ..ask };
            execution.step_unless_over(&ask, |moment| moment.receive(mail, |state, taken| self.take_out(state, taken)))
        });
        let (msg, actor) = received.flatten()?;
        let Some(actor) = actor else {
            panic!("raddle: {:?} received a message while `with` looked at it: do not wait in what looks", self.me);
        };
        Some(match msg {
            Some(msg) => Received::Message(known(actor), msg),
            None => {
                // What its timers were set for is gone with it.
                let timers = current::with(|execution| {
                    let mut state = execution.state.borrow_mut();
                    let post = &mut state.actors.posts[mail];
                    post.timers.clear();
                    mem::take(&mut self.mailbox.contents(post).timers)
                });
                drop(timers);
                Received::Crash(known(actor))
            }
        })
    }

    /// The message that was received, `None` if the actor crashes; and the actor.
    #[inline]
    fn take_out(&self, state: &mut State, taken: Taken) -> (Option<A::Msg>, Option<Box<dyn std::any::Any + Send>>) {
        let post = &mut state.actors.posts[self.mailbox.mail];
        let actor = post.actor.take();
        let contents = self.mailbox.contents(post);
        let msg = match taken {
            Taken::Place(0) => contents.queue.pop_front(),
            Taken::Place(place) => contents.queue.remove(place),
            Taken::Timer(timer) => {
                let at = contents.timers.iter().position(|set| set.0 == timer);
                Some(contents.timers.remove(at.expect("raddle bug: a timer went off that is not set")).1)
            }
            Taken::Crash => None,
        };
        assert!(msg.is_some() || taken == Taken::Crash, "raddle bug: a letter without contents");
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

    /// The actor stops; what still waits for it is never received.
    fn close(&self, actor: Box<A>) {
        let left = current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let post = &mut state.actors.posts[self.mailbox.mail];
            post.stopped = true;
            post.timers.clear();
            let (head, letters) = (post.head, post.queue.clear());
            state.objects[head.index()].word = 0;
            letters
        })
        .unwrap_or_default();
        match left.len() {
            0 => tell("stops".to_owned(), here()),
            1 => tell("stops; a message that waited is a dead letter".to_owned(), here()),
            many => tell(format!("stops; {many} messages that waited are dead letters"), here()),
        }
        drop(actor);
        let messages = current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            mem::take(&mut self.mailbox.contents(&mut state.actors.posts[self.mailbox.mail]).queue)
        });
        drop(self.mailbox.vacate());
        for (letter, msg) in left.iter().zip(messages.unwrap_or_default()) {
            self.mailbox.bury(letter.sender, self.me.who, msg);
        }
    }
}

/// However a life ends, nothing of the user's is left in the tables.
impl<A: Actor> Drop for Life<A> {
    fn drop(&mut self) {
        drop(self.mailbox.vacate());
    }
}

fn known<A: Actor>(actor: Box<dyn std::any::Any + Send>) -> Box<A> {
    actor.downcast().expect("raddle bug: an actor of another type")
}

/// Adds a row to the story, if it is told.
pub(crate) fn tell(text: String, site: Site) {
    current::with(|execution: &Execution| {
        let mut state = execution.state.borrow_mut();
        if state.tells() {
            state.tell(text, site);
        }
    });
}

/// A panic that was caught is no failure.
pub(crate) fn forget_panic() {
    current::with(|execution| {
        let mut state = execution.state.borrow_mut();
        let task = state.current;
        state.task().panics.pop();
        state.unwinding.retain(|&unwinding| unwinding != task);
    });
}
