//! Two-phase commit, the driver and the transaction manager in small configurations: every state, and every trace; and what they
//! promise where messages keep less order.

use std::collections::HashSet;

use programs::delay::{osr, tms, two_phase};
use raddle::actor::Delivery;
use raddle::model::{Model, Setup};
use raddle_engine::order::before::Before;
use raddle_engine::order::events::Events;
use raddle_engine::search::{Limits, search};
use raddle_engine::strategy::{Run, Strategy};
use raddle_strategies::optimal::Optimal;
use raddle_strategies::reduction::Dpor;
use raddle_strategies::samplers::pct::Pct;
use raddle_strategies::samplers::random::Random;
use raddle_strategies::watched::Watched;

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

#[track_caller]
fn shows(mut model: Model, kind: &str) {
    match states(&mut model, 1_000_000) {
        Some(Err(failure)) => assert_eq!(failure.kind(), kind),
        other => panic!("{other:?}"),
    }
}

#[test]
fn two_phase_commit_with_a_crash() {
    let config = two_phase::Config { crashes: 1, ..two_phase::Config::SMALL };
    passes(|| two_phase::model(config), 16_080, Some(1_907));
}

/// Who draws whether to crash does so in the middle of a step. The number is that of a search that goes on once from equal beginnings.
#[test]
fn each_reduction_sees_all_of_two_phase_commit_with_a_crash() {
    let reductions: [Box<dyn Strategy>; 3] =
        [Box::new(Optimal::new()), Box::new(Dpor::source()), Box::new(Dpor::classic())];
    for reduction in reductions {
        let (name, mut traces) = (reduction.needs().name, HashSet::new());
        let mut watched = Watched::new(reduction, |_: &mut dyn Strategy, run: &Run<'_>| {
            if run.outcome.is_some() {
                let (mut events, mut before) = (Events::default(), Before::default());
                events.follow(run.trace);
                before.follow(&events);
                traces.insert(before.fingerprint());
            }
        });
        let config = two_phase::Config { crashes: 1, ..two_phase::Config::SMALL };
        let report = search(&mut two_phase::model(config), &mut watched, &Limits::default());
        drop(watched);
        assert!(report.verified(), "{name}: {report:?}");
        assert_eq!(traces.len(), 1_907, "{name}");
    }
}

#[test]
#[ignore = "a hundred thousand states: for release builds"]
fn two_phase_commit_with_two_crashes() {
    passes(|| two_phase::model(two_phase::Config::SMALL), 116_742, None);
}

#[test]
fn the_driver() {
    let config = osr::Config { power_cycles: 1, changes: 1, ticks: 0, bug: None };
    passes(|| osr::model(config), 215, Some(33));
    passes(|| osr::model(osr::Config::USUAL), 33_620, None);
}

#[test]
fn one_transfer() {
    let config = tms::Config { failing_manager: false, ..tms::Config::SMALL };
    // 3,362 traces. What a step touches depends on what it receives, so some are run more than once.
    passes(|| tms::model(config), 4_467, Some(3_370));
}

#[test]
#[ignore = "seventy thousand states: for release builds"]
fn one_transfer_whose_manager_may_fail() {
    passes(|| tms::model(tms::Config::SMALL), 71_859, None);
}

/// What passes in small configurations has been looked at: some bugs show there.
#[test]
fn bugs_of_small_configurations() {
    let two_phase = |bug| two_phase::model(two_phase::Config::SMALL.with(bug));
    shows(two_phase(two_phase::Bug::LateYesUnhandled), "unhandled message");
    shows(two_phase(two_phase::Bug::AcknowledgementsCounted), "violated monitor");
    let driver = |bug| osr::model(osr::Config::USUAL.with(bug));
    shows(driver(osr::Bug::FiredWhileStopping), "unhandled message");
    shows(driver(osr::Bug::TransferForgotten), "panic");
    let transfer = |bug| tms::model(tms::Config::SMALL.with(bug));
    shows(transfer(tms::Bug::OwnDecisionTaken), "violated monitor");
    shows(transfer(tms::Bug::EarlyAbortForgotten), "violated monitor");
}

/// Programs whose messages arrive in order only from one sender to one receiver.
fn with_order_per_sender() -> [(&'static str, Model); 3] {
    let model = |set_up: &dyn Fn(&mut Setup)| {
        Model::new(|m| {
            m.delivery(Delivery::PerSender);
            m.fail_on_unhandled(true);
            set_up(m);
        })
    };
    let two_phase = |m: &mut Setup| {
        m.monitor(two_phase::Atomicity::new(2));
        m.monitor(two_phase::Serial::default());
        two_phase::set_up(m, two_phase::Config { participants: 2, ..two_phase::Config::USUAL });
    };
    let driver = |m: &mut Setup| {
        m.monitor(osr::LightsFollow::default());
        osr::set_up(m, osr::Config::USUAL);
    };
    let manager = |m: &mut Setup| {
        m.monitor(tms::AllOrNothing::default());
        tms::set_up(m, tms::Config { patience: 6, ..tms::Config::USUAL });
    };
    [("2PC", model(&two_phase)), ("OSR", model(&driver)), ("TMS", model(&manager))]
}

fn pass_without_order_between_senders(executions: u64) {
    for (label, mut model) in with_order_per_sender() {
        let limits = Limits { executions: Some(executions), ..Limits::default() };
        for strategy in [&mut Random::new(1) as &mut dyn Strategy, &mut Pct::new(1, 5)] {
            let report = search(&mut model, strategy, &limits);
            assert!(report.found.is_none(), "{label}: {report:?}");
        }
    }
}

#[test]
fn programs_do_not_rely_on_order_between_senders() {
    pass_without_order_between_senders(500);
}

#[test]
#[ignore = "forty thousand executions of each: for release builds"]
fn programs_do_not_rely_on_order_between_senders_for_long() {
    pass_without_order_between_senders(20_000);
}

/// On threads of their own, where the monitors panic.
#[test]
fn the_same_actors_run_free() {
    for _ in 0..10 {
        two_phase::run(two_phase::Config::USUAL);
        osr::run(osr::Config::USUAL);
        tms::run(tms::Config::USUAL);
    }
}
