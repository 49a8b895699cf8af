//! The paper's examples, as recorded receives.

use raddle_engine::coverage::{Name, ReceiveEvent, Recorded};
use raddle_engine::ids::{StepIx, TaskId};
use raddle_engine::system::Variant;
use raddle_engine::trace::Delivery;

/// A receive: its name, the receiver, the sender, and the receive during which the message was sent.
pub(super) type Line = (&'static str, &'static str, &'static str, &'static str);

/// A load-testing tool with two actions: the schedule of the paper's section IV.
pub(super) static TWO_ACTIONS: [Line; 8] = [
    ("ex1", "action1", "main", ""),
    ("w1", "writer", "action1", "ex1"),
    ("ex2", "action2", "main", ""),
    ("w2", "writer", "action2", "ex2"),
    ("ad1", "terminator", "action1", "ex1"),
    ("ad2", "terminator", "action2", "ex2"),
    ("fl", "writer", "terminator", "ad2"),
    ("fd", "terminator", "writer", "fl"),
];

/// The same with one action: the paper's figure 1.
pub(super) static ONE_ACTION: [Line; 5] = [
    ("ex", "action", "main", ""),
    ("w", "writer", "action", "ex"),
    ("ad", "terminator", "action", "ex"),
    ("fl", "writer", "terminator", "ad"),
    ("fd", "terminator", "writer", "fl"),
];

/// A write after the flush leads to an error, and errors are checked before that: the paper's figure 2.
pub(super) static ERROR: [Line; 7] = [
    ("ex", "action", "main", ""),
    ("ad", "terminator", "action", "ex"),
    ("fl", "writer", "terminator", "ad"),
    ("fd", "terminator", "writer", "fl"),
    ("w", "writer", "action", "ex"),
    ("ch", "terminator", "main", ""),
    ("er", "terminator", "writer", "w"),
];

fn hash(text: &str) -> u64 {
    text.bytes().fold(7, |hash, byte| raddle_engine::rng::mix(hash, u64::from(byte)))
}

/// Builds the recorded receives. The receive called `changes` changes the behaviour of its receiver.
pub(super) fn recorded(lines: &[Line], changes: &str) -> Recorded {
    let mut recorded = Recorded::default();
    let place = |label: &str| lines.iter().position(|line| line.0 == label);
    for (at, &(label, receiver, sender, cause)) in lines.iter().enumerate() {
        let name = Name { sender: hash(sender), receiver: hash(receiver), message: hash(label), again: 0 };
        let task = |who: &str| TaskId::new(hash(who) as u32 >> 8);
        recorded.events.push(ReceiveEvent {
            name,
            label,
            changes: label == changes,
            task: task(receiver),
            variant: Variant::Message(at as u32),
            step: StepIx::next_of(at),
            sent: Some(StepIx::next_of(place(cause).unwrap_or(0))),
            sender: task(sender),
            ordinal: 0,
            mailbox: true,
            delivery: Some(Delivery::PerSender),
            causes: place(cause).into_iter().collect(),
            cause: place(cause),
        });
    }
    recorded
}
