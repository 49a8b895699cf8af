//! Who decides.
//!
//! A strategy is a value that lives through a whole search. For every execution the search calls
//! [`begin`](Strategy::begin) once, then [`choose`](Strategy::choose) at each point that has more than one alternative
//! and lies beyond the prefix that `begin` asked for, then [`end`](Strategy::end) once.

pub mod delay;
pub mod dpor;
mod entered;
pub mod exhaustive;
pub mod hapset;
pub mod iterative_random;
pub mod pct;
pub mod portfolio;
pub mod pos;
pub mod preemption;
pub mod probe;
pub mod probed;
pub mod random;
pub mod receive_order;
pub mod round_robin;
pub mod states;
pub mod surw;
mod varint;
mod visited;
pub mod watched;

use std::fmt;

use serde::{Deserialize, Serialize};

use self::dpor::{Levels, News, Trunk};
use self::hapset::Lessons;
use self::receive_order::Generated;
use crate::estimate::{Branching, Estimate};
use crate::outcome::Outcome;
use crate::piece::{Learnt, Piece};
use crate::rng::Rng;
use crate::search::Learning;
use crate::system::{Action, Choice, Pending, Point, Variant};
use crate::trace::Trace;

/// Decides what happens next. One file per strategy, under `strategy/`.
pub trait Strategy: Send {
    /// What it is called, everywhere the same: in settings, reports and docs.
    fn name(&self) -> &'static str;

    /// Called before each execution. To go on, the strategy leaves in `prefix` (which it is given empty) the choices
    /// that lead to where it wants to decide itself; the search brings the program there without asking it.
    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next;

    /// Called before each execution, in place of [`begin`](Self::begin) if there is an answer: after how many choices the next execution
    /// leaves the latest one, and with which choice; what comes before is as it was, and so is the seed. The latest has taken
    /// `within` choices. Worth while where executions are long and leave each other late.
    fn branch_off(&mut self, within: usize) -> Option<(usize, Choice)> {
        let _ = within;
        None
    }

    /// Called at each point beyond the prefix that has at least two alternatives. `at` is never the end.
    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision;

    /// Whether it looks at the steps of the execution that has begun, and not only at how many there are. If nobody does, they are
    /// [only counted](Trace::count_only). Asked once for each.
    fn looks_at_steps(&self) -> bool {
        true
    }

    /// Where choices are drawn from, if nothing but the number of alternatives counts in the execution that has begun. Where steps are
    /// only counted, it need not be asked to [choose](Self::choose) then.
    fn lots(&mut self) -> Option<&mut Rng> {
        None
    }

