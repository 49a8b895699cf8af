//! Generated programs of what reduction is not proved for: timers and crashes of actors and models, and channels without room.
//! Reduction loses traces of some of them. Of these it must not claim a proof.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use raddle_engine::rng::Rng;
use raddle_engine::system::Program;
use raddle_runtime::actor::{Actor, Address, Context, Delivery, Faults, Stage, System};
use raddle_runtime::model::Model;
use raddle_runtime::sync::Mutex;
use raddle_runtime::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle_runtime::sync::mpsc::{self, Receiver, SyncSender};
use raddle_runtime::thread;
use raddle_runtime::threads::{Settings, Threads};
use raddle_strategies::optimal::Optimal;

use crate::model::{Announced, ORDERS, Order};
use crate::traces;

/// What an actor does when a message comes: it sends, or sets a timer for itself.
#[derive(Clone, Copy, Debug, Hash)]
enum Do {
    Send(usize, u8),
    After(u64, u8),
    Announce,
    Stop,
}

#[derive(Clone, Hash)]
struct Node {
    /// By message, and by whether an even number was handled before.
    reactions: Vec<[Vec<Do>; 2]>,
    handled: u32,
}

#[derive(Clone, Hash)]
struct Msg {
    value: u8,
    peers: Vec<Address<Msg>>,
}

impl Actor for Node {
    type Msg = Msg;

    fn handle(&mut self, Msg { value, peers }: Msg, ctx: &mut Context<'_, Msg>) {
        let reaction = self.reactions[value as usize][self.handled as usize % 2].clone();
        self.handled += 1;
        for act in reaction {
            let msg = |value| Msg { value, peers: peers.clone() };
            match act {
                Do::Send(peer, value) => ctx.send(&peers[peer], msg(value)),
                Do::After(milliseconds, value) => {
                    ctx.after(Duration::from_millis(milliseconds), msg(value));
                }
                Do::Announce => ctx.announce(Announced(value)),
                Do::Stop => ctx.stop(),
            }
        }
    }
}

/// Which of these a program has.
#[derive(Clone, Copy, Debug)]
struct Kind {
    timers: bool,
    crashes: bool,
}

fn set_up(stage: &mut impl Stage, seed: u64, kind: Kind) -> Vec<Address<Msg>> {
    let mut rng = Rng::new(seed);
    let actors = 2 + rng.below(2) as usize;
    let values = 3;
    let mut draw = |n: usize| rng.below(n as u32) as usize;
    let nodes: Vec<_> = (0..actors)
        .map(|_| {
            // What is sent is smaller than what came, so it ends.
            let mut reaction = |value: usize| {
                let acts = if value == 0 { 0 } else { draw(3) };
                let act = |_| match draw(8) {
                    0..3 if kind.timers => Do::After(5 * draw(2) as u64, draw(value) as u8),
                    6 => Do::Announce,
                    7 => Do::Stop,
                    _ => Do::Send(draw(actors), draw(value) as u8),
                };
                (0..acts).map(act).collect::<Vec<_>>()
            };
            let reactions = (0..values).map(|value| [reaction(value), reaction(value)]).collect();
            stage.spawn(Node { reactions, handled: 0 })
        })
        .collect();
    let first: Vec<_> = (0..1 + draw(3)).map(|_| (draw(actors), draw(values) as u8)).collect();
    for (node, value) in first {
        stage.send(&nodes[node], Msg { value, peers: nodes.clone() });
    }
    nodes
}

fn faults(kind: Kind) -> Faults {
    Faults { crash: u32::from(kind.crashes), ..Faults::default() }
}

fn model(seed: u64, delivery: Delivery, kind: Kind) -> Model {
    Model::new(move |m| {
        m.delivery(delivery);
        m.faults(faults(kind));
        m.monitor(Order::default());
        let nodes = set_up(m, seed, kind);
        if kind.crashes {
            nodes.iter().take(1 + (seed as usize & 1)).for_each(|node| m.may_crash(node));
        }
    })
}

