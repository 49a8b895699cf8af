//! Models: known counts, reduction against a count of traces, forks, fingerprints.

use std::collections::HashSet;

use raddle_engine::outcome::Failure;
use raddle_engine::rng::Rng;
use raddle_engine::search::{Limits, Report, search};
use raddle_engine::system::{Choice, Point, Program, Snapshots, System};
use raddle_engine::trace::Trace;
use raddle_runtime::actor::{Actor, Address, Context, Delivery, Faults, Monitor, Stage};
use raddle_runtime::model::{Model, Setup};
use raddle_strategies::optimal::Optimal;
use raddle_strategies::tree::exhaustive::Exhaustive;

use crate::traces::{count, reduced, reduces_to_traces};

pub const ORDERS: [Delivery; 4] = [Delivery::Unordered, Delivery::PerSender, Delivery::Causal, Delivery::Arrival];

fn exhaustive(model: &mut Model) -> Report {
    search(model, &mut Exhaustive::depth_first(), &Limits { keep_going: true, ..Limits::default() })
}

/// For each message, sends a given message to a given actor.
#[derive(Clone, Hash, Default)]
struct Courier {
    deliveries: Vec<(Address<u32>, u32)>,
}

impl Actor for Courier {
    type Msg = u32;

    fn handle(&mut self, _: u32, ctx: &mut Context<'_, u32>) {
        for (to, value) in self.deliveries.clone() {
            ctx.send(&to, value);
        }
    }
}

/// Receives so many messages and then stops.
#[derive(Clone, Hash)]
struct Collector {
    most: usize,
    got: Vec<u32>,
}

impl Actor for Collector {
    type Msg = u32;

    fn handle(&mut self, value: u32, ctx: &mut Context<'_, u32>) {
        self.got.push(value);
        if self.got.len() == self.most {
            ctx.stop();
        }
    }
}

pub fn collector(m: &mut Setup, most: usize) -> Address<u32> {
    m.spawn(Collector { most, got: Vec::new() })
}

fn courier(m: &mut Setup, deliveries: &[(&Address<u32>, u32)]) -> Address<u32> {
    m.spawn(Courier { deliveries: deliveries.iter().map(|(to, value)| ((*to).clone(), *value)).collect() })
}

#[test]
fn senders_can_be_received_in_every_order() {
    for (n, traces) in [(1, 1), (2, 2), (3, 6), (4, 24)] {
        let mut model = Model::new(|m| {
            let collector = collector(m, n);
            for sender in 0..n {
                let sender = courier(m, &[(&collector, sender as u32)]);
                m.send(&sender, 0);
            }
        });
        let (report, _) = reduced(&mut model, Box::new(Optimal::new()));
        assert_eq!((report.executions, report.pruned), (traces, 0), "{n} senders");
    }
}

#[test]
fn messages_of_one_sender_are_received_in_order_unless_unordered() {
    for (delivery, traces) in ORDERS.into_iter().zip([6, 1, 1, 1]) {
        let mut model = Model::new(|m| {
            m.delivery(delivery);
            let collector = collector(m, 3);
            let sender = courier(m, &[(&collector, 1), (&collector, 2), (&collector, 3)]);
            m.send(&sender, 0);
        });
        assert_eq!(reduces_to_traces(&mut model, &format!("{delivery:?}"), true), traces);
    }
}

#[test]
fn a_forwarded_message_is_held_back_by_what_its_senders_knew() {
    for (delivery, traces) in ORDERS.into_iter().zip([24, 12, 6]) {
        let mut model = Model::new(|m| {
            m.delivery(delivery);
            let collector = collector(m, 3);
            let b = courier(m, &[(&collector, 4)]);
            let a = courier(m, &[(&collector, 3), (&b, 0)]);
            let main = courier(m, &[(&collector, 1), (&collector, 2)]);
            m.send(&main, 0);
            m.send(&a, 0);
        });
        assert_eq!(reduces_to_traces(&mut model, &format!("{delivery:?}"), true), traces);
    }
}

#[derive(Clone, Hash)]
struct Participant(Address<bool>);

impl Actor for Participant {
    type Msg = ();

    fn handle(&mut self, (): (), ctx: &mut Context<'_, ()>) {
        let vote = ctx.flip();
        ctx.send(&self.0, vote);
    }
}

#[derive(Clone, Hash, Default)]
struct Coordinator(Vec<bool>);

impl Actor for Coordinator {
    type Msg = bool;

    fn handle(&mut self, vote: bool, _: &mut Context<'_, bool>) {
        self.0.push(vote);
    }
}

