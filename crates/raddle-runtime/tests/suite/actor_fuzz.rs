//! Generated programs of actors that send, ask, create, change, stop and announce. Reduction must reach every end, and every order of
//! receives and announcements, that the search of all orders reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use raddle_engine::outcome::Failure;
use raddle_engine::rng::Rng;
use raddle_engine::search::{Ended, Limits, Report};
use raddle_engine::strategy::{Run, Strategy};
use raddle_runtime::actor::{Actor, Address, Context, Delivery, Faults, Monitor, ReplyTo, System};
use raddle_runtime::threads::Settings;

use raddle_strategies::tree::exhaustive::Exhaustive;
use raddle_strategies::watched::Watched;

use crate::explore::run_with;
use crate::model::ORDERS;

/// What an actor does with a message.
#[derive(Clone, Debug)]
enum Do {
    Send(usize, Vec<Do>),
    Ask(usize),
    Create(Vec<Do>),
    Become,
    Stop,
    Announce(u32),
    /// Fails if that many messages were handled.
    Assert(u32),
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
                Do::Send(to, jobs) => ctx.send(&peers[to], Msg::Do(jobs, peers.clone())),
                // An actor that asks itself gets an error, which is no order.
                Do::Ask(whom) if peers[whom] == ctx.me() => {}
                Do::Ask(whom) => {
                    ctx.ask(&peers[whom], Msg::Question);
                }
                Do::Create(jobs) => {
                    let child = ctx.spawn(Node::default());
                    ctx.send(&child, Msg::Do(jobs, peers.clone()));
                }
                Do::Become => ctx.becomes("another"),
                Do::Stop => ctx.stop(),
                Do::Announce(n) => ctx.announce((n, self.handled)),
                Do::Assert(n) => assert!(self.handled != n, "{n} were handled"),
            }
        }
    }
}

/// Records what is announced.
struct Announced(Arc<Mutex<Vec<(u32, u32)>>>);

impl Monitor for Announced {
    type Event = (u32, u32);

    fn observe(&mut self, event: &(u32, u32)) -> Result<(), String> {
        self.0.lock().unwrap().push(*event);
        Ok(())
    }
}

const ACTORS: u32 = 3;

/// With `asserts`, many of the programs fail in some orders.
fn jobs(rng: &mut Rng, depth: u32, asserts: bool) -> Vec<Do> {
    let many = if depth == 0 { 0 } else { 1 + rng.below(2) };
    let job = |rng: &mut Rng| match rng.below(if asserts { 15 } else { 12 }) {
        0..5 => Do::Send(rng.below(ACTORS) as usize, jobs(rng, depth - 1, asserts)),
        5..7 => Do::Ask(rng.below(ACTORS) as usize),
        7 => Do::Create(jobs(rng, depth - 1, asserts)),
        8 => Do::Become,
        9 => Do::Stop,
        12.. => Do::Assert(1 + rng.below(3)),
        _ => Do::Announce(rng.below(3)),
    };
    (0..many).map(|_| job(rng)).collect()
}

/// An execution: what each actor received in which order, what was announced, and how it ended.
type Went = (BTreeMap<u64, Vec<(u64, u64)>>, Vec<(u32, u32)>, String);

/// The same, of a complete execution.
fn went(run: &Run<'_>, announced: &Mutex<Vec<(u32, u32)>>) -> Option<Went> {
    let outcome = run.outcome?;
    let mut received: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    for receipt in run.trace.receipts() {
        let message = if receipt.reply { 0 } else { receipt.message };
        received.entry(receipt.receiver).or_default().push((receipt.sender, message));
    }
    let announced = announced.lock().unwrap().clone();
    Some(match outcome.failure() {
        // A panic ends the execution. The progress of the other actors at that time is ignored.
        Some(Failure::Panic { message, .. }) => (BTreeMap::new(), Vec::new(), message.clone()),
        Some(failure) => (received, announced, failure.kind().to_owned()),
        None => (received, announced, "well".to_owned()),
    })
}

