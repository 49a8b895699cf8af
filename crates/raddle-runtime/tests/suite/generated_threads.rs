//! Generated threads with everything that they can do, on which reduction has to reach what the search of all orders reaches.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use raddle_engine::rng::Rng;
use raddle_runtime::choice::choose;
use raddle_runtime::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle_runtime::sync::{Barrier, Condvar, Mutex, OnceLock, RwLock, mpsc};
use raddle_runtime::thread;

use crate::reached::{Body, fault};
use crate::seeds::{check_all, number, seeds};

/// One operation of a generated thread.
#[derive(Clone, Copy, Debug)]
enum Op {
    Load(usize),
    Store(usize, usize),
    Cas(usize, usize, usize),
    CasWeak(usize, usize, usize),
    Lock(usize),
    Unlock(usize),
    TryLock(usize),
    Read,
    Write,
    TryWrite,
    EndRw,
    Wait(bool),
    Notify(bool),
    Park(bool),
    Unpark(usize),
    Send(usize),
    TryRecv,
    Recv,
    RecvTimeout,
    Choose,
    Sleep(u64),
    Panic,
    /// At a cell that depends on what was seen.
    Cell(usize),
    /// A thread that is started here.
    Start(usize),
    /// The value that is made once: by this thread, or by whoever comes first.
    Set,
    Init,
    Get,
    Await,
    TryRead,
    Barrier,
    SendBounded(usize),
    TrySendBounded(usize),
    RecvBounded,
    TryRecvBounded,
}

struct Shared {
    variables: [AtomicUsize; 2],
    cells: [AtomicUsize; 5],
    locks: [Mutex<usize>; 2],
    rw: RwLock<usize>,
    gate: (Mutex<usize>, Condvar),
    sender: mpsc::Sender<usize>,
    receiver: Mutex<mpsc::Receiver<usize>>,
    handles: Mutex<Vec<thread::Thread>>,
    once: OnceLock<usize>,
    barrier: Barrier,
    bounded: (mpsc::SyncSender<usize>, Mutex<mpsc::Receiver<usize>>),
}

/// With `panics`, every program has threads that fail in some orders.
fn generate(seed: u64, panics: bool) -> Vec<Vec<Op>> {
    let mut rng = Rng::new(seed);
    let threads = 2 + rng.below(2) as usize;
    // Each program has a few kinds of operations, so that two of a kind meet.
    let mut kinds: Vec<u32> = (0..3).map(|_| rng.below(20)).collect();
    if panics {
        kinds[..2].copy_from_slice(&[11, 1]);
    }
    let mut thread = |_| {
        let mut ops = Vec::new();
        for _ in 0..2 + rng.below(2) {
            let (v, k) = (rng.below(2) as usize, 1 + rng.below(2) as usize);
            match kinds[rng.below(3) as usize] {
                0 => ops.push(Op::Load(v)),
                1 => ops.push(Op::Store(v, k)),
                2 => ops.push(Op::Cas(v, k - 1, k)),
                3 => ops.extend([Op::Lock(v), Op::Unlock(v)]),
                4 => ops.extend([Op::TryLock(v), Op::Unlock(v)]),
                5 => ops.extend([[Op::Read, Op::Write, Op::TryWrite][rng.below(3) as usize], Op::EndRw]),
                6 => ops.push(
                    [Op::Wait(false), Op::Wait(true), Op::Notify(false), Op::Notify(true)][rng.below(4) as usize],
                ),
                7 => ops.push([Op::Park(false), Op::Park(true), Op::Unpark(0), Op::Unpark(1)][rng.below(4) as usize]),
                8 => ops.push([Op::Send(k), Op::TryRecv, Op::Recv][rng.below(3) as usize]),
                9 => ops.push(Op::Choose),
                10 => ops.push(Op::Sleep(5 * k as u64)),
                11 => ops.push(Op::Panic),
                12 => ops.push(Op::CasWeak(v, k - 1, k)),
                14 => ops.push(Op::Cell(v)),
                15 => ops.push(Op::Start(v)),
                16 => ops.push([Op::Set, Op::Init, Op::Init, Op::Get, Op::Await][rng.below(5) as usize]),
                17 => ops.extend([[Op::TryRead, Op::Read, Op::TryWrite, Op::Write][rng.below(4) as usize], Op::EndRw]),
                18 => ops.push(Op::Barrier),
                19 => ops.push(
                    [Op::SendBounded(k), Op::TrySendBounded(k), Op::RecvBounded, Op::TryRecvBounded]
                        [rng.below(4) as usize],
                ),
                _ => ops.push([Op::Send(k), Op::RecvTimeout, Op::Sleep(5 * k as u64)][rng.below(3) as usize]),
            }
        }
        ops
    };
    (0..threads).map(&mut thread).collect()
}

