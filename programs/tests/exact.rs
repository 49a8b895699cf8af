//! What is known of the small programs exactly, held against the search.

use programs::sctbench::{EXACT, Exact, bugs};
use raddle::{Explorer, Report};

fn program(exact: &Exact) -> fn() {
    bugs().find(|program| program.label == exact.label).expect("EXACT is about programs of the suite").run
}

/// A thread that fails does not end the others: what is known counts whole executions.
fn explore(exact: &Exact, strategy: &str) -> Report {
    let explorer = Explorer::new().strategy(strategy).isolate_panics(true).keep_going(true);
    explorer.regressions(false).run(program(exact))
}

/// A fixed seed makes this a test and not a lottery; five standard deviations make it indifferent to which seed.
#[test]
fn a_random_walk_finds_each_bug_with_its_exact_chance() {
    for exact in &EXACT {
        let walks = 60_000;
        let explorer =
            Explorer::new().strategy("random").seed(11).executions(walks).keep_going(true).regressions(false);
        let report = explorer.run(program(exact));
        let mean = exact.chance * walks as f64;
        let deviation = (mean * (1.0 - exact.chance)).sqrt();
        // Some of the chances are given to three digits only.
        let rounding = walks as f64 * 0.000_05;
        let hits = report.failing() as f64;
        assert!(
            (hits - mean).abs() < 5.0 * deviation + rounding,
            "{}: {hits} of {walks}, expected {mean}",
            exact.label
        );
    }
}

#[test]
fn exhaustive_search_finds_each_bug() {
    for exact in &EXACT {
        let report = explore(exact, "exhaustive");
        assert!(report.failed(), "{}: {}", exact.label, report.verdict_line());
    }
}

#[test]
fn optimal_reduction_runs_each_trace_once() {
    for exact in &EXACT {
        let report = explore(exact, "dpor");
        let counts = (report.executions(), report.failing());
        assert_eq!(counts, (exact.traces, exact.buggy), "{}: {}", exact.label, report.verdict_line());
    }
}

#[track_caller]
fn needs(exact: &Exact, bounded: &str, fewest: u32) {
    let found = |bound| explore(exact, &format!("{bounded}:{bound}")).failed();
    assert!(found(fewest), "{}: not with {bounded}:{fewest}", exact.label);
    assert!(fewest == 0 || !found(fewest - 1), "{}: already below {bounded}:{fewest}", exact.label);
}

#[test]
fn bounded_searches_find_each_bug_at_its_bound_and_not_below() {
    for exact in &EXACT {
        needs(exact, "preemption", exact.preemptions);
        needs(exact, "delay", exact.delays);
    }
}
