//! Actors inside an execution, from the outside: what their addresses lead to.
//!
//! What a handler sends, creates and announces on the way is part of the step in which it received; only where order of sending is all
//! that matters, or a monitor listens, is it a step of its own if the handler has taken another in between (a lock, say), or a
//! thread does it while others are at work.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Effect, Offer, Operation, Ordered, Role, Site};

use crate::actor::address::{Address, Route, Who};
use crate::actor::behaviour::Actor;
use crate::actor::by_lot::handle;
use crate::actor::context::Timer;
use crate::actor::delivery::Delivery;
use crate::actor::life::{Home, Life};
use crate::actor::post::{Post, dead_letter};
use crate::actor::queue::Queue;
use crate::actor::rules::Fate;
use crate::actor::system::{HEAD, Make, System, TAIL, lock};
use crate::coroutine::current;
use crate::execution::{Ask, Execution, Moment, Progress, State, here};
use crate::thread::{Builder, run_task};

static SEND: Operation = Operation { verb: "send to", class: Class::Send };
static DEAD_LETTER: Operation = Operation { verb: "send in vain to", class: Class::Send };
static FAULT: Operation = Operation { verb: "does a fault happen?", class: Class::Choice };

/// How an actor is reached. Its messages and itself are kept by the execution.
pub(crate) struct Mailbox<M> {
    pub(crate) system: System,
    execution: u64,
    /// Its number among the mailboxes of the execution.
    pub(crate) mail: usize,
    pub(crate) head: ObjectId,
    pub(crate) says: Says<M>,
}

/// How a message is sent.
enum Way {
    /// Its contents are put here.
    Place(usize),
    /// In a step that is kept.
    Noted,
    /// It may be faulty, has to be told of, is a step of its own, or is in vain.
    WithCare,
}

/// What an actor has to say of its messages.
pub(crate) struct Says<M> {
    pub(crate) label: fn(&M) -> &'static str,
    pub(crate) describe: fn(&M) -> String,
    pub(crate) duplicate: fn(&M) -> Option<M>,
}

impl<M> Says<M> {
    pub(crate) fn of<A: Actor<Msg = M>>() -> Self {
        Self { label: A::label, describe: A::describe, duplicate: A::duplicate }
    }
}

/// What waits for an actor: the messages in the order of the letters, and those that timers are set for.
pub(crate) struct Contents<M> {
    pub(crate) queue: VecDeque<M>,
    pub(crate) timers: Vec<(Timer, M)>,
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
    let says = Says::of::<A>();
    let mailbox = Arc::new(Mailbox { system: system.clone(), execution: inside.execution, mail, head, says });
    let address = Address { who, route: Route::Task(mailbox.clone()) };
    let home = Box::new(Home::new(actor, system.clone(), mail, address.clone()));
    let life = Life::new(mailbox, address.clone(), make);
    let builder = Builder::new().name(who.to_string());
    let task = builder.start(Box::new(move || run_task(move || life.live())), site).task();
    let contents = Contents::<A::Msg> { queue: VecDeque::new(), timers: Vec::new() };
    current::with(|execution| {
        let mut state = execution.state.borrow_mut();
        state.also_touch(inside.roster, Effect::Change, Role::Plain, Ordered::RELAXED);
        let post = Post {
            task,
            troupe: inside.troupe,
            head,
            tail,
            activity: inside.activity,
            faults: inside.faults,
            delivery: state.actors.troupes[inside.troupe as usize].rules.delivery,
            may_crash: false,
            stopped: false,
            handle: handle::<A>,
            away: true,
            by_lot: false,
            received: 0,
            sent: 0,
            queue: Queue::default(),
            timers: Vec::new(),
            since: state.turns,
            contents: Some(Box::new(contents)),
            actor: Some(home),
        };
        state.actors.add(post, party);
    });
    address
}

