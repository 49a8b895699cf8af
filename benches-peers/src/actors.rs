//! What a step of an actor costs: a handler that does nothing but pass a message on, or nothing at all, beside the same handler
//! called directly and beside a step of a thread.

#[cfg(feature = "raddle")]
pub use measured::{ACTORS, compare};

/// Built without Raddle, there is nothing to measure.
#[cfg(not(feature = "raddle"))]
pub const ACTORS: [Crowd; 0] = [];

/// Actors in a ring, and as many messages that go round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowd(pub usize);

impl std::fmt::Display for Crowd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "actors ring-{}", self.0)
    }
}

#[cfg(not(feature = "raddle"))]
pub fn compare(_: Crowd, _: &crate::measure::Effort, _: impl FnMut(crate::experiment::Comparison)) {}

#[cfg(feature = "raddle")]
mod measured {
    use std::hint::black_box;

    use raddle::actor::{Actor, Address, Context, Delivery, System};

    use super::Crowd;
    use crate::experiment::{Comparison, Metric};
    use crate::measure::Effort;
    use crate::process;
    use crate::states;

    /// The sizes that are measured.
    pub const ACTORS: [Crowd; 3] = [Crowd(2), Crowd(8), Crowd(100)];

    /// Steps of one measurement.
    const STEPS: usize = 1_000_000;

    struct Node(Option<Address<Ball>>);

    enum Ball {
        Next(Address<Ball>),
        Hops(u32),
    }

    impl Actor for Node {
        type Msg = Ball;

        fn handle(&mut self, msg: Ball, ctx: &mut Context<'_, Ball>) {
            match (msg, &self.0) {
                (Ball::Next(next), _) => self.0 = Some(next),
                (Ball::Hops(left @ 1..), Some(next)) => ctx.send(next, Ball::Hops(left - 1)),
                (Ball::Hops(_), _) => {}
            }
        }
    }

    fn ring(actors: usize, hops: u32, delivery: Delivery) {
        let system = System::new().delivery(delivery);
        let nodes: Vec<_> = (0..actors).map(|_| system.spawn(Node(None))).collect();
        for (at, node) in nodes.iter().enumerate() {
            node.send(Ball::Next(nodes[(at + 1) % actors].clone()));
        }
        system.run_until_quiet();
        nodes.iter().for_each(|node| node.send(Ball::Hops(hops)));
        system.run_until_quiet();
    }

    /// CPU time of one step, in ns: the difference of a long and a short way round, each the lowest of several. What it takes to begin, which
    /// for many actors is a stack of memory for each, is not what is asked for.
    fn of_one_step(effort: &Effort, Crowd(actors): Crowd, run: impl Fn(u32)) -> f64 {
        let lowest = |hops: usize| {
            let once = || {
                let start = process::cpu_time();
                run(hops as u32);
                (process::cpu_time() - start).as_secs_f64() * 1e9
            };
            std::iter::repeat_with(once).take(effort.rounds as usize).fold(f64::INFINITY, f64::min)
        };
        let [short, long] = [STEPS / 5 / actors, STEPS / actors];
        (lowest(long) - lowest(short)) / ((long - short) * actors) as f64
    }

    fn on_raddle(effort: &Effort, Crowd(actors): Crowd, delivery: Delivery) -> f64 {
        of_one_step(effort, Crowd(actors), |hops| {
            let report = raddle::Explorer::new()
                .strategy("random")
                .executions(1)
                .steps(u32::MAX)
                .workers(1)
                .run(move || ring(actors, hops, delivery));
            assert!(report.failure().is_none(), "raddle reports a failure of a ring, which has none");
        })
    }

    /// The same ring as a model, with messages in any order.
    fn as_model(effort: &Effort, Crowd(actors): Crowd) -> f64 {
        of_one_step(effort, Crowd(actors), |hops| states::ring(actors, hops))
    }

    /// What the handlers do, without actors.
    fn directly(effort: &Effort, Crowd(actors): Crowd) -> f64 {
        of_one_step(effort, Crowd(actors), |hops| {
            let mut queue = std::collections::VecDeque::from(vec![hops; actors]);
            while let Some(left) = queue.pop_front() {
                if black_box(left) > 0 {
                    queue.push_back(left - 1);
                }
            }
        })
    }

    /// Shows what a message costs that is received, handled and passed on, by delivery order.
    pub fn compare(crowd: Crowd, effort: &Effort, mut show: impl FnMut(Comparison)) {
        let columns: &[&str] = &["arrival", "per sender", "unordered", "causal", "model", "no actors"];
        let orders = [Delivery::Arrival, Delivery::PerSender, Delivery::Unordered, Delivery::Causal];
        let mut figures: Vec<_> = orders.map(|order| Ok(on_raddle(effort, crowd, order))).into();
        figures.push(Ok(as_model(effort, crowd)));
        figures.push(Ok(directly(effort, crowd)));
        show(Comparison { program: crowd.to_string(), metric: Metric::NsPerStep, columns, figures });
    }
}
