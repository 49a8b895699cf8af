//! The smallest configuration of each program, in every state; and what the programs promise on a network that keeps less order.

use programs::delay::{osr, tms, two_phase};
use raddle::actor::Delivery;
use raddle::model::Model;
use raddle_engine::search::{Limits, search};
use raddle_engine::strategy::random::Random;

use crate::walk::states;

/// The number itself says nothing, but a change of it does.
#[track_caller]
fn passes(mut model: Model, known: usize) {
    match states(&mut model, 2 * known) {
        Some(Ok(count)) => assert_eq!(count, known),
        other => panic!("{other:?}"),
    }
}

#[test]
fn two_phase_commit_with_a_crash() {
    passes(two_phase::model(two_phase::Config { crashes: 1, ..two_phase::Config::SMALL }), 16_080);
}

#[test]
#[ignore = "a hundred thousand states: for release builds"]
fn two_phase_commit_with_two_crashes() {
    passes(two_phase::model(two_phase::Config::SMALL), 116_742);
}

#[test]
fn the_driver_as_it_is_evaluated() {
    passes(osr::model(osr::Config::USUAL), 33_620);
}

#[test]
fn one_transfer() {
    passes(tms::model(tms::Config { failing_manager: false, ..tms::Config::SMALL }), 4_467);
}

#[test]
#[ignore = "seventy thousand states: for release builds"]
fn one_transfer_whose_manager_may_fail() {
    passes(tms::model(tms::Config::SMALL), 71_859);
}

/// For programs whose messages arrive in order only from one sender to one receiver.
#[track_caller]
fn passes_at_random(mut model: Model) {
    let limits = Limits { executions: Some(500), ..Limits::default() };
    let report = search(&mut model, &mut Random::new(1), &limits);
    assert!(report.found.is_none(), "{report:?}");
}

#[test]
fn two_phase_commit_does_not_rely_on_order_between_senders() {
    passes_at_random(Model::new(|m| {
        m.delivery(Delivery::PerSender);
        m.fail_on_unhandled(true);
        m.monitor(two_phase::Atomicity::new(2));
        m.monitor(two_phase::Serial::default());
        two_phase::set_up(m, two_phase::Config { participants: 2, ..two_phase::Config::USUAL });
    }));
}

#[test]
fn the_driver_does_not_rely_on_order_between_senders() {
    passes_at_random(Model::new(|m| {
        m.delivery(Delivery::PerSender);
        m.fail_on_unhandled(true);
        m.monitor(osr::LightsFollow::default());
        osr::set_up(m, osr::Config::USUAL);
    }));
}

#[test]
fn the_transaction_manager_does_not_rely_on_order_between_senders() {
    passes_at_random(Model::new(|m| {
        m.delivery(Delivery::PerSender);
        m.fail_on_unhandled(true);
        m.monitor(tms::AllOrNothing::default());
        tms::set_up(m, tms::Config { patience: 6, ..tms::Config::USUAL });
    }));
}
