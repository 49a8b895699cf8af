//! The trait of all strategies, which choose what happens next, and their capabilities.
//!
//! A strategy is a value that lives through a whole search. The search asks it once what it [needs](Strategy::needs). For every
//! execution it then calls [`begin`](Strategy::begin) once, [`choose`](Strategy::choose) at each point that has more than one
//! alternative and lies beyond the prefix that `begin` asked for, and [`end`](Strategy::end) once.
//!
//! Everything else is a capability: a small trait of its own, which a strategy has or has not. A wrapper around another strategy
//! forwards five methods, and implements [`Capabilities`] only if it changes one of them.

mod capabilities;
mod claim;
mod sharing;

use std::time::Instant;

pub use self::capabilities::{Capabilities, Memory, Sibling, StateSearch, Summarize};
pub use self::claim::{Bound, Claim, Unit};
pub use self::sharing::{ByNumber, ByPiece, Sharing};
use crate::outcome::Outcome;
use crate::rng::Rng;
use crate::system::{Action, Choice, Pending, Point, Variant};
use crate::trace::Trace;

/// Decides what happens next.
pub trait Strategy: Send {
    /// What the strategy is and what it wants to see. The search asks once, before the first execution; the answer must stay the
    /// same.
    fn needs(&self) -> Needs;

    /// The search calls this before each execution. `prefix` is empty. To run an execution, the strategy writes to it the choices up to the
    /// first point where it wants to choose itself. The search replays them without asking. A sampler leaves the prefix empty.
    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next;

    /// The search calls this at each point beyond the prefix that has at least two alternatives. `at` is never the end. `so_far` has all steps up
    /// to here, also those that had no alternative, unless they are [not recorded](Start::steps).
    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision;

    /// The search calls this after each execution, also after one that failed, was pruned or did not follow its prefix.
    fn end(&mut self, run: &Run<'_>) -> After;

    /// What the strategy can do in addition to choosing; `None` if nothing. The search and the explorer call this each time they need a
    /// capability.
    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        None
    }
}

impl<S: Strategy + ?Sized> Strategy for Box<S> {
    fn needs(&self) -> Needs {
        (**self).needs()
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        (**self).begin(prefix)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        (**self).choose(at, so_far)
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        (**self).end(run)
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        (**self).capabilities()
    }
}

impl dyn Strategy + '_ {
    /// What this strategy is called, everywhere the same: in settings, reports and docs.
    pub fn name(&self) -> &'static str {
        self.needs().name
    }

    /// How several workers can share this search.
    pub fn sharing(&mut self) -> Sharing<'_> {
        self.capabilities().map_or(Sharing::Alone, Capabilities::sharing)
    }

    /// How it searches by states, if it does.
    pub fn states(&mut self) -> Option<&mut dyn StateSearch> {
        self.capabilities()?.states()
    }

    /// What it can tell about itself, if anything.
    pub fn summary(&mut self) -> Option<&dyn Summarize> {
        self.capabilities()?.summary()
    }

    /// What it remembers from search to search, if anything.
    pub fn memory(&mut self) -> Option<&mut dyn Memory> {
        self.capabilities()?.memory()
    }
}

/// What a strategy is and what it wants to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// What it is called, everywhere the same: in settings, reports and docs.
    pub name: &'static str,
    /// What it wants to achieve, which is what a search can claim at its end.
    pub goal: Goal,
    /// Which executions it takes to be equal, so that one of them is enough.
    pub equivalence: Equivalence,
    /// It has no end of its own, or one that comes too late. Without a budget from the user, such a search ends after a number of executions;
    /// all others end after some time.
    pub endless: bool,
    /// It is about the order in which messages are received, so the report shows the coverage of receives.
    pub receives: bool,
    /// It runs prefixes of earlier executions again. The search then keeps snapshots, and checks that the program does the same thing in the
    /// same prefix.
    pub revisits: bool,
    /// The search calls [`choose`](Strategy::choose) also at points with a single alternative.
    pub every_point: bool,
    /// At the end of an execution, [`Run::pending`] lists what the tasks that have not ended were about to do.
    pub pending: bool,
}

impl Needs {
    /// A strategy that draws executions at random and has no end of its own.
    #[must_use]
    pub const fn sampler(name: &'static str) -> Self {
        Self {
            name,
            goal: Goal::Sample,
            equivalence: Equivalence::Orders,
            endless: true,
            receives: false,
            revisits: false,
            every_point: false,
            pending: false,
        }
    }

    /// A strategy that runs every order once, and knows when it is done.
    #[must_use]
    pub const fn exhaustive(name: &'static str) -> Self {
        Self { goal: Goal::Cover, endless: false, revisits: true, ..Self::sampler(name) }
    }

    /// A strategy that runs one order of those that differ only in the order of independent steps. It looks at all points, and at
    /// what tasks were about to do.
    #[must_use]
    pub const fn reduction(name: &'static str) -> Self {
        Self { equivalence: Equivalence::Traces, every_point: true, pending: true, ..Self::exhaustive(name) }
    }

    /// Whether an execution stands for equivalent ones that are not run.
    #[must_use]
    pub fn reduces(&self) -> bool {
        self.equivalence != Equivalence::Orders
    }
}

