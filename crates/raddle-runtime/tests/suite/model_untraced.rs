//! Compares untraced runs of models, in which nothing is listed, named or hashed, with traced ones. Both must do the same.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use raddle_engine::rng::Rng;
use raddle_engine::search::{Limits, Report, search};
use raddle_engine::strategy::Strategy;
use raddle_runtime::actor::{Actor, Address, Context, Delivery, Faults, Monitor, Timer};
use raddle_runtime::model::Model;
use raddle_strategies::samplers::pct::Pct;
use raddle_strategies::samplers::random::Random;
use raddle_strategies::samplers::round_robin::RoundRobin;
use raddle_strategies::watched::Watched;

use crate::model::ORDERS;

/// What an actor does with a message.
#[derive(Clone, Debug, Hash)]
enum Do {
    Send(usize, Vec<Do>),
    Create(Vec<Do>),
    Timer(Vec<Do>),
    Cancel,
    Choose(u32),
    Announce,
    Become,
    Unhandled,
    Stop,
    Panic,
}

#[derive(Clone, Hash)]
struct Msg(Vec<Do>, Vec<Address<Msg>>);

#[derive(Clone, Hash)]
struct Node {
    who: usize,
    sum: u64,
    timer: Option<Timer>,
}

impl Actor for Node {
    type Msg = Msg;

    fn handle(&mut self, Msg(jobs, nodes): Msg, ctx: &mut Context<'_, Msg>) {
        for job in jobs {
            self.sum = self.sum.wrapping_mul(31).wrapping_add(self.who as u64 + 1);
            match job {
                Do::Send(to, jobs) => ctx.send(&nodes[to], Msg(jobs, nodes.clone())),
                Do::Create(jobs) => {
                    let child = ctx.spawn(Node { who: self.who + 10, sum: 0, timer: None });
                    ctx.send(&child, Msg(jobs, nodes.clone()));
                }
                Do::Timer(jobs) => self.timer = Some(ctx.after(Duration::from_secs(1), Msg(jobs, nodes.clone()))),
                Do::Cancel => self.timer.take().into_iter().for_each(|timer| ctx.cancel(timer)),
                Do::Choose(n) => self.sum += u64::from(ctx.choose(n)),
                Do::Announce => ctx.announce(Said(self.sum)),
                Do::Become => ctx.becomes("another"),
                Do::Unhandled => ctx.unhandled(Msg(Vec::new(), Vec::new())),
                Do::Stop => ctx.stop(),
                Do::Panic => panic!("{} panics", self.who),
            }
        }
    }
}

struct Said(u64);

/// Rejects some events.
#[derive(Clone, Hash)]
struct Listener(u64);

impl Monitor for Listener {
    type Event = Said;

    fn observe(&mut self, said: &Said) -> Result<(), String> {
        self.0 = self.0.wrapping_mul(7).wrapping_add(said.0);
        if self.0 % 11 == 3 { Err("this was not to be heard".to_owned()) } else { Ok(()) }
    }
}

const ACTORS: u32 = 4;

fn jobs(rng: &mut Rng, deep: u32) -> Vec<Do> {
    let many = if deep == 0 { 0 } else { rng.below(4) };
    let job = |rng: &mut Rng| match rng.below(26) {
        0..14 => Do::Send(rng.below(ACTORS) as usize, jobs(rng, deep - 1)),
        14 => Do::Create(jobs(rng, deep - 1)),
        15 => Do::Timer(jobs(rng, deep - 1)),
        16 => Do::Cancel,
        17..20 => Do::Choose(2 + rng.below(2)),
        20 => Do::Announce,
        21 => Do::Become,
        22 => Do::Unhandled,
        23 => Do::Stop,
        _ => Do::Panic,
    };
    (0..many).map(|_| job(rng)).collect()
}

/// The final states of executions.
pub type Log = Rc<RefCell<Vec<u64>>>;