fn run_thread(me: usize, ops: &[Op], shared: &Arc<Shared>) -> usize {
    let seen = Cell::new(1);
    let note = |value: usize| seen.set(seen.get() * 4 + value % 4);
    let mut children = Vec::new();
    let mut guards: [Option<_>; 2] = [None, None];
    let (mut reading, mut writing) = (None, None);
    for op in ops {
        match *op {
            Op::Load(v) => note(shared.variables[v].load(SeqCst)),
            Op::Store(v, k) => shared.variables[v].store(k, SeqCst),
            Op::Cas(v, from, to) => {
                note(usize::from(shared.variables[v].compare_exchange(from, to, SeqCst, SeqCst).is_ok()));
            }
            Op::CasWeak(v, from, to) => {
                note(usize::from(shared.variables[v].compare_exchange_weak(from, to, SeqCst, SeqCst).is_ok()));
            }
            Op::Lock(v) if guards[v].is_none() => {
                let mut guard = shared.locks[v].lock().unwrap();
                *guard += 1;
                note(*guard);
                guards[v] = Some(guard);
            }
            Op::TryLock(v) if guards[v].is_none() => {
                guards[v] = shared.locks[v].try_lock().ok();
                note(usize::from(guards[v].is_some()));
            }
            Op::Lock(_) | Op::TryLock(_) => {}
            Op::Unlock(v) => guards[v] = None,
            Op::Read => {
                let guard = shared.rw.read().unwrap();
                note(*guard);
                reading = Some(guard);
            }
            Op::Write => {
                let mut guard = shared.rw.write().unwrap();
                *guard = me;
                writing = Some(guard);
            }
            Op::TryWrite => {
                writing = shared.rw.try_write().ok();
                note(usize::from(writing.is_some()));
            }
            Op::EndRw => (reading, writing) = (None, None),
            Op::Wait(timed) => {
                let guard = shared.gate.0.lock().unwrap();
                if timed {
                    let (_, timeout) = shared.gate.1.wait_timeout(guard, Duration::from_millis(7)).unwrap();
                    note(usize::from(timeout.timed_out()));
                } else {
                    note(*shared.gate.1.wait(guard).unwrap());
                }
            }
            Op::Notify(all) => {
                *shared.gate.0.lock().unwrap() += 1;
                if all { shared.gate.1.notify_all() } else { shared.gate.1.notify_one() }
            }
            Op::Park(timed) => {
                if timed {
                    thread::park_timeout(Duration::from_millis(7))
                } else {
                    thread::park()
                }
            }
            Op::Unpark(v) => {
                let handle = shared.handles.lock().unwrap().get(v).cloned();
                if let Some(handle) = handle {
                    handle.unpark();
                }
            }
            Op::Send(k) => shared.sender.send(k).unwrap(),
            Op::TryRecv => note(shared.receiver.lock().unwrap().try_recv().unwrap_or(3)),
            Op::Recv => note(shared.receiver.lock().unwrap().recv().unwrap_or(3)),
            Op::RecvTimeout => {
                let receiver = shared.receiver.lock().unwrap();
                note(receiver.recv_timeout(Duration::from_millis(7)).unwrap_or(3));
            }
            Op::Choose => note(choose(2)),
            Op::Sleep(milliseconds) => thread::sleep(Duration::from_millis(milliseconds)),
            Op::Panic => {
                let x = shared.variables[0].load(SeqCst);
                assert!(x != 1, "{me} found 1");
            }
            Op::Cell(k) => note(shared.cells[(seen.get() + k) % 5].fetch_add(1, SeqCst)),
            Op::Start(v) => {
                let shared = shared.clone();
                let child = move || shared.variables[v].swap(me, SeqCst) + 2 * shared.cells[4 - v].fetch_add(1, SeqCst);
                children.push(thread::spawn(child));
            }
            Op::Set => note(usize::from(shared.once.set(me).is_ok())),
            Op::Init => note(*shared.once.get_or_init(|| shared.variables[0].load(SeqCst) + me)),
            Op::Get => note(shared.once.get().map_or(3, |&value| value)),
            Op::Await => note(*shared.once.wait()),
            Op::TryRead => {
                reading = shared.rw.try_read().ok();
                note(reading.as_ref().map_or(3, |guard| **guard));
            }
            Op::Barrier => note(usize::from(shared.barrier.wait().is_leader())),
            Op::SendBounded(k) => shared.bounded.0.send(k).unwrap(),
            Op::TrySendBounded(k) => note(usize::from(shared.bounded.0.try_send(k).is_ok())),
            Op::RecvBounded => note(shared.bounded.1.lock().unwrap().recv().unwrap_or(3)),
            Op::TryRecvBounded => note(shared.bounded.1.lock().unwrap().try_recv().unwrap_or(3)),
        }
    }
    children.into_iter().for_each(|child| note(child.join().unwrap()));
    let _ = (reading, writing);
    seen.get()
}