#[test]
fn votes_and_their_orders_multiply() {
    for (n, traces) in [(1, 2), (2, 8), (3, 48)] {
        let mut model = Model::new(|m| {
            let coordinator = m.spawn(Coordinator::default());
            for _ in 0..n {
                let participant = m.spawn(Participant(coordinator.clone()));
                m.send(&participant, ());
            }
        });
        assert_eq!(reduces_to_traces(&mut model, &format!("{n} participants"), true), traces);
    }
}

/// A random program: what an actor does with a message depends on the message and on how many came before.
#[derive(Clone, Hash)]
struct Node {
    /// By message, and by whether an odd number came before: the messages to send, and their receivers.
    reactions: Vec<[Vec<(usize, u8)>; 2]>,
    /// Messages that are announced, that lead to a data choice, and that create an actor.
    odd_ones: [u8; 3],
    handled: u32,
}

#[derive(Clone, Hash)]
struct Task {
    value: u8,
    peers: Vec<Address<Task>>,
}

#[derive(Clone, Hash)]
pub struct Announced(pub u8);

#[derive(Clone, Hash, Default)]
pub struct Order(u32);

impl Monitor for Order {
    type Event = Announced;

    fn observe(&mut self, announced: &Announced) -> Result<(), String> {
        self.0 = self.0 * 10 + u32::from(announced.0);
        Ok(())
    }
}

impl Actor for Node {
    type Msg = Task;

    fn handle(&mut self, Task { value, peers }: Task, ctx: &mut Context<'_, Task>) {
        let reaction = self.reactions[value as usize][self.handled as usize % 2].clone();
        self.handled += 1;
        if self.odd_ones[0] == value {
            ctx.announce(Announced(value));
        }
        if self.odd_ones[1] == value && ctx.flip() {
            return;
        }
        if self.odd_ones[2] == value {
            let child = ctx.spawn(Node { odd_ones: [u8::MAX; 3], handled: 0, ..self.clone() });
            ctx.send(&child, Task { value: value.saturating_sub(1), peers: peers.clone() });
        }
        for (peer, value) in reaction {
            ctx.send(&peers[peer], Task { value, peers: peers.clone() });
        }
    }
}

/// Sets up a random program.
pub fn set_up_random(stage: &mut impl Stage, seed: u64, draws: bool) {
    let mut rng = Rng::new(seed);
    let actors = 2 + rng.below(3) as usize;
    let values = 3;
    let mut draw = |n: usize| rng.below(n as u32) as usize;
    let nodes: Vec<_> = (0..actors)
        .map(|_| {
            // Each message is smaller than the one before, so the program ends.
            let mut reaction = |value: usize| {
                let sends = if value == 0 { 0 } else { draw(3) };
                (0..sends).map(|_| (draw(actors), draw(value) as u8)).collect::<Vec<_>>()
            };
            let reactions = (0..values).map(|value| [reaction(value), reaction(value)]).collect();
            let draws = if draws { draw(8) as u8 } else { u8::MAX };
            let odd_ones = [draw(6) as u8, draws, draw(8) as u8];
            stage.spawn(Node { reactions, odd_ones, handled: 0 })
        })
        .collect();
    let first: Vec<_> = (0..2 + draw(2)).map(|_| (draw(actors), draw(values) as u8)).collect();
    for (node, value) in first {
        stage.send(&nodes[node], Task { value, peers: nodes.clone() });
    }
}

pub fn random_program(seed: u64, delivery: Delivery, draws: bool) -> Model {
    random_program_with(Faults::default(), seed, delivery, draws)
}

pub fn random_program_with(faults: Faults, seed: u64, delivery: Delivery, draws: bool) -> Model {
    Model::new(|m| {
        m.delivery(delivery);
        m.faults(faults);
        m.monitor(Order::default());
        set_up_random(m, seed, draws);
    })
}

fn random_programs_reduce_to_their_traces(seeds: impl Iterator<Item = u64>) -> u32 {
    let mut checked = 0;
    for seed in seeds {
        for delivery in ORDERS {
            // If what follows a data choice is dependent, a trace may be run more than once.
            for draws in [false, true] {
                let mut model = random_program(seed, delivery, draws);
                if count(&mut model).is_some() {
                    reduces_to_traces(&mut model, &format!("seed {seed}, {delivery:?}"), !draws);
                    checked += 1;
                }
            }
        }
    }
    checked
}

