//! Actors outside of any execution: each has a thread, a queue, and the real clock.
//!
//! A thread ends when its actor stops, or when nobody can send to it any more: no address, no timer and no message is left. Actors
//! that have each other's addresses keep each other alive; [`System::shutdown`] ends them all.

use std::any::Any;
use std::collections::VecDeque;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use raddle_engine::rng::Rng;

use crate::actor::address::{Address, Route, Who};
use crate::actor::behaviour::Actor;
use crate::actor::context::{Context, Host, Timer};
use crate::actor::mailbox_handle::MessageFns;
use crate::actor::system::{Inner, Make, System, lock};
use crate::actor::tell::shorten;
use crate::panics;

/// What an address of such an actor refers to. When the last address is dropped, the actor's thread is woken.
pub(crate) struct Door<M>(Arc<Inbox<M>>);

/// An actor on a thread, and the messages that wait for it.
pub(crate) struct Inbox<M> {
    system: Arc<Inner>,
    who: Who,
    message_fns: MessageFns<M>,
    queue: Mutex<Waiting<M>>,
    arrived: Condvar,
    actor: Mutex<Option<Box<dyn Any + Send>>>,
}

struct Waiting<M> {
    messages: VecDeque<M>,
    timers: Vec<(Timer, Instant, M)>,
    stopped: bool,
    /// No address is left.
    unreachable: bool,
}

/// The threads of a system, and how to stop their actors.
#[derive(Default)]
pub(crate) struct ActorThreads(Mutex<Vec<(JoinHandle<()>, Stop)>>);

/// Stops an actor.
type Stop = Box<dyn Fn() + Send>;

impl ActorThreads {
    /// Stops all actors and waits for their threads, except the one that calls this.
    pub(crate) fn stop(&self) {
        loop {
            let threads = mem::take(&mut *lock(&self.0));
            if threads.is_empty() {
                return;
            }
            threads.iter().for_each(|(_, stop)| stop());
            let me = std::thread::current().id();
            for (thread, _) in threads.into_iter().filter(|(thread, _)| thread.thread().id() != me) {
                // A panic of an actor is passed on to the thread that waits for quiet.
                drop(thread.join());
            }
        }
    }

    fn add(&self, thread: JoinHandle<()>, stop: Stop) {
        let mut threads = lock(&self.0);
        threads.retain(|(thread, _)| !thread.is_finished());
        threads.push((thread, stop));
    }
}

impl<M: Send + 'static> Door<M> {
    pub(crate) fn message_fns(&self) -> &MessageFns<M> {
        &self.0.message_fns
    }

    pub(crate) fn actor(&self) -> &Mutex<Option<Box<dyn Any + Send>>> {
        &self.0.actor
    }

    pub(crate) fn send(&self, msg: M) {
        let inbox = &self.0;
        let mut queue = lock(&inbox.queue);
        if queue.stopped {
            drop(queue);
            return inbox.bury(msg);
        }
        inbox.system.busy.more();
        queue.messages.push_back(msg);
        drop(queue);
        inbox.arrived.notify_one();
    }
}

impl<M> Drop for Door<M> {
    fn drop(&mut self) {
        lock(&self.0.queue).unreachable = true;
        self.0.arrived.notify_one();
    }
}

