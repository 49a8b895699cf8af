//! A registry of processes: names under which they can be found. When a process ends, the registry hears of it and forgets its names.
//!
//! - *Clients* start a service each, register it under a name, and look up those of others.
//! - The *supervisor* knows all services. When all have started it retires some of them: they are to come to an end, and do so once they
//!   have nothing left to do.
//! - The *registry* keeps the latest registration apart from its table, since that is what is looked up most; it is filed when the next
//!   request comes.

mod client;
mod service;
mod supervisor;

use std::collections::{BTreeMap, BTreeSet};

use raddle::actor::{Actor, Address, Context, ReplyTo, System};
use raddle::coverage::Criterion;

pub use self::client::{Client, ToClient};
pub use self::service::{Service, ToService};
pub use self::supervisor::{Supervisor, ToSupervisor};
use super::Program;

/// How many there are, and whether there is a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Each with a service.
    pub clients: u32,
    /// Of each client.
    pub lookups: u32,
    /// How many services end.
    pub retired: u32,
    /// The mistake: if the process of the latest registration ends before any other request comes, it stays registered.
    pub forgetful: bool,
}

impl Config {
    /// The configuration that is evaluated.
    pub const USUAL: Self = Self { clients: 6, lookups: 5, retired: 1, forgetful: false };

    /// All of its orders can be tried.
    pub const SMALL: Self = Self { clients: 1, lookups: 1, retired: 1, forgetful: false };

    /// The same with the mistake.
    #[must_use]
    pub const fn forgetful(self) -> Self {
        Self { forgetful: true, ..self }
    }
}

/// A name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(pub u32);

/// A process that can be registered.
pub type Process = Address<ToService>;

/// The messages to the registry.
#[derive(Debug)]
pub enum ToRegistry {
    /// A process is to be found under a name.
    Register(Name, Process),
    /// Who is found under it?
    WhereIs(Name, ReplyTo<Option<Process>>),
    /// A process is at work.
    Ready(Process),
    /// A process has ended.
    Down(Process),
}

/// Knows processes by their names.
#[derive(Debug)]
pub struct Registry {
    forgetful: bool,
    latest: Option<(Name, Process)>,
    table: BTreeMap<Name, Process>,
    at_work: BTreeSet<Process>,
    ended: BTreeSet<Process>,
}

impl Registry {
    /// An empty registry.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let (table, at_work, ended) = Default::default();
        Self { forgetful: config.forgetful, latest: None, table, at_work, ended }
    }

    /// All names and whose they are.
    pub fn names(&self) -> impl Iterator<Item = (Name, &Process)> {
        let latest = self.latest.as_ref().map(|(name, process)| (*name, process));
        self.table.iter().map(|(name, process)| (*name, process)).chain(latest)
    }

    /// Whether the registry has heard that a process has ended.
    #[must_use]
    pub fn has_ended(&self, process: &Process) -> bool {
        self.ended.contains(process)
    }

    /// Puts the latest registration where the others are.
    fn file(&mut self) {
        self.table.extend(self.latest.take());
    }

    fn register(&mut self, name: Name, process: Process) {
        self.file();
        // It may have been so short-lived that its end was heard of first.
        if !self.ended.contains(&process) {
            self.latest = Some((name, process));
        }
    }

    fn look_up(&mut self, name: Name) -> Option<Process> {
        let latest = self.latest.clone().filter(|latest| latest.0 == name).map(|latest| latest.1);
        self.file();
        latest.or_else(|| self.table.get(&name).cloned())
    }

    fn down(&mut self, process: Process) {
        if !self.forgetful {
            self.file();
        }
        self.table.retain(|_, registered| *registered != process);
        self.at_work.remove(&process);
        self.ended.insert(process);
    }
}

impl Actor for Registry {
    type Msg = ToRegistry;

    fn handle(&mut self, msg: ToRegistry, _: &mut Context<'_, ToRegistry>) {
        match msg {
            ToRegistry::Register(name, process) => self.register(name, process),
            ToRegistry::WhereIs(name, reply) => reply.reply(self.look_up(name)),
            ToRegistry::Ready(process) => {
                self.file();
                self.at_work.insert(process);
            }
            ToRegistry::Down(process) => self.down(process),
        }
    }

    fn label(msg: &ToRegistry) -> &'static str {
        match msg {
            ToRegistry::Register(..) => "Register",
            ToRegistry::WhereIs(..) => "WhereIs",
            ToRegistry::Ready(_) => "Ready",
            ToRegistry::Down(_) => "Down",
        }
    }
}

/// Lets clients find each other's services.
///
/// # Panics
///
/// If one that has ended can still be found.
pub fn run(config: Config) {
    let system = System::new();
    let registry = system.spawn(Registry::new(config));
    let supervisor = system.spawn(Supervisor::new(config));
    let clients: Vec<_> = (0..config.clients)
        .map(|number| system.spawn(Client::new(number, registry.clone(), supervisor.clone(), config)))
        .collect();
    for client in &clients {
        client.send(ToClient::Begin);
    }
    system.run_until_quiet();
    system.with(&registry, |registry: &Registry| {
        for (name, process) in registry.names() {
            assert!(!registry.has_ended(process), "{name:?} is that of {process:?}, which has ended");
        }
        assert_eq!(registry.names().count(), (config.clients - config.retired) as usize, "the others have their names");
    });
}

const CORRECT: Program = Program::correct("Registry", || run(Config::USUAL));

/// The registry, and a forgetful one.
pub static PROGRAMS: [Program; 2] =
    [CORRECT, CORRECT.with("Registry 1", "panic", Criterion::Consecutive, || run(Config::USUAL.forgetful()))];