fn model(seed: u64, delivery: Delivery, faults: Faults, log: &Log) -> Model {
    let mut rng = Rng::new(seed);
    let strict = rng.below(4);
    let model = Model::new(|m| {
        m.delivery(delivery);
        m.faults(faults);
        m.restart(rng.below(3));
        m.fail_on_dead_letters(rng.below(4) == 0);
        m.fail_on_unhandled(rng.below(4) == 0);
        m.monitor(Listener(0));
        let make = |who| move || Node { who, sum: 0, timer: None };
        let nodes: Vec<_> = (0..ACTORS as usize).map(|who| m.spawn_with(make(who))).collect();
        m.may_crash(&nodes[0]);
        for _ in 0..2 + rng.below(4) {
            let to = rng.below(ACTORS) as usize;
            m.send(&nodes[to], Msg(jobs(&mut rng, 4), nodes.clone()));
        }
    });
    let log = Rc::clone(log);
    let model = if strict == 0 {
        model.always(|state| assert!(state.actors::<Node>().all(|node| node.sum % 13 != 5), "a state that must not be"))
    } else {
        model
    };
    model.finally(move |state| {
        let ends = state.actors::<Node>().fold(7_u64, |hash, node| hash.wrapping_mul(131).wrapping_add(node.sum));
        log.borrow_mut().push(ends ^ u64::from(state.dead_letters()) << 40 ^ u64::from(state.unhandled()) << 50);
    })
}

fn walk(seed: u64, delivery: Delivery, faults: Faults, seen: bool) -> (Report, Vec<u64>) {
    let mut strategy: Box<dyn Strategy> = match seed % 8 {
        3 => Box::new(Pct::new(seed, 3)),
        5 => Box::new(RoundRobin::new()),
        _ => Box::new(Random::new(seed)),
    };
    if seen {
        strategy = looked_at(strategy);
    }
    let log = Log::default();
    let limits = Limits { executions: Some(25), keep_going: true, steps: 60, ..Limits::default() };
    let report = search(&mut model(seed, delivery, faults, &log), &mut *strategy, &limits);
    (report, log.take())
}

/// The same walks, traced.
pub fn looked_at(strategy: Box<dyn Strategy>) -> Box<dyn Strategy> {
    Box::new(Watched::new(strategy, |_: &mut dyn Strategy, _: &_| ()))
}

/// Checks that untraced walks have the same final states as traced ones.
#[track_caller]
pub fn assert_same_walks((blind, log): &(Report, Vec<u64>), (seen, expected): &(Report, Vec<u64>), case: &str) {
    assert_eq!(log, expected, "{case}");
    let counts = |r: &Report| (r.executions, r.failing, r.steps, r.longest);
    assert_eq!(counts(blind), counts(seen), "{case}");
    let found = |report: &Report| report.found.as_ref().map(|found| format!("{found:?}"));
    assert_eq!(found(blind), found(seen), "{case}");
}

/// Compares. Returns how many executions failed, and in how many different states they ended.
fn compare(seeds: std::ops::Range<u64>, faults: Faults) -> (u64, usize) {
    let (mut failing, mut ends) = (0, 0);
    for (seed, delivery) in seeds.flat_map(|seed| ORDERS.map(|delivery| (seed, delivery))) {
        let case = format!("seed {seed}, {delivery:?}, {faults:?}");
        let [blind, seen] = [false, true].map(|seen| walk(seed, delivery, faults, seen));
        assert_same_walks(&blind, &seen, &case);
        failing += seen.0.failing;
        ends += seen.1.iter().collect::<std::collections::HashSet<_>>().len();
    }
    (failing, ends)
}

#[test]
fn untraced_walks_through_models_are_like_traced_ones() {
    let (failing, ends) = compare(0..150, Faults::default());
    assert!(failing > 1_000 && ends > 1_000, "{failing} failed, and there were {ends} ends");
}

#[test]
fn untraced_walks_with_faults_are_like_traced_ones() {
    let (failing, ends) = compare(1_000..1_060, Faults { drop: 1, duplicate: 1, delay: 1, crash: 1 });
    assert!(failing > 300 && ends > 300, "{failing} failed, and there were {ends} ends");
}

#[test]
#[ignore = "a minute in release builds"]
fn many_walks_through_models_go_the_same_way() {
    compare(10_000..20_000, Faults::default());
    compare(20_000..22_000, Faults { drop: 1, duplicate: 1, delay: 1, crash: 1 });
}