#[test]
fn random_programs_are_reduced_to_one_execution_per_trace() {
    assert!(random_programs_reduce_to_their_traces(0..8) > 50);
}

/// An earlier reduction lost orders of these programs.
#[test]
fn programs_that_an_earlier_reduction_lost_orders_of() {
    for (seed, delivery, draws) in
        [(61, Delivery::PerSender, true), (1_165, Delivery::Unordered, true), (1_457, Delivery::PerSender, false)]
    {
        reduces_to_traces(&mut random_program(seed, delivery, draws), &format!("seed {seed}, {delivery:?}"), !draws);
    }
    // Where the numbers are those of another order, plans do not fit each other, and more executions are pruned.
    let (report, _) = reduced(&mut random_program(1_165, Delivery::Unordered, true), Box::new(Optimal::new()));
    assert!(report.pruned <= 10, "{} executions were pruned", report.pruned);
}

#[test]
#[ignore = "minutes, and for release builds"]
fn many_random_programs_are_reduced_to_one_execution_per_trace() {
    random_programs_reduce_to_their_traces(1_000..2_000);
}

/// All reachable states, by fingerprint, found by forking.
fn reachable(model: &mut Model) -> (usize, u64) {
    let mut trace = Trace::default();
    let mut seen = HashSet::new();
    let mut open = vec![model.start(0, &mut trace)];
    let mut ends = 0;
    while let Some(state) = open.pop() {
        if !seen.insert(state.fingerprint().expect("models can be hashed")) {
            continue;
        }
        let alternatives = state.point().alternatives();
        ends += u64::from(matches!(state.point(), Point::End(_)));
        for choice in 0..alternatives {
            let mut next = state.fork();
            next.advance(Choice(choice), &mut trace);
            open.push(next);
        }
    }
    (seen.len(), ends)
}

#[test]
fn forks_share_nothing_that_changes() {
    // Two independent counters of three messages each: 4 times 4 states.
    let mut model = Model::new(|m| {
        for _ in 0..2 {
            let collector = collector(m, 10);
            (1..=3).for_each(|value| m.send(&collector, value));
        }
    });
    assert_eq!(reachable(&mut model), (16, 1));
    // The same without order: 8 subsets each, and 16 orders of arrival, which the collectors store.
    let mut model = Model::new(|m| {
        m.delivery(Delivery::Unordered);
        let collector = collector(m, 10);
        (1..=3).for_each(|value| m.send(&collector, value));
    });
    assert_eq!(reachable(&mut model), (16, 6));
}

#[derive(Clone, Hash, Default)]
struct Fragile(u32);

impl Actor for Fragile {
    type Msg = u32;

    fn handle(&mut self, value: u32, ctx: &mut Context<'_, u32>) {
        match value {
            0 => panic!("nothing is not handled"),
            1 => ctx.stop(),
            2 => ctx.unhandled(value),
            3 => {
                ctx.after(std::time::Duration::from_secs(1), 4);
            }
            _ => self.0 += value,
        }
    }
}

fn failure(model: &mut Model) -> Option<Failure> {
    exhaustive(model).found.map(|found| found.failure)
}

#[test]
fn panics_are_failures_unless_actors_are_restarted() {
    let model = |restarts: Option<u32>| {
        Model::new(|m| {
            if let Some(most) = restarts {
                m.restart(most);
            }
            let fragile = m.spawn_with(Fragile::default);
            [5, 0, 6, 0, 7].into_iter().for_each(|value| m.send(&fragile, value));
        })
        .finally(|state| assert_eq!(state.actors::<Fragile>().next().map(|fragile| fragile.0), Some(7)))
    };
    assert!(matches!(failure(&mut model(None)), Some(Failure::Panic { .. })));
    assert!(matches!(failure(&mut model(Some(1))), Some(Failure::Panic { .. })));
    assert_eq!(failure(&mut model(Some(2))), None);
}

#[test]
fn a_panic_is_reported_with_its_place() {
    let place = |model: &mut Model| match failure(model) {
        Some(Failure::Panic { place: Some(place), .. }) => place,
        other => panic!("{other:?}"),
    };
    let mut handler = Model::new(|m| {
        let fragile = m.spawn(Fragile::default());
        m.send(&fragile, 0);
    });
    let at = place(&mut handler);
    let line = include_str!("model.rs").lines().position(|line| line.contains("=> panic!(\"nothing is not handled"));
    assert_eq!((at.file.ends_with("model.rs"), Some(at.line as usize)), (true, line.map(|line| line + 1)));
    let mut check = Model::new(|m| drop(m.spawn(Fragile::default()))).finally(|_| panic!("at the end"));
    let end = line!() - 1;
    assert_eq!(place(&mut check).line, end);
}

