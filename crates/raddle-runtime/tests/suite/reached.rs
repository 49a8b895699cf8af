//! What searches of one program reach: reductions and other strategies, compared with the search of all orders.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex as StdMutex};

use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::search::{Ended, Limits, Report, search};
use raddle_engine::strategy::{Claim, Run, Strategy};
use raddle_runtime::threads::{Settings, Threads};
use raddle_strategies::optimal::Optimal;
use raddle_strategies::states::delay::{Delay, DelayingExplorer, RoundRobin, RunToCompletion};
use raddle_strategies::tree::exhaustive::Exhaustive;
use raddle_strategies::tree::preemption::Preemption;
use raddle_strategies::watched::Watched;

use crate::shared_reduction;

/// The failure of an execution: its kind, and the tasks that are part of it.
fn failure(run: &Run<'_>) -> Option<String> {
    let Some(Outcome::Failed(failure)) = run.outcome else { return None };
    let who = match &**failure {
        Failure::Panic { task, message, .. } => format!("{task:?} {message}"),
        Failure::Deadlock { waiting } => {
            format!("{:?}", waiting.iter().map(|w| (w.task, w.op.verb)).collect::<Vec<_>>())
        }
        _ => String::new(),
    };
    Some(format!("{} {who}", failure.kind()))
}

pub(crate) type Results = BTreeSet<Vec<usize>>;
pub(crate) type Body = Arc<dyn Fn() -> Vec<usize> + Send + Sync>;

/// What a search reached.
pub(crate) struct Reached {
    pub(crate) report: Report,
    pub(crate) results: Results,
    pub(crate) failures: BTreeSet<String>,
}

