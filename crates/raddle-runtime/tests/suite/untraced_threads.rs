//! Walks through programs of threads, where nobody looks at the steps: the task that pauses draws the next action itself. They must go as they
//! do where somebody looks and the search makes each choice.

use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;

use raddle_engine::rng::Rng;
use raddle_engine::search::Limits;
use raddle_engine::strategy::Strategy;
use raddle_runtime::choice;
use raddle_runtime::sync::atomic::{AtomicU32, Ordering};
use raddle_runtime::sync::mpsc::{self, Receiver, SyncSender};
use raddle_runtime::sync::{Condvar, Mutex, RwLock};
use raddle_runtime::thread;
use raddle_runtime::threads::Settings;
use raddle_strategies::samplers::random::Random;
use raddle_strategies::watched::Watched;

use crate::explore::run_with;
use crate::untraced::{Walked, assert_same};

/// What a thread does.
#[derive(Clone, Debug)]
enum Do {
    Add,
    Load,
    Store(u32),
    Exchange(u32),
    Lock(Vec<Do>),
    TryLock,
    Read(Vec<Do>),
    Write,
    Yield,
    Poll,
    Send(usize),
    TrySend(usize),
    Receive(Option<u64>),
    Wait(Option<u64>),
    Notify,
    Sleep(u64),
    Park(u64),
    Choose(u32),
    Spawn(Vec<Do>),
    Join,
    Panic,
}

fn jobs(rng: &mut Rng, depth: u32, panics: bool) -> Vec<Do> {
    let time = |rng: &mut Rng| (rng.below(2) == 0).then(|| u64::from(1 + rng.below(3)));
    let count = 1 + rng.below(4);
    let job = |rng: &mut Rng| match rng.below(if panics { 22 } else { 21 }) {
        0 => Do::Add,
        1 => Do::Load,
        2 => Do::Store(rng.below(2)),
        3 => Do::Exchange(rng.below(3)),
        4 | 5 if depth > 0 => Do::Lock(jobs(rng, 0, panics)),
        6 => Do::TryLock,
        7 if depth > 0 => Do::Read(jobs(rng, 0, panics)),
        8 => Do::Write,
        9 => Do::Yield,
        10 => Do::Poll,
        11 => Do::Send(rng.below(3) as usize),
        12 => Do::TrySend(rng.below(3) as usize),
        13 => Do::Receive(time(rng)),
        14 => Do::Wait(time(rng)),
        15 => Do::Notify,
        16 => Do::Sleep(u64::from(1 + rng.below(3))),
        17 => Do::Park(u64::from(1 + rng.below(3))),
        18 => Do::Choose(2 + rng.below(2)),
        19 if depth > 0 => Do::Spawn(jobs(rng, depth - 1, panics)),
        20 => Do::Join,
        21 => Do::Panic,
        _ => Do::Add,
    };
    (0..count).map(|_| job(rng)).collect()
}

/// What happened in each execution: who did something, and what was found.
type Log = Arc<StdMutex<Vec<Vec<(u32, u32)>>>>;

/// What threads share.
struct Shared {
    log: Log,
    number: AtomicU32,
    lock: Mutex<u32>,
    changed: Condvar,
    values: RwLock<u32>,
    /// A channel with room for many messages, one with room for one, and one without room.
    senders: [SyncSender<u32>; 3],
    receivers: Mutex<Vec<Receiver<u32>>>,
}

impl Shared {
    fn note(&self, who: u32, what: u32) {
        self.log.lock().unwrap().last_mut().unwrap().push((who, what));
    }

    fn carry_out(self: &Arc<Self>, who: u32, jobs: &[Do]) {
        let mut started = Vec::new();
        for job in jobs {
            let found = self.carry_out_one(who, job, &mut started);
            self.note(who, found);
        }
        for thread in started {
            thread.join().unwrap();
        }
    }

