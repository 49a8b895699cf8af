//! Compares untraced runs of actors with traced ones. In an untraced run nothing is listed, named or recorded, and handlers share a stack.
//! Both must do the same.

use std::fmt::Debug;
use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;

use raddle_engine::rng::Rng;
use raddle_engine::search::{Limits, Report};
use raddle_engine::strategy::Strategy;
use raddle_runtime::actor::{Actor, Address, Context, Delivery, Faults, Monitor, ReplyTo, System, Timer};
use raddle_runtime::cell::Cell;
use raddle_runtime::sync::Mutex;
use raddle_runtime::sync::atomic::{AtomicU32, Ordering};
use raddle_runtime::threads::Settings;
use raddle_strategies::samplers::pct::Pct;
use raddle_strategies::samplers::random::Random;
use raddle_strategies::watched::Watched;

use crate::explore::run_with;
use crate::model::ORDERS;

/// What an actor does with a message.
#[derive(Clone, Debug)]
enum Do {
    Send(usize, Vec<Do>),
    Ask(usize),
    Create(Vec<Do>),
    Timer(u32, Vec<Do>),
    Cancel,
    Lock,
    Count,
    Choose(u32),
    Announce,
    Stop,
    Panic,
    Deep(u32),
}

enum Msg {
    Do(Vec<Do>, Vec<Address<Msg>>),
    Question(ReplyTo<u32>),
}

/// By execution: the actors that handled something, and the values they found.
type Log = Arc<StdMutex<Vec<Vec<(usize, u32)>>>>;

struct Node {
    who: usize,
    log: Log,
    shared: Arc<(Mutex<u32>, AtomicU32)>,
    timer: Option<Timer>,
}

impl Node {
    fn note(&self, what: u32) {
        self.log.lock().unwrap().last_mut().unwrap().push((self.who, what));
    }
}

impl Actor for Node {
    type Msg = Msg;

    fn duplicate(msg: &Msg) -> Option<Msg> {
        match msg {
            Msg::Do(jobs, peers) => Some(Msg::Do(jobs.clone(), peers.clone())),
            Msg::Question(_) => None,
        }
    }

    fn handle(&mut self, msg: Msg, ctx: &mut Context<'_, Msg>) {
        self.note(0);
        let (jobs, peers) = match msg {
            Msg::Do(jobs, peers) => (jobs, peers),
            Msg::Question(reply) => return reply.reply(7),
        };
        for job in jobs {
            match job {
                Do::Send(to, jobs) => ctx.send(&peers[to], Msg::Do(jobs, peers.clone())),
                Do::Ask(whom) if peers[whom] == ctx.me() => {}
                Do::Ask(whom) => {
                    let answer = ctx.ask(&peers[whom], Msg::Question);
                    self.note(answer);
                }
                Do::Create(jobs) => {
                    let node =
                        Node { who: self.who + 100, log: self.log.clone(), shared: self.shared.clone(), timer: None };
                    let child = ctx.spawn(node);
                    ctx.send(&child, Msg::Do(jobs, peers.clone()));
                }
                Do::Timer(delay, jobs) => {
                    let delay = Duration::from_millis(u64::from(delay));
                    self.timer = Some(ctx.after(delay, Msg::Do(jobs, peers.clone())));
                }
                Do::Cancel => {
                    if let Some(timer) = self.timer.take() {
                        ctx.cancel(timer);
                    }
                }
                Do::Lock => {
                    let mut value = self.shared.0.lock().unwrap();
                    *value += 1;
                    self.note(*value);
                }
                Do::Count => {
                    let before = self.shared.1.fetch_add(1, Ordering::SeqCst);
                    self.note(before);
                }
                Do::Choose(of) => {
                    let chosen = ctx.choose(of);
                    self.note(chosen);
                }
                Do::Announce => ctx.announce(self.who),
                Do::Stop => ctx.stop(),
                Do::Panic => panic!("on purpose"),
                Do::Deep(depth) => self.note(sum_below(depth)),
            }
        }
    }
}

/// Records what is announced.
struct Announced(Log);

impl Monitor for Announced {
    type Event = usize;

