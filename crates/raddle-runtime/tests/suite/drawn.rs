//! Data choices in the middle of a step, and the messages that depend on them.

use std::ops::Range;

use raddle_engine::rng::Rng;
use raddle_engine::strategy::Strategy;
use raddle_runtime::actor::{Actor, Address, Context, Delivery};
use raddle_runtime::model::Model;

use crate::model::{Announced, ORDERS, Order, collector};
use crate::traces::{count, count_by_beginnings, reduced, reduced_by};

/// By message, by whether an odd number came before, and by the chosen value: the messages to send, and their receivers.
type Reactions = Vec<[Vec<Vec<(usize, u8)>>; 2]>;

#[derive(Clone, Hash)]
struct Node {
    reactions: Reactions,
    handled: u32,
}

#[derive(Clone, Hash)]
pub struct Job(pub u8, pub Vec<Address<Job>>);

impl Actor for Node {
    type Msg = Job;

    fn handle(&mut self, Job(value, peers): Job, ctx: &mut Context<'_, Job>) {
        let options = &self.reactions[value as usize][self.handled as usize % 2];
        self.handled += 1;
        for &(to, value) in &options[ctx.choose(options.len() as u32) as usize] {
            ctx.send(&peers[to], Job(value, peers.clone()));
        }
    }
}

fn model(seed: u64, delivery: Delivery) -> Model {
    let mut rng = Rng::new(seed);
    let actors = 2 + rng.below(3);
    Model::new(|m| {
        m.delivery(delivery);
        let nodes: Vec<_> = (0..actors)
            .map(|_| {
                // Each message is smaller than the one before, so the program ends.
                let mut sends = |value: u32| {
                    let many = if value == 0 { 0 } else { rng.below(3) };
                    (0..many).map(|_| (rng.below(actors) as usize, rng.below(value) as u8)).collect::<Vec<_>>()
                };
                let mut options = |value| {
                    let mut options = vec![sends(value), sends(value)];
                    options.truncate(1 + (options[0].len() + options[1].len()) % 2);
                    options
                };
                m.spawn(Node { reactions: (0..4).map(|value| [options(value), options(value)]).collect(), handled: 0 })
            })
            .collect();
        for _ in 0..2 + rng.below(2) {
            let (to, value) = (rng.below(actors) as usize, 1 + rng.below(3) as u8);
            m.send(&nodes[to], Job(value, nodes.clone()));
        }
    })
}

/// Checks that each reduction runs all traces and claims so; for few traces, also with several workers.
#[track_caller]
pub fn all_are_seen(model: impl Fn() -> Model, traces: u64, what: &str) {
    for make in crate::traces::ALGORITHMS {
        let name = make().needs().name;
        let (report, seen) = reduced(&mut model(), make());
        assert_eq!((seen, report.verified()), (traces, true), "{what}: {name}");
        if traces < 200 {
            let (report, seen) = reduced_by(3, traces, &mut model(), make);
            assert_eq!((seen, report.verified()), (traces, true), "{what}: {name} by three");
        }
    }
}

/// Compares. Returns how many programs were small enough.
pub fn no_trace_is_lost(seeds: Range<u64>, model: fn(u64, Delivery) -> Model) -> u32 {
    let mut checked = 0;
    for (seed, delivery) in seeds.flat_map(|seed| ORDERS.map(|delivery| (seed, delivery))) {
        if let Some(traces) = count_by_beginnings(model(seed, delivery)) {
            all_are_seen(|| model(seed, delivery), traces, &format!("seed {seed}, {delivery:?}"));
            checked += 1;
        }
    }
    checked
}

/// Sends one message, or asks for a value and then sends one or none.
#[derive(Clone, Hash)]
struct Sender {
    to: Address<u32>,
    draws: bool,
}

impl Actor for Sender {
    type Msg = ();

    fn handle(&mut self, (): (), ctx: &mut Context<'_, ()>) {
        if !self.draws || ctx.flip() {
            ctx.send(&self.to, u32::from(self.draws));
        }
    }
}

/// A message that depends on the second value of a data choice races with what came before the whole step: either of two messages is first,
/// or there is only one. In other delivery orders than that of arrival, the two receives race, which does not show this.
#[test]
fn a_draw_that_sends_comes_before_others_that_send() {
    for delivery in ORDERS {
        let model = || {
            Model::new(|m| {
                m.delivery(delivery);
                let to = collector(m, 10);
                for draws in [false, true] {
                    let sender = m.spawn(Sender { to: to.clone(), draws });
                    m.send(&sender, ());
                }
            })
        };
        all_are_seen(model, 3, &format!("{delivery:?}"));
    }
}

/// Announces what its message says; after a data choice, or not.
#[derive(Clone, Hash)]
struct Crier;

impl Actor for Crier {
    type Msg = (u8, bool);

    fn handle(&mut self, (value, draws): (u8, bool), ctx: &mut Context<'_, (u8, bool)>) {
        if !draws || ctx.flip() {
            ctx.announce(Announced(value));
        }
    }
}

/// The same for announcements, in every delivery order.
#[test]
fn a_draw_that_announces_comes_before_others_that_announce() {
    for delivery in ORDERS {
        let model = || {
            Model::new(|m| {
                m.delivery(delivery);
                m.monitor(Order::default());
                for (value, draws) in [(1, false), (2, true)] {
                    let crier = m.spawn(Crier);
                    m.send(&crier, (value, draws));
                }
            })
        };
        all_are_seen(model, 3, &format!("{delivery:?}"));
    }
}

#[test]
fn data_choices_in_a_step_lose_no_trace() {
    let checked = no_trace_is_lost(14..30, model);
    assert!(checked > 30, "{checked}");
}

#[test]
#[ignore = "minutes, and for release builds"]
fn what_is_drawn_in_many_programs_loses_no_trace() {
    let checked = no_trace_is_lost(1_000..3_000, model);
    assert!(checked > 5_000, "{checked}");
}

#[test]
fn executions_that_begin_with_a_choice_are_counted_correctly() {
    for (seed, delivery) in (0..12).flat_map(|seed| ORDERS.map(|delivery| (seed, delivery))) {
        if let Some(traces) = count(&mut model(seed, delivery)) {
            assert_eq!(count_by_beginnings(model(seed, delivery)), Some(traces), "seed {seed}, {delivery:?}");
        }
    }
}
