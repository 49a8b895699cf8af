//! Searches that continue from snapshots, compared with searches that run every execution from its start. Both must have the same
//! executions in the same order, the same failures and the same counts. On generated litmus programs, and on generated models that use
//! every feature.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use raddle_engine::board::Remains;
use raddle_engine::estimate::Kind;
use raddle_engine::ids::StepIx;
use raddle_engine::outcome::Outcome;
use raddle_engine::rng::Rng;
use raddle_engine::search::{Limits, Report, Search, SnapshotStack, Status, Worker, search};
use raddle_engine::strategy::{Counting, Run, Sharing, Strategy};
use raddle_engine::system::{Pending, Program};
use raddle_engine::trace::{Receipt, Trace};
use raddle_litmus::generate::{Size, generate};
use raddle_runtime::actor::{Actor, Address, Context, Delivery, Faults, Monitor};
use raddle_runtime::model::{Model, Setup};
use raddle_strategies::optimal::Optimal;
use raddle_strategies::portfolio::Portfolio;
use raddle_strategies::probing::Probed;
use raddle_strategies::reduction::Dpor;
use raddle_strategies::states::States;
use raddle_strategies::states::delay::{Delay, DelayHybrid, DelaySample, RoundRobin, RunToCompletion};
use raddle_strategies::tree::exhaustive::Exhaustive;
use raddle_strategies::tree::preemption::Preemption;
use raddle_strategies::watched::Watched;

use crate::model::ORDERS;

type Make = fn() -> Box<dyn Strategy>;

const STRATEGIES: [(&str, Make); 17] = [
    ("depth-first", || Box::new(Exhaustive::depth_first())),
    ("breadth-first", || Box::new(Exhaustive::breadth_first())),
    ("random order", || Box::new(Exhaustive::random(1))),
    ("optimal", || Box::new(Optimal::new())),
    ("source", || Box::new(Dpor::source())),
    ("classic", || Box::new(Dpor::classic())),
    ("preemption", || Box::new(Preemption::up_to(2))),
    ("probed", || Box::new(Probed::new(Exhaustive::depth_first(), Counting::Orders))),
    ("portfolio", || Box::new(Portfolio::new(1))),
    ("delay", || Box::new(Delay::new(RoundRobin::default()))),
    ("states", || Box::new(States::default())),
    ("few plain states", || Box::new(States::up_to(256).replacing())),
    ("wide strata", || Box::new(Delay::new(RunToCompletion::default()).by(2))),
    ("few states", || Box::new(Delay::new(RoundRobin::default()).with_states(256).replacing_states())),
    ("delay-sample", || Box::new(DelaySample::new(RoundRobin::default(), 1))),
    ("delay-hybrid", || Box::new(DelayHybrid::new(RoundRobin::default(), 1).with_share(50, 1_000))),
    ("delay-hybrid, few states", || Box::new(DelayHybrid::new(RoundRobin::default(), 1).with_share(1_000, 40))),
];

/// A hash of everything that an execution did.
fn hash(run: &Run<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (at, step) in run.trace.steps().iter().enumerate() {
        (step.task, step.variant, step.op.verb, step.found, step.left, step.alternatives).hash(&mut hasher);
        for access in run.trace.accesses(StepIx::next_of(at)) {
            (access.object, access.effect, access.role).hash(&mut hasher);
        }
    }
    for Receipt { step, sender, receiver, message, label, reply, changed } in run.trace.receipts() {
        (step, sender, receiver, message, label, reply, changed).hash(&mut hasher);
    }
    if run.outcome.is_none_or(|outcome| !matches!(outcome, Outcome::Completed)) {
        format!("{:?}", run.outcome).hash(&mut hasher);
    }
    for Pending { action, ready, .. } in run.pending {
        (action.task, action.object, ready).hash(&mut hasher);
    }
    hasher.finish()
}

/// A program that counts its starts.
struct Started<'p, P>(&'p mut P, u64);

impl<P: Program> Program for Started<'_, P> {
    type System = P::System;

    fn start(&mut self, seed: u64, trace: &mut Trace) -> P::System {
        self.1 += 1;
        self.0.start(seed, trace)
    }
}

/// The result of a search: hashes of its executions, its report as text, and the number of starts.
struct Done {
    executions: Vec<u64>,
    report: String,
    starts: u64,
}

