//! The loop: strategy × program → report.
//!
//! [`search`] is the simple way: one worker on the calling thread. [`Search`] is for several workers: each thread asks for a [`Worker`],
//! and works with it until the search is over.

mod deadline;
mod found;
mod progress;
mod turns;
mod worker;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use self::deadline::Deadline;
pub use self::found::Found;
pub(crate) use self::found::Known;
pub use self::progress::{Counts, Learning, Pace, Progress, covered, left};
pub use self::turns::{MOST_LAST_STEPS, Turns};
use self::worker::Held;
pub use self::worker::{SnapshotStack, Status, Worker};
use crate::board::{Local, Remains, Tally};
use crate::caveats::CaveatCounts;
use crate::coverage::Coverage;
use crate::estimate::Estimate;
use crate::facts::Fact;
use crate::outcome::{Failure, Outcome};
use crate::piece::Piece;
use crate::strategy::{Bound, Claim, Equivalence, Goal, Needs, Sharing, Strategy};
use crate::system::{Program, System};
use crate::trace::Trace;

/// The limits of a search.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The largest number of executions.
    pub executions: Option<u64>,
    /// The longest time.
    pub time: Option<Duration>,
    /// No further execution begins after this many steps in all.
    pub total_steps: Option<u64>,
    /// The largest number of steps in one execution. An execution with more fails.
    pub steps: u32,
    /// Continues after a failure, and counts the failing executions.
    pub keep_going: bool,
    /// Runs executions again to check that the program does the same twice. Only tests of Raddle itself, which watch the runs of a program
    /// from outside, switch this off.
    pub repeats: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { executions: None, time: None, total_steps: None, steps: 100_000, keep_going: false, repeats: true }
    }
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The strategy had nothing left to do.
    Done(Claim),
    /// The allowed executions or the allowed time are used up.
    BudgetSpent,
    /// A failure was found.
    Failed,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Report {
    /// The strategy's name.
    pub strategy: &'static str,
    /// Executions that ran to their end, failing ones included.
    pub executions: u64,
    /// Pruned executions: nothing new could follow.
    pub pruned: u64,
    /// Executions that failed. Probes and the rests of pruned executions do not count, unless nothing else failed.
    pub failing: u64,
    /// Executions that estimate the size of the search. They are not part of the numbers above.
    pub probes: u64,
    /// The number of executions, with pruned ones and probes, in which something limits what they prove, by kind.
    pub caveats: CaveatCounts,
    /// Distinct states; 0 if the strategy does not search by states.
    pub states: u64,
    /// Steps of all executions.
    pub steps: u64,
    /// Steps of the longest execution.
    pub longest: u64,
    /// An estimate of the number of orders, if there is one.
    pub estimate: Option<Estimate>,
    /// True if each execution stands for equivalent ones that were not run.
    pub reduced: bool,
    /// True if the strategy covers every order, given enough time.
    pub systematic: bool,
    /// True if the strategy runs only some of the traces, however long the search goes on.
    pub selects: bool,
    /// The part that a stopped search has covered completely.
    pub covered: Option<Bound>,
    /// The guarantee of a sampler.
    pub guarantee: Option<Fact>,
    /// The duration.
    pub elapsed: Duration,
    /// Why it ended.
    pub ended: Ended,
    /// True if the program has shown that its executions have other points than this search assumed. Then the results do not hold; see
    /// [`Program::is_outdated`].
    pub outdated: bool,
    /// The first failure.
    pub found: Option<Found>,
}

impl Report {
    /// Whether every order was covered and none failed. Every program has an order, so a search without any execution or state has covered
    /// nothing.
    #[must_use]
    pub fn verified(&self) -> bool {
        self.found.is_none() && self.executions + self.states > 0 && self.ended == Ended::Done(Claim::Exhausted)
    }
}

