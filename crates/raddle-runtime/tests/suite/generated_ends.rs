//! Generated programs of channels with and without room whose ends are dropped in any order: reduction runs every trace.
//!
//! Dropping an end is no decision unless somebody can observe it, so it is part of a step before it. Such steps touch several objects.

use std::ops::Range;
use std::sync::Arc;

use raddle_engine::rng::Rng;
use raddle_runtime::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle_runtime::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use raddle_runtime::sync::{Mutex, MutexGuard};
use raddle_runtime::thread;
use raddle_runtime::threads::{Settings, Threads};
use raddle_strategies::optimal::Optimal;

use crate::reached::{Body, loss};
use crate::seeds::seeds;
use crate::traces;

#[derive(Clone, Copy, Debug)]
enum Op {
    Send(usize),
    TrySend(usize),
    Recv(usize),
    TryRecv(usize),
    Add,
    Load,
    DropSender(usize),
    DropReceiver(usize),
}

#[derive(Clone, Debug)]
struct Program {
    room: [usize; 2],
    /// The thread that has the receiver; `None` if it is behind a lock.
    owners: [Option<usize>; 2],
    threads: Vec<Vec<Op>>,
}

fn generate(seed: u64) -> Program {
    let mut rng = Rng::new(seed);
    let threads = 2 + rng.below(2);
    let room = [1 + rng.below(2) as usize, 1 + rng.below(3) as usize];
    let mut owner = || Some(rng.below(threads + 1)).filter(|&owner| owner < threads).map(|owner| owner as usize);
    let owners = [owner(), owner()];
    let channels = 1 + rng.below(2);
    let mut op = || {
        let channel = rng.below(channels) as usize;
        match rng.below(10) {
            0 | 1 => Op::Send(channel),
            2 => Op::TrySend(channel),
            3 | 4 => Op::Recv(channel),
            5 => Op::TryRecv(channel),
            6 => Op::Add,
            7 => Op::Load,
            8 => Op::DropSender(channel),
            _ => Op::DropReceiver(channel),
        }
    };
    let lengths: Vec<usize> = (0..threads as usize).map(|thread| 1 + (seed as usize >> thread) % 3).collect();
    let threads = lengths.into_iter().map(|length| (0..length).map(|_| op()).collect()).collect();
    Program { room, owners, threads }
}

struct Ends {
    me: usize,
    number: Arc<AtomicUsize>,
    senders: [Option<SyncSender<usize>>; 2],
    own: [Option<Receiver<usize>>; 2],
    shared: [Option<Arc<Mutex<Receiver<usize>>>>; 2],
}

impl Ends {
    /// What an operation shows, as a digit.
    fn take(&mut self, op: Op) -> usize {
        let receive = |receiver: &Receiver<usize>| match op {
            Op::Recv(_) => receiver.recv().unwrap_or(5),
            _ => receiver.try_recv().unwrap_or(6),
        };
        match op {
            Op::Add => self.number.fetch_add(1, SeqCst) & 3,
            Op::Load => self.number.load(SeqCst) & 3,
            Op::Send(channel) => {
                self.senders[channel].as_ref().map_or(3, |sender| usize::from(sender.send(self.me).is_ok()))
            }
            Op::TrySend(channel) => match self.senders[channel].as_ref().map(|sender| sender.try_send(self.me)) {
                Some(Ok(())) => 0,
                Some(Err(TrySendError::Full(_))) => 1,
                Some(Err(TrySendError::Disconnected(_))) => 2,
                None => 3,
            },
            Op::Recv(channel) | Op::TryRecv(channel) => {
                let behind_lock = || self.shared[channel].as_ref().map(|shared| shared.lock().unwrap());
                let locked = |guard: MutexGuard<'_, Receiver<usize>>| receive(&guard);
                self.own[channel].as_ref().map_or_else(|| behind_lock().map_or(4, locked), receive)
            }
            Op::DropSender(channel) => usize::from(self.senders[channel].take().is_some()),
            Op::DropReceiver(channel) => usize::from(self.own[channel].take().is_some()),
        }
    }
}

fn run(program: &Program) -> Vec<usize> {
    let number = Arc::new(AtomicUsize::new(0));
    let channels = program.room.map(mpsc::sync_channel::<usize>);
    let senders = [0, 1].map(|channel| channels[channel].0.clone());
    let [first, second] = channels;
    let mut own = [Some(first.1), Some(second.1)];
    drop((first.0, second.0));
    let shared = [0, 1].map(|channel| {
        let receiver = if program.owners[channel].is_none() { own[channel].take() } else { None };
        receiver.map(|receiver| Arc::new(Mutex::new(receiver)))
    });
    let mut threads = Vec::new();
    for (me, ops) in program.threads.clone().into_iter().enumerate() {
        let mine = [0, 1].map(|channel| own[channel].take_if(|_| program.owners[channel] == Some(me)));
        let (senders, shared) = (senders.clone().map(Some), shared.clone());
        let mut ends = Ends { me, number: number.clone(), senders, own: mine, shared };
        threads.push(thread::spawn(move || ops.into_iter().fold(1, |all, op| all * 8 + ends.take(op))));
    }
    drop((senders, own));
    let mut seen: Vec<usize> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    seen.push(number.load(SeqCst));
    drop(shared);
    seen
}

fn fuzz(seeds: Range<u64>, most: u64) -> u64 {
    let mut compared = 0;
    for seed in seeds {
        let program = generate(seed);
        let text = format!("{seed}: {program:?}");
        let body: Body = Arc::new(move || run(&program));
        let (done, fault) = loss(&body, most);
        assert_eq!(fault, None, "{text}");
        if done {
            compared += 1;
            let body = move || drop(body());
            let mut threads = Threads::new(Arc::new(body), &Settings::default());
            let all = traces::count(&mut threads).expect("few enough");
            let (report, reduced) = traces::reduced(&mut threads, Box::new(Optimal::new()));
            assert_eq!(reduced, all, "{text}: {} executions", report.executions);
        }
    }
    compared
}

#[test]
fn ends_of_channels_with_room() {
    let compared = fuzz(0..200, 800);
    assert!(compared >= 50, "only {compared} were small enough");
}

#[test]
#[ignore = "minutes, and for release builds; FROM and COUNT say which seeds"]
fn ends_of_channels_with_room_in_many_programs() {
    fuzz(seeds(1_000, 5_000), 5_000);
}
