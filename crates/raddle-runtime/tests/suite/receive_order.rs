//! Schedules generated for orders of receives, on generated programs of actors. Each can be followed, achieves its goal, and adds a goal.
//! The goals are computed here from their definition.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use raddle_engine::coverage::{Coverage, Criterion, Name, forecast};
use raddle_engine::rng::Rng;
use raddle_engine::search::{Limits, Report, Search};
use raddle_engine::strategy::{After, Decision, Needs, Next, Run, Strategy};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;
use raddle_runtime::actor::{Actor, Address, Context, Delivery, ReplyTo, System};
use raddle_runtime::threads::{Settings, Threads};
use raddle_strategies::receives::{ReceiveOrder, ScheduleCounts as Counts};
use raddle_strategies::samplers::random::Random;
use raddle_strategies::watched::Watched;

use crate::explore::run_with;
use crate::model::ORDERS;
use crate::seeds::seeds;

/// What an actor does with a message.
#[derive(Clone, Debug)]
enum Do {
    Send(usize, Vec<Do>),
    /// Only if the number of messages it has handled is even.
    SendIfEven(usize, Vec<Do>),
    Ask(usize),
    Create(Vec<Do>),
    Become,
    Stop,
}

enum Msg {
    Do(Vec<Do>, Vec<Address<Msg>>),
    Question(ReplyTo<u32>),
}

#[derive(Default)]
struct Node {
    handled: u32,
}

impl Actor for Node {
    type Msg = Msg;

    fn handle(&mut self, msg: Msg, ctx: &mut Context<'_, Msg>) {
        self.handled += 1;
        let (jobs, peers) = match msg {
            Msg::Do(jobs, peers) => (jobs, peers),
            Msg::Question(reply) => return reply.reply(self.handled),
        };
        for job in jobs {
            match job {
                Do::SendIfEven(..) if self.handled % 2 == 1 => {}
                Do::Send(to, jobs) | Do::SendIfEven(to, jobs) => ctx.send(&peers[to], Msg::Do(jobs, peers.clone())),
                Do::Ask(whom) if peers[whom] == ctx.me() => {}
                Do::Ask(whom) => drop(ctx.ask(&peers[whom], Msg::Question)),
                Do::Create(jobs) => {
                    let child = ctx.spawn(Node::default());
                    ctx.send(&child, Msg::Do(jobs, peers.clone()));
                }
                Do::Become => ctx.becomes("another"),
                Do::Stop => ctx.stop(),
            }
        }
    }
}

/// What generated programs contain.
#[derive(Clone, Copy)]
struct Kind {
    asks: bool,
    stops: bool,
}

fn jobs(rng: &mut Rng, depth: u32, actors: u32, kind: Kind) -> Vec<Do> {
    let many = if depth == 0 { 0 } else { 1 + rng.below(2) };
    let job = |rng: &mut Rng| match rng.below(12) {
        0..5 => Do::Send(rng.below(actors) as usize, jobs(rng, depth - 1, actors, kind)),
        5..7 => Do::SendIfEven(rng.below(actors) as usize, jobs(rng, depth - 1, actors, kind)),
        // An actor asks only actors with higher numbers, so that no request waits forever.
        7..9 if kind.asks => Do::Ask(actors as usize - 1),
        9 => Do::Create(jobs(rng, depth - 1, actors, kind)),
        10 if kind.stops => Do::Stop,
        _ => Do::Become,
    };
    (0..many).map(|_| job(rng)).collect()
}

type Goal = (Criterion, Name, Name);

/// The goals that an execution achieves, by definition.
fn goals(trace: &Trace) -> BTreeSet<Goal> {
    let mut received: BTreeMap<u64, Vec<(Name, bool)>> = BTreeMap::new();
    let mut seen: BTreeMap<Name, u32> = BTreeMap::new();
    for receipt in trace.receipts().iter().filter(|receipt| !receipt.reply) {
        let mut name = Name::of(receipt);
        let again = seen.entry(name).or_default();
        name.again = *again;
        *again += 1;
        received.entry(receipt.receiver).or_default().push((name, receipt.changed));
    }
    let mut goals = BTreeSet::new();
    for order in received.values() {
        for (i, j) in (0..order.len()).flat_map(|j| (0..j).map(move |i| (i, j))) {
            let (first, second) = (order[i], order[j]);
            goals.insert((Criterion::Pairs, first.0, second.0));
            if j == i + 1 {
                goals.insert((Criterion::Consecutive, first.0, second.0));
            }
            if (first.1 || second.1) && order[i + 1..j].iter().all(|between| !between.1) {
                goals.insert((Criterion::BehaviourChanges, first.0, second.0));
            }
        }
    }
    goals
}

/// The strategy, and the goals that its executions have achieved.
struct Checked {
    inner: ReceiveOrder,
    achieved: BTreeSet<Goal>,
    executions: u64,
    /// Whether every schedule can be followed.
    feasible: bool,
}

impl Strategy for Checked {
    fn needs(&self) -> Needs {
        self.inner.needs()
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        self.inner.begin(prefix)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.inner.choose(at, so_far)
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.inner.end(run);
        let own = goals(run.trace);
        let before = self.achieved.len();
        self.achieved.extend(own.iter().copied());
        let goal = self.inner.goal();
        assert!(goal.is_none() || self.executions > 0, "the first execution is recorded");
        self.executions += 1;
        if self.feasible {
            assert!(self.inner.missed().is_none(), "cannot be followed: {:?} of {goal:?}", self.inner.missed());
            assert!(goal.is_none_or(|goal| own.contains(&goal)), "{goal:?} is not achieved");
            assert!(goal.is_none() || self.achieved.len() > before, "{goal:?} was achieved before");
        }
        After::Next
    }
}