impl<M: Send + 'static> Mailbox<M> {
    pub(crate) fn label(&self, msg: &M) -> &'static str {
        (self.says.label)(msg)
    }

    /// Sends a message as the current task.
    #[track_caller]
    pub(crate) fn send(&self, who: &Who, msg: M) {
        let msg = match current::with(|execution| self.send_by_lot(&mut execution.state.borrow_mut(), msg)) {
            Some(None) => return,
            Some(Some(msg)) => msg,
            None => panic!("{}", not_here(who)),
        };
        match current::with(|execution| self.route(&mut execution.state.borrow_mut())).flatten() {
            Some(Way::Place(place)) => {
                current::with(|execution| {
                    self.put_in(&mut execution.state.borrow_mut().actors.posts[self.mail], place, msg);
                });
            }
            Some(way) => self.send_noted(*who, msg, matches!(way, Way::WithCare), here()),
            None => panic!("{}", not_here(who)),
        }
    }

    /// Sends a message where that takes no more than to put it there; gives it back otherwise.
    #[inline(always)]
    fn send_by_lot(&self, state: &mut State, msg: M) -> Option<M> {
        let placed = if state.number == self.execution { state.send_by_lot(self.mail) } else { None };
        let Some((post, place)) = placed else { return Some(msg) };
        self.put_in(post, place, msg);
        None
    }

    /// Finds out how a message is sent; where nobody asks for more, its letter is there when this returns. `None` if the actor belongs to
    /// another execution.
    #[inline]
    fn route(&self, state: &mut State) -> Option<Way> {
        if state.number != self.execution {
            return None;
        }
        let post = &state.actors.posts[self.mail];
        let faulty = state.actors.troupes[post.troupe as usize].faults.befall_messages();
        let at_once = !post.stopped && (post.delivery != Delivery::Arrival || state.is_one_step());
        if faulty || state.tells() || !at_once {
            return Some(Way::WithCare);
        }
        Some(if state.counts_only { Way::Place(state.send_blindly(self.mail)) } else { Way::Noted })
    }

    /// Sends a message in a step that is kept, or has to be taken care with.
    #[inline(never)]
    fn send_noted(&self, who: Who, msg: M, careful: bool, site: Site) {
        let label = self.label(&msg);
        current::with(|execution| {
            if careful {
                self.send_with_care(execution, who, msg, label, site);
            } else {
                self.arrive_at_once(&mut execution.state.borrow_mut(), msg, label, site);
            }
        });
    }

    /// Sends a message that may be faulty, has to be told of, is a step of its own, or is in vain.
    fn send_with_care(&self, execution: &Execution, who: Who, msg: M, label: &'static str, site: Site) {
        let tells = execution.state.borrow().tells();
        let text = tells.then(|| (self.says.describe)(&msg));
        let fate = self.fate(execution, &msg, site);
        if tells {
            tell_fate(execution, fate, text.as_deref().unwrap_or_default(), who, site);
        }
        let copy = if fate == Fate::Duplicated { (self.says.duplicate)(&msg) } else { None };
        if fate != Fate::Dropped {
            self.put(execution, who, (msg, label), fate == Fate::Delayed, text.clone(), site);
            if let Some(copy) = copy {
                self.put(execution, who, (copy, label), false, text, site);
            }
        }
    }

    /// The ordinary case of [`put`](Self::put), and the same for everybody who looks: nothing is waited for.
    #[inline]
    fn arrive_at_once(&self, state: &mut State, msg: M, label: &'static str, site: Site) {
        let letter = state.write_letter(self.mail, &msg, label);
        let (object, effect, role) = match state.actors.posts[self.mail].delivery.offered() {
            Some(delivery) => {
                (self.head, Effect::Read, Role::Offers(Offer { message: letter.number, delivery, late: false }))
            }
            None => (state.actors.posts[self.mail].tail, Effect::Change, Role::Plain),
        };
        let ask = Ask { role, posts: true, ..Ask::new(&SEND, object, effect, site) };
        let (name, message) = (letter.name, letter.object());
        state.record(&ask, Variant::Ready, |moment| {
            moment.progress(Progress::Changed);
            moment.left(name);
            moment.state.also_touch(message, Effect::Change, Role::Gives, Ordered::RELEASE);
            let place = moment.state.put_letter(self.mail, letter);
            self.put_in(&mut moment.state.actors.posts[self.mail], place, msg);
        });
    }

    #[inline]
    fn put_in(&self, post: &mut Post, place: usize, msg: M) {
        let queue = &mut self.contents(post).queue;
        if place == queue.len() {
            queue.push_back(msg);
        } else {
            queue.insert(place, msg);
        }
    }

    /// What becomes of a message between actors.
    fn fate(&self, execution: &Execution, msg: &M, site: Site) -> Fate {
        let fates: Vec<Fate> = {
            let state = execution.state.borrow();
            let left = state.actors.troupe(self.mail).faults;
            if !left.befall_messages() || state.actors.of(state.current).is_none() {
                return Fate::Arrives;
            }
            drop(state);
            left.fates(left.duplicate > 0 && (self.says.duplicate)(msg).is_some()).collect()
        };
        let choices = u32::try_from(fates.len()).expect("there are four fates");
        let fate = fates[execution.choose(choices, site, &FAULT) as usize];
        let mut state = execution.state.borrow_mut();
        let Post { troupe, faults, .. } = state.actors.posts[self.mail];
        state.actors.troupes[troupe as usize].faults.spend(fate);
        let effect = if fate == Fate::Arrives { Effect::Read } else { Effect::Change };
        state.also_touch(faults, effect, Role::Plain, Ordered::RELAXED);
        fate
    }

    fn put(
        &self,
        execution: &Execution,
        who: Who,
        (msg, label): (M, &'static str),
        delayed: bool,
        text: Option<String>,
        site: Site,
    ) {
        let mut state = execution.state.borrow_mut();
        let mut letter = state.write_letter(self.mail, &msg, label);
        letter.delayed = delayed;
        let post = &state.actors.posts[self.mail];
        let op = if post.stopped { &DEAD_LETTER } else { &SEND };
        let offered = state.actors.posts[self.mail].delivery.offered();
        let ask = match offered {
            Some(delivery) => {
                let offer = Offer { message: letter.number, delivery, late: delayed };
                Ask { role: Role::Offers(offer), posts: true, ..Ask::new(op, self.head, Effect::Read, site) }
            }
            None => Ask { posts: true, ..Ask::new(op, post.tail, Effect::Change, site) },
        };
        let mut parcel = Some((letter, msg));
        let send = |moment: &mut Moment<'_>| self.arrive(moment, &mut parcel, who, text);
        if offered.is_some() || state.is_one_step() {
            state.record(&ask, Variant::Ready, send);
            drop(state);
        } else {
            drop(state);
            execution.step(ask, send);
        }
        // What is left did not arrive.
        if let Some((letter, msg)) = parcel {
            self.bury(letter.sender, who, msg);
        }
    }

    /// A message arrives, unless the actor has stopped, maybe while the sender waited for its turn.
    fn arrive(
        &self,
        moment: &mut Moment<'_>,
        parcel: &mut Option<(crate::actor::Letter, M)>,
        who: Who,
        text: Option<String>,
    ) {
        moment.progress(Progress::Changed);
        let stopped = moment.state.actors.posts[self.mail].stopped;
        let (name, object) =
            parcel.as_ref().map(|(letter, _)| (letter.name, letter.object())).expect("it is sent once");
        moment.left(name);
        moment.state.also_touch(object, Effect::Change, Role::Gives, Ordered::RELEASE);
        if let Some(text) = text {
            moment.state.tell_sent(name, text, who, stopped);
        }
        if stopped {
            return;
        }
        let Some((letter, msg)) = parcel.take() else { return };
        let place = moment.state.put_letter(self.mail, letter);
        self.put_in(&mut moment.state.actors.posts[self.mail], place, msg);
    }

    /// What waits for the actor.
    #[inline]
    pub(crate) fn contents<'a>(&self, post: &'a mut Post) -> &'a mut Contents<M> {
        contents(post)
    }

    /// A message that nobody will receive is dropped before anybody is told: its destructor may have something to say.
    pub(crate) fn bury(&self, sender: TaskId, who: Who, msg: M) {
        self.system.inner.dead_letters.fetch_add(1, Ordering::SeqCst);
        let fails = lock(&self.system.inner.rules).fail_on_dead_letters;
        let failure = fails.then(|| dead_letter(sender, who, &(self.says.describe)(&msg)));
        drop(msg);
        if let Some(failure) = failure {
            current::with(|execution| execution.fail(failure));
        }
    }
}

