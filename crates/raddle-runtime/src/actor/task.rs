//! Actors inside an execution: each is a task that receives, handles, and receives again.
//!
//! Which message it receives is its only decision. What the handler sends, creates and announces on the way is part of the same
//! step; only where order of sending is all that matters, or a monitor listens, is it a step of its own if the
//! handler has taken another in between (a lock, say), or a thread does it while others are at work.

use std::any::Any;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::Failure;
use raddle_engine::trace::{Class, Effect, Offer, Operation, Ordered, Role, Site};

use crate::actor::address::{Address, Route, Who};
use crate::actor::behaviour::{Actor, short_name};
use crate::actor::context::{Context, Host, Timer};
use crate::actor::letter::type_of_message;
use crate::actor::post::{Post, Taken, dead_letter};
use crate::actor::reply::{Awaited, ReplyTo};
use crate::actor::rules::Fate;
use crate::actor::system::{HEAD, Kept, Make, System, TAIL, lock};
use crate::coroutine::current;
use crate::execution::{Ask, Execution, Kind, Progress, Teardown, here, word_as_number};
use crate::thread::{Builder, run_task};
use crate::time::after;

static RECEIVE: Operation = Operation { verb: "receive from", class: Class::Receive };
static SEND: Operation = Operation { verb: "send to", class: Class::Send };
static DEAD_LETTER: Operation = Operation { verb: "send in vain to", class: Class::Send };
static FAULT: Operation = Operation { verb: "choose a fault", class: Class::Choice };
static ANSWER: Kind = Kind { noun: "reply", show: word_as_number };

/// What an actor is sent, and itself.
pub(crate) struct Mailbox<M> {
    system: System,
    /// Its number among the mailboxes of the execution.
    mail: usize,
    head: ObjectId,
    label: fn(&M) -> &'static str,
    duplicate: fn(&M) -> Option<M>,
    /// In the order of the letters.
    contents: Mutex<Vec<M>>,
    timers: Mutex<Vec<(Timer, M)>>,
    state: Kept,
}

/// A handler while it runs.
pub(crate) struct Handling {
    pub(crate) system: System,
    pub(crate) stopped: bool,
    mail: usize,
    next_timer: u32,
    cancelled: Vec<Timer>,
}

/// Creates an actor as a task.
pub(crate) fn spawn<A: Actor>(
    system: &System,
    actor: A,
    make: Option<Make<A>>,
    kind: &'static str,
    site: Site,
) -> Address<A::Msg> {
    let inside = system.inner.inside.expect("raddle bug: a task outside an execution");
    let who = lock(&system.inner.roster).next(system.inner.world, kind);
    let rules = *lock(&system.inner.rules);
    let made = current::with(|execution| {
        let mut state = execution.state.borrow_mut();
        if state.number != inside.execution {
            return None;
        }
        let (head, tail) = (state.add_object(&HEAD, 0), state.add_object(&TAIL, 0));
        let creator = state.current;
        let party = state.actors.party(creator).create(kind);
        Some((state.actors.posts.len(), head, tail, party))
    });
    let (mail, head, tail, party) =
        made.flatten().expect("raddle: this system of actors belongs to an execution that is over");
    let mailbox = Arc::new(Mailbox {
        system: system.clone(),
        mail,
        head,
        label: A::label,
        duplicate: A::duplicate,
        contents: Mutex::default(),
        timers: Mutex::default(),
        state: Arc::new(Mutex::new(Some(Box::new(actor) as Box<dyn Any + Send>))),
    });
    let address = Address { who, route: Route::Task(mailbox.clone()) };
    let me = address.clone();
    let builder = Builder::new().name(who.to_string());
    let task = builder.start(Box::new(move || run_task(move || live(&mailbox, &me, make))), site).task();
    current::with(|execution| {
        let mut state = execution.state.borrow_mut();
        state.also_touch(inside.roster, Effect::Change, Role::Plain, Ordered::RELAXED);
        let since = state.turns;
        state.actors.posts.push(Post {
            who,
            task,
            rules,
            head,
            tail,
            activity: inside.activity,
            faults: inside.faults,
            may_crash: false,
            stopped: false,
            queue: Vec::new(),
            timers: Vec::new(),
            since,
        });
        state.actors.set_party(task, party);
    });
    address
}

