//! Models: as the programs of actors, and what only models have.

use super::relay::{Node, Rising, Say};
use crate::actor::{Delivery, Faults};
use crate::model::Model;

/// How a model is made.
type Make = fn() -> Model;

pub(super) const ALL: [(&str, Make); 8] = [
    ("model-unordered", || relay(Delivery::Unordered)),
    ("model-per-sender", || relay(Delivery::PerSender)),
    ("model-causal", || relay(Delivery::Causal)),
    ("model-arrival", || relay(Delivery::Arrival)),
    ("model-timer", timer),
    ("model-faults", faults),
    ("model-monitor", monitor),
    ("model-always", always),
];

/// One number goes to the last actor directly, the next one by way of another actor.
fn relay(delivery: Delivery) -> Model {
    let model = Model::new(|m| {
        m.delivery(delivery);
        let last = m.spawn(Node::default());
        let between = m.spawn(Node::with(&[&last]));
        let first = m.spawn(Node::with(&[&between, &last]));
        m.send(&first, Say::Relay(1));
        m.send(&last, Say::Note(5));
        m.send(&last, Say::Note(6));
    });
    model.finally(|state| {
        let last = state.actors::<Node>().next().expect("nobody stops");
        let at = |number: u32| last.noted.iter().position(|noted| *noted == number);
        assert!(at(1) < at(2), "{:?}", last.noted);
    })
}

/// A timer that is taken back, early enough or not; and choices, and an actor that is spawned on the way.
fn timer() -> Model {
    Model::new(|m| {
        let node = m.spawn(Node::default());
        let other = m.spawn(Node::with(&[&node]));
        m.send(&node, Say::Later(1));
        m.send(&node, Say::Cancel);
        m.send(&other, Say::Relay(2));
        m.send(&other, Say::Choose(2));
        m.send(&other, Say::Spawn(3));
    })
}

/// Lost, doubled and late messages, and an actor that may crash.
fn faults() -> Model {
    let model = Model::new(|m| {
        m.faults(Faults { drop: 1, duplicate: 1, delay: 1, crash: 1 });
        m.restart(1);
        let last = m.spawn_with(Node::default);
        m.may_crash(&last);
        let first = m.spawn(Node::with(&[&last]));
        m.send(&first, Say::Relay(1));
        m.send(&first, Say::Relay(2));
    });
    model.finally(|state| {
        let last = state.actors::<Node>().next().expect("it starts again");
        assert_ne!(last.noted, [1, 2, 2], "the second message came twice");
    })
}

fn monitor() -> Model {
    Model::new(|m| {
        m.delivery(Delivery::Unordered);
        m.monitor(Rising::default());
        let node = m.spawn(Node::default());
        (1..4).for_each(|number| m.send(&node, Say::Announce(number)));
    })
}

/// More orders than are run, and a check in every state.
fn always() -> Model {
    let model = Model::new(|m| {
        let nodes = [1, 2, 3].map(|_| m.spawn(Node::default()));
        for node in &nodes {
            (0..3).for_each(|number| m.send(node, Say::Note(number)));
        }
    });
    model.always(|state| {
        let noted: Vec<_> = state.actors::<Node>().map(|node| node.noted.len()).collect();
        assert_ne!(noted, [3, 0, 2], "the second one was left behind");
    })
}
