//! A protocol as a model of Raddle's.

use super::party::{Cast, Party};
use super::ping_pong;
use raddle_engine::search::{Limits, Report, search};
use raddle_engine::strategy::Strategy;
use raddle_runtime::actor::{Actor, Address, Context, Delivery};
use raddle_runtime::model::Model;
use raddle_strategies::samplers::random::Random;
use raddle_strategies::states::delay::{Delay, RoundRobin};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

struct Member<P: Party> {
    party: P,
    state: P::State,
    everybody: Arc<OnceLock<Vec<Address<P::Msg>>>>,
}

impl<P: Party> Clone for Member<P> {
    fn clone(&self) -> Self {
        Self { party: self.party.clone(), state: self.state.clone(), everybody: Arc::clone(&self.everybody) }
    }
}

/// The rest never changes.
impl<P: Party> Hash for Member<P> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.state.hash(hasher);
    }
}

impl<P: Party> Actor for Member<P> {
    type Msg = P::Msg;

    fn handle(&mut self, msg: P::Msg, ctx: &mut Context<'_, P::Msg>) {
        let everybody = self.everybody.get().expect("all are there before the first message");
        self.party.handle(&mut self.state, msg, &mut |to, msg| ctx.send(&everybody[to], msg));
    }
}

/// The protocol as a model, with what must always hold in it.
pub fn model<P: Party>(cast: Cast<P>) -> Model {
    let holds = cast.holds;
    unchecked(cast).always(move |view| assert!(holds(&mut view.actors::<Member<P>>().map(|member| &member.state))))
}

/// The same without.
fn unchecked<P: Party>(cast: Cast<P>) -> Model {
    Model::new(|m| {
        m.delivery(Delivery::Unordered);
        let everybody = Arc::new(OnceLock::new());
        let spawn = |party: P| m.spawn(Member { state: party.first(), party, everybody: Arc::clone(&everybody) });
        let addresses: Vec<_> = cast.parties.into_iter().map(spawn).collect();
        cast.first.into_iter().for_each(|(to, msg)| m.send(&addresses[to], msg));
        everybody.set(addresses).expect("nobody else sets it");
    })
}

/// All states, those first that take few deviations from taking turns.
pub fn by_strata() -> Delay<RoundRobin> {
    Delay::new(RoundRobin::default())
}

/// Searches all states; how many there are.
pub fn count<P: Party>(cast: Cast<P>, strategy: &mut dyn Strategy) -> u64 {
    let limits = Limits { steps: u32::MAX, ..Limits::default() };
    let report: Report = search(&mut model(cast), strategy, &limits);
    assert!(report.verified(), "raddle does not verify a protocol that has no fault: {:?}", report.found);
    report.states
}

/// One execution, under `random`, of a ring in which as many messages go round as there are actors.
pub fn ring(actors: usize, hops: u32) {
    let limits = Limits { executions: Some(1), steps: u32::MAX, ..Limits::default() };
    let mut model = unchecked(ping_pong::ring(actors, hops));
    let report = search(&mut model, &mut Random::new(1), &limits);
    assert!(report.found.is_none(), "raddle reports a failure of a ring, which has none");
}