/// Searches `program` as `strategy` decides, within `limits`, on this thread.
pub fn search<P: Program>(program: &mut P, strategy: &mut dyn Strategy, limits: &Limits) -> Report {
    let search = Search::new(strategy, limits, 1);
    let mut worker = search.worker(strategy);
    let _ = worker.work(program);
    search.close(vec![worker])
}

/// The callback that receives the progress of a search.
pub type Observer = Box<dyn Fn(&Progress) + Send + Sync>;

/// The callback that saves the rest of a running search.
pub type Saver = Box<dyn Fn(Remains) + Send + Sync>;

/// A search by one worker or several.
pub struct Search {
    board: Local,
    limits: Limits,
    needs: Needs,
    started: Instant,
    observer: Option<Observer>,
    /// When the rest of the search is first saved, and by which callback.
    saver: Option<(Duration, Saver)>,
    /// The coverage of orders of receives, if it is wanted.
    coverage: Option<Arc<Mutex<Coverage>>>,
    workers: usize,
    /// True if snapshots of the program are used.
    forks: bool,
    /// The results do not hold: the program turned out to be different.
    outdated: AtomicBool,
    /// The number of workers that have not left.
    active: AtomicUsize,
    /// Executions that the first worker runs before others join it.
    alone_for: u64,
    /// Strategies for further workers, once there is work for them.
    spare: Mutex<Spare>,
    ready: Condvar,
}

/// What further workers wait for.
enum Spare {
    NotYet,
    Ready(Vec<Box<dyn Strategy>>),
    Over,
}

/// After so many executions, further workers join. A small search is over before they would help.
const ALONE_FOR: u64 = 200;

impl Search {
    /// A new search by at most so many workers.
    #[must_use]
    pub fn new(strategy: &mut dyn Strategy, limits: &Limits, workers: usize) -> Self {
        let all = match strategy.sharing() {
            Sharing::ByNumber(_) => Piece::Numbers { from: 0, to: u64::MAX },
            Sharing::Alone | Sharing::ByPiece(_) => Piece::Whole,
        };
        Self::resume(strategy, limits, workers, Remains::of_all(all))
    }

    /// Calls `observer` with the progress of the search, at most twice a second.
    #[must_use]
    pub fn observed(self, observer: Observer) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// Calls `saver` with the rest of the search every few seconds, first after `first`. If the process ends before the search does, the
    /// search can be resumed from there. A search whose strategy works [alone](Sharing::Alone) cannot be resumed.
    #[must_use]
    pub fn saved_by(self, first: Duration, saver: Saver, strategy: &mut dyn Strategy) -> Self {
        let can_be_saved = !matches!(strategy.sharing(), Sharing::Alone);
        Self { saver: can_be_saved.then_some((first, saver)), ..self }
    }

    /// Adds the receives of each execution to `coverage`.
    #[must_use]
    pub fn covering(self, coverage: Arc<Mutex<Coverage>>) -> Self {
        Self { coverage: Some(coverage), ..self }
    }

    /// Once `stop` is true, stops after the current executions, as if the budget were spent.
    #[must_use]
    pub fn stopped_by(mut self, stop: Arc<AtomicBool>) -> Self {
        self.board.told_to_stop = stop;
        self
    }

    /// Runs every execution from its start, even if the program can be copied. For tests that compare both.
    #[doc(hidden)]
    #[must_use]
    pub fn without_forks(self) -> Self {
        Self { forks: false, ..self }
    }