/// The life of an actor, from its start to its stop or the end of the execution.
fn live<A: Actor>(mailbox: &Mailbox<A::Msg>, me: &Address<A::Msg>, make: Option<Make<A>>) {
    let mut handling = Handling {
        system: mailbox.system.clone(),
        stopped: false,
        mail: mailbox.mail,
        next_timer: 0,
        cancelled: Vec::new(),
    };
    let mut restarts_left = lock(&mailbox.system.inner.rules).restarts.unwrap_or(0);
    let mut next: Option<A::Msg> = None;
    let mut starts = true;
    loop {
        let result = {
            let mut state = lock(&mailbox.state);
            let actor = state.as_mut().and_then(|state| state.downcast_mut::<A>());
            let actor = actor.expect("raddle bug: an actor that is gone goes on");
            let mut context = Context { me, host: Host::Task(&mut handling) };
            let starting = mem::take(&mut starts);
            panic::catch_unwind(AssertUnwindSafe(|| match next.take() {
                _ if starting => actor.started(&mut context),
                Some(msg) => actor.handle(msg, &mut context),
                None => {}
            }))
        };
        if let Err(payload) = result {
            let Some(make) = make.as_ref().filter(|_| restarts_left > 0 && !payload.is::<Teardown>()) else {
                panic::resume_unwind(payload);
            };
            restarts_left -= 1;
            forget_panic();
            *lock(&mailbox.state) = Some(Box::new(make()));
            starts = true;
            continue;
        }
        mailbox.drop_cancelled(&mut handling);
        if handling.stopped {
            return mailbox.close();
        }
        match mailbox.receive() {
            None => return,
            Some(Received::Message(msg)) => next = Some(msg),
            Some(Received::Crash) => match &make {
                Some(make) => {
                    *lock(&mailbox.state) = Some(Box::new(make()));
                    starts = true;
                }
                None => return mailbox.close(),
            },
        }
    }
}

/// A panic that was caught is no failure.
fn forget_panic() {
    current::with(|execution| {
        let mut state = execution.state.borrow_mut();
        let task = state.current;
        state.task().panics.pop();
        state.unwinding.retain(|&unwinding| unwinding != task);
    });
}

enum Received<M> {
    Message(M),
    Crash,
}

impl<M: Send + 'static> Mailbox<M> {
    /// Waits for the next message; `None` if the execution is over.
    fn receive(&self) -> Option<Received<M>> {
        let taken = current::with(|execution| {
            let ready: fn(u64, u64) -> bool = |waiting, _| waiting > 0;
            let (deadline, may_crash) = {
                let state = execution.state.borrow();
                let post = &state.actors.posts[self.mail];
                (post.first_due(), post.may_crash && state.actors.faults.crash > 0)
            };
            let mail = Some(u32::try_from(self.mail).expect("raddle bug: more than 2^32 actors"));
            let ask = Ask::new(&RECEIVE, self.head, Effect::Change, here());
            let ask = Ask { ready: Some(ready), deadline, may_crash, mail, ..ask };
            execution.step_unless_over(&ask, |moment| moment.receive(self.mail))
        });
        Some(match taken.flatten()? {
            Taken::Place(place) => Received::Message(lock(&self.contents).remove(place)),
            Taken::Timer(timer) => {
                let mut timers = lock(&self.timers);
                let at = timers.iter().position(|set| set.0 == timer);
                Received::Message(timers.remove(at.expect("raddle bug: a timer went off that is not set")).1)
            }
            Taken::Crash => {
                lock(&self.timers).clear();
                current::with(|execution| execution.state.borrow_mut().actors.posts[self.mail].timers.clear());
                Received::Crash
            }
        })
    }

    /// The actor stops; what still waits for it is never received.
    fn close(&self) {
        let left = current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let post = &mut state.actors.posts[self.mail];
            post.stopped = true;
            post.timers.clear();
            (mem::take(&mut post.queue), post.who)
        });
        *lock(&self.state) = None;
        let contents = mem::take(&mut *lock(&self.contents));
        drop(contents);
        if let Some((letters, who)) = left {
            letters.iter().for_each(|letter| self.bury(letter.sender, who, letter.label));
        }
    }

    fn bury(&self, sender: TaskId, who: Who, label: &'static str) {
        self.system.inner.dead_letters.fetch_add(1, Ordering::SeqCst);
        if lock(&self.system.inner.rules).fail_on_dead_letters {
            current::with(|execution| execution.fail(dead_letter(sender, who, label)));
        }
    }

    pub(crate) fn label(&self, msg: &M) -> &'static str {
        (self.label)(msg)
    }

    pub(crate) fn head(&self) -> ObjectId {
        self.head
    }

    pub(crate) fn state(&self) -> Kept {
        self.state.clone()
    }

    /// Sends a message as the current task.
    #[track_caller]
    pub(crate) fn send(&self, who: Who, msg: M) {
        let site = here();
        let number = self.system.inner.inside.map(|inside| inside.execution);
        let here = current::with(|execution| Some(execution.state.borrow().number) == number);
        assert!(here == Some(true), "raddle: {who} belongs to an execution that is over, or to another test's");
        current::with(|execution| {
            let fate = self.fate(execution, &msg, site);
            let copy = if fate == Fate::Duplicated { (self.duplicate)(&msg) } else { None };
            if fate == Fate::Dropped {
                return;
            }
            for msg in std::iter::once(msg).chain(copy) {
                self.put(execution, who, msg, fate == Fate::Delayed, site);
            }
        });
    }

    /// What becomes of a message between actors.
    fn fate(&self, execution: &Execution, msg: &M, site: Site) -> Fate {
        let fates: Vec<Fate> = {
            let state = execution.state.borrow();
            if state.actors.of(state.current).is_none() || self.faults() == Default::default() {
                return Fate::Arrives;
            }
            let can_duplicate = state.actors.faults.duplicate > 0 && (self.duplicate)(msg).is_some();
            state.actors.faults.fates(can_duplicate).collect()
        };
        let choices = u32::try_from(fates.len()).expect("there are four fates");
        let fate = fates[execution.choose(choices, site, &FAULT) as usize];
        let faults = self.system.inner.inside.expect("raddle bug: a task outside an execution").faults;
        let mut state = execution.state.borrow_mut();
        state.actors.faults.spend(fate);
        let effect = if fate == Fate::Arrives { Effect::Read } else { Effect::Change };
        state.also_touch(faults, effect, Role::Plain, Ordered::RELAXED);
        fate
    }

    fn faults(&self) -> crate::actor::Faults {
        lock(&self.system.inner.rules).faults
    }

    fn put(&self, execution: &Execution, who: Who, msg: M, delayed: bool, site: Site) {
        let label = self.label(&msg);
        let (letter, stopped, tail, one_step) = {
            let mut state = execution.state.borrow_mut();
            let task = state.current;
            let post = &state.actors.posts[self.mail];
            let (delivery, stopped, tail) = (post.rules.delivery, post.stopped, post.tail);
            let mut letter = state.actors.party(task).write(task, delivery, label, type_of_message(&msg, label));
            letter.number = state.actors.posts[self.mail].free_number(letter.number);
            letter.delayed = delayed;
            (letter, stopped, tail, state.is_one_step())
        };
        let delivery = lock(&self.system.inner.rules).delivery.offered();
        let op = if stopped { &DEAD_LETTER } else { &SEND };
        let ask = match delivery {
            Some(delivery) => {
                let offer = Offer { message: letter.number, delivery };
                Ask { role: Role::Offers(offer), ..Ask::new(op, self.head, Effect::Read, site) }
            }
            None => Ask::new(op, tail, Effect::Change, site),
        };
        let sender = letter.sender;
        let send = |moment: &mut crate::execution::Moment<'_>| {
            moment.progress(Progress::Changed);
            moment.left(letter.name);
            moment.state.also_touch(letter.object(), Effect::Change, Role::Gives, Ordered::RELEASE);
            // It may have stopped while the sender waited for its turn.
            if moment.state.actors.posts[self.mail].stopped {
                return false;
            }
            let place = moment.state.put_letter(self.mail, letter);
            lock(&self.contents).insert(place, msg);
            true
        };
        let arrived =
            if delivery.is_some() || one_step { execution.step_unseen(ask, send) } else { execution.step(ask, send) };
        if !arrived {
            self.bury(sender, who, label);
        }
    }

    fn drop_cancelled(&self, handling: &mut Handling) {
        if handling.cancelled.is_empty() {
            return;
        }
        let cancelled = mem::take(&mut handling.cancelled);
        lock(&self.timers).retain(|timer| !cancelled.contains(&timer.0));
        current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            state.actors.posts[self.mail].timers.retain(|timer| !cancelled.contains(&timer.0));
        });
    }
}

