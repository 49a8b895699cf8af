//! Which messages can be received, in generated programs of actors, compared with the [definition](definition). Traced walks are compared
//! at every decision. Untraced walks, which compute this in another way, must receive the same messages in the same order.

mod definition;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;

use raddle_engine::ids::TaskId;
use raddle_engine::rng::Rng;
use raddle_engine::search::Limits;
use raddle_engine::strategy::{After, Capabilities, Decision, Needs, Next, Run, Start, Strategy};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;
use raddle_runtime::actor::{Actor, Address, Context, Delivery, Faults, ReplyTo, System};
use raddle_runtime::sync::Mutex;
use raddle_runtime::threads::Settings;
use raddle_strategies::samplers::random::Random;
use raddle_strategies::watched::Watched;

use self::definition::{Definition, listed};
use crate::explore::run_with;
use crate::model::ORDERS;
use crate::untraced::{Walked, assert_same};

/// What an actor does with a message.
#[derive(Clone, Debug)]
enum Do {
    Send(usize, Vec<Do>),
    Ask(usize),
    /// Creates an actor: what it does with its first message, and what it does when it starts.
    Create(Vec<Do>, Vec<Do>),
    Timer(u32, Vec<Do>),
    /// Waits in the middle of a handler.
    Lock,
    Choose,
    Stop,
    /// Sends so many messages to all others in turn. Each receiver passes them on to the next.
    Flood(usize),
}

enum Msg {
    /// The number of the message.
    Do(u32, Vec<Do>, Vec<Address<Msg>>),
    Question(ReplyTo<u32>),
}

/// The current execution, and the receives of each.
#[derive(Default)]
struct Record {
    /// By task; `None` if it is no actor.
    deliveries: Vec<Option<Delivery>>,
    /// Actors that are in the middle of a handler, and actors that have stopped.
    away: BTreeSet<TaskId>,
    stopped: BTreeSet<TaskId>,
    messages: u32,
    received: Vec<Vec<(TaskId, u32)>>,
}

type Shared = Arc<StdMutex<Record>>;

impl Record {
    /// Clears everything.
    fn begin(&mut self) {
        *self = Self { received: std::mem::take(&mut self.received), deliveries: vec![None], ..Self::default() };
        self.received.push(Vec::new());
    }

    /// Notes that the next task is an actor with this delivery order, or a thread.
    fn create(&mut self, delivery: Option<Delivery>) -> TaskId {
        self.deliveries.push(delivery);
        TaskId::next_of(self.deliveries.len() - 1)
    }

    fn message(&mut self) -> u32 {
        self.messages += 1;
        self.messages
    }

    /// The actors that wait for a message.
    fn idle(&self) -> impl Iterator<Item = (TaskId, Delivery)> {
        let actors = self.deliveries.iter().enumerate();
        let actors = actors.filter_map(|(at, delivery)| Some((TaskId::next_of(at), (*delivery)?)));
        actors.filter(|(actor, _)| !self.away.contains(actor) && !self.stopped.contains(actor))
    }
}

struct Node {
    me: TaskId,
    delivery: Delivery,
    /// It belongs to the second system.
    stranger: bool,
    /// What it does when it starts, and its peers.
    first: Option<(Vec<Do>, Vec<Address<Msg>>)>,
    shared: Shared,
    lock: Arc<Mutex<u32>>,
}

impl Node {
    fn note(&self, what: u32) {
        self.shared.lock().unwrap().received.last_mut().unwrap().push((self.me, what));
    }

    fn write(&self, jobs: Vec<Do>, peers: &[Address<Msg>]) -> Msg {
        Msg::Do(self.shared.lock().unwrap().message(), jobs, peers.to_vec())
    }

