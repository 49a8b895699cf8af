//! A system of actors. Inside an execution its actors are tasks that the scheduler controls; outside, each has a thread.

use std::any::type_name;
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use raddle_engine::ids::ObjectId;
use raddle_engine::trace::Site;

use crate::actor::address::{Address, EXTERNAL, Roster, Route};
use crate::actor::behaviour::{Actor, Monitor, short_name};
use crate::actor::busy::Busy;
use crate::actor::delivery::Delivery;
use crate::actor::free::ActorThreads;
use crate::actor::mailbox_handle;
use crate::actor::mailboxes::{ActorSystem, show_name};
use crate::actor::rules::{Faults, Rules};
use crate::actor::watch::Watcher;
use crate::coroutine::current;
use crate::execution::{Kind, here, word_as_number};

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
    /// Outside an execution: how much is left to do, and the threads of the actors.
    pub(crate) busy: Busy,
    pub(crate) threads: ActorThreads,
    /// Inside an execution: its number, and the objects that steps of the system access.
    pub(crate) inside: Option<ExecutionIds>,
}

/// A system inside an execution.
#[derive(Clone, Copy)]
pub(crate) struct ExecutionIds {
    pub(crate) execution: u64,
    /// Its number among the systems of the execution.
    pub(crate) system: u32,
    pub(crate) activity: ObjectId,
    pub(crate) roster: ObjectId,
    pub(crate) faults: ObjectId,
}

impl ExecutionIds {
    /// Panics unless its execution is the one that runs.
    #[track_caller]
    pub(crate) fn demand_here(&self) {
        let number = current::with(|execution| execution.state.borrow().number);
        assert!(
            number == Some(self.execution),
            "raddle: this system of actors belongs to an execution that is over, or to another test's"
        );
    }
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
    #[track_caller]
    pub fn new() -> Self {
        static NEXT_WORLD: AtomicU64 = AtomicU64::new(0);
        let inside = current::with(|execution| {
            let mut state = execution.state.borrow_mut();
            let execution = state.number;
            let activity = state.add_object(&ACTIVITY, 0);
            let roster = state.add_object(&ROSTER, 0);
            let faults = state.add_object(&FAULTS, 0);
            let system = u32::try_from(state.actors.systems.len()).expect("raddle bug: more than 2^32 systems");
            state.actors.systems.push(ActorSystem { rules: Rules::default(), faults: Faults::default() });
            ExecutionIds { execution, system, activity, roster, faults }
        });
        if inside.is_none() {
            crate::uncontrolled::note("a system of actors", None);
        }
        let inner = Inner {
            world: NEXT_WORLD.fetch_add(1, Ordering::Relaxed) << 1 | 1,
            rules: Mutex::default(),
            roster: Mutex::default(),
            watchers: Mutex::default(),
            dead_letters: AtomicU32::new(0),
            unhandled: AtomicU32::new(0),
            busy: Busy::default(),
            threads: ActorThreads::default(),
            inside,
        };
        Self { inner: Arc::new(inner) }
    }

    fn rule(self, change: impl FnOnce(&mut Rules)) -> Self {
        let rules = {
            let mut rules = lock(&self.inner.rules);
            change(&mut rules);
            *rules
        };
        if let Some(inside) = self.inner.inside {
            current::with(|execution| {
                let mut state = execution.state.borrow_mut();
                if state.number == inside.execution {
                    let system = &mut state.actors.systems[inside.system as usize];
                    if system.rules.faults != rules.faults {
                        system.faults = rules.faults;
                    }
                    system.rules = rules;
                    // A handler of an untraced run may set them. That run goes by the earlier rules, so it ends here.
                    if state.actors.supply.counts_on() {
                        state.end_supply();
                    }
                }
            });
        }
        self
    }

    /// Sets the order in which messages can be received. Outside an execution they are received in order of arrival.
    ///
    /// # Panics
    ///
    /// If the system already has actors.
    #[must_use]
    pub fn delivery(self, delivery: Delivery) -> Self {
        let empty = lock(&self.inner.roster).is_empty();
        assert!(empty, "raddle: set the delivery of a system before its first actor is created");
        self.rule(|rules| rules.delivery = delivery)
    }

    /// Restarts actors that panic, each at most this often, instead of reporting a failure. Only actors made [by a factory](Self::spawn_with)
    /// can be restarted.
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

    /// Sets how many faults may happen in one execution. Outside an execution there are none.
    #[must_use]
    pub fn faults(self, faults: Faults) -> Self {
        self.rule(|rules| rules.faults = faults)
    }

    /// Adds a monitor, which sees every [announced](crate::actor::Context::announce) event.
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

    /// Creates an actor that can be restarted: `make` is called again.
    #[track_caller]
    pub fn spawn_with<A: Actor>(&self, make: impl Fn() -> A + Send + Sync + 'static) -> Address<A::Msg> {
        self.spawn_anywhere(make(), Some(Box::new(make)), short_name(type_name::<A>()), here())
    }

    /// Creates an actor that stands for something outside the program: a user, a socket, a network. It receives messages like any other
    /// actor. Inside an execution, the schedule decides when it [starts](Actor::started): before, between or after anything that others
    /// do. All other actors start where they are created. Reports call it external. Outside an execution it has a thread like all others.
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
            Some(_) => mailbox_handle::spawn(self, actor, make, kind, site),
            None => crate::actor::free::spawn(self, actor, make, kind),
        }
    }

    #[track_caller]
    pub(crate) fn spawn_at<A: Actor>(&self, actor: A, make: Option<Make<A>>, site: Site) -> Address<A::Msg> {
        mailbox_handle::spawn(self, actor, make, short_name(type_name::<A>()), site)
    }

    pub(crate) fn spawn_free<A: Actor>(&self, actor: A, make: Option<Make<A>>) -> Address<A::Msg> {
        crate::actor::free::spawn(self, actor, make, short_name(type_name::<A>()))
    }

    /// Allows an actor to [crash](Faults::crash). Outside an execution none does.
    ///
    /// # Panics
    ///
    /// If the actor belongs to another system, or to an execution that is over.
    #[track_caller]
    pub fn may_crash<M>(&self, who: &Address<M>) {
        assert!(who.who.world == self.inner.world, "raddle: {who:?} belongs to another system");
        self.inner.inside.iter().for_each(ExecutionIds::demand_here);
        if let Route::Task { mailbox, .. } = &who.route {
            mailbox.let_crash();
        }
    }
}

impl fmt::Debug for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("System").finish_non_exhaustive()
    }
}

/// The name of external actors of a type. Each name is allocated once and never freed.
fn external_name(kind: &'static str) -> &'static str {
    static NAMES: Mutex<Vec<(&'static str, &'static str)>> = Mutex::new(Vec::new());
    let mut names = lock(&NAMES);
    if let Some(known) = names.iter().find(|known| known.0 == kind) {
        return known.1;
    }
    let name = format!("{EXTERNAL}{kind}").leak();
    names.push((kind, name));
    name
}