fn actors(seed: u64, delivery: Delivery, kind: Kind) -> Threads {
    let body = move || {
        let mut system = System::new().delivery(delivery).faults(faults(kind)).monitor(Order::default());
        let nodes = set_up(&mut system, seed, kind);
        if kind.crashes {
            nodes.iter().take(1 + (seed as usize & 1)).for_each(|node| system.may_crash(node));
        }
        system.run_until_quiet();
    };
    Threads::new(Arc::new(body), &Settings::default())
}

/// One operation of a thread on one of two channels without room.
#[derive(Clone, Copy, Debug)]
enum Op {
    Send(usize),
    TrySend(usize),
    Recv(usize),
    TryRecv(usize),
    RecvTimeout(usize),
    DropSender(usize),
    DropReceiver(usize),
    Add,
    Load,
}

struct Ends {
    me: usize,
    number: Arc<AtomicUsize>,
    senders: [Option<SyncSender<usize>>; 2],
    own: [Option<Receiver<usize>>; 2],
    shared: [Option<Arc<Mutex<Receiver<usize>>>>; 2],
}

impl Ends {
    fn receive(&self, channel: usize, act: impl Fn(&Receiver<usize>)) {
        match (&self.own[channel], &self.shared[channel]) {
            (Some(receiver), _) => act(receiver),
            (None, Some(shared)) => act(&shared.lock().unwrap()),
            (None, None) => {}
        }
    }

    fn take(&mut self, op: Op) {
        match op {
            Op::Send(channel) => self.senders[channel].iter().for_each(|sender| _ = sender.send(self.me)),
            Op::TrySend(channel) => self.senders[channel].iter().for_each(|sender| _ = sender.try_send(self.me)),
            Op::Recv(channel) => self.receive(channel, |receiver| _ = receiver.recv()),
            Op::TryRecv(channel) => self.receive(channel, |receiver| _ = receiver.try_recv()),
            Op::RecvTimeout(channel) => {
                self.receive(channel, |receiver| _ = receiver.recv_timeout(Duration::from_millis(5)));
            }
            Op::DropSender(channel) => self.senders[channel] = None,
            Op::DropReceiver(channel) => self.own[channel] = None,
            Op::Add => _ = self.number.fetch_add(1, SeqCst),
            Op::Load => _ = self.number.load(SeqCst),
        }
    }
}

fn rendezvous_ops(seed: u64, timed: bool) -> (Vec<Vec<Op>>, [Option<usize>; 2]) {
    let mut rng = Rng::new(seed);
    let threads = 2 + rng.below(2);
    let mut owner = || Some(rng.below(threads + 1)).filter(|&owner| owner < threads).map(|owner| owner as usize);
    let owners = [owner(), owner()];
    let channels = 1 + rng.below(4) / 3;
    let mut op = || {
        let channel = rng.below(channels) as usize;
        match rng.below(if timed { 15 } else { 12 }) {
            0..3 => Op::Send(channel),
            3 => Op::TrySend(channel),
            4..7 => Op::Recv(channel),
            7 => Op::TryRecv(channel),
            8 => Op::Add,
            9 => Op::Load,
            10 => Op::DropSender(channel),
            11 => Op::DropReceiver(channel),
            _ => Op::RecvTimeout(channel),
        }
    };
    let lengths: Vec<usize> = (0..threads as usize).map(|thread| 1 + (seed as usize >> thread) % 3).collect();
    (lengths.into_iter().map(|length| (0..length).map(|_| op()).collect()).collect(), owners)
}

fn rendezvous(seed: u64, timed: bool) -> Threads {
    let (threads, owners) = rendezvous_ops(seed, timed);
    let body = move || {
        let number = Arc::new(AtomicUsize::new(0));
        let channels = [0, 1].map(|_| mpsc::sync_channel::<usize>(0));
        let senders = [0, 1].map(|channel: usize| channels[channel].0.clone());
        let [first, second] = channels;
        let mut own = [Some(first.1), Some(second.1)];
        drop((first.0, second.0));
        let shared = [0, 1].map(|channel: usize| {
            let receiver = if owners[channel].is_none() { own[channel].take() } else { None };
            receiver.map(|receiver| Arc::new(Mutex::new(receiver)))
        });
        let mut running = Vec::new();
        for (me, ops) in threads.clone().into_iter().enumerate() {
            let mine = [0, 1].map(|channel: usize| own[channel].take_if(|_| owners[channel] == Some(me)));
            let (senders, shared) = (senders.clone().map(Some), shared.clone());
            let mut ends = Ends { me, number: number.clone(), senders, own: mine, shared };
            running.push(thread::spawn(move || ops.into_iter().for_each(|op| ends.take(op))));
        }
        drop((senders, own));
        running.into_iter().for_each(|thread| thread.join().unwrap());
        drop(shared);
    };
    Threads::new(Arc::new(body), &Settings::default())
}