fn generated(program: Vec<Vec<Op>>) -> Vec<usize> {
    let (sender, receiver) = mpsc::channel();
    let (bounded, bounded_receiver) = mpsc::sync_channel(program.iter().map(Vec::len).sum::<usize>() % 2);
    let shared = Arc::new(Shared {
        variables: Default::default(),
        cells: Default::default(),
        locks: [Mutex::new(0), Mutex::new(0)],
        rw: RwLock::new(0),
        gate: (Mutex::new(0), Condvar::new()),
        sender,
        receiver: Mutex::new(receiver),
        handles: Mutex::new(Vec::new()),
        once: OnceLock::new(),
        barrier: Barrier::new(2),
        bounded: (bounded, Mutex::new(bounded_receiver)),
    });
    let mut threads = Vec::new();
    for (me, ops) in program.into_iter().enumerate() {
        let shared = shared.clone();
        threads.push(thread::spawn(move || run_thread(me, &ops, &shared)));
    }
    let unparks = threads.iter().map(|t| t.thread().clone()).collect();
    *shared.handles.lock().unwrap() = unparks;
    let mut seen: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    seen.extend(shared.variables.iter().map(|v| v.load(SeqCst)));
    seen
}

fn fuzz(seeds: Range<u64>, most: u64, panics: bool) -> u64 {
    let generated = |seed| {
        let program = generate(seed, panics);
        (format!("{program:?}"), Arc::new(move || generated(program.clone())) as Body)
    };
    check_all(seeds, generated, |body| fault(body, most))
}

#[test]
fn generated_programs() {
    let compared = fuzz(0..120, 2_000, false);
    assert!(compared >= 40, "only {compared} were small enough");
}

#[test]
fn generated_programs_that_panic() {
    let compared = fuzz(0..60, 1_000, true);
    assert!(compared >= 20, "only {compared} were small enough");
}

#[test]
#[ignore = "minutes, and for release builds; FROM and COUNT say which seeds"]
fn many_generated_programs() {
    let most = number("MOST", 20_000);
    fuzz(seeds(1_000, 5_000), most, false);
    fuzz(seeds(1_000, 5_000), most, true);
}

/// Traces of these were lost once: a look at what was set for good, between a step and a value that its thread asks for, was taken for
/// another value.
#[test]
fn a_look_at_what_cannot_change_before_a_choice() {
    use Op::{Choose, EndRw, Get, Load, Set, Store, TryRead, TryWrite};
    let programs = [
        [vec![Set, Store(0, 1)], vec![Load(0), Get, Choose]],
        [vec![Set, Store(0, 1), Store(0, 2)], vec![Load(0), Store(0, 4), Get, Choose, Get, Choose]],
        [vec![Set, TryWrite, EndRw], vec![TryRead, EndRw, Get, Choose]],
    ];
    for program in programs {
        let body: Body = Arc::new(move || generated(program.to_vec()));
        assert_eq!(fault(&body, 20_000), (true, None));
    }
}

/// A trace was lost once: a `set` that came too late was taken to change nothing in another place, too.
#[test]
fn who_sets_and_who_looks_before() {
    use Op::{Get, Init, Set, Store};
    let programs = [
        [vec![Set], vec![Get], vec![Set]],
        [vec![Set, Get], vec![Get], vec![Set]],
        [vec![Set, Init], vec![Store(0, 1), Get], vec![Store(0, 2), Set]],
    ];
    for program in programs {
        let body: Body = Arc::new(move || generated(program.to_vec()));
        assert_eq!(fault(&body, 20_000), (true, None));
    }
}

/// Threads that sleep were not run on once another one had failed.
#[test]
fn who_sleeps_while_another_one_fails() {
    assert_eq!(fuzz(506_893..506_894, 6_000, true), 1);
}
