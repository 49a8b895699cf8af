//! The programs of Eta against the numbers of its table.

use programs::eta::{Counted, Eta, TABLE, scheduler as cluster};
use raddle::actor::{Delivery, System};
use raddle_engine::search::{Limits, Report, search};
use raddle_engine::strategy::Strategy;
use raddle_strategies::optimal::Optimal;
use raddle_strategies::reduction::Dpor;
use raddle_strategies::tree::exhaustive::Exhaustive;

/// So many executions take a minute or more in a debug build.
const MANY: u64 = 300_000;

fn run(program: Eta, strategy: &mut dyn Strategy) -> Report {
    search(&mut program.model(), strategy, &Limits { keep_going: true, ..Limits::default() })
}

fn counts_all(rows: impl Iterator<Item = Counted>) {
    for Counted { program, executions, .. } in rows {
        let report = run(program, &mut Exhaustive::depth_first());
        assert!(report.verified(), "{program:?}: {report:?}");
        assert_eq!(report.executions, executions, "{program:?}");
    }
}

#[test]
fn exhaustive_search_counts_every_execution() {
    counts_all(TABLE.into_iter().filter(|row| row.executions < MANY));
}

#[test]
#[ignore = "three million executions: for release builds"]
fn exhaustive_search_counts_every_execution_of_three_philosophers() {
    counts_all(TABLE.into_iter().filter(|row| row.executions >= MANY));
}

#[test]
fn reduction_runs_one_execution_for_each_trace() {
    for Counted { program, traces, .. } in TABLE {
        let report = run(program, &mut Optimal::new());
        assert_eq!((report.executions, report.pruned), (traces, 0), "{program:?}");
        assert!(report.verified(), "{program:?}");
        let source = run(program, &mut Dpor::source());
        assert_eq!(source.executions, traces, "{program:?}: source sets");
        let classic = run(program, &mut Dpor::classic());
        assert!(classic.executions >= traces, "{program:?}: persistent sets");
    }
}

/// The same program as a system of actors, each a task of an execution.
fn run_actors(program: Eta, strategy: &'static str) -> raddle::Report {
    let explorer = raddle::Explorer::new().strategy(strategy).regressions(false);
    explorer.time(std::time::Duration::from_secs(600)).run(move || {
        let mut system = System::new().delivery(Delivery::Arrival);
        program.set_up(&mut system);
        system.run_until_quiet();
    })
}

#[test]
fn actors_under_control_have_the_same_executions_as_models() {
    for Counted { program, executions, .. } in TABLE.into_iter().filter(|row| row.executions < 20_000) {
        let report = run_actors(program, "exhaustive");
        assert!(report.verified(), "{program:?}: {}", report.verdict_line());
        assert_eq!(report.executions(), executions, "{program:?}");
    }
}

#[test]
fn actors_under_control_have_the_same_traces_as_models() {
    for Counted { program, traces, .. } in TABLE {
        let report = run_actors(program, "dpor");
        assert!(report.verified(), "{program:?}: {}", report.verdict_line());
        assert_eq!(report.executions(), traces, "{program:?}");
    }
}

#[test]
fn the_same_actors_run_free() {
    for Counted { program, .. } in TABLE {
        let mut system = System::new();
        program.set_up(&mut system);
        system.run_until_quiet();
        assert_eq!(system.dead_letters(), 0, "{program:?}");
    }
}

fn scheduler(hasty: bool, delivery: Delivery) -> raddle::Report {
    raddle::Explorer::new().strategy("random").seed(3).executions(2_000).regressions(false).run(move || {
        let mut system = System::new().delivery(delivery).monitor(cluster::NoOverload);
        let address = cluster::set_up(&mut system, 2, 3, 4, hasty);
        system.run_until_quiet();
        let done = system.with(&address, |scheduler: &cluster::Scheduler| scheduler.done);
        assert_eq!(done, 12, "every job is run to its end, once");
    })
}

#[test]
fn a_hasty_scheduler_is_saved_by_the_order_of_messages_only() {
    for (hasty, delivery) in [(false, Delivery::PerSender), (false, Delivery::Unordered), (true, Delivery::PerSender)] {
        let report = scheduler(hasty, delivery);
        assert!(!report.failed(), "hasty: {hasty}, {delivery:?}: {report}");
    }
    let report = scheduler(true, Delivery::Unordered);
    assert_eq!(report.failure().map(raddle::Failure::kind), Some("violated monitor"), "{report}");
}
