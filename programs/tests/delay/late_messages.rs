//! The programs in which messages overtake each other, in small configurations: every state, and every trace.

use programs::delay::{chain, multi_paxos, paxos};
use raddle::actor::Delivery;
use raddle::model::Model;
use raddle_engine::search::{Limits, search};
use raddle_strategies::optimal::Optimal;
use raddle_strategies::samplers::random::Random;

use crate::walk::states;

/// The numbers themselves say nothing, but a change of them does.
#[track_caller]
fn passes(model: impl Fn() -> Model, known_states: usize, known_traces: Option<u64>) {
    match states(&mut model(), 2 * known_states) {
        Some(Ok(count)) => assert_eq!(count, known_states),
        other => panic!("{other:?}"),
    }
    if let Some(traces) = known_traces {
        let report = search(&mut model(), &mut Optimal::new(), &Limits::default());
        assert!(report.verified(), "{report:?}");
        assert_eq!(report.executions, traces);
    }
}

#[test]
fn paxos_with_two_acceptors() {
    let config = paxos::Config::SMALL;
    passes(|| paxos::model(config), 1_936, Some(544));
    passes(|| paxos::model(paxos::Config { cuts: 1, ..config }), 17_424, None);
}

#[test]
#[ignore = "half a million states: for release builds"]
fn paxos_with_three_acceptors() {
    passes(|| paxos::model(paxos::Config { acceptors: 3, ..paxos::Config::SMALL }), 561_243, None);
    passes(|| paxos::model(paxos::Config { attempts: 2, ..paxos::Config::SMALL }), 49_418, None);
}

#[test]
fn chains_with_one_failure() {
    let config = chain::Config::SMALL;
    passes(|| chain::model(config), 523, Some(354));
    passes(|| chain::model(chain::Config { operations: 2, ..config }), 799, Some(724));
    passes(|| chain::model(chain::Config { nodes: 3, ..config }), 2_654, None);
}

#[test]
#[ignore = "hundreds of thousands of states: for release builds"]
fn chains_with_two_failures() {
    passes(|| chain::model(chain::Config { nodes: 3, ..chain::Config::SMALL }), 2_654, Some(10_298));
    passes(|| chain::model(chain::Config { nodes: 3, failures: 2, ..chain::Config::SMALL }), 43_485, None);
    passes(|| chain::model(chain::Config { nodes: 4, failures: 2, ..chain::Config::SMALL }), 340_122, None);
}

#[test]
fn multi_paxos_with_one_change_of_leaders() {
    let config = multi_paxos::Config::SMALL;
    passes(|| multi_paxos::model(config), 4_412, None);
    passes(|| multi_paxos::model(multi_paxos::Config { takeovers: 0, ..config }), 68, Some(16));
}

#[test]
#[ignore = "hundreds of thousands of states: for release builds"]
fn multi_paxos_with_three_acceptors() {
    let config = multi_paxos::Config::SMALL;
    passes(
        || multi_paxos::model(multi_paxos::Config { leaders: 1, acceptors: 3, clients: 2, ..config }),
        191_038,
        None,
    );
}

/// Some bugs show in small configurations too, so what passes there has been looked at.
#[test]
fn bugs_of_small_configurations() {
    let chain = chain::Config { nodes: 3, ..chain::Config::SMALL };
    for (bug, kind) in [
        (chain::Bug::OpensEarly, "unhandled message"),
        (chain::Bug::FormerSuccessor, "panic"),
        (chain::Bug::FormerPredecessor, "panic"),
        (chain::Bug::NothingResent, "violated monitor"),
        (chain::Bug::RepeatedUpdate, "violated monitor"),
        (chain::Bug::SilentTail, "violated monitor"),
    ] {
        shows(chain::model(chain::Config { bug: Some(bug), ..chain }), kind);
    }
    let bug = Some(multi_paxos::Bug::ChosenOnce);
    shows(multi_paxos::model(multi_paxos::Config { bug, ..multi_paxos::Config::SMALL }), "panic");
    let paxos = paxos::Config { acceptors: 3, cuts: 1, ..paxos::Config::SMALL };
    shows(paxos::model(paxos::Config { bug: Some(paxos::Bug::UnwrittenPromise), ..paxos }), "violated monitor");
}

#[track_caller]
fn shows(mut model: Model, kind: &str) {
    match states(&mut model, 1_000_000) {
        Some(Err(failure)) => assert_eq!(failure.kind(), kind),
        other => panic!("{other:?}"),
    }
}

#[test]
fn paxos_does_not_rely_on_any_order() {
    let config = paxos::Config { proposers: 3, learners: 2, cuts: 2, ..paxos::Config::USUAL };
    let mut model = Model::new(|m| {
        m.delivery(Delivery::Unordered);
        m.fail_on_unhandled(true);
        m.monitor(paxos::OneDecision::new(config.proposers));
        paxos::set_up(m, config);
    });
    let limits = Limits { executions: Some(300), ..Limits::default() };
    let report = search(&mut model, &mut Random::new(1), &limits);
    assert!(report.found.is_none(), "{report:?}");
}

/// On threads of their own, where the monitors panic.
#[test]
fn the_same_actors_run_free() {
    for _ in 0..10 {
        chain::run(chain::Config::USUAL);
        multi_paxos::run(multi_paxos::Config::USUAL);
        paxos::run(paxos::Config::USUAL);
    }
}