/// What a strategy wants to achieve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// To cover everything there is, or everything within a bound.
    Cover,
    /// To cover what it takes to be worth running. It leaves orders out on purpose.
    Select,
    /// To look at a number of executions.
    Sample,
}

/// Which executions a strategy takes to be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Equivalence {
    /// None: every order of the steps counts.
    Orders,
    /// Those that differ only in the order of independent steps. This rests on rules about which steps can be taken in the other order,
    /// and some programs do what these rules [have not been proved for](crate::caveats::Caveats::reduction_unproven).
    Traces,
    /// Those that come to the same state, from there on.
    States,
}

/// Whether there is more to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Run another execution.
    Run(Start),
    /// The search is over.
    Done(Claim),
}

/// How an execution is to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// Feeds the program's own random numbers: equal seeds, equal numbers.
    pub seed: u64,
    /// The execution repeats the latest one that was not a probe, up to a choice; the prefix is then empty. This saves time if executions are
    /// long and differ only near their end.
    pub backtrack: Option<BacktrackTo>,
    /// The engine draws every choice uniformly from this generator and does not call [`choose`](Strategy::choose). Programs can often run
    /// such walks without stopping at each point, and the number of orders can be estimated from them.
    pub uniform: Option<Rng>,
    /// The strategy looks at the steps of this execution, and not only at their number. If false, steps may be
    /// [not recorded](Trace::discard_steps).
    pub steps: bool,
    /// The execution only helps to estimate the size of the search, and does not count as a part of it.
    pub probe: bool,
}

impl Start {
    /// An execution whose steps are recorded, and in which the strategy makes all choices after the prefix.
    #[must_use]
    pub const fn with_seed(seed: u64) -> Self {
        Self { seed, backtrack: None, uniform: None, steps: true, probe: false }
    }
}

/// Where an execution leaves the latest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BacktrackTo {
    /// How many choices are the same; fewer than [the latest execution took](Run::choices).
    pub depth: usize,
    /// The choice that follows.
    pub choice: Choice,
}

impl Next {
    /// Another execution, as [`Start::with_seed`] says. A strategy that does not look at the trace runs faster with [`Start::steps`] off.
    #[must_use]
    pub const fn run(seed: u64) -> Self {
        Self::Run(Start::with_seed(seed))
    }

    /// An execution that leaves the latest one after `depth` choices.
    #[must_use]
    pub const fn backtrack(seed: u64, depth: usize, choice: Choice) -> Self {
        Self::Run(Start { backtrack: Some(BacktrackTo { depth, choice }), ..Start::with_seed(seed) })
    }
}

/// What is done at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// This alternative.
    Take(Choice),
    /// This alternative. The next execution may continue from this point, and continues from no later one. The search keeps a snapshot here.
    TakeAndReturn(Choice),
    /// This alternative. No later execution continues from this point, so the search keeps no snapshot.
    TakeAndLeave(Choice),
    /// No alternative: nothing new can follow, and the execution is pruned here.
    Prune,
}

impl Decision {
    /// This alternative, with what is known about whether the strategy returns.
    #[must_use]
    pub const fn take(choice: Choice, returns: Option<bool>) -> Self {
        match returns {
            None => Self::Take(choice),
            Some(true) => Self::TakeAndReturn(choice),
            Some(false) => Self::TakeAndLeave(choice),
        }
    }
}

/// An execution that has ended.
#[derive(Debug)]
pub struct Run<'a> {
    /// How it ended; `None` if it was pruned.
    pub outcome: Option<&'a Outcome>,
    /// Its steps.
    pub trace: &'a Trace,
    /// At how many points something was chosen, by the strategy or by the prefix.
    pub choices: usize,
    /// What every task that has not ended was about to do, if the strategy [needs](Needs::pending) to know.
    pub pending: &'a [Pending],
    /// When the search has to be over, if it has a time.
    pub deadline: Option<Instant>,
}

/// What comes after an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The next execution is another one.
    Next,
    /// The next execution belongs to this one and has the same number, where executions go by [number](ByNumber).
    SameNumber,
    /// The [deadline](Run::deadline) has passed before the strategy knew what follows from this execution. The search stops, and the piece goes back
    /// as it was at the latest commit.
    OutOfTime,
}

/// What a search counts, where it is to see each once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Every order of the steps.
    Orders,
    /// Orders that differ in more than the order of independent steps.
    Traces,
}

/// The choice that leads to few switches: the task of the latest step continues if it can, and otherwise the first task that can. Only
/// alternatives that are [`Ready`](Variant::Ready) count; if there is none, the first alternative is taken. Data choices get their first
/// value. The steps must be [recorded](Start::steps).
///
/// # Panics
///
/// If the execution is over.
#[must_use]
pub fn least_switching(at: &Point<'_>, so_far: &Trace) -> Choice {
    let Point::Actions(actions) = at else {
        return Choice(0);
    };
    let last = so_far.last().map(|step| step.task);
    let stays = |a: &Action| Some(a.task) == last && a.variant == Variant::Ready;
    let ready = |a: &Action| a.variant == Variant::Ready;
    let at = actions.iter().position(stays).or_else(|| actions.iter().position(ready)).unwrap_or(0);
    Choice(u32::try_from(at).expect("raddle bug: more than 2^32 actions"))
}