    fn work(&mut self, job: Do, peers: &[Address<Msg>], ctx: &mut Context<'_, Msg>) {
        match job {
            Do::Send(to, jobs) => ctx.send(&peers[to], self.write(jobs, peers)),
            // To ask itself, or an actor of another system, is an error.
            Do::Ask(whom) if self.stranger || peers[whom] == ctx.me() => {}
            Do::Ask(whom) => self.note(ctx.ask(&peers[whom], Msg::Question)),
            Do::Create(jobs, first) => {
                let Self { delivery, stranger, ref shared, ref lock, .. } = *self;
                let me = shared.lock().unwrap().create(Some(delivery));
                let child = ctx.spawn(Node {
                    me,
                    delivery,
                    stranger,
                    first: Some((first, peers.to_vec())),
                    shared: shared.clone(),
                    lock: lock.clone(),
                });
                ctx.send(&child, self.write(jobs, peers));
            }
            Do::Timer(delay, jobs) => {
                let msg = self.write(jobs, peers);
                ctx.after(Duration::from_millis(u64::from(delay)), msg);
            }
            Do::Lock => *self.lock.lock().unwrap() += 1,
            Do::Choose => self.note(ctx.choose(2)),
            Do::Stop => {
                self.shared.lock().unwrap().stopped.insert(self.me);
                ctx.stop();
            }
            Do::Flood(many) => {
                for at in 0..many {
                    let pass_on = vec![Do::Send((at + 1) % peers.len(), Vec::new())];
                    ctx.send(&peers[at % peers.len()], self.write(pass_on, peers));
                }
            }
        }
    }
}

impl Actor for Node {
    type Msg = Msg;

    fn duplicate(msg: &Msg) -> Option<Msg> {
        match msg {
            Msg::Do(number, jobs, peers) => Some(Msg::Do(*number, jobs.clone(), peers.clone())),
            Msg::Question(_) => None,
        }
    }

    fn started(&mut self, ctx: &mut Context<'_, Msg>) {
        self.shared.lock().unwrap().away.insert(self.me);
        let (jobs, peers) = self.first.take().unwrap_or_default();
        jobs.into_iter().for_each(|job| self.work(job, &peers, ctx));
        self.shared.lock().unwrap().away.remove(&self.me);
    }

    fn handle(&mut self, msg: Msg, ctx: &mut Context<'_, Msg>) {
        self.shared.lock().unwrap().away.insert(self.me);
        match msg {
            Msg::Do(number, jobs, peers) => {
                self.note(number);
                jobs.into_iter().for_each(|job| self.work(job, &peers, ctx));
            }
            Msg::Question(reply) => {
                self.note(0);
                reply.reply(7);
            }
        }
        self.shared.lock().unwrap().away.remove(&self.me);
    }
}

/// The actors of the first system, which may be asked, and those of the second.
const ACTORS: u32 = 3;
const STRANGERS: u32 = 2;

#[derive(Clone, Copy, Debug)]
struct Case {
    seed: u64,
    delivery: Delivery,
    faults: Faults,
    /// A thread sends at the same time.
    thread: bool,
    /// The delivery order of the second system, if there is one.
    strangers: Option<Delivery>,
    /// Each actor sends so many messages first.
    flood: usize,
}

impl Case {
    fn new(seed: u64, delivery: Delivery) -> Self {
        Self { seed, delivery, faults: Faults::default(), thread: false, strangers: None, flood: 0 }
    }

    /// The number of actors that may be sent to.
    fn peers(&self) -> u32 {
        ACTORS + self.strangers.map_or(0, |_| STRANGERS)
    }
}

fn jobs(rng: &mut Rng, depth: u32, peers: u32) -> Vec<Do> {
    let many = if depth == 0 { 0 } else { 1 + rng.below(3) };
    let job = |rng: &mut Rng| match rng.below(24) {
        0..15 => Do::Send(rng.below(peers) as usize, jobs(rng, depth - 1, peers)),
        15 => Do::Ask(rng.below(ACTORS) as usize),
        16..18 => Do::Create(jobs(rng, depth - 1, peers), jobs(rng, depth - 1, peers)),
        18..20 => Do::Timer(rng.below(3), jobs(rng, depth - 1, peers)),
        20 => Do::Lock,
        21..23 => Do::Choose,
        _ => Do::Stop,
    };
    (0..many).map(|_| job(rng)).collect()
}

