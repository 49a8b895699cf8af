//! Every kind of failure, as it is found and as it is told.

use raddle::{Explorer, Failure, Report, thread};

use crate::programs;

fn explore(program: fn()) -> Report {
    Explorer::new().seed(1).run(program)
}

#[test]
fn panic() {
    let report = explore(programs::lost_update);
    assert!(matches!(report.failure(), Some(Failure::Panic { .. })), "{report}");
}

#[test]
fn panic_in_a_destructor() {
    let report = explore(programs::panics_in_a_destructor);
    assert!(matches!(report.failure(), Some(Failure::Panic { .. })), "{report}");
    assert!(report.to_string().contains("and then the destructor"), "{report}");
}

#[test]
fn deadlock_with_oneself() {
    insta::assert_snapshot!(explore(programs::same_lock_twice));
}

#[test]
fn deadlock_with_a_forgotten_guard() {
    insta::assert_snapshot!(explore(programs::forgets_a_guard));
}

#[test]
fn livelock() {
    let report = explore(programs::spins_for_ever);
    let text = report.to_string();
    assert!(matches!(report.failure(), Some(Failure::Livelock { .. })), "{text}");
    assert!(text.contains("thread 1 spins: load ready at programs.rs:"), "{text}");
    assert!(text.contains("main waits for thread 1 at programs.rs:"), "{text}");
    // How often it went round is told in one row.
    assert!(text.lines().count() < 15, "{text}");
}

#[test]
fn too_many_steps() {
    let report = Explorer::new().strategy("round-robin").steps(200).run(programs::never_ends);
    insta::assert_snapshot!(report);
}

#[test]
fn stack_overflow() {
    let report = Explorer::new().stack_size(64 << 10).run(programs::overflows_its_stack);
    insta::assert_snapshot!(report);
}

/// The task stays inside the panic hook, whose lock the harness wants to have at the end.
#[test]
fn abort() {
    insta::assert_snapshot!(explore(programs::panics_while_panicking));
}

#[test]
fn the_search_continues_after_a_worker_became_unusable() {
    let report =
        Explorer::new().strategy("random").executions(20).keep_going(true).run(programs::panics_while_panicking);
    assert_eq!((report.executions(), report.failing()), (20, 20), "{report}");
    assert!(report.verdict_line().starts_with("FAILED in 20 of 20 orders, first in number 1: abort in thread 1"));
}

#[test]
fn data_race() {
    insta::assert_snapshot!(explore(programs::races));
}

#[test]
fn leak() {
    let report =
        Explorer::new().strategy("random").name("suite::statics::leak").regressions(false).run(programs::leaks);
    insta::assert_snapshot!(report);
}

#[test]
fn nondeterminism() {
    let report = Explorer::new().strategy("exhaustive").run(programs::tosses_a_coin);
    let text = report.to_string();
    assert!(matches!(report.failure(), Some(Failure::Nondeterminism(_))), "{text}");
    assert!(text.contains("did something else although every decision was the same, at step"), "{text}");
    assert!(!text.contains("replay:"), "{text}");
}

#[test]
fn a_failure_that_does_not_show_again() {
    let text = Explorer::new().strategy("random").run(programs::fails_only_the_fortieth_time).to_string();
    assert!(text.contains("note: this failure did not show again"), "{text}");
    assert!(text.contains("the fortieth time"), "{text}");
}

#[test]
fn a_thousand_threads() {
    let many = || {
        let threads: Vec<_> = (0..1_000).map(|i| thread::spawn(move || assert_ne!(i, 700))).collect();
        for thread in threads {
            thread.join().unwrap();
        }
    };
    let report = Explorer::new().executions(3).run(many);
    assert!(report.verdict_line().ends_with("panic in thread 701"), "{report}");
    assert!(report.to_string().lines().count() < 30, "{report}");
}

#[test]
fn no_failure() {
    assert!(explore(programs::counts_under_a_lock).verified());
    let sampled = Explorer::new().strategy("random").executions(50).seed(3).run(programs::counts_under_a_lock);
    assert_eq!(
        sampled.verdict_line(),
        "no failure in 50 executions of a program with ≈ 2 orders (a sample: random, seed 3)"
    );
}
