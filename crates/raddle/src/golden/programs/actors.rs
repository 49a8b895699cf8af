//! Actors on threads, with messages in each order of delivery, with timers, crashes and lost messages.

use super::relay::{Node, Rising, Say};
use crate::actor::{Delivery, Faults, System};

pub(super) const ALL: [(&str, fn()); 7] = [
    ("actors-unordered", || relay(Delivery::Unordered)),
    ("actors-per-sender", || relay(Delivery::PerSender)),
    ("actors-causal", || relay(Delivery::Causal)),
    ("actors-arrival", || relay(Delivery::Arrival)),
    ("actors-timer", timer),
    ("actors-faults", faults),
    ("actors-monitor", monitor),
];

/// One number goes to the last actor directly, the next one by way of another actor.
fn relay(delivery: Delivery) {
    let system = System::new().delivery(delivery);
    let last = system.spawn(Node::default());
    let between = system.spawn(Node::with(&[&last]));
    let first = system.spawn(Node::with(&[&between, &last]));
    first.send(Say::Relay(1));
    last.send(Say::Note(5));
    last.send(Say::Note(6));
    system.run_until_quiet();
    let noted = system.with(&last, |node: &Node| node.noted.clone());
    let at = |number: u32| noted.iter().position(|noted| *noted == number);
    assert!(at(1) < at(2), "{noted:?}");
}

/// A timer that is taken back, early enough or not.
fn timer() {
    let system = System::new();
    let node = system.spawn(Node::default());
    let other = system.spawn(Node::with(&[&node]));
    node.send(Say::Later(1));
    node.send(Say::Cancel);
    other.send(Say::Relay(2));
    system.run_until_quiet();
    let noted = system.with(&node, |node: &Node| node.noted.len());
    assert!(noted == 1 || noted == 2);
}

/// Lost, doubled and late messages, and an actor that may crash.
fn faults() {
    let faults = Faults { drop: 1, duplicate: 1, delay: 1, crash: 1 };
    let system = System::new().faults(faults).restart(1);
    let last = system.spawn_with(Node::default);
    system.may_crash(&last);
    let first = system.spawn(Node::with(&[&last]));
    first.send(Say::Relay(1));
    first.send(Say::Relay(2));
    system.run_until_quiet();
    let noted = system.with(&last, |node: &Node| node.noted.clone());
    assert_ne!(noted, [1, 2, 2], "the second message came twice");
}

fn monitor() {
    let system = System::new().delivery(Delivery::Unordered).monitor(Rising::default());
    let node = system.spawn(Node::default());
    (1..4).for_each(|number| node.send(Say::Announce(number)));
    system.run_until_quiet();
}