fn search<S: Strategy + 'static>(
    (seed, delivery, faults, asserts): (u64, Delivery, Faults, bool),
    strategy: S,
    executions: u64,
) -> (Report, BTreeSet<Went>) {
    let announced = Arc::<Mutex<_>>::default();
    let (mut ways, seen) = (BTreeSet::new(), announced.clone());
    let watch = |_: &mut dyn Strategy, run: &Run<'_>| ways.extend(went(run, &seen));
    let mut watched = Watched::new(Box::new(strategy), watch);
    let limits = Limits { executions: Some(executions), keep_going: true, ..Limits::default() };
    let report = run_with(&Settings::default(), &mut watched, limits, move || {
        announced.lock().unwrap().clear();
        let mut rng = Rng::new(seed);
        let system = System::new().delivery(delivery).faults(faults).monitor(Announced(announced.clone()));
        let nodes: Vec<_> = (0..ACTORS).map(|_| system.spawn_with(Node::default)).collect();
        system.may_crash(&nodes[0]);
        for _ in 0..2 + rng.below(2) {
            let to = rng.below(ACTORS) as usize;
            nodes[to].send(Msg::Do(jobs(&mut rng, 3, asserts), nodes.clone()));
        }
        system.run_until_quiet();
    });
    drop(watched);
    (report, ways)
}

/// Compares reduction with the search of all orders on generated programs. Returns how many were small enough, and how many of these failed
/// in some order.
fn compare(seeds: impl Iterator<Item = u64>, most: u64, faults: Faults, asserts: bool) -> (u32, u32) {
    let (mut compared, mut failing) = (0, 0);
    for program in seeds.flat_map(|seed| ORDERS.map(|delivery| (seed, delivery, faults, asserts))) {
        let (report, all) = search(program, Exhaustive::depth_first(), most);
        if !matches!(report.ended, Ended::Done(_)) {
            continue;
        }
        let delivery = program.1;
        for dpor in crate::traces::ALGORITHMS.map(|make| make()) {
            let name = dpor.needs().name;
            let (reduced, seen) = search(program, dpor, most);
            if reduced.caveats.reduction_unproven > 0 {
                assert!(faults != Faults::default() && !reduced.verified(), "{program:?}, {name}: {reduced:?}");
                if faults.crash > 0 {
                    continue;
                }
            }
            assert!(seen == all, "{program:?}, {name}: {} of {} ways", seen.len(), all.len());
            // If messages may be delayed, what a receive takes depends on what was sent since, and some traces are run more than once.
            let once = delivery != Delivery::Arrival || faults.delay == 0;
            assert!(!once || reduced.executions <= report.executions, "{program:?}, {name}");
        }
        compared += 1;
        failing += u32::from(report.failing > 0);
    }
    (compared, failing)
}

#[test]
fn reduction_misses_nothing_of_generated_programs() {
    let (compared, failing) = compare(0..100, 400, Faults::default(), false);
    assert!(compared > 50 && failing > 0, "{compared} compared, {failing} of them with a failure");
}

/// An earlier reduction did not continue after a failure, and lost orders of these programs.
#[test]
fn reduction_misses_nothing_where_executions_fail() {
    let (compared, failing) = compare(100..180, 400, Faults::default(), true);
    assert!(compared > 100 && failing > 50, "{compared} compared, {failing} of them with a failure");
    let (compared, _) = compare([38, 107, 130, 158].into_iter(), 1_500, Faults::default(), false);
    assert!(compared > 8, "{compared} compared");
}

#[test]
fn reduction_misses_nothing_of_faults_or_claims_nothing() {
    for faults in [
        Faults { drop: 1, ..Faults::default() },
        Faults { delay: 1, ..Faults::default() },
        Faults { crash: 1, ..Faults::default() },
    ] {
        let (compared, _) = compare(100..110, 300, faults, false);
        assert!(compared > 10, "{faults:?}: {compared} compared");
    }
    // A receive of a delayed message shows that no other message came after it.
    let (compared, _) = compare([1_517].into_iter(), 1_000, Faults { drop: 1, delay: 1, ..Faults::default() }, false);
    assert!(compared > 0, "the program is small enough");
}

#[test]
#[ignore = "minutes, and for release builds"]
fn reduction_misses_nothing_of_many_generated_programs() {
    let (compared, failing) = compare(1_000..1_500, 5_000, Faults::default(), false);
    assert!(compared > 1_000 && failing > 100, "{compared} compared, {failing} of them with a failure");
    let (compared, failing) = compare(1_000..1_500, 5_000, Faults::default(), true);
    assert!(compared > 1_000 && failing > 500, "{compared} compared, {failing} of them with a failure");
    let faults = Faults { drop: 1, delay: 1, ..Faults::default() };
    let (compared, failing) = compare(1_500..1_600, 5_000, faults, false);
    assert!(compared > 100 && failing > 10, "{compared} compared, {failing} of them with a failure");
}
