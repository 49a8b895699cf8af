//! Paxos for a single value: proposers with a ballot each, and acceptors.

use super::party::{Cast, Party, Post};

/// How many acceptors there are; they come first.
const ACCEPTORS: usize = 3;

#[derive(Clone, Debug)]
pub enum Role {
    Acceptor {
        me: usize,
    },
    /// Proposes its own number, unless it hears of another value.
    Proposer {
        me: usize,
    },
}

/// A ballot and the value proposed in it.
type Vote = (u32, usize);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum State {
    Acceptor {
        promised: u32,
        accepted: Option<Vote>,
    },
    Proposer {
        /// 0 before the first.
        ballot: u32,
        /// Who has promised, a bit for each, and the latest vote that they told of.
        promises: u32,
        latest: Option<Vote>,
        /// Who has accepted, a bit for each.
        accepts: u32,
        chosen: Option<usize>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Msg {
    /// A proposer is to begin a new ballot.
    Begin,
    Prepare {
        ballot: u32,
        from: usize,
    },
    Promise {
        ballot: u32,
        from: usize,
        accepted: Option<Vote>,
    },
    Accept {
        vote: Vote,
        from: usize,
    },
    Accepted {
        ballot: u32,
        from: usize,
    },
}

impl Party for Role {
    type State = State;
    type Msg = Msg;

    fn first(&self) -> State {
        match self {
            Role::Acceptor { .. } => State::Acceptor { promised: 0, accepted: None },
            Role::Proposer { .. } => State::Proposer { ballot: 0, promises: 0, latest: None, accepts: 0, chosen: None },
        }
    }

    fn handle(&self, state: &mut State, msg: Msg, post: Post<'_, Msg>) {
        match (self, state) {
            (Role::Acceptor { me }, State::Acceptor { promised, accepted }) => match msg {
                Msg::Prepare { ballot, from } if ballot > *promised => {
                    *promised = ballot;
                    post(from, Msg::Promise { ballot, from: *me, accepted: *accepted });
                }
                Msg::Accept { vote, from } if vote.0 >= *promised => {
                    (*promised, *accepted) = (vote.0, Some(vote));
                    post(from, Msg::Accepted { ballot: vote.0, from: *me });
                }
                _ => {}
            },
            (Role::Proposer { me }, state) => propose(*me, state, msg, post),
            _ => unreachable!("an acceptor has an acceptor's state"),
        }
    }
}

fn is_majority(votes: u32) -> bool {
    votes.count_ones() as usize == ACCEPTORS / 2 + 1
}

fn propose(me: usize, state: &mut State, msg: Msg, post: Post<'_, Msg>) {
    let State::Proposer { ballot, promises, latest, accepts, chosen } = state else {
        unreachable!("a proposer has a proposer's state")
    };
    match msg {
        Msg::Begin if chosen.is_none() => {
            // Nobody else has a ballot with this remainder.
            *ballot = if *ballot == 0 { me as u32 } else { *ballot + 10 };
            (*promises, *latest, *accepts) = (0, None, 0);
            (0..ACCEPTORS).for_each(|to| post(to, Msg::Prepare { ballot: *ballot, from: me }));
        }
        Msg::Promise { ballot: of, from, accepted } if of == *ballot && promises.count_ones() < 2 => {
            *promises |= 1 << from;
            *latest = (*latest).max(accepted);
            if is_majority(*promises) {
                let vote = (*ballot, latest.map_or(me, |(_, value)| value));
                *latest = Some(vote);
                (0..ACCEPTORS).for_each(|to| post(to, Msg::Accept { vote, from: me }));
            }
        }
        Msg::Accepted { ballot: of, from } if of == *ballot && chosen.is_none() => {
            *accepts |= 1 << from;
            if is_majority(*accepts) {
                *chosen = latest.map(|(_, value)| value);
            }
        }
        _ => {}
    }
}

/// With two proposers, which begin so many ballots each.
pub fn cast(ballots: [usize; 2]) -> Cast<Role> {
    let acceptors = (0..ACCEPTORS).map(|me| Role::Acceptor { me });
    let proposers = [ACCEPTORS, ACCEPTORS + 1].map(|me| Role::Proposer { me });
    let begin = |(at, ballots)| (0..ballots).map(move |_| (ACCEPTORS + at, Msg::Begin));
    Cast {
        parties: acceptors.chain(proposers).collect(),
        first: ballots.into_iter().enumerate().flat_map(begin).collect(),
        holds: agreed,
    }
}

/// Nobody takes two values to be chosen.
fn agreed(states: &mut dyn Iterator<Item = &State>) -> bool {
    let mut values = states.filter_map(|state| match state {
        State::Proposer { chosen, .. } => *chosen,
        State::Acceptor { .. } => None,
    });
    let first = values.next();
    values.all(|value| Some(value) == first)
}
