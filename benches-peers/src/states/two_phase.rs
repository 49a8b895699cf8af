//! Two-phase commit: resource managers that prepare or give up, and a transaction manager that decides when all have prepared, or
//! loses patience.

use super::party::{Cast, Party, Post};

/// The transaction manager comes first, the resource managers after it.
#[derive(Clone, Debug)]
pub enum Manager {
    Transaction { resources: usize },
    Resource { me: usize },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Waits for these, a bit for each.
    Collecting(u32),
    /// A resource manager that has not decided anything.
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Msg {
    /// A resource manager's work is done, or has failed; one of the two comes too late.
    Done,
    Failed,
    /// The transaction manager loses patience.
    Impatient,
    Prepared(usize),
    Commit,
    Abort,
}

impl Party for Manager {
    type State = State;
    type Msg = Msg;

    fn first(&self) -> State {
        match self {
            Manager::Transaction { resources } => State::Collecting((1 << resources) - 1),
            Manager::Resource { .. } => State::Working,
        }
    }

    fn handle(&self, state: &mut State, msg: Msg, post: Post<'_, Msg>) {
        match (self, &mut *state, msg) {
            (Manager::Transaction { resources }, State::Collecting(missing), Msg::Prepared(who)) => {
                *missing &= !(1 << (who - 1));
                if *missing == 0 {
                    *state = State::Committed;
                    (1..=*resources).for_each(|resource| post(resource, Msg::Commit));
                }
            }
            (Manager::Transaction { resources }, State::Collecting(_), Msg::Impatient) => {
                *state = State::Aborted;
                (1..=*resources).for_each(|resource| post(resource, Msg::Abort));
            }
            (Manager::Resource { me }, State::Working, Msg::Done) => {
                *state = State::Prepared;
                post(0, Msg::Prepared(*me));
            }
            (Manager::Resource { .. }, State::Working, Msg::Failed) => *state = State::Aborted,
            (Manager::Resource { .. }, _, Msg::Commit) => *state = State::Committed,
            (Manager::Resource { .. }, _, Msg::Abort) => *state = State::Aborted,
            _ => {}
        }
    }
}

/// With so many resource managers.
pub fn cast(resources: usize) -> Cast<Manager> {
    let others = (1..=resources).map(|me| Manager::Resource { me });
    let works = (1..=resources).flat_map(|resource| [(resource, Msg::Done), (resource, Msg::Failed)]);
    Cast {
        parties: std::iter::once(Manager::Transaction { resources }).chain(others).collect(),
        first: works.chain([(0, Msg::Impatient)]).collect(),
        holds: agreed,
    }
}

/// Nobody commits what another has aborted.
fn agreed(states: &mut dyn Iterator<Item = &State>) -> bool {
    let (mut committed, mut aborted) = (false, false);
    for state in states {
        committed |= *state == State::Committed;
        aborted |= *state == State::Aborted;
    }
    !(committed && aborted)
}