#[test]
fn dead_and_unhandled_messages_are_counted_or_fail() {
    let model = |strict: bool| {
        Model::new(|m| {
            m.fail_on_dead_letters(strict);
            let fragile = m.spawn(Fragile::default());
            [1, 5].into_iter().for_each(|value| m.send(&fragile, value));
        })
        .finally(|state| assert_eq!(state.dead_letters(), 1))
    };
    assert_eq!(failure(&mut model(false)), None);
    assert!(matches!(failure(&mut model(true)), Some(Failure::DeadLetter { .. })));
    let model = |strict: bool| {
        Model::new(|m| {
            m.fail_on_unhandled(strict);
            let fragile = m.spawn(Fragile::default());
            m.send(&fragile, 2);
        })
        .finally(|state| assert_eq!(state.unhandled(), 1))
    };
    assert_eq!(failure(&mut model(false)), None);
    assert!(matches!(failure(&mut model(true)), Some(Failure::Unhandled { .. })));
}

#[test]
fn timers_go_off_whenever_they_are_set() {
    let mut model = Model::new(|m| {
        let fragile = m.spawn(Fragile::default());
        [3, 5].into_iter().for_each(|value| m.send(&fragile, value));
    })
    .finally(|state| assert_eq!(state.actors::<Fragile>().next().map(|fragile| fragile.0), Some(9)));
    let report = exhaustive(&mut model);
    assert_eq!((report.executions, report.failing), (2, 0));
}

#[test]
fn faults_are_choices_within_their_budget() {
    let outcomes = |faults: Faults| {
        let mut model = Model::new(|m| {
            m.faults(faults);
            let collector = collector(m, 10);
            let sender = courier(m, &[(&collector, 1), (&collector, 2)]);
            m.send(&sender, 0);
        });
        reachable(&mut model).1
    };
    assert_eq!(outcomes(Faults::default()), 1);
    assert_eq!(outcomes(Faults { drop: 1, ..Faults::default() }), 3, "both, or either one is lost");
    assert_eq!(outcomes(Faults { drop: 2, ..Faults::default() }), 4);
    assert_eq!(outcomes(Faults { duplicate: 1, ..Faults::default() }), 3);
    // Of all faults, only a delay with an effect is visible: 2 1 besides 1 2, with and without budget left.
    assert_eq!(outcomes(Faults { delay: 1, ..Faults::default() }), 3);
}

#[test]
fn crashes_lose_the_state() {
    let mut model = Model::new(|m| {
        m.faults(Faults { crash: 1, ..Faults::default() });
        let fragile = m.spawn_with(Fragile::default);
        m.may_crash(&fragile);
        [4, 8].into_iter().for_each(|value| m.send(&fragile, value));
    })
    .finally(|state| assert!([12, 8].contains(&state.actors::<Fragile>().next().expect("it is made anew").0)));
    let report = exhaustive(&mut model);
    // It may crash before the first, before the second or not at all.
    assert_eq!((report.executions, report.failing), (3, 0));
}

#[derive(Clone, Hash, Default)]
struct AtMost(u32);

impl Monitor for AtMost {
    type Event = u32;

    fn observe(&mut self, event: &u32) -> Result<(), String> {
        self.0 += event;
        if self.0 > 5 { Err(format!("{} is too much", self.0)) } else { Ok(()) }
    }

    fn at_quiet(&self) -> Result<(), String> {
        if self.0 == 0 { Err("nothing was announced".to_owned()) } else { Ok(()) }
    }
}

#[derive(Clone, Hash)]
struct Announcer;

impl Actor for Announcer {
    type Msg = u32;

    fn handle(&mut self, value: u32, ctx: &mut Context<'_, u32>) {
        if value > 0 {
            ctx.announce(value);
        }
    }
}

#[test]
fn monitors_see_what_is_announced() {
    let run = |values: &[u32]| {
        failure(&mut Model::new(|m| {
            m.monitor(AtMost::default());
            for value in values {
                let announcer = m.spawn(Announcer);
                m.send(&announcer, *value);
            }
        }))
    };
    assert_eq!(run(&[2, 3]), None);
    assert!(matches!(run(&[3, 3]), Some(Failure::Violation { monitor, .. }) if monitor == "AtMost"));
    assert!(matches!(run(&[0]), Some(Failure::Violation { message, .. }) if message.contains("nothing")));
}