    fn observe(&mut self, who: &usize) -> Result<(), String> {
        self.0.lock().unwrap().last_mut().unwrap().push((*who, u32::MAX));
        Ok(())
    }
}

/// Needs some stack.
fn sum_below(depth: u32) -> u32 {
    let room = std::hint::black_box([depth; 64]);
    if depth == 0 { 0 } else { room[63] + sum_below(depth - 1) }
}

const ACTORS: u32 = 3;

fn jobs(rng: &mut Rng, depth: u32, panics: bool) -> Vec<Do> {
    let many = if depth == 0 { 0 } else { 1 + rng.below(2) };
    let job = |rng: &mut Rng| match rng.below(if panics { 24 } else { 23 }) {
        0..9 => Do::Send(rng.below(ACTORS) as usize, jobs(rng, depth - 1, panics)),
        9..11 => Do::Ask(rng.below(ACTORS) as usize),
        11 => Do::Create(jobs(rng, depth - 1, panics)),
        12..14 => Do::Timer(rng.below(3), jobs(rng, depth - 1, panics)),
        14 => Do::Cancel,
        15 => Do::Lock,
        16..18 => Do::Count,
        18..20 => Do::Choose(2 + rng.below(2)),
        20 => Do::Stop,
        21 => Do::Deep(20),
        22 => Do::Announce,
        _ => Do::Panic,
    };
    (0..many).map(|_| job(rng)).collect()
}

#[derive(Clone, Copy, Debug)]
struct Case {
    seed: u64,
    delivery: Delivery,
    faults: Faults,
    /// Some handlers panic. The number says how often an actor is restarted.
    panics: Option<u32>,
    /// A thread does something at the same time.
    thread: bool,
    /// The first actor creates so many others.
    creates: usize,
}

const WALKS: u64 = 25;

/// Random walks through a program, traced or untraced.
fn walk(case: Case, seen: bool) -> Walked<Vec<(usize, u32)>> {
    let log = Log::default();
    let written = log.clone();
    // A strategy that reads the enabled actions, but not the steps: these are not recorded either.
    let mut strategy: Box<dyn Strategy> =
        if case.seed % 4 == 3 { Box::new(Pct::new(case.seed, 3)) } else { Box::new(Random::new(case.seed)) };
    if seen {
        strategy = Box::new(Watched::new(strategy, |_: &mut dyn Strategy, _: &_| ()));
    }
    let limits = Limits { executions: Some(WALKS), keep_going: true, steps: 2_000, ..Limits::default() };
    let report = run_with(&Settings::default(), &mut *strategy, limits, move || {
        log.lock().unwrap().push(Vec::new());
        let mut rng = Rng::new(case.seed);
        let mut system = System::new().delivery(case.delivery).faults(case.faults).monitor(Announced(log.clone()));
        if let Some(most) = case.panics {
            system = system.restart(most);
        }
        let shared = Arc::new((Mutex::new(0), AtomicU32::new(0)));
        let node = |who| {
            let (log, shared) = (log.clone(), shared.clone());
            move || Node { who, log: log.clone(), shared: shared.clone(), timer: None }
        };
        let nodes: Vec<_> = (0..ACTORS as usize).map(|who| system.spawn_with(node(who))).collect();
        system.may_crash(&nodes[0]);
        let create = Do::Create(vec![Do::Send(1, Vec::new()), Do::Create(vec![Do::Count])]);
        nodes[0].send(Msg::Do(vec![create; case.creates], nodes.clone()));
        for _ in 0..2 + rng.below(3) {
            let to = rng.below(ACTORS) as usize;
            nodes[to].send(Msg::Do(jobs(&mut rng, 4, case.panics.is_some()), nodes.clone()));
        }
        let thread = case.thread.then(|| {
            let (to, shared, jobs) = (nodes.clone(), shared.clone(), jobs(&mut rng, 3, false));
            raddle_runtime::thread::spawn(move || {
                *shared.0.lock().unwrap() += 10;
                to[1].send(Msg::Do(jobs, to.clone()));
                shared.1.fetch_add(10, Ordering::SeqCst);
            })
        });
        system.run_until_quiet();
        if let Some(thread) = thread {
            thread.join().unwrap();
        }
        system.run_until_quiet();
    });
    let log = written.lock().unwrap().clone();
    (report, log)
}

