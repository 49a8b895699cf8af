//! The programs of the paper on coverage of receives: what is right with them, and how each of their bugs is found.

use programs::bita::{Program, barber, bugs, correct, fyrie, gatling, geotrellis, messenger, registry, signal_collect};
use raddle::coverage::Criterion;
use raddle::{Explorer, Report};

/// How a bug is found: by a strategy, with a seed, within so many executions.
struct Found {
    label: &'static str,
    strategy: &'static str,
    seed: u64,
    most: u64,
}

const fn found(label: &'static str, strategy: &'static str, seed: u64, most: u64) -> Found {
    Found { label, strategy, seed, most }
}

/// One line for each bug.
static FOUND: [Found; 12] = [
    found("Gatling 1", "random", 1, 100),
    // Fewer than one in a thousand walks let a user through the whole scenario before the run is opened.
    found("Gatling 2", "pct", 1, 200),
    found("Gatling 3", "random", 1, 200),
    found("Gatling 4", "random", 1, 100),
    found("Fyrie 1", "random", 1, 100),
    found("Fyrie 2", "random", 1, 100),
    found("Signal/Collect 1", "pct", 1, 200),
    found("Signal/Collect 2", "random", 1, 100),
    found("Signal/Collect 3", "random", 1, 100),
    found("Barber 1", "random", 1, 300),
    found("Messenger 1", "random", 1, 100),
    found("Registry 1", "random", 1, 500),
];

fn explorer(strategy: &'static str) -> Explorer {
    Explorer::new().regressions(false).strategy(strategy)
}

fn kind(report: &Report) -> Option<&'static str> {
    report.failure().map(raddle::Failure::kind)
}

#[test]
fn every_bug_is_found_and_is_what_it_should_be() {
    assert_eq!(bugs().count(), FOUND.len(), "a line for each bug");
    for Program { label, failure, run, .. } in bugs() {
        let found = FOUND.iter().find(|line| line.label == label).unwrap_or_else(|| panic!("{label}"));
        let report = explorer(found.strategy).seed(found.seed).executions(found.most).run(run);
        assert_eq!(kind(&report), failure, "{label}: {report}");
    }
}

#[test]
fn no_bug_shows_in_a_deterministic_run() {
    for Program { label, run, .. } in bugs().chain(correct()) {
        let report = explorer("round-robin").run(run);
        assert_eq!(kind(&report), None, "{label}: {report}");
    }
}

fn pass(executions: u64) {
    for Program { label, run, .. } in correct() {
        for strategy in ["random", "pct"] {
            let report = explorer(strategy).seed(1).executions(executions).run(run);
            assert_eq!(kind(&report), None, "{label}: {report}");
            assert_eq!(report.executions(), executions, "{label}");
        }
    }
}

#[test]
fn correct_programs_pass() {
    pass(500);
}

#[test]
#[ignore = "forty thousand executions of each: for release builds"]
fn correct_programs_pass_for_long() {
    pass(20_000);
}

/// What each bug needs is said as in the paper's table: pairs of receives find ten of them.
#[test]
fn the_table_is_that_of_the_paper() {
    let by =
        |criterion| bugs().filter(move |bug| bug.needs == Some(criterion)).map(|bug| bug.label).collect::<Vec<_>>();
    assert_eq!(by(Criterion::Pairs).len(), 10);
    assert_eq!(by(Criterion::BehaviourChanges), ["Barber 1"]);
    assert_eq!(by(Criterion::Consecutive), ["Registry 1"]);
}

/// A program, its traces, and its orders if they are few enough to be run.
type Small = (fn(), u64, Option<u64>);

