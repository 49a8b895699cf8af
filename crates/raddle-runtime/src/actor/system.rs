//! A system of actors: under control inside an execution, on threads of their own outside.

use std::any::{Any, type_name};
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use raddle_engine::ids::ObjectId;
use raddle_engine::outcome::Failure;
use raddle_engine::trace::{Class, Effect, Operation, Ordered, Role, Site};

use crate::actor::address::{Address, Roster, Route};
use crate::actor::behaviour::{Actor, Monitor, short_name};
use crate::actor::delivery::Delivery;
use crate::actor::free::Busy;
use crate::actor::post::show_name;
use crate::actor::rules::{Faults, Rules};
use crate::actor::task;
use crate::actor::watch::Watcher;
use crate::coroutine::current;
use crate::execution::{Ask, Kind, Progress, here, word_as_number};

static QUIET: Operation = Operation { verb: "wait until all is quiet", class: Class::Wait };
static UNTIL: Operation = Operation { verb: "wait for a condition", class: Class::Wait };
static LOOK: Operation = Operation { verb: "look at", class: Class::Read };
static ANNOUNCE: Operation = Operation { verb: "announce", class: Class::Update };

static ACTIVITY: Kind = Kind { noun: "system", show: word_as_number };
static ROSTER: Kind = Kind { noun: "roster", show: word_as_number };
static FAULTS: Kind = Kind { noun: "faults", show: word_as_number };
static MONITOR: Kind = Kind { noun: "monitor", show: word_as_number };
pub(crate) static HEAD: Kind = Kind { noun: "mailbox", show: show_name };
pub(crate) static TAIL: Kind = Kind { noun: "end of mailbox", show: show_name };

pub(crate) type Make<A> = Box<dyn Fn() -> A + Send + Sync>;

/// Actors that belong together. Cheap to clone.
///
/// Inside an execution each actor is a task whose only decision is which message it receives next; outside, each has a
/// thread of its own.
///
/// ```
/// use raddle_runtime::actor::{Actor, Context, System};
///
/// #[derive(Default)]
/// struct Counter(u32);
///
/// impl Actor for Counter {
///     type Msg = u32;
///     fn handle(&mut self, by: u32, _: &mut Context<'_, u32>) {
///         self.0 += by;
///     }
/// }
///
/// let system = System::new();
/// let counter = system.spawn(Counter::default());
/// counter.send(1);
/// counter.send(2);
/// system.run_until_quiet();
/// assert_eq!(system.with(&counter, |counter: &Counter| counter.0), 3);
/// ```
#[derive(Clone)]
pub struct System {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) world: u64,
    pub(crate) rules: Mutex<Rules>,
    pub(crate) roster: Mutex<Roster>,
    pub(crate) watchers: Mutex<Vec<Watcher>>,
    pub(crate) dead_letters: AtomicU32,
    pub(crate) unhandled: AtomicU32,
    /// Outside an execution: how much is going on.
    pub(crate) busy: Busy,
    /// Inside: which, and what stands for the system in dependence.
    pub(crate) inside: Option<Inside>,
}