/// The results of walks: the counts, and what happened in each.
pub type Walked<E> = (Report, Vec<E>);

/// Checks that untraced and traced walks are the same. Returns how many failed.
#[track_caller]
pub fn assert_same<E: PartialEq + Debug>(case: &impl Debug, unseen: Walked<E>, seen: Walked<E>) -> u64 {
    let ((blind, mut log), (seen, expected)) = (unseen, seen);
    // An execution that failed, or that needs its steps, was run again.
    if log.len() == expected.len() + 1 {
        let at = (1..log.len()).find(|&at| log.get(at) != expected.get(at)).unwrap_or(0);
        let again = log.remove(at);
        assert_eq!(log[at - 1], again, "{case:?}");
    }
    assert_eq!(log.len(), expected.len(), "{case:?}");
    for (number, (log, expected)) in log.iter().zip(&expected).enumerate() {
        assert_eq!(log, expected, "{case:?}, execution {number}");
    }
    let counts = |r: &Report| (r.executions, r.failing, r.steps, r.longest, r.caveats.guessed_spin);
    assert_eq!(counts(&blind), counts(&seen), "{case:?}");
    let found = |report: &Report| report.found.as_ref().map(|found| format!("{found:?}"));
    assert_eq!(found(&blind), found(&seen), "{case:?}");
    seen.failing
}

/// Compares on generated programs. Returns how many executions failed.
fn compare(seeds: std::ops::Range<u64>, faults: Faults, panics: Option<u32>, thread: bool) -> u64 {
    compare_all(seeds.map(|seed| Case { seed, delivery: Delivery::Arrival, faults, panics, thread, creates: 0 }))
}

fn compare_all(cases: impl Iterator<Item = Case>) -> u64 {
    let mut failing = 0;
    for case in cases.flat_map(|case| ORDERS.map(|delivery| Case { delivery, ..case })) {
        failing += assert_same(&case, walk(case, false), walk(case, true));
    }
    failing
}

#[test]
fn untraced_walks_are_like_traced_ones() {
    compare(0..60, Faults::default(), None, false);
    assert!(compare(60..90, Faults::default(), None, true) > 0, "somebody waits for an answer for ever");
}

#[test]
fn untraced_walks_are_like_traced_ones_with_many_actors() {
    let (delivery, faults) = (Delivery::Arrival, Faults::default());
    compare_all((300..305).map(|seed| Case { seed, delivery, faults, panics: None, thread: false, creates: 20 }));
}

#[test]
fn untraced_walks_are_like_traced_ones_with_faults() {
    for faults in [
        Faults { drop: 1, ..Faults::default() },
        Faults { delay: 2, ..Faults::default() },
        Faults { duplicate: 1, ..Faults::default() },
        Faults { crash: 1, ..Faults::default() },
    ] {
        compare(100..110, faults, None, false);
    }
}

#[test]
fn untraced_walks_are_like_traced_ones_if_handlers_panic() {
    assert!(compare(200..230, Faults::default(), Some(0), false) > 100, "many panic");
    compare(230..250, Faults::default(), Some(1), true);
}

#[test]
#[ignore = "minutes, and for release builds"]
fn many_untraced_walks_are_like_traced_ones() {
    for thread in [false, true] {
        compare(10_000..11_000, Faults::default(), None, thread);
        compare(11_000..11_500, Faults { drop: 1, delay: 1, crash: 1, duplicate: 1 }, None, thread);
        compare(11_500..12_000, Faults { crash: 2, ..Faults::default() }, Some(1), thread);
    }
}

struct Races(Arc<Shared>, Option<Address<()>>);

struct Shared(Cell<u32>);

// SAFETY: it is not; that is what is to be found.
unsafe impl Sync for Shared {}

impl Actor for Races {
    type Msg = ();

    fn handle(&mut self, (): (), ctx: &mut Context<'_, ()>) {
        self.0.0.set(self.0.0.get() + 1);
        if let Some(next) = &self.1 {
            ctx.send(next, ());
        }
    }
}

