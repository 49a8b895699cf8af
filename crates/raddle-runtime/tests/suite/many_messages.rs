//! What a step of a model costs while many messages wait.

use std::time::{Duration, Instant};

use raddle_engine::system::{Choice, Program, Snapshots, System};
use raddle_engine::trace::Trace;
use raddle_runtime::actor::{Actor, Context, Delivery};
use raddle_runtime::model::Model;

/// Sends itself a message for each that it receives.
#[derive(Clone, Hash)]
struct Keeps(u64);

impl Actor for Keeps {
    type Msg = u64;

    fn handle(&mut self, n: u64, context: &mut Context<'_, u64>) {
        self.0 = (self.0 + n) % 7;
        let me = context.me();
        context.send(&me, n + 1);
    }
}

/// What some steps take, with a copy before each, while so many messages wait.
fn time_of_steps(delivery: Delivery, waiting: u64) -> Duration {
    let mut model = Model::new(|m| {
        m.delivery(delivery);
        let keeps = m.spawn(Keeps(0));
        (0..waiting).for_each(|n| m.send(&keeps, n));
    });
    let mut trace = Trace::default();
    let mut run = model.start(0, &mut trace);
    let begun = Instant::now();
    for step in 0..300 {
        let copy = run.fork();
        run.compute_enabled();
        let choice = Choice(step % run.point().alternatives());
        run.peek(choice, &trace);
        run.step(choice, &mut trace);
        assert!(run.fingerprint().is_some() && copy.fingerprint().is_some());
    }
    begun.elapsed()
}

/// Where only the first message of each sender can be received, a step costs the same however many wait behind. The margin is for busy
/// machines: if each message were looked at, the factor would be 100 at least.
#[test]
fn a_step_costs_the_same_however_many_wait() {
    for delivery in [Delivery::PerSender, Delivery::Arrival] {
        let few = (0..5).map(|_| time_of_steps(delivery, 100)).min().expect("there are five");
        let many = (0..5).map(|_| time_of_steps(delivery, 10_000)).min().expect("there are five");
        assert!(many < 20 * few, "{delivery:?}: {few:?} and {many:?}");
    }
}
