//! Actors for which the order of two messages changes what they send, announce and create.

use raddle_engine::rng::Rng;
use raddle_runtime::actor::{Actor, Context, Delivery};
use raddle_runtime::model::Model;

use crate::drawn::{Job, all_are_seen, no_trace_is_lost};
use crate::model::{Announced, Order};

/// What to do with a message, by its value and by whether an even number came before.
type Rules = Vec<(u8, bool, Vec<Act>)>;

#[derive(Clone, Hash)]
enum Act {
    Send(usize, u8),
    Announce,
    /// Creates an actor of the same kind, and sends it the next lower number.
    Create,
    Stop,
}

#[derive(Clone, Hash)]
struct Fickle {
    rules: Rules,
    handled: u32,
}

impl Actor for Fickle {
    type Msg = Job;

    fn handle(&mut self, Job(value, peers): Job, ctx: &mut Context<'_, Job>) {
        let even = self.handled.is_multiple_of(2);
        self.handled += 1;
        let own = self.rules.iter().filter(|rule| (rule.0, rule.1) == (value, even));
        for act in own.flat_map(|rule| &rule.2) {
            match *act {
                Act::Send(to, value) => ctx.send(&peers[to], Job(value, peers.clone())),
                Act::Announce => ctx.announce(Announced(value)),
                Act::Create => {
                    let child = ctx.spawn(Self { handled: 0, rules: self.rules.clone() });
                    ctx.send(&child, Job(value - 1, peers.clone()));
                }
                Act::Stop => ctx.stop(),
            }
        }
    }
}

fn fickle(delivery: Delivery, rules: &[Rules], first: &[(usize, u8)]) -> Model {
    Model::new(|m| {
        m.delivery(delivery);
        m.monitor(Order::default());
        let spawn = |rules: &Rules| m.spawn(Fickle { rules: rules.clone(), handled: 0 });
        let peers: Vec<_> = rules.iter().map(spawn).collect();
        first.iter().for_each(|&(to, value)| m.send(&peers[to], Job(value, peers.clone())));
    })
}

/// Of two messages that an actor can receive, only one has consequences that race with other tasks, and which one depends on their order.
/// The consequences of one message do not represent those of the other.
#[test]
fn the_consequences_of_one_message_do_not_represent_those_of_another() {
    use Act::{Announce, Create, Send};
    let announces = || vec![(0, true, vec![Announce])];
    let three = [
        vec![
            (0, true, vec![Announce]),
            (1, true, vec![Send(1, 0), Send(0, 0)]),
            (2, false, vec![Send(2, 1), Send(2, 0)]),
        ],
        announces(),
        announces(),
    ];
    all_are_seen(|| fickle(Delivery::Unordered, &three, &[(0, 2), (1, 1), (0, 1)]), 14, "three");
    let four = [
        vec![(0, true, vec![Announce]), (1, false, vec![Send(2, 0), Send(3, 0)]), (3, true, vec![Send(1, 2)])],
        vec![(1, true, vec![Send(0, 0)]), (2, true, vec![Send(0, 1), Create])],
        announces(),
        announces(),
    ];
    for delivery in [Delivery::Unordered, Delivery::PerSender] {
        all_are_seen(|| fickle(delivery, &four, &[(2, 3), (3, 2), (0, 3)]), 12, "four");
    }
}

fn generated(seed: u64, delivery: Delivery) -> Model {
    let mut rng = Rng::new(seed);
    let mut draw = |n: usize| rng.below(n as u32) as usize;
    let actors = 2 + draw(3);
    let mut act = |value: u8| match draw(12) {
        // Each message is smaller than the one before, so the program ends.
        0..5 if value > 0 => Some(Act::Send(draw(actors), draw(value.into()) as u8)),
        5..9 => Some(Act::Announce),
        9 if value > 0 => Some(Act::Create),
        10 => Some(Act::Stop),
        _ => None,
    };
    let mut rule = |value: u8, even: bool| (value, even, (0..2).filter_map(|_| act(value)).collect());
    let mut one = || (0..3).flat_map(|value| [true, false].map(|even| rule(value, even))).collect();
    let rules: Vec<Rules> = (0..actors).map(|_| one()).collect();
    let first: Vec<_> = (0..2 + draw(2)).map(|_| (draw(actors), draw(3) as u8)).collect();
    fickle(delivery, &rules, &first)
}

#[test]
fn announcements_lose_no_trace() {
    let checked = no_trace_is_lost(0..20, generated);
    assert!(checked > 60, "{checked}");
}

#[test]
#[ignore = "minutes, and for release builds"]
fn what_is_announced_in_many_programs_loses_no_trace() {
    let checked = no_trace_is_lost(1_000..3_000, generated);
    assert!(checked > 5_000, "{checked}");
}