    /// Called after each execution, also one that failed, was pruned or did not follow its prefix.
    fn end(&mut self, run: &Run<'_>);

    /// Whether the strategy is to be asked at points with a single alternative too. Asked once.
    fn sees_every_point(&self) -> bool {
        false
    }

    /// Whether the execution that has just begun is a uniform random walk, which tells how many orders there are. Asked once
    /// for each.
    fn walks_uniformly(&self) -> bool {
        false
    }

    /// Whether the execution that has just begun is a [probe](probe::Probe), which is counted apart from the search itself.
    /// Asked once for each.
    fn probing(&self) -> bool {
        false
    }

    /// Whether the next execution belongs to the one that has just [ended](Self::end) and has the same number, where executions go
    /// by [number](ByNumber). Asked once after each.
    fn continues(&self) -> bool {
        false
    }

    /// Whether the next execution may go on from the point at which [`choose`](Self::choose) was just asked: so if it is the last such
    /// point of this execution, and surely from none that was said no to. `None` if that is not known; then copies of the
    /// program are kept here and there. Asked after each `choose`.
    fn comes_back(&self) -> Option<bool> {
        None
    }

    /// Leaves in `branch`, which is given empty, the points along the execution that has just [ended](Self::end), from the root
    /// of the tree that the strategy walks in depth-first order; false if it walks otherwise. Asked by who
    /// [estimates](crate::estimate::Estimator) from that.
    fn branching(&self, branch: &mut Vec<Branching>) -> bool {
        let _ = branch;
        false
    }

    /// Whether the strategy wants to know which state the program is in. Asked once.
    fn tells_states_apart(&self) -> bool {
        false
    }

    /// The [fingerprint](crate::system::System::fingerprint) of the state that the program is in; `None` if it cannot be seen.
    /// Called at each point just before [`choose`](Self::choose) and at the end, if the strategy
    /// [wants](Self::tells_states_apart) to know. False if nothing new lies beyond: then the execution is given up without asking what
    /// could happen next, unless it is known to have ended.
    fn arrive(&mut self, state: Option<u64>) -> bool {
        let _ = state;
        true
    }

    /// Which way to go on, after [`arrive`](Self::arrive) has said no to where the latest choice would lead: if the program can tell
    /// [before it goes there](crate::system::System::foresee), the next executions need not begin anew only to end there as well. Called then,
    /// more than once at a point maybe. An execution that passes others by counts for all of them.
    fn pass_by(&mut self) -> Passing {
        Passing::No
    }

    /// States that nobody had been in before, of the execution that has just ended. Asked once for each.
    fn new_states(&self) -> u64 {
        0
    }

    /// How many orders there are, as far as the strategy can tell. Asked at the end of a search, and while it runs.
    fn estimate(&self) -> Option<Estimate> {
        None
    }

    /// Whether the strategy wants to know at the end what the tasks that have not ended were about to do. Asked once.
    fn wants_pending(&self) -> bool {
        false
    }

    /// Leaves out what strays too far from the first execution: the k-th alternative taken at a point, counted from 0, costs k,
    /// and the sum along an execution is at most `most`. Called before the first execution; false if the strategy cannot.
    fn bound_deviations(&mut self, most: u32) -> bool {
        let _ = most;
        false
    }

    /// Learns from so many random walks before anything else, drawn by `seed`; `false` if it does not learn. Before the search starts.
    fn learn_first(&mut self, executions: u64, seed: u64) -> bool {
        let _ = (executions, seed);
        false
    }

    /// How several workers can share this search. Asked at the start of a search and whenever work is handed over.
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::Alone
    }

    /// Whether prefixes of earlier executions are run again, so that the search should watch for programs that do not
    /// do the same thing twice. Asked once.
    fn revisits(&self) -> bool {
        false
    }

    /// Whether executions stand for equivalent ones that are left out, so that what the strategy claims holds up to the order of
    /// steps that have nothing to do with one another. Asked once.
    fn reduces(&self) -> bool {
        false
    }

    /// Whether it rests on rules about which steps can be taken in the other order, which a program may be
    /// [too much](crate::caveats::Caveats::reduction_unproven) for. Asked once.
    fn reverses_races(&self) -> bool {
        false
    }

    /// What has been covered whole of a search that is stopped before its end, when all [stages](Piece::stage) before this one
    /// are done. Asked once, then.
    fn covered(&self, stage: u32) -> Option<Bound> {
        let _ = stage;
        None
    }

    /// What is certain about what was run, beyond how much it was, in words. Where executions go by number, the first `drawn` have been run, by whatever
    /// worker. Asked once, at the end of a search.
    fn guarantee(&self, drawn: u64) -> Option<String> {
        let _ = drawn;
        None
    }

    /// Schedules that are worth being run again after changes to the program. Asked once, at the end of a search.
    fn generated(&self) -> &[Generated] {
        &[]
    }

    /// What is to be said of the execution that has just ended, such as "found with 1 preemption". Asked after
    /// [`end`](Self::end) for the first one that fails.
    fn remark(&self) -> Option<String> {
        None
    }

    /// What else is to be said of the search, a sentence each. Asked by who reports, at the end.
    fn account(&self) -> Vec<String> {
        Vec::new()
    }

