//! A protocol as a model of stateright's.

use super::party::{Cast, Party};
use stateright::actor::{Actor, ActorModel, Envelope, Id, Network, Out};
use stateright::{Checker, CheckerBuilder, Expectation, Model};
use std::borrow::Cow;

#[derive(Clone)]
struct Member<P>(P);

impl<P: Party> Actor for Member<P> {
    type Msg = P::Msg;
    type State = P::State;
    type Timer = ();
    type Random = ();
    type Storage = ();

    fn on_start(&self, _: Id, _: &Option<()>, _: &mut Out<Self>) -> P::State {
        self.0.first()
    }

    fn on_msg(&self, _: Id, state: &mut Cow<'_, P::State>, _: Id, msg: P::Msg, out: &mut Out<Self>) {
        // Owned even if nothing changes: a delivery that borrows and sends nothing is no step there, and the message stays.
        self.0.handle(state.to_mut(), msg, &mut |to, msg| out.send(Id::from(to), msg));
    }
}

type Builder<P> = CheckerBuilder<ActorModel<Member<P>, fn(&mut dyn Iterator<Item = &<P as Party>::State>) -> bool>>;

fn builder<P: Party>(cast: Cast<P>) -> Builder<P> {
    let envelope = |(to, msg)| Envelope { src: Id::from(to), dst: Id::from(to), msg };
    let network = Network::new_unordered_nonduplicating(cast.first.into_iter().map(envelope));
    ActorModel::new(cast.holds, ())
        .actors(cast.parties.into_iter().map(Member))
        .init_network(network)
        .property(Expectation::Always, "holds", |model, state| {
            (model.cfg)(&mut state.actor_states.iter().map(|state| &**state))
        })
        .checker()
        .threads(1)
}

fn counted<M>(checker: impl Checker<M>) -> u64
where
    M: Model<State: Clone + PartialEq, Action: Clone + PartialEq>,
{
    let checker = checker.join();
    assert!(checker.discoveries().is_empty(), "stateright finds a fault in a protocol that has none");
    checker.unique_state_count() as u64
}

/// Searches all states depth-first; how many there are.
pub fn depth_first<P: Party>(cast: Cast<P>) -> u64 {
    counted(builder(cast).spawn_dfs())
}

/// Searches all states breadth-first; how many there are.
pub fn breadth_first<P: Party>(cast: Cast<P>) -> u64 {
    counted(builder(cast).spawn_bfs())
}