/// Runs the program once.
fn run(case: Case, shared: &Shared) {
    shared.lock().unwrap().begin();
    let mut rng = Rng::new(case.seed);
    let addresses = Arc::<StdMutex<Vec<Address<Msg>>>>::default();
    let lock = Arc::new(Mutex::new(0));
    let thread = case.thread.then(|| {
        let (shared, to, lock) = (shared.clone(), addresses.clone(), lock.clone());
        let jobs = [jobs(&mut rng, 3, case.peers()), jobs(&mut rng, 3, case.peers())];
        shared.lock().unwrap().create(None);
        raddle_runtime::thread::spawn(move || {
            for jobs in jobs {
                *lock.lock().unwrap() += 1;
                let peers = to.lock().unwrap().clone();
                let number = shared.lock().unwrap().message();
                peers[1].send(Msg::Do(number, jobs, peers.clone()));
            }
        })
    });
    let spawn = |system: &System, delivery, stranger| {
        let (shared, lock) = (shared.clone(), lock.clone());
        let me = shared.lock().unwrap().create(Some(delivery));
        system.spawn_with(move || Node {
            me,
            delivery,
            stranger,
            first: None,
            shared: shared.clone(),
            lock: lock.clone(),
        })
    };
    let system = System::new().delivery(case.delivery).faults(case.faults);
    let mut nodes: Vec<_> = (0..ACTORS).map(|_| spawn(&system, case.delivery, false)).collect();
    system.may_crash(&nodes[0]);
    let second = case.strangers.map(|delivery| (System::new().delivery(delivery), delivery));
    if let Some((second, delivery)) = &second {
        nodes.extend((0..STRANGERS).map(|_| spawn(second, *delivery, true)));
    }
    addresses.lock().unwrap().clone_from(&nodes);
    let tell = |to: usize, jobs: Vec<Do>| {
        let number = shared.lock().unwrap().message();
        nodes[to].send(Msg::Do(number, jobs, nodes.clone()));
    };
    if case.flood > 0 {
        let actors = ACTORS as usize;
        (0..actors).for_each(|to| tell(to, vec![Do::Send((to + 1) % actors, vec![Do::Flood(case.flood)])]));
        (0..case.flood).for_each(|at| tell(at % actors, vec![Do::Send(at / 2 % actors, Vec::new())]));
    }
    for _ in 0..2 + rng.below(3) {
        let to = rng.below(case.peers()) as usize;
        tell(to, jobs(&mut rng, 4, case.peers()));
    }
    system.run_until_quiet();
    if let Some(thread) = thread {
        thread.join().unwrap();
    }
    // A second round, sent by a task that has received nothing since.
    (0..ACTORS as usize).for_each(|to| tell(to, jobs(&mut rng, 2, case.peers())));
    system.run_until_quiet();
}

/// A random walk that compares, at each point, what can be received with the definition.
struct Checked {
    random: Random,
    case: Case,
    shared: Shared,
    definition: Definition,
}

impl Strategy for Checked {
    fn needs(&self) -> Needs {
        Needs { every_point: true, ..self.random.needs() }
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        self.definition = Definition::default();
        match self.random.begin(prefix) {
            Next::Run(start) => Next::Run(Start { uniform: None, steps: true, ..start }),
            done => done,
        }
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        if let Point::Actions(actions) = at {
            let record = self.shared.lock().unwrap();
            self.definition.read(so_far, &record.deliveries);
            let expected = self.definition.receivable(record.idle());
            assert_eq!(listed(actions), expected, "{:?}, after {} steps", self.case, so_far.len());
        }
        match at.alternatives() {
            1 => Decision::Take(Choice(0)),
            _ => self.random.choose(at, so_far),
        }
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.random.end(run)
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        self.random.capabilities()
    }
}