    fn carry_out_one(self: &Arc<Self>, who: u32, job: &Do, started: &mut Vec<thread::JoinHandle<()>>) -> u32 {
        let time = Duration::from_millis;
        match job {
            Do::Add => self.number.fetch_add(1, Ordering::SeqCst),
            Do::Load => self.number.load(Ordering::SeqCst),
            Do::Store(value) => {
                self.number.store(*value, Ordering::SeqCst);
                0
            }
            Do::Exchange(value) => self
                .number
                .compare_exchange_weak(*value, value + 1, Ordering::SeqCst, Ordering::SeqCst)
                .unwrap_or_else(|found| found),
            Do::Lock(jobs) => {
                // Jobs of these take no further lock, but some of them wait for others.
                let mut value = self.lock.lock().unwrap();
                *value += 1;
                let found = *value;
                if jobs.iter().any(|job| matches!(job, Do::Wait(_) | Do::TryLock)) {
                    drop(value);
                }
                self.carry_out(who, jobs);
                found
            }
            Do::TryLock => self.lock.try_lock().map_or(99, |value| *value),
            Do::Read(jobs) => {
                let value = *self.values.read().unwrap();
                self.carry_out(who, jobs);
                value
            }
            Do::Write => {
                let mut value = self.values.write().unwrap();
                *value += 1;
                *value
            }
            Do::Yield => {
                thread::yield_now();
                0
            }
            Do::Poll => {
                let mut rounds = 0;
                while self.number.load(Ordering::SeqCst) == 0 && rounds < 3 {
                    thread::yield_now();
                    rounds += 1;
                }
                rounds
            }
            Do::Send(channel) => u32::from(self.senders[*channel].send(who).is_ok()),
            Do::TrySend(channel) => u32::from(self.senders[*channel].try_send(who).is_ok()),
            Do::Receive(timeout) => {
                let taken = self.receivers.lock().unwrap().pop();
                let Some(receiver) = taken else { return 77 };
                let received = match timeout {
                    None => receiver.recv().unwrap_or(88),
                    Some(timeout) => receiver.recv_timeout(time(*timeout)).unwrap_or(99),
                };
                self.receivers.lock().unwrap().push(receiver);
                received
            }
            Do::Wait(timeout) => {
                let value = self.lock.lock().unwrap();
                match timeout {
                    None => *self.changed.wait(value).unwrap(),
                    Some(timeout) => *self.changed.wait_timeout(value, time(*timeout)).unwrap().0,
                }
            }
            Do::Notify => {
                self.changed.notify_one();
                0
            }
            Do::Sleep(length) => {
                thread::sleep(time(*length));
                0
            }
            Do::Park(length) => {
                thread::park_timeout(time(*length));
                0
            }
            Do::Choose(values) => choice::choose(*values as usize) as u32,
            Do::Spawn(jobs) => {
                let (shared, jobs) = (self.clone(), jobs.clone());
                started.push(thread::spawn(move || shared.carry_out(who + 10, &jobs)));
                0
            }
            Do::Join => {
                if let Some(thread) = started.pop() {
                    thread.join().unwrap();
                }
                0
            }
            Do::Panic => panic!("as it was told"),
        }
    }
}

/// Walks through a generated program, with somebody who looks or without.
fn walk(seed: u64, panics: bool, seen: bool) -> Walked<Vec<(u32, u32)>> {
    let log = Log::default();
    let written = log.clone();
    let mut strategy: Box<dyn Strategy> = Box::new(Random::new(seed));
    if seen {
        strategy = Box::new(Watched::new(strategy, |_: &mut dyn Strategy, _: &_| ()));
    }
    let limits = Limits { executions: Some(20), keep_going: true, steps: 1_000, ..Limits::default() };
    let report = run_with(&Settings::default(), &mut *strategy, limits, move || {
        log.lock().unwrap().push(Vec::new());
        let mut rng = Rng::new(seed);
        let channels = [mpsc::sync_channel(100), mpsc::sync_channel(1), mpsc::sync_channel(0)];
        let (senders, receivers) = {
            let [(first, a), (second, b), (third, c)] = channels;
            ([first, second, third], vec![a, b, c])
        };
        let shared = Arc::new(Shared {
            log: log.clone(),
            number: AtomicU32::new(0),
            lock: Mutex::new(0),
            changed: Condvar::new(),
            values: RwLock::new(0),
            senders,
            receivers: Mutex::new(receivers),
        });
        let start = |who: u32| {
            let (shared, jobs) = (shared.clone(), jobs(&mut rng, 2, panics));
            thread::spawn(move || shared.carry_out(who, &jobs))
        };
        let threads: Vec<_> = (0..3).map(start).collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    let log = written.lock().unwrap().clone();
    (report, log)
}

/// Compares on generated programs; says how many executions failed, and how many ended well.
fn compare(seeds: std::ops::Range<u64>, panics: bool) -> (u64, u64) {
    let all = 20 * (seeds.end - seeds.start);
    let failing = seeds.map(|seed| assert_same(&seed, walk(seed, panics, false), walk(seed, panics, true))).sum();
    (failing, all - failing)
}

#[test]
fn walks_go_the_same_way_where_nobody_looks() {
    let (failing, well) = compare(0..150, false);
    assert!(failing > 100 && well > 100, "{failing} wait for ever, {well} do not");
}

#[test]
fn walks_go_the_same_way_where_threads_panic() {
    assert!(compare(1_000..1_050, true).0 > 100, "many panic");
}

#[test]
#[ignore = "minutes, and for release builds"]
fn many_walks_go_the_same_way_where_nobody_looks() {
    compare(10_000..20_000, false);
    compare(20_000..25_000, true);
}