/// Whether two accesses race depends on the steps before, so these are recorded.
#[test]
fn races_are_found_in_untraced_runs() {
    let races = |ordered: bool| {
        let limits = Limits { executions: Some(50), ..Limits::default() };
        run_with(&Settings::default(), &mut Random::new(1), limits, move || {
            let (system, shared) = (System::new(), Arc::new(Shared(Cell::new(0))));
            let last = system.spawn(Races(shared.clone(), None));
            let first = system.spawn(Races(shared, ordered.then(|| last.clone())));
            first.send(());
            if !ordered {
                last.send(());
            }
            system.run_until_quiet();
        })
    };
    assert!(races(true).found.is_none());
    assert_eq!(races(false).found.map(|found| found.failure.kind()), Some("data race"));
}

/// A failure that follows from a race happens later than the race. The race is reported.
#[test]
fn the_race_is_reported_and_not_its_consequence() {
    for seed in 1..6 {
        let limits = Limits { executions: Some(20), ..Limits::default() };
        let report = run_with(&Settings::default(), &mut Random::new(seed), limits, || {
            let shared = Arc::new(Shared(Cell::new(0)));
            let also = shared.clone();
            let other = raddle_runtime::thread::spawn(move || also.0.set(1));
            shared.0.set(2);
            other.join().unwrap();
            panic!("on purpose");
        });
        assert_eq!(report.found.map(|found| found.failure.kind()), Some("data race"), "seed {seed}");
    }
}

/// Does something that cannot be undone, the third time.
struct Wild {
    handled: u32,
    what: What,
    dropped: Arc<StdAtomic>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Overflows,
    Aborts,
    Waits,
    Fails,
    GoesOn,
}

type StdAtomic = std::sync::atomic::AtomicU32;

impl Drop for Wild {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

struct PanicsToo;

impl Drop for PanicsToo {
    fn drop(&mut self) {
        panic!("and another");
    }
}

#[inline(never)]
fn down(n: u64) -> u64 {
    let frame = std::hint::black_box([n; 64]);
    if n == u64::MAX { 0 } else { down(n + 1) + frame[(n % 64) as usize] }
}

impl Actor for Wild {
    type Msg = ();

    fn handle(&mut self, (): (), ctx: &mut Context<'_, ()>) {
        self.handled += 1;
        match self.what {
            What::GoesOn => {
                let me = ctx.me();
                ctx.send(&me, ());
            }
            _ if self.handled < 3 => {}
            What::Overflows => self.handled = down(0) as u32,
            What::Aborts => {
                let _too = PanicsToo;
                panic!("on purpose");
            }
            What::Waits => {
                let lock = Mutex::new(0);
                let _held = lock.lock().unwrap();
                let _never = lock.lock().unwrap();
            }
            What::Fails => panic!("on purpose"),
        }
    }
}

/// However a handler ends, the search continues, and everything that can be dropped is dropped.
#[test]
fn handlers_that_do_not_end_well_end_the_execution() {
    for (what, kind, dropped_each) in [
        (What::Overflows, "stack overflow", 1),
        // The OS thread counts as panicking from then on.
        (What::Aborts, "abort", 0),
        (What::Waits, "deadlock", 1),
        (What::Fails, "panic", 2),
        (What::GoesOn, "too many steps", 2),
    ] {
        const RUNS: u64 = 20;
        let dropped = Arc::<StdAtomic>::default();
        let counts = dropped.clone();
        let limits = Limits { executions: Some(RUNS), keep_going: true, steps: 500, ..Limits::default() };
        let report = run_with(&Settings::default(), &mut Random::new(7), limits, move || {
            let system = System::new();
            let wild = system.spawn(Wild { handled: 0, what, dropped: dropped.clone() });
            let calm = system.spawn(Wild { handled: 0, what: What::Fails, dropped: dropped.clone() });
            for _ in 0..3 {
                wild.send(());
            }
            (0..2).for_each(|_| calm.send(()));
            system.run_until_quiet();
        });
        assert_eq!((report.executions, report.failing), (RUNS, RUNS), "{what:?}");
        assert_eq!(report.found.map(|found| found.failure.kind()), Some(kind), "{what:?}");
        let dropped = u64::from(counts.load(Ordering::Relaxed));
        assert!(dropped >= dropped_each * RUNS, "{what:?}: {dropped}");
    }
}