pub(crate) fn reach(strategy: impl Strategy + 'static, body: &Body, most: u64) -> Reached {
    let results = Arc::new(StdMutex::new(Results::new()));
    let (into, body) = (results.clone(), body.clone());
    let program = move || {
        let result = body();
        into.lock().unwrap().insert(result);
    };
    let limits = Limits { executions: Some(most), steps: 2_000, keep_going: true, ..Limits::default() };
    let mut failures = BTreeSet::new();
    let mut watched =
        Watched::new(Box::new(strategy), |_: &mut dyn Strategy, run: &Run<'_>| failures.extend(failure(run)));
    let report = search(&mut Threads::new(Arc::new(program), &Settings::default()), &mut watched, &limits);
    drop(watched);
    let results = results.lock().unwrap().clone();
    Reached { report, results, failures }
}

/// Compares reductions with the search of all orders. Returns whether there were few enough orders to compare, and what is wrong, if
/// anything.
pub(crate) fn fault(body: &Body, most: u64) -> (bool, Option<String>) {
    fault_or_loss(body, most, true)
}

/// The same, but several workers may run a different number of executions, as long as they reach the same.
pub(crate) fn loss(body: &Body, most: u64) -> (bool, Option<String>) {
    fault_or_loss(body, most, false)
}

pub(crate) fn fault_or_loss(body: &Body, most: u64, exact: bool) -> (bool, Option<String>) {
    let all = reach(Exhaustive::depth_first(), body, most);
    if all.report.ended == Ended::BudgetSpent {
        return (false, None);
    }
    for make in crate::traces::ALGORITHMS {
        let reduced = reach(make(), body, 2 * most);
        let name = reduced.report.strategy;
        let counts = |report: &Report| (report.executions, report.pruned);
        let (few, many) = (counts(&reduced.report), counts(&all.report));
        // Where its rules lose traces, an earlier reduction claims no proof.
        if reduced.report.ended == Ended::Done(Claim::Selective) && name != "dpor" {
            continue;
        }
        if reduced.results != all.results || reduced.failures != all.failures {
            let lost: Vec<_> = all.results.difference(&reduced.results).take(3).collect();
            let lost_failures: Vec<_> = all.failures.symmetric_difference(&reduced.failures).take(3).collect();
            return (true, Some(format!("{name}: {few:?} of {many:?}: without {lost:?}, {lost_failures:?}")));
        }
        // A failing execution hides what other tasks do after the failure, so some failing traces may be run again.
        let again = if all.report.failing > 0 { 1 + many.0 / 10 } else { 0 };
        if few.0 > many.0 + again {
            return (true, Some(format!("{name}: {few:?} executions where there are {many:?}")));
        }
        let claims = reduced.report.caveats.reduction_unproven == 0;
        if claims && reduced.report.verified() != all.report.verified() {
            return (true, Some(format!("{name}: {:?}, all orders: {:?}", reduced.report.ended, all.report.ended)));
        }
    }
    let fault = fault_by_several(body, &all, exact)
        .or_else(|| fault_by_preemptions(body, &all))
        .or_else(|| fault_by_delays(RoundRobin::default(), body, &all))
        .or_else(|| fault_by_delays(RunToCompletion::default(), body, &all));
    (true, fault)
}

/// Several workers must reach what one alone reaches.
pub(crate) fn fault_by_several(body: &Body, all: &Reached, exact: bool) -> Option<String> {
    let alone = reach(Optimal::new(), body, 2 * all.report.executions).report;
    for seed in 0..3 {
        let body = body.clone();
        let (mut program, results) = shared_reduction::program(Arc::new(move || body()));
        let report = shared_reduction::play(seed, 3, &mut program, || Box::new(Optimal::new()));
        let results: Results = results.lock().unwrap().keys().cloned().collect();
        let counts = (alone.executions, report.executions, report.pruned);
        if results != all.results {
            let lost: Vec<_> = all.results.difference(&results).take(3).collect();
            return Some(format!("several workers, seed {seed}: {counts:?}: without {lost:?}"));
        }
        let same = (report.executions, report.failing) == (alone.executions, alone.failing);
        if exact && !same && alone.caveats.reduction_unproven == 0 {
            return Some(format!("several workers, seed {seed}: {counts:?}, one alone {alone:?}"));
        }
    }
    None
}

/// Few delays first: no state is entered twice, and nothing is lost.
pub(crate) fn fault_by_delays<E>(explorer: E, body: &Body, all: &Reached) -> Option<String>
where
    E: DelayingExplorer + Clone + Send + 'static,
{
    let reached = reach(Delay::new(explorer), body, 20 * all.report.executions);
    let counts = (reached.report.executions, reached.report.pruned, all.report.executions);
    if reached.results != all.results || reached.failures != all.failures {
        return Some(format!("delay: {counts:?}: not the same ends"));
    }
    let same = reached.report.ended == all.report.ended && reached.report.executions <= all.report.executions;
    (!same).then(|| format!("delay: {counts:?}: {:?}, all orders: {:?}", reached.report.ended, all.report.ended))
}

/// Few preemptions first: without its cache each order once, with it at most as many executions.
pub(crate) fn fault_by_preemptions(body: &Body, all: &Reached) -> Option<String> {
    let most = 2 * all.report.executions;
    let plain = reach(Preemption::unbounded().without_cache(), body, most);
    let cached = reach(Preemption::unbounded(), body, most);
    for reached in [&plain, &cached] {
        if reached.results != all.results || reached.failures != all.failures {
            let cache = reached.report.reduced;
            let counts = (reached.report.executions, reached.report.pruned, all.report.executions);
            return Some(format!("preemption, with its cache: {cache}: {counts:?}: not the same ends"));
        }
    }
    let same = plain.report.executions == all.report.executions && plain.report.ended == all.report.ended;
    let fewer = cached.report.executions <= all.report.executions && cached.report.ended == all.report.ended;
    (!same || !fewer).then(|| format!("preemption: {:?} and {:?}, all: {:?}", plain.report, cached.report, all.report))
}

#[track_caller]
pub(crate) fn reaches_the_same(body: &Body) {
    let (compared, fault) = fault(body, 200_000);
    assert!(compared, "too many orders");
    assert_eq!(fault, None);
}

/// Checks that reductions reach the same and prune nothing. Returns the number of executions with reduction and without.
#[track_caller]
pub(crate) fn same(body: impl Fn() -> Vec<usize> + Send + Sync + 'static) -> (u64, u64) {
    let body: Body = Arc::new(body);
    reaches_the_same(&body);
    let reduced = reach(Optimal::new(), &body, 200_000).report;
    assert_eq!(reduced.pruned, 0, "executions were pruned, beside {}", reduced.executions);
    (reduced.executions, reach(Exhaustive::depth_first(), &body, 200_000).report.executions)
}

/// The same, if some executions may be pruned: whether a schedule is redundant is only known when a step is taken, because its access, or
/// the end of a wait, depends on the steps before.
#[track_caller]
pub(crate) fn same_but_for_pruned(body: impl Fn() -> Vec<usize> + Send + Sync + 'static) {
    reaches_the_same(&(Arc::new(body) as Body));
}

/// The number of traces, without pruned executions, for programs with too many orders to compare.
#[track_caller]
pub(crate) fn traces(body: &Body) -> u64 {
    let reduced = reach(Optimal::new(), body, 200_000).report;
    assert_eq!(reduced.pruned, 0, "executions were pruned, beside {}", reduced.executions);
    reduced.executions
}
