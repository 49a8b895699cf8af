//! Actors outside of any execution: a thread each, a queue each, the real clock.

use std::any::Any;
use std::collections::VecDeque;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use raddle_engine::rng::Rng;

use crate::actor::address::{Address, Route, Who};
use crate::actor::behaviour::{Actor, short_name};
use crate::actor::context::{Context, Host, Timer};
use crate::actor::system::{Inner, Kept, Make, System, lock};
use crate::panics;

/// How much is going on in a system: messages that wait or are being handled, and timers that are set.
#[derive(Default)]
pub(crate) struct Busy {
    count: Mutex<Going>,
    changed: Condvar,
}

#[derive(Default)]
struct Going {
    on: u64,
    /// The first actor that panicked, and what it said.
    panicked: Option<String>,
}

impl Busy {
    fn more(&self) {
        lock(&self.count).on += 1;
    }

    fn less(&self) {
        lock(&self.count).on -= 1;
        self.changed.notify_all();
    }

    fn panicked(&self, message: String) {
        lock(&self.count).panicked.get_or_insert(message);
        self.changed.notify_all();
    }

    /// Waits until nothing is going on; an actor that has panicked is told of here.
    pub(crate) fn wait_until_quiet(&self) {
        self.wait_until(|| false);
    }

    pub(crate) fn wait_until(&self, mut condition: impl FnMut() -> bool) -> bool {
        let mut going = lock(&self.count);
        loop {
            if let Some(message) = going.panicked.take() {
                drop(going);
                panic!("{message}");
            }
            let quiet = going.on == 0;
            // The condition may look at actors, which may want to count.
            drop(going);
            if condition() {
                return true;
            }
            if quiet {
                return false;
            }
            going = lock(&self.count);
            if going.on > 0 && going.panicked.is_none() {
                let waited = self.changed.wait_timeout(going, Duration::from_millis(10));
                going = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
            }
        }
    }
}

/// What an actor on a thread is sent, and itself.
pub(crate) struct Inbox<M> {
    system: Arc<Inner>,
    who: Who,
    label: fn(&M) -> &'static str,
    queue: Mutex<Waiting<M>>,
    arrived: Condvar,
    state: Kept,
}

struct Waiting<M> {
    messages: VecDeque<M>,
    stopped: bool,
    timers: Vec<Timer>,
}

/// A handler while it runs.
pub(crate) struct Handling {
    pub(crate) system: System,
    pub(crate) stopped: bool,
    pub(crate) rng: Rng,
    next_timer: u32,
    cancelled: Vec<Timer>,
}

impl<M: Send + 'static> Inbox<M> {
    pub(crate) fn label(&self, msg: &M) -> &'static str {
        (self.label)(msg)
    }

    pub(crate) fn state(&self) -> Kept {
        self.state.clone()
    }

    pub(crate) fn send(&self, msg: M) {
        let mut queue = lock(&self.queue);
        if queue.stopped {
            drop(queue);
            return self.bury(self.label(&msg));
        }
        self.system.busy.more();
        queue.messages.push_back(msg);
        drop(queue);
        self.arrived.notify_one();
    }

    fn bury(&self, label: &'static str) {
        self.system.dead_letters.fetch_add(1, Ordering::SeqCst);
        let fail = lock(&self.system.rules).fail_on_dead_letters;
        assert!(!fail, "raddle: a {} was sent to {}, which has stopped", short_name(label), self.who);
    }

    /// Waits for a message; `None` once nobody is left who could send one.
    fn receive(self: &Arc<Self>) -> Option<M> {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(msg) = queue.messages.pop_front() {
                return Some(msg);
            }
            // The actor's own thread has two hands on it: this one, and the address it is given in handlers.
            if Arc::strong_count(self) <= 2 && queue.timers.is_empty() {
                return None;
            }
            let waited = self.arrived.wait_timeout(queue, Duration::from_millis(20));
            queue = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }

    fn close(&self) {
        let left = {
            let mut queue = lock(&self.queue);
            queue.stopped = true;
            queue.timers.clear();
            mem::take(&mut queue.messages)
        };
        *lock(&self.state) = None;
        for msg in left {
            self.system.busy.less();
            self.bury(self.label(&msg));
        }
    }
}