/// The coverage agrees with the definition, with the number of executions that achieved each goal.
#[test]
fn coverage_is_counted_by_the_definition() {
    for (seed, delivery) in (0..10).flat_map(|seed| ORDERS.map(|order| (seed, order))) {
        let mut times: BTreeMap<Goal, u64> = BTreeMap::new();
        let count = |_: &mut dyn Strategy, run: &Run<'_>| {
            goals(run.trace).into_iter().for_each(|goal| *times.entry(goal).or_default() += 1);
        };
        let mut strategy = Watched::new(Box::new(Random::new(seed)), count);
        let limits = Limits { executions: Some(30), ..Limits::default() };
        let coverage = Arc::<Mutex<Coverage>>::default();
        let search = Search::new(&mut strategy, &limits, 1).covering(coverage.clone());
        let mut worker = search.worker(&mut strategy);
        let body = Arc::new(program(seed, delivery, Kind { asks: true, stops: false }));
        let _ = worker.work(&mut Threads::new(body, &Settings::default()));
        let _ = search.close(vec![worker]);
        drop(strategy);
        let coverage = coverage.lock().unwrap();
        assert_eq!(coverage.executions(), 30);
        for criterion in Criterion::ALL {
            let own: BTreeMap<_, _> = times.iter().filter(|(goal, _)| goal.0 == criterion).collect();
            let both = own.keys().filter(|goal| times.contains_key(&(goal.0, goal.2, goal.1))).count() as u64 / 2;
            let seen = |n| own.values().filter(|times| ***times == n).count() as u64;
            let achieved = coverage.achieved(criterion);
            assert_eq!(
                (achieved.goals, achieved.pairs),
                (own.len() as u64, both),
                "seed {seed}, {delivery:?}, {criterion:?}"
            );
            let expected = forecast(30, seen(1), seen(2), 1_000);
            assert!((achieved.expected - expected).abs() < 1e-9, "{} is not {expected}", achieved.expected);
            let last = coverage.growth(criterion).points().last().map(|point| point.1);
            assert_eq!(last.unwrap_or(0), own.len() as u64);
        }
    }
}

fn check(seed: u64, delivery: Delivery, kind: Kind, feasible: bool) -> (Report, Counts, BTreeSet<Goal>) {
    let body = program(seed, delivery, kind);
    let mut checked = Checked { inner: ReceiveOrder::new(seed), achieved: BTreeSet::new(), executions: 0, feasible };
    let limits = Limits { executions: Some(3_000), keep_going: true, ..Limits::default() };
    let report = run_with(&Settings::default(), &mut checked, limits, body);
    (report, checked.inner.counts(), checked.achieved)
}

/// A program in two rounds.
fn program(seed: u64, delivery: Delivery, kind: Kind) -> impl Fn() + Send + Sync + 'static {
    let actors = 2 + Rng::new(seed).below(3);
    move || {
        let mut rng = Rng::new(seed + 1);
        let system = System::new().delivery(delivery);
        let nodes: Vec<_> = (0..actors).map(|_| system.spawn(Node::default())).collect();
        for _ in 0..2 + rng.below(3) {
            let to = rng.below(actors) as usize;
            nodes[to].send(Msg::Do(jobs(&mut rng, 3, actors, kind), nodes.clone()));
        }
        system.run_until_quiet();
        // A second round, after the first is over.
        nodes[0].send(Msg::Do(jobs(&mut rng, 2, actors, kind), nodes.clone()));
        nodes[1].send(Msg::Do(jobs(&mut rng, 2, actors, kind), nodes.clone()));
        system.run_until_quiet();
    }
}

fn check_many(seeds: std::ops::Range<u64>, kind: Kind, feasible: bool) -> Counts {
    let mut all = Counts::default();
    for (seed, delivery) in seeds.flat_map(|seed| ORDERS.map(|order| (seed, order))) {
        // Messages that are received in the order of sending cannot be held back.
        let (report, counts, _) = check(seed, delivery, kind, feasible && delivery != Delivery::Arrival);
        assert!(report.found.is_none(), "seed {seed}, {delivery:?}: {:?}", report.found);
        all.generated += counts.generated;
        all.infeasible += counts.infeasible;
        all.bases += counts.bases;
    }
    all
}

#[test]
fn every_schedule_can_be_followed_and_adds_a_goal() {
    let counts = check_many(0..30, Kind { asks: false, stops: false }, true);
    assert!(counts.generated > 500 && counts.bases > 120, "{counts:?}");
    assert!(counts.infeasible < counts.generated / 20, "{counts:?}");
}

#[test]
fn an_actor_receives_nothing_while_it_waits_for_a_reply() {
    let counts = check_many(0..30, Kind { asks: true, stops: false }, true);
    assert!(counts.generated > 500, "{counts:?}");
}

#[test]
#[ignore = "minutes: thousands of programs"]
fn every_schedule_of_many_programs_can_be_followed() {
    for asks in [false, true] {
        let counts = check_many(seeds(1_000, 1_000), Kind { asks, stops: false }, true);
        assert!(counts.infeasible < counts.generated / 20, "{counts:?}");
    }
}

#[test]
fn schedules_that_cannot_be_followed_are_counted() {
    let counts = check_many(0..30, Kind { asks: false, stops: true }, false);
    assert!(counts.infeasible > 0 && counts.infeasible < counts.generated, "{counts:?}");
}
