//! The programs in which messages overtake each other, in small configurations: every state, and every trace.

use programs::delay::{chain, multi_paxos, paxos};
use raddle::model::Model;
use raddle_engine::search::{Limits, search};
use raddle_engine::strategy::dpor::Dpor;

use crate::walk::states;

/// The numbers themselves say nothing, but a change of them does.
#[track_caller]
fn passes(model: impl Fn() -> Model, known_states: usize, known_traces: Option<u64>) {
    match states(&mut model(), 2 * known_states) {
        Some(Ok(count)) => assert_eq!(count, known_states),
        other => panic!("{other:?}"),
    }
    if let Some(traces) = known_traces {
        let report = search(&mut model(), &mut Dpor::optimal(), &Limits::default());
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
#[ignore = "tens of thousands of states and traces: for release builds"]
fn chains_with_two_failures() {
    passes(|| chain::model(chain::Config { nodes: 3, ..chain::Config::SMALL }), 2_654, Some(10_298));
    passes(|| chain::model(chain::Config { nodes: 3, failures: 2, ..chain::Config::SMALL }), 43_485, None);
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