impl<M> Mailbox<M> {
    pub(crate) fn let_crash(&self) {
        current::with(|execution| execution.state.borrow_mut().actors.posts[self.mail].may_crash = true);
    }

    /// The task that handles what is put here.
    pub(crate) fn task(&self) -> Option<TaskId> {
        current::with(|execution| {
            let state = execution.state.borrow();
            (state.number == self.execution).then(|| state.actors.posts[self.mail].task)
        })
        .flatten()
    }

    /// Takes the actor out, to be looked at or dropped; `None` if it handles something or has stopped.
    pub(crate) fn take_actor(&self) -> Option<Box<dyn Any + Send>> {
        let take = |execution: &Execution| {
            let mut state = execution.state.borrow_mut();
            if state.number != self.execution {
                return None;
            }
            state.actors.posts.get_mut(self.mail)?.actor.take()
        };
        current::with(take).flatten()
    }

    /// Puts it back.
    pub(crate) fn put_actor(&self, actor: Box<dyn Any + Send>) {
        current::with(|execution| execution.state.borrow_mut().actors.posts[self.mail].actor = Some(actor));
    }

    /// Whether the actor has stopped.
    pub(crate) fn has_stopped(&self) -> bool {
        current::with(|execution| execution.state.borrow().actors.posts[self.mail].stopped).unwrap_or(true)
    }

    /// Takes everything out that is the user's, to be dropped while nothing of the execution is borrowed.
    pub(crate) fn vacate(&self) -> impl Sized + use<M> {
        let take = |execution: &Execution| {
            let mut state = execution.state.borrow_mut();
            if state.number != self.execution {
                return None;
            }
            let post = state.actors.posts.get_mut(self.mail)?;
            Some((post.actor.take(), post.contents.take()))
        };
        current::with(take).flatten()
    }
}

/// What waits for an actor that is told such messages.
#[inline]
pub(super) fn contents<M: Send + 'static>(post: &mut Post) -> &mut Contents<M> {
    let contents = post.contents.as_mut().and_then(|contents| contents.downcast_mut());
    contents.expect("raddle bug: a mailbox without contents, or of another type")
}

fn not_here(who: &Who) -> String {
    format!("raddle: {who} belongs to an execution that is over, or to another test's")
}

/// Says what a network does to a message, where that is out of the ordinary.
#[cold]
fn tell_fate(execution: &Execution, fate: Fate, text: &str, to: Who, site: Site) {
    let text = match fate {
        Fate::Arrives => return,
        Fate::Dropped => format!("{text} to {to} is lost (fault)"),
        Fate::Duplicated => format!("{text} to {to} arrives twice (fault)"),
        Fate::Delayed => format!("{text} to {to} is delayed (fault)"),
    };
    execution.state.borrow_mut().tell(text, site);
}