/// Creates an actor on a thread of its own.
pub(crate) fn spawn<A: Actor>(system: &System, actor: A, make: Option<Make<A>>, kind: &'static str) -> Address<A::Msg> {
    let who = lock(&system.inner.roster).next(system.inner.world, kind);
    let inbox = Arc::new(Inbox {
        system: system.inner.clone(),
        who,
        label: A::label,
        queue: Mutex::new(Waiting { messages: VecDeque::new(), stopped: false, timers: Vec::new() }),
        arrived: Condvar::new(),
        state: Arc::new(Mutex::new(Some(Box::new(actor) as Box<dyn Any + Send>))),
    });
    let address = Address { who, route: Route::Free(inbox.clone()) };
    let me = address.clone();
    let handling = Handling {
        system: system.clone(),
        stopped: false,
        rng: Rng::new(u64::from(who.index)),
        next_timer: 0,
        cancelled: Vec::new(),
    };
    // Starting counts as going on.
    system.inner.busy.more();
    let thread = std::thread::Builder::new().name(who.to_string());
    let thread = thread.spawn(move || live(&inbox, &me, make, handling));
    drop(thread.expect("raddle: no thread could be started for an actor"));
    address
}

fn live<A: Actor>(inbox: &Arc<Inbox<A::Msg>>, me: &Address<A::Msg>, make: Option<Make<A>>, mut handling: Handling) {
    let mut restarts_left = lock(&inbox.system.rules).restarts.unwrap_or(0);
    let mut next: Option<A::Msg> = None;
    let mut starts = true;
    loop {
        let result = {
            let mut state = lock(&inbox.state);
            let actor = state.as_mut().and_then(|state| state.downcast_mut::<A>());
            let actor = actor.expect("raddle bug: an actor that is gone goes on");
            let mut context = Context { me, host: Host::Free(&mut handling) };
            let starting = mem::take(&mut starts);
            panic::catch_unwind(AssertUnwindSafe(|| match next.take() {
                _ if starting => actor.started(&mut context),
                Some(msg) => actor.handle(msg, &mut context),
                None => {}
            }))
        };
        let cancelled = mem::take(&mut handling.cancelled);
        lock(&inbox.queue).timers.retain(|timer| !cancelled.contains(timer));
        if let Err(payload) = result {
            match make.as_ref().filter(|_| restarts_left > 0) {
                Some(make) => {
                    restarts_left -= 1;
                    *lock(&inbox.state) = Some(Box::new(make()));
                    starts = true;
                    continue;
                }
                None => {
                    inbox.system.busy.panicked(panics::message(&*payload));
                    handling.stopped = true;
                }
            }
        }
        if handling.stopped {
            inbox.close();
            return inbox.system.busy.less();
        }
        inbox.system.busy.less();
        match inbox.receive() {
            Some(msg) => next = Some(msg),
            None => return,
        }
    }
}

impl Handling {
    pub(crate) fn unhandled(&mut self, who: Who, label: &'static str) {
        self.system.inner.unhandled.fetch_add(1, Ordering::SeqCst);
        let fail = lock(&self.system.inner.rules).fail_on_unhandled;
        assert!(!fail, "raddle: {who} does not handle a {} now", short_name(label));
    }

    pub(crate) fn set_timer<M: Send + 'static>(&mut self, me: &Address<M>, delay: Duration, msg: M) -> Timer {
        let Route::Free(inbox) = &me.route else { unreachable!("raddle bug: a free actor has another address") };
        let timer = Timer(self.next_timer);
        self.next_timer += 1;
        lock(&inbox.queue).timers.push(timer);
        self.system.inner.busy.more();
        let (inbox, system) = (inbox.clone(), self.system.inner.clone());
        std::thread::spawn(move || {
            std::thread::sleep(delay);
            let is_set = {
                let mut queue = lock(&inbox.queue);
                let before = queue.timers.len();
                queue.timers.retain(|set| *set != timer);
                queue.timers.len() < before
            };
            if is_set {
                inbox.send(msg);
            }
            system.busy.less();
        });
        timer
    }

    pub(crate) fn cancel(&mut self, timer: Timer) {
        self.cancelled.push(timer);
    }
}
