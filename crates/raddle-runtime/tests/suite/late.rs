//! Delayed messages: reduction runs every order.

use raddle_runtime::actor::{Actor, Address, Context, Delivery, Faults};
use raddle_runtime::model::{Model, Setup};
use raddle_strategies::optimal::Optimal;

use crate::model::{Announced, ORDERS, Order, collector, random_program_with};
use crate::traces::{count, reduced, reduces_to_traces};

const LATE: Faults = Faults { drop: 0, duplicate: 0, delay: 1, crash: 0 };

/// The orders in which delayed messages are proved to be overtaken by all others.
const PROVED: [Delivery; 3] = [Delivery::Unordered, Delivery::PerSender, Delivery::Causal];

/// For each message, sends the number of messages before it to the next actor of its list.
#[derive(Clone, Hash)]
struct Clerk {
    list: Vec<Vec<Address<u32>>>,
    handled: u32,
}

impl Actor for Clerk {
    type Msg = u32;

    fn handle(&mut self, _: u32, ctx: &mut Context<'_, u32>) {
        for to in self.list.get(self.handled as usize).cloned().unwrap_or_default() {
            ctx.send(&to, self.handled);
        }
        self.handled += 1;
    }
}

fn clerk(m: &mut Setup, list: &[&[&Address<u32>]]) -> Address<u32> {
    let list = list.iter().map(|to| to.iter().map(|&to| to.clone()).collect()).collect();
    m.spawn(Clerk { list, handled: 0 })
}

/// Announces its message, if that is 0.
#[derive(Clone, Hash)]
struct Crier;

impl Actor for Crier {
    type Msg = u32;

    fn handle(&mut self, value: u32, ctx: &mut Context<'_, u32>) {
        if value == 0 {
            ctx.announce(Announced(0));
        }
    }
}

/// A program in order of arrival, with these faults.
fn arrival(faults: Faults, set_up: impl FnOnce(&mut Setup)) -> Model {
    Model::new(|m| {
        m.delivery(Delivery::Arrival);
        m.faults(faults);
        m.monitor(Order::default());
        set_up(m);
    })
}

/// A receive of the first of two messages that one step sends cannot come before that step. An earlier reduction planned this, and lost
/// orders.
#[test]
fn a_message_is_received_after_the_step_that_sends_it() {
    let mut model = arrival(LATE, |m| {
        let last = collector(m, 10);
        let middle = clerk(m, &[&[&last, &last]]);
        let first = clerk(m, &[&[&middle]]);
        [middle, first].iter().for_each(|to| m.send(to, 0));
    });
    assert_eq!(reduces_to_traces(&mut model, "two to one", false), 8);
}

/// Without the message that has overtaken another, the other one is received, with other consequences.
#[test]
fn an_overtaken_message_has_its_own_consequences() {
    let mut model = arrival(LATE, |m| {
        let (one, other) = (m.spawn(Crier), m.spawn(Crier));
        let sender = clerk(m, &[&[&other, &one], &[&one]]);
        (0..2).for_each(|_| m.send(&sender, 0));
    });
    assert_eq!(reduces_to_traces(&mut model, "two criers", false), 16);
}

/// A lost message wakes nobody. So the plans for the case that it is lost differ from the others.
#[test]
fn a_lost_message_has_plans_of_its_own() {
    let mut model = arrival(Faults { drop: 1, ..LATE }, |m| {
        let (end, receiver) = (collector(m, 10), collector(m, 10));
        let helper = clerk(m, &[&[&end]]);
        let sender = clerk(m, &[&[&helper, &receiver], &[&receiver]]);
        m.send(&receiver, 0);
        (0..2).for_each(|_| m.send(&sender, 0));
    });
    assert_eq!(reduces_to_traces(&mut model, "one is lost", false), 118);
}

/// A task that sleeps after a planned step is not woken by what follows. The number is from a search of all orders.
#[test]
fn a_plan_does_not_stand_for_a_longer_one_while_something_sleeps() {
    let mut model = random_program_with(Faults { delay: 2, ..LATE }, 10_257, Delivery::Arrival, false);
    assert_eq!(reduced(&mut model, Box::new(Optimal::new())).1, 365);
}

/// Compares programs with delayed messages. Returns how many were small enough.
fn late_messages_are_overtaken(
    faults: Faults,
    seeds: impl Iterator<Item = u64>,
    orders: &[Delivery],
    draws: bool,
    most: u64,
) -> u32 {
    let mut checked = 0;
    for (seed, &delivery) in seeds.flat_map(|seed| orders.iter().map(move |delivery| (seed, delivery))) {
        let mut model = random_program_with(faults, seed, delivery, draws);
        if count(&mut model).is_some_and(|traces| traces < most) {
            reduces_to_traces(&mut model, &format!("seed {seed}, {delivery:?}, {faults:?}"), false);
            checked += 1;
        }
    }
    checked
}

#[test]
fn delayed_messages_are_overtaken_in_every_order() {
    let checked = late_messages_are_overtaken(LATE, 0..8, &ORDERS, false, 150);
    assert!(checked > 8, "{checked} programs are small enough");
    // Here a message that is not delayed comes before a delayed one of the same sender.
    let checked = late_messages_are_overtaken(LATE, [3_011].into_iter(), &[Delivery::PerSender], false, 500);
    assert_eq!(checked, 1, "the program is small enough");
}

#[test]
fn a_search_with_delayed_messages_can_be_a_proof() {
    for delivery in PROVED {
        let mut model = random_program_with(LATE, 3_012, delivery, false);
        let (report, _) = reduced(&mut model, Box::new(Optimal::new()));
        assert!(report.verified(), "{delivery:?}: {report:?}");
    }
}

/// In order of arrival, `dpor` runs 23 of the 24 traces of this program.
#[test]
fn no_proof_where_a_delayed_message_arrives_in_order() {
    let mut model = random_program_with(LATE, 3_250, Delivery::Arrival, false);
    let (report, _) = reduced(&mut model, Box::new(Optimal::new()));
    assert!(!report.verified() && report.failing == 0, "{report:?}");
}

/// With a message that is lost and one that is delayed, `dpor` runs 360 of the 365 traces of a program like this.
#[test]
fn no_proof_where_a_message_is_delayed_among_other_faults() {
    for faults in [Faults { drop: 1, ..LATE }, Faults { duplicate: 1, ..LATE }, Faults { delay: 2, ..LATE }] {
        let mut model = random_program_with(faults, 10_161, Delivery::PerSender, false);
        let (report, _) = reduced(&mut model, Box::new(Optimal::new()));
        assert!(!report.verified() && report.failing == 0, "{faults:?}: {report:?}");
    }
}

#[test]
#[ignore = "minutes, and for release builds"]
fn many_late_messages_are_overtaken_in_every_order() {
    for seeds in [3_000..3_300, 10_000..10_300] {
        let checked = late_messages_are_overtaken(LATE, seeds, &PROVED, false, 1_500);
        assert!(checked > 400, "{checked} programs are small enough");
    }
}

#[test]
#[ignore = "minutes, and for release builds"]
fn many_late_messages_are_overtaken_among_other_faults() {
    let orders = [Delivery::PerSender];
    for faults in [Faults { drop: 1, ..LATE }, Faults { duplicate: 1, ..LATE }, Faults { delay: 2, ..LATE }] {
        for draws in [false, true] {
            let checked = late_messages_are_overtaken(faults, 10_000..10_300, &orders, draws, 1_500);
            assert!(checked > 100, "{faults:?}: {checked} programs are small enough");
        }
    }
}