impl<M: Send + 'static> Inbox<M> {
    fn bury(&self, msg: M) {
        self.system.dead_letters.fetch_add(1, Ordering::SeqCst);
        if lock(&self.system.rules).fail_on_dead_letters {
            let text = shorten(&(self.message_fns.describe)(&msg));
            drop(msg);
            let text = format!("raddle: {text} was sent to {}, which has stopped", self.who);
            if !std::thread::panicking() {
                panic!("{text}");
            }
            // A destructor sends during a panic. A second panic would end the process.
            self.system.busy.panicked(text);
        }
    }

    /// Waits for a message or a timer; `None` if nobody can send one any more, or if the actor was stopped.
    fn receive(&self) -> Option<M> {
        let mut queue = lock(&self.queue);
        loop {
            if queue.stopped {
                return None;
            }
            let now = Instant::now();
            let first = queue.timers.iter().enumerate().min_by_key(|(_, timer)| timer.1);
            let first = first.map(|(at, timer)| (at, timer.1.saturating_duration_since(now)));
            match first {
                Some((at, Duration::ZERO)) => return Some(queue.timers.remove(at).2),
                _ if !queue.messages.is_empty() => return queue.messages.pop_front(),
                Some((_, left)) => {
                    let waited = self.arrived.wait_timeout(queue, left);
                    queue = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                None if queue.unreachable => return None,
                None => queue = self.arrived.wait(queue).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    /// Stops the actor. Its remaining messages become dead letters. Returns the panics of destructors.
    fn close(&self) -> Result<(), Box<dyn Any + Send>> {
        let (messages, timers) = {
            let mut queue = lock(&self.queue);
            queue.stopped = true;
            (mem::take(&mut queue.messages), mem::take(&mut queue.timers))
        };
        let actor = lock(&self.actor).take();
        let mut result = panic::catch_unwind(AssertUnwindSafe(|| drop(actor)));
        for msg in messages {
            result = result.and(panic::catch_unwind(AssertUnwindSafe(|| self.bury(msg))));
            self.system.busy.less();
        }
        for timer in timers {
            result = result.and(panic::catch_unwind(AssertUnwindSafe(|| drop(timer))));
            self.system.busy.less();
        }
        result
    }
}

/// A handler while it runs.
pub(crate) struct FreeHandling {
    pub(crate) system: System,
    pub(crate) stopped: bool,
    pub(crate) rng: Rng,
    next_timer: u32,
}

/// Creates an actor on a thread of its own.
pub(crate) fn spawn<A: Actor>(system: &System, actor: A, make: Option<Make<A>>, kind: &'static str) -> Address<A::Msg> {
    let who = lock(&system.inner.roster).next(system.inner.world, kind);
    let queue = Waiting { messages: VecDeque::new(), timers: Vec::new(), stopped: false, unreachable: false };
    let inbox = Arc::new(Inbox {
        system: system.inner.clone(),
        who,
        message_fns: MessageFns::of::<A>(),
        queue: Mutex::new(queue),
        arrived: Condvar::new(),
        actor: Mutex::new(Some(Box::new(actor) as Box<dyn Any + Send>)),
    });
    let address = Address { who, route: Route::Free(Arc::new(Door(inbox.clone()))) };
    let stop = {
        let inbox: Weak<Inbox<A::Msg>> = Arc::downgrade(&inbox);
        Box::new(move || {
            if let Some(inbox) = inbox.upgrade() {
                lock(&inbox.queue).stopped = true;
                inbox.arrived.notify_one();
            }
        })
    };
    let rng = Rng::new(u64::from(who.index));
    let handling = FreeHandling { system: system.clone(), stopped: false, rng, next_timer: 0 };
    let restarts_left = lock(&system.inner.rules).restarts.unwrap_or(0);
    let me = address.clone();
    // Starting counts as going on.
    system.inner.busy.more();
    let thread = std::thread::Builder::new().name(who.to_string());
    let thread = thread.spawn(move || Living { inbox, make, restarts_left, handling }.live(me));
    system.inner.threads.add(thread.expect("raddle: no thread could be started for an actor"), stop);
    address
}

/// The life of an actor, from its start to its stop or until nobody knows it any more.
struct Living<A: Actor> {
    inbox: Arc<Inbox<A::Msg>>,
    make: Option<Make<A>>,
    restarts_left: u32,
    handling: FreeHandling,
}

impl<A: Actor> Living<A> {
    fn live(mut self, me: Address<A::Msg>) {
        self.inbox.system.busy.begin_actor();
        let started = self.started(&me);
        let mut way_back = door_of(&me);
        drop(me);
        let mut goes_on = started;
        while goes_on {
            self.inbox.system.busy.less();
            let Some(msg) = self.inbox.receive() else {
                // The actor has nothing left to do, but quiet must not be announced before it has ended.
                self.inbox.system.busy.more();
                break;
            };
            // An address for the handler, if none is left.
            let door = way_back.upgrade().unwrap_or_else(|| {
                lock(&self.inbox.queue).unreachable = false;
                Arc::new(Door(self.inbox.clone()))
            });
            way_back = Arc::downgrade(&door);
            let me = Address { who: self.inbox.who, route: Route::Free(door) };
            goes_on = match self.run(&me, |actor, context| actor.handle(msg, context)) {
                Ok(()) => !self.handling.stopped,
                Err(payload) => self.restart(payload, &me),
            };
        }
        if let Err(payload) = self.inbox.close() {
            self.inbox.system.busy.panicked(panics::message(&*payload));
        }
        self.inbox.system.busy.end_actor();
        self.inbox.system.busy.less();
    }

    fn run(
        &mut self,
        me: &Address<A::Msg>,
        run: impl FnOnce(&mut A, &mut Context<'_, A::Msg>),
    ) -> std::thread::Result<()> {
        let mut kept = lock(&self.inbox.actor);
        let actor = kept.as_mut().and_then(|actor| actor.downcast_mut::<A>());
        let actor = actor.expect("raddle bug: an actor that is gone goes on");
        let mut context = Context { me, host: Host::Free(&mut self.handling) };
        panic::catch_unwind(AssertUnwindSafe(|| run(actor, &mut context)))
    }

    fn started(&mut self, me: &Address<A::Msg>) -> bool {
        match self.run(me, |actor, context| actor.started(context)) {
            Ok(()) => !self.handling.stopped,
            Err(payload) => self.restart(payload, me),
        }
    }

    /// Restarts an actor that has panicked, or passes the panic on to the thread that waits for quiet. Returns whether the actor goes on.
    fn restart(&mut self, payload: Box<dyn Any + Send>, me: &Address<A::Msg>) -> bool {
        let Some(make) = self.make.as_ref().filter(|_| self.restarts_left > 0) else {
            self.inbox.system.busy.panicked(panics::message(&*payload));
            return false;
        };
        self.restarts_left -= 1;
        let panicked = lock(&self.inbox.actor).take();
        let made = panic::catch_unwind(AssertUnwindSafe(|| {
            drop(panicked);
            make()
        }));
        match made {
            Ok(made) => {
                *lock(&self.inbox.actor) = Some(Box::new(made));
                self.started(me)
            }
            Err(payload) => {
                self.inbox.system.busy.panicked(panics::message(&*payload));
                false
            }
        }
    }
}

fn door_of<M>(me: &Address<M>) -> Weak<Door<M>> {
    match &me.route {
        Route::Free(door) => Arc::downgrade(door),
        _ => unreachable!("raddle bug: a free actor has another address"),
    }
}

impl FreeHandling {
    pub(crate) fn unhandled<M>(&mut self, who: Who, msg: M, describe: fn(&M) -> String) {
        self.system.inner.unhandled.fetch_add(1, Ordering::SeqCst);
        let fail = lock(&self.system.inner.rules).fail_on_unhandled;
        assert!(!fail, "raddle: {who} does not handle {} now", shorten(&describe(&msg)));
    }

    pub(crate) fn set_timer<M: Send + 'static>(&mut self, me: &Address<M>, delay: Duration, msg: M) -> Timer {
        let Route::Free(door) = &me.route else { unreachable!("raddle bug: a free actor has another address") };
        let timer = Timer(self.next_timer);
        self.next_timer += 1;
        // A time that the clock cannot represent is put a century from now.
        let due =
            Instant::now().checked_add(delay).or_else(|| Instant::now().checked_add(Duration::from_secs(1 << 32)));
        let due = due.expect("raddle: the clock cannot tell a time a century from now");
        self.system.inner.busy.more();
        lock(&door.0.queue).timers.push((timer, due, msg));
        timer
    }

    pub(crate) fn cancel<M: Send + 'static>(&mut self, me: &Address<M>, timer: Timer) {
        let Route::Free(door) = &me.route else { unreachable!("raddle bug: a free actor has another address") };
        let cancelled = {
            let timers = &mut lock(&door.0.queue).timers;
            timers.iter().position(|set| set.0 == timer).map(|at| timers.remove(at))
        };
        if cancelled.is_some() {
            self.system.inner.busy.less();
        }
    }
}