impl<M> Mailbox<M> {
    pub(crate) fn let_crash(&self) {
        current::with(|execution| execution.state.borrow_mut().actors.posts[self.mail].may_crash = true);
    }
}

impl Handling {
    pub(crate) fn becomes(&mut self, _: &'static str) {
        current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let task = state.current;
            let name = state.actors.party(task).name;
            state.trace.change_behaviour(name);
        });
    }

    pub(crate) fn unhandled(&mut self, who: Who, label: &'static str) {
        self.system.inner.unhandled.fetch_add(1, Ordering::SeqCst);
        if lock(&self.system.inner.rules).fail_on_unhandled {
            current::with(|execution| {
                let task = execution.state.borrow().current;
                let message = format!("{who} does not handle a {} now", short_name(label));
                execution.fail(Failure::Unhandled { task, message });
            });
        }
    }

    pub(crate) fn question<R: Send + 'static>(&mut self, whom: Who, site: Site) -> (ReplyTo<R>, Awaited<R>) {
        let question = current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let asked = state.actors.posts.iter().find(|post| post.who == whom).map(|post| post.task)?;
            let object = state.add_object(&ANSWER, 0);
            Some(ReplyTo::task(object, state.number, asked, site))
        });
        question.flatten().unwrap_or_else(|| panic!("raddle: {whom} belongs to another system or execution"))
    }

    pub(crate) fn set_timer<M: Send + 'static>(&mut self, me: &Address<M>, delay: Duration, msg: M, _: Site) -> Timer {
        let Route::Task(mailbox) = &me.route else { unreachable!("raddle bug: a task's actor has another address") };
        let timer = Timer(self.next_timer);
        self.next_timer += 1;
        let label = mailbox.label(&msg);
        current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let (task, due) = (state.current, after(state.now(), delay));
            let delivery = state.actors.posts[self.mail].rules.delivery;
            let letter = state.actors.party(task).write(task, delivery, label, type_of_message(&msg, label));
            state.actors.posts[self.mail].timers.push((timer, due, letter));
        });
        lock(&mailbox.timers).push((timer, msg));
        timer
    }

    pub(crate) fn cancel(&mut self, timer: Timer) {
        self.cancelled.push(timer);
    }
}