    /// How much was learnt of the program so far; `None` if nothing ever is. Asked now and then while a search runs.
    fn learning(&self) -> Option<Learning> {
        None
    }

    /// What was learnt of the program that the next search of it should know; `None` if nothing ever is. Asked by who keeps it, at
    /// the end.
    fn lessons(&self) -> Option<Lessons> {
        None
    }

    /// Takes up what earlier searches of the program have learnt, which is [sound](Lessons::is_sound). Called before the first
    /// execution.
    fn study(&mut self, lessons: &Lessons) {
        let _ = lessons;
    }
}

/// How several workers share a search.
pub enum Sharing<'a> {
    /// They cannot: one does all of it.
    Alone,
    /// Each runs the executions with certain numbers.
    ByNumber(&'a mut dyn ByNumber),
    /// Each runs certain parts of the tree.
    ByPiece(&'a mut dyn ByPiece),
}

/// A strategy whose executions depend on their number and on the first few, but not on one another: a sampler.
pub trait ByNumber {
    /// How many executions are run first, in order and by one worker: from these the strategy may learn, from the others it
    /// must not.
    fn warm_up(&self) -> u64 {
        0
    }

    /// The next execution is the one with this number.
    fn jump(&mut self, number: u64);

    /// The numbers that do not count as executions, such as probes, in order; `None` if a number may stand for several.
    fn uncounted(&self) -> Option<Vec<u64>> {
        Some(Vec::new())
    }

    /// How many executions have been run by the time that the latest one has [ended](Strategy::end), which has this number, if one
    /// worker runs them in order. Asked for one that fails.
    fn executions(&self, number: u64) -> u64 {
        number + 1
    }

    /// The same strategy for another worker, with what was learnt.
    fn copy(&mut self) -> Box<dyn Strategy>;

    /// What was learnt so far, to be written down with what is left.
    fn learnt(&mut self) -> Learnt {
        Learnt::default()
    }

    /// Takes up what a search has learnt that left off before the execution with number `next`; no if that does not fit, as a file
    /// may say anything. Called before the first execution, more than once maybe.
    fn recall(&mut self, learnt: &Learnt, next: u64) -> bool {
        let _ = (learnt, next);
        true
    }
}

/// A strategy that covers a tree, part by part.
pub trait ByPiece {
    /// The same strategy for another worker, which has nothing to do yet.
    fn copy(&self) -> Box<dyn Strategy>;

    /// Whether the piece comes from this kind of strategy, or is the whole. Asked of what was written down.
    fn takes(&self, piece: &Piece) -> bool;

    /// Takes up a piece that comes from this kind of strategy, or the whole.
    fn place(&mut self, piece: Piece);

    /// Gives away some of what is left, as near to the root as possible. Called after an execution.
    fn give(&mut self) -> Given;

    /// All that is left, as data; `None` if nothing is. Goes on as if it had not been asked.
    fn rest(&mut self) -> Option<Piece>;

    /// The same, where it does not go on but [takes another piece](Self::place).
    fn leave_rest(&mut self) -> Option<Piece> {
        self.rest()
    }

    /// What belongs to a later [stage](Piece::stage) than the piece, as far as it was not asked for before. Called with every
    /// commit: from then on, what was done counts.
    fn put_off(&mut self) -> Vec<Piece> {
        Vec::new()
    }

    /// What was done since the latest commit does not count. Called just before the piece is handed out again as it was then.
    fn lost(&mut self) {}

    /// The worker leaves what is left to others, or for later. Called just before the last commit of its piece.
    fn leave(&mut self) {}

    /// Whether something was learnt that other workers go by, so that it should be committed at once. Asked after each execution, if
    /// there are others.
    fn has_learnt(&self) -> bool {
        false
    }

    /// Whether another piece is to have its turn now. Asked after each execution; if so, what is nearest to the root of this one is given
    /// away and the rest is left.
    fn takes_turns(&self) -> bool {
        false
    }

    /// What was learnt so far and what is left depends on, to be written down with that; `None` if nothing ever is.
    fn learnt(&mut self) -> Option<Learnt> {
        None
    }

    /// Takes up what a search has learnt; no if that does not fit, as a file may say anything. Called before the first execution, more
    /// than once maybe.
    fn recall(&mut self, learnt: Option<&Learnt>) -> bool {
        let _ = learnt;
        true
    }

    /// Whether orders are left out on purpose, so that what was run says nothing of how many there are.
    fn selects(&self) -> bool {
        false
    }

    /// What can be said of what was covered, once nothing is left.
    fn claim(&self) -> Claim;

    /// Whether something may be left that one worker alone would have run before the execution with these choices.
    fn may_precede(&self, _: &[Choice]) -> bool {
        false
    }

    #[doc(hidden)]
    fn trunk(&self) -> Trunk {
        Trunk::default()
    }

    #[doc(hidden)]
    fn news(&mut self) -> News {
        News::default()
    }
}

/// What a worker gives to others.
#[derive(Debug)]
#[non_exhaustive]
pub enum Given {
    /// It has not enough for two.
    Nothing,
    /// Pieces of their own.
    Pieces(Vec<Piece>),
    #[doc(hidden)]
    Levels(Levels),
}

/// What a search counts, where it is to see each once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// Every order of the steps.
    Orders,
    /// Orders that differ in more than the order of independent steps.
    Traces,
}