/// What came of comparing reduction with the search of all orders.
#[derive(Debug, Default)]
struct Compared {
    programs: u64,
    /// Programs that reduction does not claim a proof for.
    unproven: u64,
    traces: u64,
    /// Executions of a trace that was run before.
    redundant: u64,
    pruned: u64,
    /// Programs of which traces were lost.
    lost: u64,
}

impl Compared {
    #[track_caller]
    fn add<P: Program>(&mut self, what: &str, program: &mut P) {
        let Some(all) = traces::count(program) else { return };
        let (report, reduced) = traces::reduced(program, Box::new(Optimal::new()));
        let claims = report.caveats.reduction_unproven == 0;
        assert!(reduced == all || !claims, "{what}: {reduced} of {all} traces, and a proof is claimed");
        self.programs += 1;
        self.unproven += u64::from(!claims);
        self.traces += all;
        self.redundant += report.executions.saturating_sub(reduced);
        self.pruned += report.pruned;
        self.lost += u64::from(reduced != all);
    }

    fn actors(seeds: Range<u64>, kind: Kind) -> Self {
        let mut compared = Self::default();
        for (seed, delivery) in seeds.flat_map(|seed| ORDERS.map(|delivery| (seed, delivery))) {
            compared.add(&format!("actors, {kind:?}, {delivery:?}, seed {seed}"), &mut actors(seed, delivery, kind));
        }
        compared
    }

    fn models(seeds: Range<u64>, kind: Kind) -> Self {
        let mut compared = Self::default();
        for (seed, delivery) in seeds.flat_map(|seed| ORDERS.map(|delivery| (seed, delivery))) {
            compared.add(&format!("model, {kind:?}, {delivery:?}, seed {seed}"), &mut model(seed, delivery, kind));
        }
        compared
    }

    fn rendezvous(seeds: Range<u64>, timed: bool) -> Self {
        let mut compared = Self::default();
        for seed in seeds {
            let what = format!("seed {seed}, timed {timed}: {:?}", rendezvous_ops(seed, timed));
            compared.add(&what, &mut rendezvous(seed, timed));
        }
        compared
    }
}

const TIMERS: Kind = Kind { timers: true, crashes: false };
const CRASHES: Kind = Kind { timers: false, crashes: true };

fn compare(seeds: &Range<u64>) -> [(&'static str, Compared); 6] {
    [
        ("timers of models", Compared::models(seeds.clone(), TIMERS)),
        ("crashes of models", Compared::models(seeds.clone(), CRASHES)),
        ("timers of actors", Compared::actors(seeds.clone(), TIMERS)),
        ("crashes of actors", Compared::actors(seeds.clone(), CRASHES)),
        ("no room", Compared::rendezvous(seeds.clone(), false)),
        ("no room, with timeouts", Compared::rendezvous(seeds.clone(), true)),
    ]
}

#[test]
fn where_traces_are_lost_no_proof_is_claimed() {
    for (kind, compared) in compare(&(1_008..1_016)) {
        assert!(compared.programs >= 4 && compared.unproven > 0, "{kind}: {compared:?}");
    }
}

#[test]
#[ignore = "minutes, and for release builds; FROM and COUNT say which seeds"]
fn where_traces_of_many_programs_are_lost_no_proof_is_claimed() {
    let number = |name: &str, otherwise| std::env::var(name).ok().and_then(|t| t.parse().ok()).unwrap_or(otherwise);
    let (from, count) = (number("FROM", 1_000), number("COUNT", 300));
    for (kind, compared) in compare(&(from..from + count)) {
        assert!(compared.programs > 0 && compared.unproven >= compared.lost, "{kind}: {compared:?}");
    }
}
