//! Values that are drawn in the middle of a step, and what is sent for them.

use raddle_engine::rng::Rng;
use raddle_engine::strategy::dpor::Dpor;
use raddle_runtime::actor::{Actor, Address, Context, Delivery};
use raddle_runtime::model::Model;

use crate::model::ORDERS;
use crate::traces::{count, count_by_beginnings, reduced};

/// By message, by whether an odd number came before, and by what is drawn: what to send to whom.
type Reactions = Vec<[Vec<Vec<(usize, u8)>>; 2]>;

#[derive(Clone, Hash)]
struct Node {
    reactions: Reactions,
    handled: u32,
}

#[derive(Clone, Hash)]
struct Job(u8, Vec<Address<Job>>);

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

/// Compares; says how many programs were small enough, and how many of those `dpor-source` has not seen all of.
fn no_trace_is_lost(seeds: std::ops::Range<u64>) -> (u32, u32) {
    let (mut checked, mut lost) = (0, 0);
    for (seed, delivery) in seeds.flat_map(|seed| ORDERS.map(|delivery| (seed, delivery))) {
        let Some(traces) = count_by_beginnings(model(seed, delivery)) else { continue };
        let (_, seen) = reduced(&mut model(seed, delivery), Dpor::optimal());
        assert_eq!(seen, traces, "seed {seed}, {delivery:?}");
        for dpor in [Dpor::source(), Dpor::classic()] {
            let (report, seen) = reduced(&mut model(seed, delivery), dpor);
            assert!(seen == traces || !report.verified(), "seed {seed}, {delivery:?}: {seen} of {traces}");
            lost += u32::from(seen < traces);
        }
        checked += 1;
    }
    (checked, lost)
}

#[test]
fn what_is_drawn_in_a_step_loses_no_trace_or_nothing_is_claimed() {
    let (checked, lost) = no_trace_is_lost(14..30);
    assert!(checked > 30 && lost > 0, "{checked}, {lost}");
}

#[test]
#[ignore = "minutes, and for release builds"]
fn what_is_drawn_in_many_programs_loses_no_trace() {
    no_trace_is_lost(1_000..3_000);
}

#[test]
fn beginnings_are_counted_right() {
    for (seed, delivery) in (0..12).flat_map(|seed| ORDERS.map(|delivery| (seed, delivery))) {
        if let Some(traces) = count(&mut model(seed, delivery)) {
            assert_eq!(count_by_beginnings(model(seed, delivery)), Some(traces), "seed {seed}, {delivery:?}");
        }
    }
}