fn tell(report: &Report, remains: &Remains) -> String {
    let report = Report { elapsed: Duration::ZERO, ..report.clone() };
    format!("{report:#?} {}", remains.is_empty())
}

/// Searches with so many simulated workers on this thread, in a random order.
fn run<P: Program>(program: &mut P, make: Make, limits: &Limits, workers: usize, forks: bool) -> Done {
    let log: Arc<Mutex<Vec<u64>>> = Arc::default();
    let recorded = |inner| {
        let log = Arc::clone(&log);
        let record =
            move |_: &mut dyn Strategy, run: &Run<'_>| log.lock().expect("nobody panics with it").push(hash(run));
        Watched::new(inner, record)
    };
    let mut first = make();
    let search = Search::new(&mut *first, limits, workers);
    let search = if forks { search } else { search.without_forks() };
    let copy = |strategy: &mut dyn Strategy| match strategy.sharing() {
        Sharing::Alone => None,
        Sharing::ByNumber(by_number) => Some(by_number.copy()),
        Sharing::ByPiece(by_piece) => Some(by_piece.copy()),
    };
    let others: Vec<_> = (1..workers).filter_map(|_| copy(&mut *first)).collect();
    let strategies = std::iter::once(first).chain(others).map(recorded);
    let mut all_workers: Vec<(Worker<'_>, SnapshotStack<P::System>)> =
        strategies.map(|strategy| (search.worker_with(Box::new(strategy)), SnapshotStack::default())).collect();
    let mut program = Started(program, 0);
    let mut rng = Rng::new(7);
    let mut over = vec![false; all_workers.len()];
    while over.contains(&false) {
        let turn = rng.below(all_workers.len() as u32) as usize;
        let (worker, snapshots) = &mut all_workers[turn];
        over[turn] = over[turn] || worker.work_a_little(&mut program, snapshots) == Some(Status::Over);
    }
    let (report, remains) = search.leave(all_workers.into_iter().map(|(worker, _)| worker).collect());
    let executions = std::mem::take(&mut *log.lock().expect("nobody panics with it"));
    Done { executions, report: tell(&report, &remains), starts: program.1 }
}

/// Searches with and without snapshots, and compares. Returns the executions and starts with snapshots.
fn compare<P: Program>(program: &mut P, (name, make): (&str, Make), limits: &Limits, workers: usize) -> (u64, u64) {
    let [plain, forked] = [false, true].map(|forks| run(program, make, limits, workers, forks));
    for (at, (plain, forked)) in plain.executions.iter().zip(&forked.executions).enumerate() {
        assert_eq!(plain, forked, "{name}, {workers} workers: execution {at}");
    }
    assert_eq!(plain.executions.len(), forked.executions.len(), "{name}, {workers} workers");
    assert_eq!(plain.report, forked.report, "{name}, {workers} workers");
    // An execution with too many steps ends a reduction, and the strategy is not asked what follows from it.
    let too_long = u64::from(plain.report.contains("TooManySteps"));
    let each = plain.executions.len() as u64;
    assert!((each..=each + too_long).contains(&plain.starts), "{name}: {} starts for {each} executions", plain.starts);
    (forked.executions.len() as u64, forked.starts)
}

/// Compares under all strategies, with one worker and with three, with and without continuing after a failure.
fn compare_all<P: Program>(mut program: impl FnMut() -> P, seed: u64) -> (u64, u64) {
    let (mut executions, mut starts) = (0, 0);
    for (number, strategy) in STRATEGIES.into_iter().enumerate() {
        let most = if strategy.0 == "probed" { 1_150 } else { 150 };
        for workers in [1, 3] {
            let keep_going = !(seed + number as u64).is_multiple_of(3);
            let limits = Limits { executions: Some(most), keep_going, steps: 60, repeats: false, ..Limits::default() };
            let (ran, started) = compare(&mut program(), strategy, &limits, workers);
            executions += ran;
            starts += started;
        }
    }
    (executions, starts)
}

#[test]
fn litmus_programs_have_the_same_results() {
    let (mut executions, mut starts) = (0, 0);
    for seed in 0..4 {
        let litmus = generate(seed, Size { threads: 3, steps: 9 });
        let program = || raddle_litmus::Program::new(&litmus, "generated").expect("what is generated can be run");
        let (ran, started) = compare_all(program, seed);
        executions += ran;
        starts += started;
    }
    assert!(starts * 2 < executions, "{starts} starts of {executions} executions");
}

/// Does everything that an actor of a model can do, as its messages say.
#[derive(Clone, Hash)]
struct Jack {
    peers: Vec<Address<u8>>,
    seen: u32,
    timer: Option<raddle_runtime::actor::Timer>,
    /// What to do with a message, by the number of messages before.
    trades: Vec<u8>,
}

#[derive(Clone, Hash)]
struct Word(u8);

#[derive(Clone, Hash, Default)]
struct Listener(u32);

impl Monitor for Listener {
    type Event = Word;

    fn observe(&mut self, word: &Word) -> Result<(), String> {
        self.0 = self.0.wrapping_mul(31).wrapping_add(u32::from(word.0));
        if self.0 % 23 == 7 { Err("unheard of".to_owned()) } else { Ok(()) }
    }

    fn at_quiet(&self) -> Result<(), String> {
        if self.0 % 19 == 3 { Err("too quiet".to_owned()) } else { Ok(()) }
    }
}

impl Actor for Jack {
    type Msg = u8;

    fn started(&mut self, ctx: &mut Context<'_, u8>) {
        ctx.becomes("ready");
    }

    fn handle(&mut self, value: u8, ctx: &mut Context<'_, u8>) {
        let trade = self.trades[self.seen as usize % self.trades.len()];
        self.seen += 1 + u32::from(value);
        match trade {
            0 => ctx.announce(Word(value)),
            1 if ctx.flip() => ctx.becomes("another"),
            2 => self.timer = Some(ctx.after(Duration::from_secs(1), value)),
            3 => self.timer.take().into_iter().for_each(|timer| ctx.cancel(timer)),
            4 => drop(ctx.spawn(Self { trades: vec![0, 1], ..self.clone() })),
            5 if value == 1 => ctx.stop(),
            6 if value == 0 => panic!("a message too many"),
            7 => ctx.unhandled(value),
            _ => {}
        }
        if value > 0 && !self.peers.is_empty() {
            let to = ctx.choose(self.peers.len().min(2) as u32) as usize;
            ctx.send(&self.peers[to].clone(), value - 1);
            ctx.send(&self.peers[(self.seen as usize) % self.peers.len()].clone(), 0);
        }
    }
}

fn set_up(m: &mut Setup, seed: u64) {
    let mut rng = Rng::new(seed);
    let delivery = ORDERS[rng.below(4) as usize];
    m.delivery(delivery);
    m.monitor(Listener::default());
    let mut budget = |of: u32| u32::from(rng.below(of) == 0);
    let faults = Faults { drop: budget(3), duplicate: budget(4), delay: budget(4), crash: budget(2) };
    m.faults(faults);
    m.restart(1);
    let mut peers: Vec<Address<u8>> = Vec::new();
    for _ in 0..3 {
        let trades: Vec<u8> = (0..3).map(|_| rng.below(9) as u8).collect();
        let known = peers.clone();
        peers.push(m.spawn_with(move || Jack { peers: known.clone(), seen: 0, timer: None, trades: trades.clone() }));
        if faults.crash > 0 {
            m.may_crash(peers.last().expect("it was pushed just now"));
        }
    }
    for _ in 0..3 {
        let to = rng.below(3) as usize;
        m.send(&peers[to], rng.below(3) as u8);
    }
}

fn jacks(seed: u64) -> Model {
    Model::new(|m| set_up(m, seed)).finally(|state| {
        let seen: u32 = state.actors::<Jack>().map(|jack| jack.seen).sum();
        assert!(seen % 11 != 4, "seen {seen}");
    })
}

#[test]
fn models_have_the_same_results() {
    let (mut executions, mut starts) = (0, 0);
    for seed in 0..4 {
        let (ran, started) = compare_all(|| jacks(seed), seed);
        executions += ran;
        starts += started;
    }
    assert!(starts * 2 < executions, "{starts} starts of {executions} executions");
}

/// Actors that mostly send, without faults, so that peeking is possible.
fn senders(seed: u64) -> Model {
    let mut rng = Rng::new(seed);
    Model::new(|m| {
        m.delivery(ORDERS[(seed % 4) as usize]);
        m.restart(1);
        let mut peers: Vec<Address<u8>> = Vec::new();
        for _ in 0..3 {
            let trades: Vec<u8> = (0..3).map(|_| [1, 2, 5, 6, 7, 8, 8, 8, 8, 8][rng.below(10) as usize]).collect();
            let known = peers.clone();
            let jack = move || Jack { peers: known.clone(), seen: 0, timer: None, trades: trades.clone() };
            peers.push(m.spawn_with(jack));
        }
        for _ in 0..4 {
            let to = rng.below(3) as usize;
            m.send(&peers[to], rng.below(4) as u8);
        }
    })
    .always(|state| assert!(state.actors::<Jack>().map(|jack| jack.seen).sum::<u32>() % 31 != 30, "seen too much"))
}

/// The report of a search by one worker without a callback.
fn unwatched(model: &mut Model, make: Make, limits: &Limits, forks: bool) -> String {
    let mut strategy = make();
    let search = Search::new(&mut *strategy, limits, 1);
    let search = if forks { search } else { search.without_forks() };
    let mut worker = search.worker_with(strategy);
    while worker.work(model) != Status::Over {}
    let (report, remains) = search.leave(vec![worker]);
    tell(&report, &remains)
}

/// Single executions are not shown here, so the search may skip those that lead to visited states.
#[test]
fn states_are_the_same_although_visited_ones_are_skipped() {
    let (mut known, mut failing) = (0, 0);
    for seed in 0..24 {
        for (number, (name, make)) in STRATEGIES.into_iter().enumerate().skip(9) {
            let keep_going = !(seed + number as u64).is_multiple_of(4);
            let executions = Some([400, 2_000][(seed % 2) as usize]);
            let limits = Limits { executions, keep_going, steps: 60, repeats: false, ..Limits::default() };
            let [plain, forked] = [false, true].map(|forks| unwatched(&mut senders(seed), make, &limits, forks));
            assert_eq!(plain, forked, "{name}, seed {seed}");
            known += usize::from(!plain.contains("pruned: 0,"));
            failing += usize::from(!plain.contains("found: None"));
        }
    }
    assert!(known > 30 && failing > 5, "{known} searches came to known states, {failing} failed");
}

/// `delay-hybrid` begins to sample after the same execution, whether or not some were skipped before.
#[test]
fn samples_begin_after_the_same_execution_although_some_are_skipped() {
    let mut shares = 0;
    for (seed, share) in (0..4).flat_map(|seed| (5..100).step_by(15).map(move |share| (seed, share))) {
        for (executions, states) in [(share, 1_000), (1_000, share)] {
            let limits =
                Limits { executions: Some(300), keep_going: true, steps: 60, repeats: false, ..Limits::default() };
            let hybrid = || DelayHybrid::new(RoundRobin::default(), 1).with_share(executions, states);
            let [plain, forked] = [false, true].map(|forks| {
                let mut strategy = hybrid();
                let search = Search::new(&mut strategy, &limits, 1);
                let search = if forks { search } else { search.without_forks() };
                let mut worker = search.worker(&mut strategy);
                while worker.work(&mut senders(seed)) != Status::Over {}
                let (report, remains) = search.leave(vec![worker]);
                shares += u64::from(report.executions + report.pruned > share && !remains.is_empty());
                tell(&report, &remains)
            });
            assert_eq!(plain, forked, "seed {seed}, {executions} executions, {states} states");
        }
    }
    assert!(shares > 10, "{shares} searches were longer than their share");
}

/// A watched strategy has the same results as alone. The callback sees each execution, so none is skipped.
#[test]
fn watched_strategies_count_the_same_states() {
    for seed in 0..8 {
        for (name, make) in STRATEGIES.into_iter().skip(9) {
            let limits =
                Limits { executions: Some(1_000), keep_going: true, steps: 60, repeats: false, ..Limits::default() };
            let alone = unwatched(&mut senders(seed), make, &limits, true);
            let seen = Arc::new(Mutex::new(0));
            let count = seen.clone();
            let watch = move |_: &mut dyn Strategy, _: &Run<'_>| *count.lock().expect("nobody panics with it") += 1;
            let mut strategy = Watched::new(make(), watch);
            let search = Search::new(&mut strategy, &limits, 1);
            let mut worker = search.worker(&mut strategy);
            while worker.work(&mut senders(seed)) != Status::Over {}
            let (report, remains) = search.leave(vec![worker]);
            assert_eq!(alone, tell(&report, &remains), "{name}, seed {seed}");
            let ran = report.executions + report.pruned + report.probes;
            assert_eq!(*seen.lock().expect("nobody panics with it"), ran, "{name}, seed {seed}: each is seen");
        }
    }
}

/// Probes between executions with a long common prefix do not change these executions.
#[test]
fn probes_do_not_change_a_search_that_backtracks() {
    let mut probes = 0;
    for seed in 0..8 {
        let [plain, probed] = [Kind::Recursive, Kind::Knuth].map(|kind| {
            let delay = Delay::new(RoundRobin::default()).by(3);
            let mut strategy = Probed::new(delay, Counting::Orders).estimating(kind);
            let limits =
                Limits { executions: Some(1_200), keep_going: true, steps: 60, repeats: false, ..Limits::default() };
            search(&mut senders(seed), &mut strategy, &limits)
        });
        let counts = |report: &Report| (report.executions, report.pruned, report.failing);
        assert_eq!(counts(&plain), counts(&probed), "seed {seed}");
        probes += probed.probes;
    }
    assert!(probes > 200, "{probes} probes");
}

/// Asks its only child, whose kind depends on the first message, what it is.
#[derive(Clone, Hash)]
struct Parent {
    kind: Option<u8>,
    told: Vec<u8>,
}

#[derive(Clone)]
struct Child(u8);

/// A constant need not be hashed, and its creator knows its kind.
impl Hash for Child {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

#[derive(Clone, Hash)]
enum Family {
    Bear(u8),
    Told(u8),
}

impl Actor for Parent {
    type Msg = Family;

    fn handle(&mut self, msg: Family, ctx: &mut Context<'_, Family>) {
        match msg {
            Family::Bear(kind) if self.kind.is_none() => {
                self.kind = Some(kind);
                let (me, child) = (ctx.me(), ctx.spawn(Child(kind)));
                (0..2).for_each(|_| ctx.send(&child, me.clone()));
            }
            Family::Bear(_) => {}
            Family::Told(kind) => self.told.push(kind),
        }
    }
}

impl Actor for Child {
    type Msg = Address<Family>;

    fn handle(&mut self, parent: Address<Family>, ctx: &mut Context<'_, Address<Family>>) {
        ctx.send(&parent, Family::Told(self.0));
    }
}

/// Two executions create different actors with equal hashes in the same place. They must not be confused.
#[test]
fn a_cached_result_is_used_for_its_own_actor_only() {
    let mut model = Model::new(|m| {
        m.delivery(Delivery::Unordered);
        m.knows::<Child>();
        let parent = m.spawn(Parent { kind: None, told: Vec::new() });
        (1..=3).for_each(|kind| m.send(&parent, Family::Bear(kind)));
    })
    .finally(|state| {
        let Parent { kind, told } = state.actors().next().expect("nobody has stopped");
        assert!(told.len() == 2 && told.iter().all(|told| Some(*told) == *kind), "{kind:?} was told {told:?}");
    });
    let limits = Limits { executions: Some(1_000), repeats: false, ..Limits::default() };
    for (name, make) in STRATEGIES.into_iter().skip(9) {
        let [plain, forked] = [false, true].map(|forks| unwatched(&mut model, make, &limits, forks));
        assert_eq!(plain, forked, "{name}");
        assert!(plain.contains("found: None"), "{name}: {plain}");
    }
}

#[test]
#[ignore = "minutes, and for release builds"]
fn many_programs_come_out_the_same() {
    for seed in 1_000..1_300 {
        let litmus = generate(seed, Size { threads: 4, steps: 12 });
        compare_all(|| raddle_litmus::Program::new(&litmus, "generated").expect("what is generated can be run"), seed);
        compare_all(|| jacks(seed), seed);
    }
}

#[test]
fn deep_programs_have_the_same_results_with_few_snapshots() {
    let mut model = Model::new(|m| {
        for _ in 0..2 {
            let jack = m.spawn(Jack { peers: Vec::new(), seen: 0, timer: None, trades: vec![8] });
            (0..150).for_each(|_| m.send(&jack, 0));
        }
    });
    let limits = Limits { executions: Some(60), repeats: false, ..Limits::default() };
    for strategy in [STRATEGIES[0], STRATEGIES[2], STRATEGIES[5], STRATEGIES[6]] {
        compare(&mut model, strategy, &limits, 1);
    }
}
