//! The cost of a step while many messages wait, in models and for actors that are tasks.
//!
//! The tests compare the CPU time of the thread that takes the steps, so other load on the machine does not matter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use cpu_time::ThreadTime;
use raddle_engine::search::{Limits, search};
use raddle_engine::system::{Choice, Program, Snapshots, System as _};
use raddle_engine::trace::Trace;
use raddle_runtime::actor::{Actor, Context, Delivery, System};
use raddle_runtime::model::Model;
use raddle_runtime::threads::Settings;
use raddle_strategies::samplers::random::Random;

use crate::explore::run_with;
use crate::model::ORDERS;

/// For each message that it receives, sends one to itself.
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

/// The time of some steps, with a copy before each, while so many messages wait.
fn time_of_steps(delivery: Delivery, waiting: u64) -> Duration {
    let mut model = Model::new(|m| {
        m.delivery(delivery);
        let keeps = m.spawn(Keeps(0));
        (0..waiting).for_each(|n| m.send(&keeps, n));
    });
    let mut trace = Trace::default();
    let mut run = model.start(0, &mut trace);
    let begun = ThreadTime::now();
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

/// If only the first message of each sender can be received, a step costs the same however many wait. The margin is for caches: if
/// each step looked at every message, the factor would be at least 100.
#[test]
fn a_step_costs_the_same_however_many_wait() {
    for delivery in [Delivery::PerSender, Delivery::Causal, Delivery::Arrival] {
        let few = (0..5).map(|_| time_of_steps(delivery, 100)).min().expect("there are five");
        let many = (0..5).map(|_| time_of_steps(delivery, 10_000)).min().expect("there are five");
        assert!(many < 20 * few, "{delivery:?}: {few:?} and {many:?}");
    }
}

/// Receives, and does nothing else.
#[derive(Clone, Hash)]
struct Reads;

impl Actor for Reads {
    type Msg = u64;

    fn handle(&mut self, _: u64, _: &mut Context<'_, u64>) {}
}

/// A few untraced executions of up to so many steps.
fn untraced(waiting: u64) -> (Random, Limits) {
    let steps = 4 * waiting as u32;
    (Random::new(7), Limits { executions: Some(3), keep_going: true, repeats: false, steps, ..Limits::default() })
}

/// The time to receive one of so many messages.
fn time_in_models(delivery: Delivery, waiting: u64) -> Duration {
    let mut model = Model::new(|m| {
        m.delivery(delivery);
        let reads = m.spawn(Reads);
        (0..waiting).for_each(|n| m.send(&reads, n));
    });
    let (mut strategy, limits) = untraced(waiting);
    let begun = ThreadTime::now();
    assert_eq!(search(&mut model, &mut strategy, &limits).executions, 3);
    begun.elapsed() / waiting as u32
}

fn time_with_actors(delivery: Delivery, waiting: u64) -> Duration {
    let (mut strategy, limits) = untraced(waiting);
    let nanos = Arc::new(AtomicU64::new(0));
    let spent = nanos.clone();
    let report = run_with(&Settings::default(), &mut strategy, limits, move || {
        // All tasks of an execution run on one thread.
        let begun = ThreadTime::now();
        let system = System::new().delivery(delivery);
        let reads = system.spawn(Reads);
        (0..waiting).for_each(|n| reads.send(n));
        system.run_until_quiet();
        spent.fetch_add(begun.elapsed().as_nanos() as u64, Relaxed);
    });
    assert_eq!(report.executions, 3);
    Duration::from_nanos(nanos.load(Relaxed) / waiting)
}

/// In untraced runs this holds for every delivery order. The margin is as above.
#[test]
fn a_receive_costs_the_same_however_many_wait() {
    let compare = |what: &str, delivery, time: fn(Delivery, u64) -> Duration| {
        let few = (0..5).map(|_| time(delivery, 100)).min().expect("there are five");
        let many = (0..3).map(|_| time(delivery, 10_000)).min().expect("there are three");
        assert!(many < 20 * few, "{what}, {delivery:?}: {few:?} and {many:?}");
    };
    for delivery in ORDERS {
        compare("models", delivery, time_in_models);
        // Without an order, debug builds list all messages that can be received at each step, to compare them with the count.
        if delivery != Delivery::Unordered || !cfg!(debug_assertions) {
            compare("actors", delivery, time_with_actors);
        }
    }
}
