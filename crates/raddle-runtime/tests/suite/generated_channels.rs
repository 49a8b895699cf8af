//! Generated threads that send, receive and leave channels, on which reduction has to reach what the search of all orders reaches.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use raddle_engine::rng::Rng;
use raddle_runtime::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle_runtime::sync::{Mutex, mpsc};
use raddle_runtime::thread;

use crate::reached::{Body, loss};
use crate::seeds::{check_all, seeds};

/// One operation of a generated thread; the first number says which channel or variable.
#[derive(Clone, Copy, Debug)]
enum Op {
    Send(usize, usize),
    TwoSenders(usize),
    DropSender(usize),
    Recv(usize),
    RecvAll(usize),
    TryRecv(usize),
    RecvTimeout(usize),
    DropReceiver(usize),
    Store(usize),
    Load(usize),
    Sleep(u64),
    Panic(usize),
}

#[derive(Clone, Debug)]
struct Program {
    threads: Vec<Vec<Op>>,
    /// Which threads can send to which channel.
    sends: Vec<[bool; 2]>,
    /// Which thread has a channel's receiver; `None` if they share it behind a lock.
    owners: [Option<usize>; 2],
    variables: bool,
}

fn generate(seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let mut below = |n: u32| rng.below(n) as usize;
    let count = 2 + below(2);
    let channels = 1 + below(2) as u32;
    let kinds: Vec<usize> = (0..4).map(|_| below(11)).collect();
    let owners = [0; 2].map(|_| (below(4) > 0).then(|| below(count as u32)));
    let variables = below(2) == 0;
    let panics = below(2) == 0;
    let sends = (0..count).map(|_| [0; 2].map(|_| below(3) > 0)).collect();
    let mut thread = |me: usize| {
        let mut op = |_| {
            let (c, k) = (below(channels), 1 + below(2));
            let receives = owners[c].is_none_or(|owner| owner == me);
            match kinds[below(4)] {
                0..=2 if receives => [Op::Recv(c), Op::RecvAll(c), Op::Recv(c)][below(3)],
                0..=2 => Op::Send(c, k),
                3 => Op::DropSender(c),
                4 => Op::TwoSenders(c),
                5 if receives => Op::TryRecv(c),
                6 if receives => Op::RecvTimeout(c),
                7 if receives => Op::DropReceiver(c),
                8 => [Op::Store(c), Op::Load(c)][below(2)],
                9 if panics => Op::Panic(c),
                9 => Op::Sleep(5),
                _ => [Op::Send(c, k), Op::Load(c), Op::Store(c)][below(3)],
            }
        };
        let len = 2 + usize::from(count == 2);
        (0..len).map(&mut op).collect()
    };
    Program { threads: (0..count).map(&mut thread).collect(), sends, owners, variables }
}

type Tx = mpsc::Sender<usize>;
type Rx = mpsc::Receiver<usize>;

struct Ends {
    senders: [Vec<Tx>; 2],
    own: [Option<Rx>; 2],
    shared: Arc<[Mutex<Option<Rx>>; 2]>,
    variables: Arc<[AtomicUsize; 2]>,
}

impl Ends {
    /// What comes of an operation of the receiver, as a digit; 3 where there is none to ask.
    fn receive(&self, channel: usize, act: impl Fn(&Rx) -> usize) -> usize {
        match &self.own[channel] {
            Some(receiver) => act(receiver),
            None => self.shared[channel].lock().unwrap().as_ref().map_or(3, act),
        }
    }

