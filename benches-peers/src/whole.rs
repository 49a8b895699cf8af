//! Compares searches of all orders: executions and time until all are covered, the cost of an execution of reduction, memory over time, and
//! the speed-up by a second worker.

use crate::apart::{Answer, Order};
use crate::experiment::{Comparison, Metric};
use crate::library::Missing;
use crate::measure::{Effort, Figure};
use crate::programs::Program;
use crate::real::Code;
use crate::report::readable;
use crate::searcher::{Counted, Ended, Searcher};
use std::time::Duration;

/// The searchers that are compared on full coverage.
const SEARCHERS: [Searcher; 5] = [
    Searcher::Raddle("dpor"),
    Searcher::Raddle("exhaustive"),
    Searcher::Loom,
    Searcher::ShuttleDfs,
    Searcher::Traceforge,
];

/// Their columns.
const COVERAGE: &[&str] = &["dpor", "exhaustive", "loom", "shuttle-dfs", "traceforge"];

/// The columns of larger programs, with a bound of two preemptions and without one.
const BOUNDED: &[&str] = &["preemption:2", "loom:2"];
const UNBOUNDED: &[&str] = &["dpor", "loom"];

/// More executions than any of these programs needs under reduction. A searcher that needs more is not done in time anyway.
const EXECUTIONS_AT_MOST: u64 = 5_000_000;

/// The length of a search for which only the cost of an execution is measured.
const COST_EXECUTIONS: u64 = 50_000;

/// Strategies that share a search, with the columns of their comparison.
pub const SHARED: [(&str, &[&str]); 3] = [
    ("dpor", &["dpor, 2 workers", "1 worker"]),
    ("exhaustive", &["exhaustive, 2", "1 worker"]),
    ("random", &["random, 2", "1 worker"]),
];

fn order(searcher: Searcher, program: Program, effort: &Effort) -> Order {
    Order {
        searcher,
        program,
        workers: 1,
        executions: EXECUTIONS_AT_MOST,
        time: effort.search_at_most,
        at_least: effort.search_at_least,
    }
}

fn broken(reason: String) -> Missing {
    Missing { label: "broke down".into(), reason: format!("broke down: {reason}") }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Executions, and CPU time, until every order was covered.
pub fn coverage(program: Program, effort: &Effort, show: impl FnMut(Comparison)) {
    cover(program, &SEARCHERS, COVERAGE, effort, show);
}

/// The test of a larger piece of code: full coverage with a bound of two preemptions and without one, and what an execution
/// costs on the way.
pub fn real(code: Code, effort: &Effort, mut show: impl FnMut(Comparison)) {
    let bounded = [Searcher::Raddle("preemption:2"), Searcher::LoomBounded];
    let unbounded = [Searcher::Raddle("dpor"), Searcher::Loom];
    let program = Program::Real(code);
    for (searchers, columns) in [(bounded, BOUNDED), (unbounded, UNBOUNDED)] {
        let answers = cover(program, &searchers, columns, effort, &mut show);
        let cost = |answer: Answer| answer.cpu.as_secs_f64() * 1e9 / answer.counted.executions as f64;
        let figures = answers.into_iter().map(|answer| answer.map(cost)).collect();
        show(Comparison { program: program.to_string(), metric: Metric::NsPerExecution, columns, figures });
    }
}

/// Runs each searcher on the program, and shows the results.
fn cover(
    program: Program,
    searchers: &[Searcher],
    columns: &'static [&'static str],
    effort: &Effort,
    mut show: impl FnMut(Comparison),
) -> Vec<Result<Answer, Missing>> {
    let search = |&searcher: &Searcher| match searcher.obstacle(program) {
        Some(missing) => Err(missing),
        None => order(searcher, program, effort).carry_out().map_err(broken),
    };
    let answers: Vec<Result<Answer, Missing>> = searchers.iter().map(search).collect();
    let mut give = |metric, figure: &dyn Fn(&Answer) -> f64| {
        let figures = answers.iter().zip(searchers);
        let figures = figures.map(|(answer, &searcher)| {
            let answer = answer.as_ref().map_err(Missing::clone)?;
            if_whole(answer, searcher, metric, figure(answer), effort)
        });
        show(Comparison { program: program.to_string(), metric, columns, figures: figures.collect() });
    };
    give(Metric::ExecutionsToCover, &|answer| answer.counted.executions as f64);
    give(Metric::MsToCover, &|answer| milliseconds(answer.cpu));
    answers
}

/// The figure of a complete search, or how far it came.
fn if_whole(answer: &Answer, searcher: Searcher, metric: Metric, figure: f64, effort: &Effort) -> Figure {
    match answer.counted.ended {
        Ended::Whole => Ok(figure),
        Ended::Limit => Err(Missing {
            label: format!(">{}", readable(metric, figure)).into(),
            reason: format!(
                "did not finish: {searcher} was cut off after {} s of CPU time",
                effort.search_at_most.as_secs_f64()
            ),
        }),
        Ended::Failure => Err(Missing {
            label: format!("fails@{}", answer.counted.executions).into(),
            reason: format!("fails@N: {searcher} ends at the program's first failure"),
        }),
    }
}