/// Small configurations: every trace, and every order. The numbers themselves say nothing, but a change of them does.
#[test]
fn small_configurations_pass_in_every_order() {
    let programs: [Small; 7] = [
        (|| gatling::run(gatling::Config::SMALL), 12, Some(243)),
        (|| fyrie::run(fyrie::Config::SMALL), 300, None),
        (|| _ = signal_collect::run(signal_collect::Config::SMALL), 1_344, None),
        (|| barber::run(barber::Config::SMALL), 12, Some(1_143)),
        (|| messenger::run(messenger::Config::SMALL), 60, None),
        (|| registry::run(registry::Config::SMALL), 24, None),
        (|| _ = geotrellis::run(geotrellis::Config::SMALL), 372, None),
    ];
    for (number, (run, traces, orders)) in programs.into_iter().enumerate() {
        let report = explorer("dpor").executions(10_000).run(run);
        assert!(report.verified(), "{number}: {report}");
        assert_eq!(report.executions(), traces, "{number}");
        if let Some(orders) = orders {
            let report = explorer("exhaustive").executions(10_000).run(run);
            assert!(report.verified(), "{number}: {report}");
            assert_eq!(report.executions(), orders, "{number}");
        }
    }
}

/// What passes in small configurations has been looked at: bugs show there.
#[test]
fn reduction_finds_bugs_of_small_configurations() {
    #[track_caller]
    fn shows(kind_of: &str, run: impl Fn() + Send + Sync + 'static) {
        let report = explorer("dpor").executions(1_000).run(run);
        assert_eq!(kind(&report), Some(kind_of), "{report}");
    }
    let gatling = gatling::Config::SMALL;
    shows("panic", move || gatling::run(gatling.with(gatling::Bug::FlushBeforeWrite)));
    shows("panic", move || gatling::run(gatling.with(gatling::Bug::EndBeforeOpen)));
    shows("unhandled message", move || gatling::run(gatling.with(gatling::Bug::WriteBeforeOpen)));
    let two_writers = gatling::Config { writers: 2, ..gatling };
    shows("panic", move || gatling::run(two_writers.with(gatling::Bug::OneFlushSuffices)));
    shows("panic", || fyrie::run(fyrie::Config::SMALL.with(fyrie::Bug::ReplyBeforeWaiter)));
    shows("panic", || fyrie::run(fyrie::Config::SMALL.with(fyrie::Bug::WaitersInOtherOrder)));
    let graph = signal_collect::Config::SMALL;
    shows("panic", move || _ = signal_collect::run(graph.with(signal_collect::Bug::SumTooEarly)));
    shows("panic", move || _ = signal_collect::run(graph.with(signal_collect::Bug::BeginBeforeEdge)));
    shows("unhandled message", || barber::run(barber::Config::SMALL.sleepy()));
    shows("dead letter", || messenger::run(messenger::Config::SMALL.hasty()));
    shows("panic", || registry::run(registry::Config::SMALL.forgetful()));
}

/// The sum of all distances, by going over all edges until nothing changes.
fn distances(config: signal_collect::Config) -> u32 {
    let mut known = vec![u32::MAX; config.vertices as usize];
    known[0] = 0;
    for _ in 0..config.vertices {
        for edge in config.edges() {
            let way = known[edge.from.0 as usize].saturating_add(edge.length);
            let to = &mut known[edge.to.0 as usize];
            *to = way.min(*to);
        }
    }
    known.iter().sum()
}

#[test]
fn graphs_and_maps_come_out_right_in_any_order() {
    let report = explorer("random").seed(2).executions(200).run(|| {
        let config = signal_collect::Config::USUAL;
        assert_eq!(signal_collect::run(config), distances(config));
    });
    assert!(!report.failed(), "{report}");
    let report = explorer("random").seed(2).executions(50).run(|| {
        let config = geotrellis::Config::USUAL;
        let tiles = u64::from(config.rows * config.tiles);
        let [rows, columns] = [config.rows, config.tiles].map(|n| u64::from(n * (n - 1) / 2));
        let rest = rows * 100 * u64::from(config.tiles) + columns * u64::from(config.rows);
        let sums: Vec<_> = (0..u64::from(config.maps)).map(|map| map * 10_000 * tiles + rest).collect();
        assert_eq!(geotrellis::run(config), sums);
    });
    assert!(!report.failed(), "{report}");
}

#[test]
fn maps_can_be_large() {
    let report = explorer("round-robin").steps(200_000).run(|| _ = geotrellis::run(geotrellis::Config::LARGE));
    assert!(!report.failed(), "{report}");
    assert!(report.steps() > 20_000, "{}", report.steps());
}

/// On threads of their own.
#[test]
fn the_same_actors_run_free() {
    for _ in 0..5 {
        correct().for_each(|program| (program.run)());
    }
}