    /// A search that resumes another one. `remains` must come from a search with the same strategy.
    #[must_use]
    pub fn resume(strategy: &mut dyn Strategy, limits: &Limits, workers: usize, remains: Remains) -> Self {
        let (warm_up, uncounted, alone) = match strategy.sharing() {
            Sharing::Alone => (0, None, true),
            Sharing::ByNumber(by_number) => {
                let restore = |learned| by_number.restore(learned, remains.next_number());
                let restored = remains.checkpoint.as_ref().is_none_or(restore);
                assert!(restored, "raddle bug: the rest of a search is from another strategy");
                (by_number.warm_up(), by_number.uncounted(), false)
            }
            Sharing::ByPiece(by_piece) => (0, None, !by_piece.splits()),
        };
        let workers = if alone { 1 } else { workers.max(1) };
        Self {
            board: Local::new(remains, limits, (warm_up, uncounted), workers),
            limits: limits.clone(),
            needs: strategy.needs(),
            started: Instant::now(),
            observer: None,
            saver: None,
            coverage: None,
            workers,
            forks: true,
            outdated: AtomicBool::new(false),
            active: AtomicUsize::new(workers),
            alone_for: warm_up.max(ALONE_FOR),
            spare: Mutex::new(if workers == 1 { Spare::Over } else { Spare::NotYet }),
            ready: Condvar::new(),
        }
    }

    /// The first worker.
    #[must_use]
    pub fn worker<'s>(&'s self, strategy: &'s mut dyn Strategy) -> Worker<'s> {
        let mut worker = Worker::new(self, Held::Lent(strategy), true);
        worker.repeat_first();
        worker.pace = self.observer.as_ref().map(|_| Pace::default());
        worker
    }

    /// A worker with the strategy of the caller, which is of the same kind as that of the first worker.
    #[must_use]
    pub fn worker_with(&self, strategy: Box<dyn Strategy>) -> Worker<'_> {
        Worker::new(self, Held::Owned(strategy), false)
    }

    /// One more worker. Waits until there is work for it; `None` if there never will be.
    #[must_use]
    pub fn join(&self) -> Option<Worker<'_>> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match &mut *spare {
                Spare::NotYet => spare = self.ready.wait(spare).unwrap_or_else(PoisonError::into_inner),
                Spare::Ready(strategies) => {
                    return strategies.pop().map(|strategy| self.worker_with(strategy));
                }
                Spare::Over => return None,
            }
        }
    }

    /// Lets further workers join, or tells them that they are not needed.
    fn call_others(&self, spare: Spare) {
        let mut slot = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*slot, Spare::NotYet) {
            *slot = spare;
            self.ready.notify_all();
        }
    }

    /// Two workers have met at something that outlives executions. Returns true for the one that continues alone.
    fn stays(&self) -> bool {
        let joined = matches!(*self.spare.lock().unwrap_or_else(PoisonError::into_inner), Spare::Ready(_));
        let others = |active: usize| (joined && active > 1).then(|| active - 1);
        let last = self.active.fetch_update(Relaxed, Relaxed, others).is_err();
        if last {
            // The other workers may have to end their executions first.
            std::thread::yield_now();
        }
        last
    }

    /// Reports the progress. `uncommitted` is what the calling worker has done since its latest commit.
    fn tell(&self, uncommitted: &Tally, own: Option<Estimate>, learning: Option<Learning>) {
        let Some(observer) = &self.observer else { return };
        let total = self.board.total();
        let counts = Counts {
            executions: total.executions + uncommitted.executions,
            pruned: total.pruned + uncommitted.pruned,
            failing: total.failing + uncommitted.failing,
        };
        let estimate = self.estimate(false, counts.executions, own, total.walks.estimate());
        let new = if self.is_systematic() { Progress::new } else { Progress::of_samples };
        observer(&Progress { learning, ..new(counts, estimate, self.started.elapsed()) });
    }

    /// An estimate of the number of orders after so many executions: the strategy's own, or by random walks.
    fn estimate(&self, done: bool, run: u64, own: Option<Estimate>, walks: Option<Estimate>) -> Option<Estimate> {
        match own {
            _ if self.is_systematic() && done => Some(Estimate::exactly(run)),
            Some(own) if self.is_systematic() => Some(own.given_seen(run)),
            own => own.or(walks),
        }
    }

    /// Whether the strategy runs nothing twice and knows when it is done.
    fn is_systematic(&self) -> bool {
        self.needs.goal == Goal::Cover
    }

    /// The time at which the search has to end.
    fn deadline(&self) -> Deadline {
        Deadline::new(self.limits.time.and_then(|time| self.started.checked_add(time)))
    }

    /// The result. Called when all workers have stopped.
    #[must_use]
    pub fn close(&self, all_workers: Vec<Worker<'_>>) -> Report {
        self.leave(all_workers).0
    }

    /// The result and the rest of the search. Called when all workers have stopped.
    #[must_use]
    pub fn leave(&self, all_workers: Vec<Worker<'_>>) -> (Report, Remains) {
        let mut first = all_workers.into_iter().next();
        first.iter_mut().for_each(Worker::give_up);
        let mut remains = self.board.remains();
        remains.checkpoint = first.as_mut().and_then(Worker::checkpoint);
        let guarantee = first.as_mut().and_then(|worker| worker.guarantee(remains.next_number()));
        let (own, covered) =
            first.map_or((None, None), |mut worker| (worker.estimate(), worker.covered(remains.stage())));
        let Tally { executions, pruned, failing, probes, caveats, states, steps, longest, walks, found } =
            self.board.with_cut_off(remains.total.clone());
        // Whether the executions that were not run are equivalent to some that were, as the strategy assumes.
        let whole = caveats.guessed_spin == 0
            && !(self.needs.reduces() && caveats.drew_random > 0)
            && !(self.needs.equivalence == Equivalence::Traces && caveats.reduction_unproven > 0);
        let ended = match (&found, remains.is_empty()) {
            (Some(_), _) if !self.limits.keep_going => Ended::Failed,
            (_, true) if whole => Ended::Done(remains.claim),
            (_, true) => Ended::Done(remains.claim.max(Claim::Selective)),
            (_, false) => Ended::BudgetSpent,
        };
        let report = Report {
            strategy: self.needs.name,
            executions,
            pruned,
            // The failure of a probe or of the rest of a pruned execution counts only if the search itself has found none.
            failing: failing.max(u64::from(found.is_some())),
            probes,
            caveats,
            states,
            steps,
            longest,
            estimate: self.estimate(matches!(ended, Ended::Done(_)), executions, own, walks.estimate()),
            reduced: self.needs.reduces(),
            systematic: self.is_systematic(),
            selects: self.needs.goal == Goal::Select && self.needs.reduces(),
            covered: covered.filter(|_| whole && ended == Ended::BudgetSpent),
            guarantee: guarantee.filter(|_| ended != Ended::Failed),
            elapsed: self.started.elapsed(),
            ended,
            outdated: self.outdated.load(Relaxed),
            found,
        };
        (report, remains)
    }
}