/// Whether there is more to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Run another execution; the seed feeds the program's own random numbers.
    Run {
        /// Equal seeds, equal numbers.
        seed: u64,
    },
    /// The search is over.
    Done(Claim),
}

/// What is known when a strategy has nothing left to do. Ordered: the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Claim {
    /// Every order was covered.
    Exhausted,
    /// Every order within this bound was covered, and there are others.
    Bounded(Bound),
    /// All it wanted to see was seen, but orders were left out on purpose.
    Selective,
    /// A number of orders was looked at.
    Sampled,
}

/// Up to where every order was covered. Displayed, it is "up to 2 preemptions".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Bound {
    /// Orders with at most so many.
    pub most: u32,
    /// Of what.
    pub unit: Unit,
}

/// What a bound counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Unit {
    /// Switches away from a task that could have gone on.
    Preemption,
    /// Alternatives passed by on the way through the tree; see [`Dpor::deviations`](dpor::Dpor::deviations).
    Deviation,
    /// Deviations from what a [delaying explorer](delay::DelayingExplorer) would have done.
    Delay,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            Unit::Preemption => "preemption",
            Unit::Deviation => "deviation",
            Unit::Delay => "delay",
        };
        write!(f, "up to {} {unit}{}", self.most, if self.most == 1 { "" } else { "s" })
    }
}

/// What is done at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// This alternative.
    Take(Choice),
    /// Nothing new lies beyond: give this execution up.
    Prune,
}

/// How to go on before a state with nothing new beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// By going there: the execution ends there, with all its steps in its trace.
    No,
    /// With this alternative instead, as if the next execution had come to the same point.
    Instead(Choice),
    /// The execution ends here, and the strategy does not miss in its trace the steps that it did not take.
    Leave,
}

/// An execution, as its strategy looks back at it.
#[derive(Debug)]
pub struct Run<'a> {
    /// How it ended; `None` if it was pruned.
    pub outcome: Option<&'a Outcome>,
    /// What it did.
    pub trace: &'a Trace,
    /// What every task that has not ended was about to do, if the strategy [wants](Strategy::wants_pending) to know.
    pub pending: &'a [Pending],
}

/// The choice that stays with the task that stepped last if it can go on in the ordinary way, and else takes the first
/// task that can: the order with the fewest switches. Data choices get their first value.
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
