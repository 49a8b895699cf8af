//! Models: actors whose state can be copied and hashed, searched without stacks.
//!
//! A handler of a model is called directly, and what it sends, creates and announces is kept until it returns. So the state
//! of a model is plain data: the engine can [fork](raddle_engine::system::Snapshots::fork) it, copying only the actors that change from
//! there on, and can tell states apart by their [fingerprint](raddle_engine::system::Snapshots::fingerprint), which covers the actors'
//! states and what waits in their mailboxes, and not how that came about.
//!
//! The [`Actor`] and its [`Context`](crate::actor::Context) are the same as elsewhere, with three differences: handlers cannot
//! wait ([`ask`](crate::actor::Context::ask)), there is no clock (a timer may go off whenever it is set), and an actor
//! created by a handler must be of a type that the model [knows](Setup::knows).
//!
//! ```
//! use raddle_engine::search::{Limits, search};
//! use raddle_strategies::tree::exhaustive::Exhaustive;
//! use raddle_runtime::actor::{Actor, Context};
//! use raddle_runtime::model::Model;
//!
//! #[derive(Clone, Hash)]
//! struct Sum(u32);
//!
//! impl Actor for Sum {
//!     type Msg = u32;
//!     fn handle(&mut self, n: u32, _: &mut Context<'_, u32>) {
//!         self.0 = self.0 * 10 + n;
//!     }
//! }
//!
//! let mut model = Model::new(|m| {
//!     let (a, b) = (m.spawn(Sum(0)), m.spawn(Sum(0)));
//!     m.send(&a, 1);
//!     m.send(&a, 2);
//!     m.send(&b, 3);
//! })
//! .finally(|state| assert_eq!(state.actors::<Sum>().next().unwrap().0, 12));
//! let report = search(&mut model, &mut Exhaustive::depth_first(), &Limits::default());
//! assert!(report.verified());
//! assert_eq!(report.executions, 3);
//! ```

mod ahead;
mod apply;
mod handle;
mod handler;
mod handling;
mod memo;
mod monitors;
mod participants;
mod point;
mod run;
mod scratch;
mod setup;
mod slot;
mod spare_slots;
mod step;
mod tell;
mod untraced;
mod view;

use std::fmt;
use std::hash::Hash;
use std::panic::Location;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use raddle_engine::system::Program;
use raddle_engine::trace::{Access, Site, Step, Trace};

pub(crate) use self::handling::{Effect, ModelHandling, Pack};
pub use self::run::Run;
pub use self::setup::Setup;
pub(crate) use self::step::ModelState;
pub use self::view::View;
use crate::actor::{Actor, Labels, Rules};

type Check = Rc<dyn Fn(&View<'_>)>;

/// A program of actors that can be copied and hashed.
pub struct Model {
    first: ModelState,
}

/// What does not change while a model runs.
#[derive(Clone)]
struct Code {
    world: u64,
    rules: Rules,
    actor_types: handling::ActorTypes,
    always: Vec<Check>,
    finally: Vec<Check>,
    site: Site,
    /// Every message arrives, and its place depends only on the queues.
    plain: bool,
    /// Cached results of handlers.
    memo: memo::Memo,
    spare_slots: spare_slots::SpareSlots,
    labels: Labels,
    /// The sends of the setup, which are the first steps of every execution.
    first_steps: Vec<FirstStep>,
}

/// A send of the setup.
#[derive(Clone)]
struct FirstStep {
    step: Step,
    message: Access,
    /// The receiver, and the number of the message there.
    to: usize,
    number: u32,
}

impl Model {
    /// The model that `setup` describes: its first actors and messages, and its rules.
    pub fn new(setup: impl FnOnce(&mut Setup)) -> Self {
        static NEXT_WORLD: AtomicU64 = AtomicU64::new(1);
        crate::panics::install();
        let code = Code {
            world: NEXT_WORLD.fetch_add(1, Ordering::Relaxed) << 1,
            rules: Rules::default(),
            actor_types: handling::ActorTypes::default(),
            always: Vec::new(),
            finally: Vec::new(),
            site: receives_at(),
            plain: true,
            memo: memo::Memo::default(),
            spare_slots: spare_slots::SpareSlots::default(),
            labels: Labels::default(),
            first_steps: Vec::new(),
        };
        let mut first = Setup::new(code);
        setup(&mut first);
        Self { first: first.finish() }
    }

    /// Records the texts for a report in all executions from now on.
    #[doc(hidden)]
    #[must_use]
    pub fn telling(mut self) -> Self {
        self.first.story = Some(Box::default());
        self
    }

    /// Adds a check that must hold after every step. If it panics, the execution fails.
    ///
    /// A reduced search (`dpor`) runs independent steps in one order only, so it may miss a state in which a predicate over several
    /// actors is false. Use a [monitor](crate::actor::Monitor), or search exhaustively.
    #[must_use]
    pub fn always(mut self, check: impl Fn(&View<'_>) + 'static) -> Self {
        Rc::make_mut(&mut self.first.code).always.push(Rc::new(check));
        self
    }

    /// Adds a check that must hold at the end of every execution. If it panics, the execution fails. Reduced searches miss none of these.
    #[must_use]
    pub fn finally(mut self, check: impl Fn(&View<'_>) + 'static) -> Self {
        Rc::make_mut(&mut self.first.code).finally.push(Rc::new(check));
        self
    }
}

/// The source location of receives in reports: one in Raddle, which reports do not show.
fn receives_at() -> Site {
    Location::caller()
}

impl Program for Model {
    type System = Run;

    fn start(&mut self, _: u64, trace: &mut Trace) -> Run {
        let mut state = Box::new(self.first.clone());
        state.take_first_steps(trace);
        let inside = crate::crash::inside_model(&state, Some(trace), None);
        state.compute_enabled();
        drop(inside);
        Run(state)
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").finish_non_exhaustive()
    }
}

/// An actor that a model can have.
///
/// Fields of an actor or a message that are not hashed must not influence what a handler does: states with equal hashes count as equal, and
/// the result of a handler is reused for them.
pub trait ModelActor: Actor<Msg: Clone + Hash> + Clone + Hash {}

impl<A> ModelActor for A where A: Actor<Msg: Clone + Hash> + Clone + Hash {}
