//! The programs in which messages overtake each other, in small configurations: every state, and every trace.

use programs::delay::paxos;
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
