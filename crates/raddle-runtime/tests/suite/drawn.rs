//! Values that are drawn in the middle of a step, and what is sent for them.

use std::ops::Range;

use raddle_engine::rng::Rng;
use raddle_engine::strategy::Strategy;
use raddle_runtime::actor::{Actor, Address, Context, Delivery};
use raddle_runtime::model::Model;

use crate::model::{Announced, ORDERS, Order, collector};
use crate::traces::{count, count_by_beginnings, reduced, reduced_by};

/// By message, by whether an odd number came before, and by what is drawn: what to send to whom.
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
                // What is sent is smaller than what came, so it ends.
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

/// Demands that each kind of reduction sees all traces and says so; where they are few, by several workers, too.
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

/// Compares; says how many programs were small enough.
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

/// Sends one message or, if it draws, maybe none.
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

/// What is sent for the second value of a draw is in a race with what came before the whole step: either of two messages comes first, or
/// there is only one. In other orders than that of arrival the two receives are in a race, and that does not show it.
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

/// Announces what it is told to, or maybe not.
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

/// The same for what monitors hear, in every order of delivery.
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
fn what_is_drawn_in_a_step_loses_no_trace() {
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
fn beginnings_are_counted_right() {
    for (seed, delivery) in (0..12).flat_map(|seed| ORDERS.map(|delivery| (seed, delivery))) {
        if let Some(traces) = count(&mut model(seed, delivery)) {
            assert_eq!(count_by_beginnings(model(seed, delivery)), Some(traces), "seed {seed}, {delivery:?}");
        }
    }
}
