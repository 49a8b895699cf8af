//! Walks through a model that need no strategy: the deterministic runs that the explorers of the paper begin with, and a visit to
//! every state.

use std::collections::HashSet;

use raddle::model::Model;
use raddle_engine::ids::TaskId;
use raddle_engine::outcome::Failure;
use raddle_engine::system::{Action, Choice, Point, Program, Snapshots, System};
use raddle_engine::trace::{Class, Trace};

/// The order in which tasks go on.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// In order of creation; the next one when one cannot go on.
    RoundRobin,
    /// The receiver of the latest message first.
    RunToCompletion,
}

/// The failure of the one execution without any deviation from `order`. Draws get their first value.
pub fn deterministic(model: &mut Model, order: Order) -> Option<Failure> {
    let mut trace = Trace::default();
    let mut system = model.start(0, &mut trace);
    let (mut current, mut stack, mut seen): (TaskId, Vec<TaskId>, usize) = (TaskId::MAIN, Vec::new(), 0);
    loop {
        let choice = match system.point() {
            Point::End(outcome) => return outcome.failure().cloned(),
            Point::Data { .. } => Choice(0),
            Point::Actions(actions) => {
                for task in receivers(&trace, seen, actions) {
                    stack.retain(|other| *other != task);
                    stack.insert(0, task);
                }
                seen = trace.len();
                let rank = |action: &Action| match order {
                    Order::RoundRobin => (usize::from(action.task < current), action.task),
                    Order::RunToCompletion => {
                        (stack.iter().position(|task| *task == action.task).unwrap_or(usize::MAX), action.task)
                    }
                };
                let (choice, action) = (0..).zip(actions).min_by_key(|(_, action)| rank(action)).expect("some");
                current = action.task;
                Choice(choice)
            }
        };
        system.advance(choice, &mut trace);
    }
}

/// Who was sent a message in the steps from `from` on, as far as they can go on.
fn receivers<'a>(trace: &'a Trace, from: usize, actions: &'a [Action]) -> impl Iterator<Item = TaskId> + 'a {
    let sends = trace.steps()[from..].iter().filter(|step| step.op.class == Class::Send);
    sends.filter_map(|send| {
        // A send touches the mailbox it goes to, or the end of it, whose number is the next one.
        let mailboxes = [send.access.object.index(), send.access.object.index().wrapping_sub(1)];
        actions.iter().find(|action| mailboxes.contains(&action.object.index())).map(|action| action.task)
    })
}

/// How many states a model has, or what goes wrong in one of them. `None` if there are more than `most`.
pub fn states(model: &mut Model, most: usize) -> Option<Result<usize, Failure>> {
    let mut trace = Trace::default();
    let first = model.start(0, &mut trace);
    let mut seen = HashSet::from([first.fingerprint()]);
    let mut open = vec![first];
    while let Some(system) = open.pop() {
        if let Point::End(outcome) = system.point()
            && let Some(failure) = outcome.failure()
        {
            return Some(Err(failure.clone()));
        }
        for choice in 0..system.point().alternatives() {
            let mut next = system.fork();
            next.advance(Choice(choice), &mut Trace::default());
            if seen.insert(next.fingerprint()) {
                open.push(next);
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    Some(Ok(seen.len()))
}