/// CPU time of one execution under reduction and without.
pub fn cost(program: Program, effort: &Effort) -> Comparison {
    let columns: &[&str] = &["dpor", "exhaustive"];
    let mut lowest: [Figure; 2] = [Ok(f64::INFINITY), Ok(f64::INFINITY)];
    for _ in 0..effort.rounds {
        for (searcher, lowest) in [Searcher::Bare("dpor"), Searcher::Bare("exhaustive")].into_iter().zip(&mut lowest) {
            let Ok(before) = *lowest else { continue };
            let order = Order { executions: COST_EXECUTIONS, ..order(searcher, program, effort) };
            *lowest = match searcher.obstacle(program) {
                Some(missing) => Err(missing),
                None => order.carry_out().map_err(broken).map(|answer| {
                    // Pruned executions are part of the cost.
                    before.min(answer.cpu.as_secs_f64() * 1e9 / answer.counted.executions as f64)
                }),
            };
        }
    }
    Comparison { program: program.to_string(), metric: Metric::NsPerExecution, columns, figures: lowest.into() }
}

/// Resident memory along a search: how much it has grown since the 64th execution.
pub fn memory(program: Program, effort: &Effort, mut show: impl FnMut(Comparison)) {
    let columns: &[&str] = &["dpor, begun", "growth, KiB"];
    let order = Order { at_least: Duration::ZERO, ..order(Searcher::Bare("dpor"), program, effort) };
    let looks = match order.searcher.obstacle(program) {
        Some(missing) => Err(missing),
        None => order.carry_out().map_err(broken).map(|answer| answer.memory),
    };
    let mut give = |figures: [Figure; 2]| {
        let metric = Metric::GrowthKib;
        show(Comparison { program: program.to_string(), metric, columns, figures: figures.into() });
    };
    match looks {
        Ok(looks) => {
            let first = looks.first().map_or(0, |&(_, kib)| kib);
            looks.iter().for_each(|&(begun, kib)| give([Ok(begun as f64), Ok(kib as f64 - first as f64)]));
        }
        Err(missing) => give([Err(missing.clone()), Err(missing)]),
    }
}

/// The lowest times of both, and the worse counts: the fewest executions, because a search that loses orders must not look like one that
/// does not, and the most begun.
fn better(one: Answer, other: Answer) -> Answer {
    let executions = one.counted.executions.min(other.counted.executions);
    Answer {
        counted: Counted { executions, ..one.counted },
        begun: one.begun.max(other.begun),
        cpu: one.cpu.min(other.cpu),
        wall: one.wall.min(other.wall),
        busiest: one.busiest.min(other.busiest),
        memory: one.memory,
    }
}

/// The same search by one worker and by two: time of day, executions, and pruned executions.
pub fn scaling(
    (strategy, columns): (&'static str, &'static [&'static str]),
    program: Program,
    effort: &Effort,
    mut show: impl FnMut(Comparison),
) {
    let searcher = Searcher::Bare(strategy);
    let mut best: [Result<Option<Answer>, Missing>; 2] = [Ok(None), Ok(None)];
    for _ in 0..effort.rounds {
        for (workers, best) in [2, 1].into_iter().zip(&mut best) {
            let Ok(before) = best else { continue };
            let order = Order {
                workers,
                executions: if strategy == "random" { effort.sampled } else { EXECUTIONS_AT_MOST },
                time: 6 * effort.search_at_most,
                at_least: Duration::ZERO,
                ..order(searcher, program, effort)
            };
            let answer = match searcher.obstacle(program) {
                Some(missing) => Err(missing),
                None => order.carry_out().map_err(broken),
            };
            *best = answer.map(|answer| match before.take() {
                Some(before) => Some(better(before, answer)),
                None => Some(answer),
            });
        }
    }
    let figures = |figure: &dyn Fn(&Answer) -> f64| -> Vec<Figure> {
        let of = |best: &Result<Option<Answer>, Missing>| {
            best.clone().map(|best| figure(&best.expect("there is at least one round")))
        };
        best.iter().map(of).collect()
    };
    let mut give = |metric, figures| show(Comparison { program: program.to_string(), metric, columns, figures });
    give(Metric::WallMs, figures(&|answer| milliseconds(answer.wall)));
    give(Metric::CpuMs, figures(&|answer| milliseconds(answer.cpu)));
    give(Metric::BusiestMs, figures(&|answer| milliseconds(answer.busiest)));
    give(Metric::Executions, figures(&|answer| answer.counted.executions as f64));
    give(Metric::GivenUp, figures(&|answer| answer.begun.saturating_sub(answer.counted.executions) as f64));
}