/// The outcome of an execution that takes too many steps.
pub(crate) fn too_many_steps<S: System>(system: &S, trace: &Trace, bound: u32) -> Outcome {
    Failure::TooManySteps { bound, unfinished: system.describe().unfinished(trace) }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::Counters;
    use crate::strategy::{After, Decision, Next, Run};
    use crate::system::{Choice, Point};

    /// A strategy whose prefix is from another program.
    struct Elsewhere;

    impl Strategy for Elsewhere {
        fn needs(&self) -> Needs {
            Needs::sampler("elsewhere")
        }

        fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
            prefix.extend([Choice(1), Choice(2)]);
            Next::run(0)
        }

        fn choose(&mut self, _: &Point<'_>, _: &Trace) -> Decision {
            Decision::Take(Choice(0))
        }

        fn end(&mut self, _: &Run<'_>) -> After {
            After::Next
        }
    }

    #[test]
    fn a_prefix_that_does_not_fit_is_the_programs_fault() {
        let report = search(&mut Counters::new(&[2, 2]), &mut Elsewhere, &Limits::default());
        let Some(Found { failure: Failure::Nondeterminism(divergence), .. }) = report.found else {
            panic!("{report:?}");
        };
        assert_eq!((divergence.followed, divergence.of), (1, 2));
    }
}