/// A system inside an execution.
#[derive(Clone, Copy)]
pub(crate) struct Inside {
    pub(crate) execution: u64,
    pub(crate) activity: ObjectId,
    pub(crate) roster: ObjectId,
    pub(crate) faults: ObjectId,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for System {
    fn default() -> Self {
        Self::new()
    }
}

impl System {
    /// A system without actors, with messages [in order for each sender](Delivery::PerSender).
    #[must_use]
    pub fn new() -> Self {
        static NEXT_WORLD: AtomicU64 = AtomicU64::new(0);
        let inside = current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let execution = state.number;
            let activity = state.add_object(&ACTIVITY, 0);
            let roster = state.add_object(&ROSTER, 0);
            let faults = state.add_object(&FAULTS, 0);
            Inside { execution, activity, roster, faults }
        });
        let inner = Inner {
            world: NEXT_WORLD.fetch_add(1, Ordering::Relaxed) << 1 | 1,
            rules: Mutex::default(),
            roster: Mutex::default(),
            watchers: Mutex::default(),
            dead_letters: AtomicU32::new(0),
            unhandled: AtomicU32::new(0),
            busy: Busy::default(),
            inside,
        };
        Self { inner: Arc::new(inner) }
    }

    fn rule(self, change: impl FnOnce(&mut Rules)) -> Self {
        change(&mut lock(&self.inner.rules));
        self
    }

    /// Sets in which order messages can be received. Outside an execution they are received as they arrive.
    #[must_use]
    pub fn delivery(self, delivery: Delivery) -> Self {
        self.rule(|rules| rules.delivery = delivery)
    }

    /// Makes actors that panic anew, up to so often each, instead of calling it a failure; only those made
    /// [by a factory](Self::spawn_with).
    #[must_use]
    pub fn restart(self, most: u32) -> Self {
        self.rule(|rules| rules.restarts = Some(most))
    }

    /// Whether a message to an actor that has stopped is a failure.
    #[must_use]
    pub fn fail_on_dead_letters(self, fail: bool) -> Self {
        self.rule(|rules| rules.fail_on_dead_letters = fail)
    }

    /// Whether a message that its receiver [does not handle](crate::actor::Context::unhandled) is a failure.
    #[must_use]
    pub fn fail_on_unhandled(self, fail: bool) -> Self {
        self.rule(|rules| rules.fail_on_unhandled = fail)
    }

    /// How many faults may happen in one execution; outside there are none.
    #[must_use]
    pub fn faults(self, faults: Faults) -> Self {
        current::with(|execution| execution.state.borrow_mut().actors.faults = faults);
        self.rule(|rules| rules.faults = faults)
    }

    /// Lets a monitor watch what is announced.
    #[must_use]
    pub fn monitor<W: Monitor>(self, monitor: W) -> Self {
        let object = current::with(|execution| execution.state.borrow_mut().add_object(&MONITOR, 0));
        let watcher = Watcher { monitor: Box::new(monitor), object: object.unwrap_or(ObjectId::NONE) };
        lock(&self.inner.watchers).push(watcher);
        self
    }

    /// Creates an actor.
    #[track_caller]
    pub fn spawn<A: Actor>(&self, actor: A) -> Address<A::Msg> {
        self.spawn_anywhere(actor, None, short_name(type_name::<A>()), here())
    }

    /// Creates an actor that can be made anew.
    #[track_caller]
    pub fn spawn_with<A: Actor>(&self, make: impl Fn() -> A + Send + Sync + 'static) -> Address<A::Msg> {
        self.spawn_anywhere(make(), Some(Box::new(make)), short_name(type_name::<A>()), here())
    }

    /// Creates an actor that stands for somebody outside: a user, a socket. It is scheduled like any other.
    #[track_caller]
    pub fn external<A: Actor>(&self, actor: A) -> Address<A::Msg> {
        self.spawn_anywhere(actor, None, external_name(short_name(type_name::<A>())), here())
    }

    fn spawn_anywhere<A: Actor>(
        &self,
        actor: A,
        make: Option<Make<A>>,
        kind: &'static str,
        site: Site,
    ) -> Address<A::Msg> {
        match self.inner.inside {
            Some(_) => task::spawn(self, actor, make, kind, site),
            None => crate::actor::free::spawn(self, actor, make, kind),
        }
    }

    #[track_caller]
    pub(crate) fn spawn_at<A: Actor>(&self, actor: A, make: Option<Make<A>>, site: Site) -> Address<A::Msg> {
        task::spawn(self, actor, make, short_name(type_name::<A>()), site)
    }

    pub(crate) fn spawn_free<A: Actor>(&self, actor: A, make: Option<Make<A>>) -> Address<A::Msg> {
        crate::actor::free::spawn(self, actor, make, short_name(type_name::<A>()))
    }

    /// An actor may [crash](Faults::crash). Outside an execution none does.
    pub fn may_crash<M>(&self, who: &Address<M>) {
        if let Route::Task(mailbox) = &who.route {
            mailbox.let_crash();
        }
    }

    /// Waits until nothing is left to happen: no message waits, no handler runs, no timer is set. Then the monitors say whether what
    /// had to happen has happened.
    ///
    /// # Panics
    ///
    /// Outside an execution, if a monitor is not content.
    #[track_caller]
    pub fn run_until_quiet(&self) {
        let site = here();
        match self.inner.inside {
            Some(inside) => {
                current::with(|execution| {
                    execution.state.borrow_mut().actors.somebody_waits_for_quiet = true;
                    let never: fn(u64, u64) -> bool = |_, _| false;
                    let ask = Ask::new(&QUIET, inside.activity, Effect::Change, site);
                    let ask =
                        Ask { role: Role::Takes, ready: Some(never), quiet: true, ordered: Ordered::ACQUIRE, ..ask };
                    execution.step(ask, |moment| moment.progress(Progress::Changed));
                });
            }
            None => self.inner.busy.wait_until_quiet(),
        }
        let late = lock(&self.inner.watchers)
            .iter()
            .find_map(|watcher| Some((watcher.monitor.name(), watcher.monitor.at_quiet().err()?)));
        if let Some((monitor, message)) = late {
            self.violated(monitor, message);
        }
    }

    /// Lets the system run until `condition` holds, which is looked at after each message; returns whether it does when it is that or
    /// quiet.
    ///
    /// A reduced search runs independent steps in one order only, so it may miss a state in which the condition holds.
    #[track_caller]
    pub fn run_until(&self, mut condition: impl FnMut() -> bool) -> bool {
        let site = here();
        let Some(inside) = self.inner.inside else { return self.inner.busy.wait_until(condition) };
        // Nothing happens while the condition is looked at.
        let mut holds = || {
            let check = |on: bool| current::with(|execution| execution.state.borrow_mut().actors.checks_condition = on);
            check(true);
            let holds = condition();
            check(false);
            holds
        };
        loop {
            if holds() {
                return true;
            }
            let quiet = current::with(|execution| {
                let key = {
                    let mut state = execution.state.borrow_mut();
                    state.actors.somebody_waits_for_quiet = true;
                    state.objects[inside.activity.index()].word
                };
                let changed: fn(u64, u64) -> bool = |word, key| word != key;
                let ask = Ask::new(&UNTIL, inside.activity, Effect::Read, site);
                let ask = Ask { role: Role::Takes, ready: Some(changed), key, quiet: true, unseen: true, ..ask };
                execution.step(ask, |moment| {
                    moment.progress(Progress::Changed);
                    *moment.word() == key
                })
            });
            if quiet == Some(true) {
                return holds();
            }
        }
    }

    /// Looks at the state of an actor.
    ///
    /// # Panics
    ///
    /// If the actor is of another type, belongs to another system, or is in the middle of a handler.
    #[track_caller]
    pub fn with<A: Actor, R>(&self, who: &Address<A::Msg>, look: impl FnOnce(&A) -> R) -> R {
        let site = here();
        assert!(who.who.world == self.inner.world, "raddle: {who:?} belongs to another system");
        let state = match &who.route {
            Route::Task(mailbox) => {
                let head = mailbox.head();
                current::with(|execution| {
                    let ask = Ask::new(&LOOK, head, Effect::Read, site);
                    let checks = execution.state.borrow().actors.checks_condition;
                    if checks { execution.step_unseen(ask, |_| ()) } else { execution.step(ask, |_| ()) }
                });
                mailbox.state()
            }
            Route::Free(inbox) => inbox.state(),
            Route::Model { .. } => panic!("raddle: {who:?} lives in a model; look at it with its `View`"),
        };
        let state = match state.try_lock() {
            Ok(state) => state,
            Err(std::sync::TryLockError::Poisoned(state)) => state.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => {
                panic!("raddle: {who:?} is in the middle of a handler; look at it when all is quiet")
            }
        };
        let actor = state.as_ref().and_then(|state| state.downcast_ref::<A>());
        look(actor.unwrap_or_else(|| panic!("raddle: {who:?} has stopped or is no {}", type_name::<A>())))
    }

    /// How many messages were sent to actors that have stopped.
    #[must_use]
    pub fn dead_letters(&self) -> u32 {
        self.inner.dead_letters.load(Ordering::SeqCst)
    }

    /// How many messages were not handled by their receivers.
    #[must_use]
    pub fn unhandled(&self) -> u32 {
        self.inner.unhandled.load(Ordering::SeqCst)
    }

    pub(crate) fn announce_at(&self, event: &dyn Any, site: Site) {
        let kind = event.type_id();
        let count = lock(&self.inner.watchers).len();
        for at in 0..count {
            let object = {
                let watchers = lock(&self.inner.watchers);
                if watchers[at].monitor.hears() != kind {
                    continue;
                }
                watchers[at].object
            };
            current::with(|execution| {
                let one_step = execution.state.borrow().is_one_step();
                let ask = Ask { ordered: Ordered::BOTH, ..Ask::new(&ANNOUNCE, object, Effect::Change, site) };
                if one_step { execution.step_unseen(ask, |_| ()) } else { execution.step(ask, |_| ()) }
            });
            self.observe(at, event);
        }
    }

    pub(crate) fn announce_free(&self, event: &dyn Any) {
        let kind = event.type_id();
        let count = lock(&self.inner.watchers).len();
        for at in 0..count {
            if lock(&self.inner.watchers)[at].monitor.hears() == kind {
                self.observe(at, event);
            }
        }
    }

    fn observe(&self, at: usize, event: &dyn Any) {
        let observed = {
            let mut watchers = lock(&self.inner.watchers);
            let monitor = &mut watchers[at].monitor;
            monitor.observe(event).map_err(|message| (monitor.name(), message))
        };
        if let Err((monitor, message)) = observed {
            self.violated(monitor, message);
        }
    }

    fn violated(&self, monitor: &'static str, message: String) {
        let failed = current::with(|execution| {
            let task = execution.state.borrow().current;
            let (monitor, message) = (monitor.to_owned(), message.clone());
            execution.fail(Failure::Violation { task, monitor, message });
        });
        assert!(failed.is_some(), "raddle: monitor {monitor} is violated: {message}");
    }
}

impl fmt::Debug for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("System").finish_non_exhaustive()
    }
}

/// What external actors of a type are called; kept for ever, once for each type.
fn external_name(kind: &'static str) -> &'static str {
    static NAMES: Mutex<Vec<(&'static str, &'static str)>> = Mutex::new(Vec::new());
    let mut names = lock(&NAMES);
    if let Some(known) = names.iter().find(|known| known.0 == kind) {
        return known.1;
    }
    let name = format!("external {kind}").leak();
    names.push((kind, name));
    name
}

/// Where a mailbox or an inbox keeps its actor.
pub(crate) type Kept = Arc<Mutex<Option<Box<dyn Any + Send>>>>;