/// Walks of so many steps, and what each received.
fn walk(
    case: Case,
    (walks, steps): (u64, u32),
    strategy: &mut dyn Strategy,
    shared: &Shared,
) -> Walked<Vec<(TaskId, u32)>> {
    let limits = Limits { executions: Some(walks), keep_going: true, steps, ..Limits::default() };
    let recorded = shared.clone();
    let report = run_with(&Settings::default(), strategy, limits, move || run(case, &recorded));
    let received = shared.lock().unwrap().received.clone();
    (report, received)
}

/// Compares traced walks with the definition, and untraced walks with traced ones.
fn check(case: Case, walks: u64) {
    const STEPS: u32 = 20_000;
    let (shared, random, definition) = (Shared::default(), Random::new(case.seed), Definition::default());
    let mut checked = Checked { random, case, shared: shared.clone(), definition };
    let seen = walk(case, (walks, STEPS), &mut checked, &shared);
    let unseen = walk(case, (walks, STEPS), &mut Random::new(case.seed), &Shared::default());
    assert_same(&case, unseen, seen);
}

#[test]
fn receivable_messages_are_those_of_the_definition() {
    for (seed, delivery) in (0..60).flat_map(|seed| ORDERS.map(|order| (seed, order))) {
        check(Case::new(seed, delivery), 15);
        check(Case { thread: true, ..Case::new(seed + 1_000, delivery) }, 5);
    }
}

#[test]
fn faulty_messages_hold_back_no_others() {
    for faults in [
        Faults { drop: 1, ..Faults::default() },
        Faults { delay: 3, ..Faults::default() },
        Faults { duplicate: 2, ..Faults::default() },
        Faults { drop: 1, delay: 2, duplicate: 1, crash: 1 },
    ] {
        for (seed, delivery) in (0..12).flat_map(|seed| ORDERS.map(|order| (seed, order))) {
            check(Case { faults, thread: seed % 4 == 0, ..Case::new(seed + 2_000, delivery) }, 10);
        }
    }
}

#[test]
fn two_systems_with_different_orders_are_independent() {
    for (seed, strangers) in (0..15).flat_map(|seed| ORDERS.map(|order| (seed, order))) {
        for delivery in ORDERS {
            check(Case { strangers: Some(strangers), ..Case::new(seed + 3_000, delivery) }, 5);
        }
    }
}

#[test]
fn many_messages_hold_back_many() {
    for (seed, delivery) in (0..3).flat_map(|seed| ORDERS.map(|order| (seed, order))) {
        check(Case { flood: 15 + 35 * seed as usize, thread: seed == 1, ..Case::new(seed + 4_000, delivery) }, 3);
        let faults = Faults { delay: 2, ..Faults::default() };
        check(Case { flood: 20, faults, ..Case::new(seed + 5_000, delivery) }, 2);
    }
}

/// So many messages that the definition would take too long. Traced walks are used instead.
#[test]
fn thousands_of_messages_hold_back_thousands() {
    let few = (300, 20_000);
    let many = (1_500, 7_500);
    for (seed, strangers, (flood, steps)) in
        [(6_000, None, few), (6_001, None, many), (6_002, Some(Delivery::Causal), many)]
    {
        let case = Case { flood, strangers, ..Case::new(seed, Delivery::Causal) };
        let often = (2, steps);
        let (shared, random) = (Shared::default(), Box::new(Random::new(seed)));
        let mut watched = Watched::new(random, |_: &mut dyn Strategy, _: &_| ());
        let seen = walk(case, often, &mut watched, &shared);
        assert_same(&case, walk(case, often, &mut Random::new(seed), &Shared::default()), seen);
    }
}