    fn take(&mut self, op: Op) -> usize {
        match op {
            Op::Send(c, value) => self.senders[c].last().map_or(2, |sender| usize::from(sender.send(value).is_ok())),
            Op::TwoSenders(c) => {
                let more = self.senders[c].last().cloned();
                self.senders[c].extend(more);
                0
            }
            Op::DropSender(c) => {
                self.senders[c].pop();
                0
            }
            Op::Recv(c) => self.receive(c, |rx| rx.recv().unwrap_or(0)),
            Op::RecvAll(c) => self.receive(c, |rx| rx.iter().fold(1, |all, value| all * 4 + value)),
            Op::TryRecv(c) => self.receive(c, |rx| match rx.try_recv() {
                Ok(value) => value,
                Err(mpsc::TryRecvError::Empty) => 4,
                Err(mpsc::TryRecvError::Disconnected) => 5,
            }),
            Op::RecvTimeout(c) => self.receive(c, |rx| match rx.recv_timeout(Duration::from_millis(7)) {
                Ok(value) => value,
                Err(mpsc::RecvTimeoutError::Timeout) => 4,
                Err(mpsc::RecvTimeoutError::Disconnected) => 5,
            }),
            Op::DropReceiver(c) => {
                let gone = self.own[c].take().or_else(|| self.shared[c].lock().unwrap().take());
                usize::from(gone.is_some())
            }
            Op::Store(v) => {
                self.variables[v].store(1, SeqCst);
                0
            }
            Op::Load(v) => self.variables[v].load(SeqCst),
            Op::Sleep(milliseconds) => {
                thread::sleep(Duration::from_millis(milliseconds));
                0
            }
            Op::Panic(v) => {
                assert!(self.variables[v].load(SeqCst) == 0, "found 1");
                0
            }
        }
    }
}

fn run(program: Program) -> Vec<usize> {
    let (mut senders, mut receivers) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let (sender, receiver) = mpsc::channel();
        senders.push(sender);
        receivers.push(Some(receiver));
    }
    let shared = [0, 1].map(|c| Mutex::new(if program.owners[c].is_none() { receivers[c].take() } else { None }));
    let (shared, variables) = (Arc::new(shared), Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]));
    let mut threads = Vec::new();
    for (me, ops) in program.threads.into_iter().enumerate() {
        let senders = [0, 1].map(|c| if program.sends[me][c] { vec![senders[c].clone()] } else { Vec::new() });
        let own = [0, 1].map(|c| if program.owners[c] == Some(me) { receivers[c].take() } else { None });
        let mut ends = Ends { senders, own, shared: shared.clone(), variables: variables.clone() };
        threads.push(thread::spawn(move || ops.into_iter().map(|op| ends.take(op)).fold(1, |all, it| all * 32 + it)));
    }
    // What is behind the lock stays: who would be the last to have it, nobody can tell.
    drop((senders, receivers));
    let mut seen: Vec<usize> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    if program.variables {
        seen.extend(variables.iter().map(|variable| variable.load(SeqCst)));
    }
    drop(shared);
    seen
}

fn fuzz(seeds: Range<u64>, most: u64) -> u64 {
    let generated = |seed| {
        let program = generate(seed);
        (format!("{program:?}"), Arc::new(move || run(program.clone())) as Body)
    };
    check_all(seeds, generated, |body| loss(body, most))
}

#[test]
fn generated_channels() {
    let compared = fuzz(0..150, 2_000);
    assert!(compared >= 100, "only {compared} were small enough");
}

/// The first thread can go on only because its time is up. It was not run on once the other one had failed.
#[test]
fn a_timeout_after_a_failure() {
    let threads =
        vec![vec![Op::RecvTimeout(0), Op::Panic(0), Op::RecvTimeout(0)], vec![Op::Store(0), Op::Load(0), Op::Panic(0)]];
    let sends = vec![[true, true], [false, true]];
    let program = Program { threads, sends, owners: [Some(0), Some(0)], variables: true };
    let body: Body = Arc::new(move || run(program.clone()));
    assert_eq!(loss(&body, 2_000), (true, None));
}

#[test]
#[ignore = "minutes, and for release builds; FROM and COUNT say which seeds"]
fn many_generated_channels() {
    fuzz(seeds(1_000, 5_000), 20_000);
}
