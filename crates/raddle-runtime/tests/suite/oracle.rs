//! Generated programs, run twice: as real threads under the engine, and by a direct enumeration of all their orders that
//! shares no code with it. Counts, final states, deadlocks and the probabilities of a random walk must agree.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex as StdMutex};

use raddle_engine::rng::Rng;
use raddle_engine::search::{Limits, Report, search};
use raddle_engine::strategy::Strategy;
use raddle_runtime::sync::Mutex;
use raddle_runtime::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle_runtime::thread;
use raddle_runtime::threads::{Settings, Threads};
use raddle_strategies::samplers::random::Random;
use raddle_strategies::tree::exhaustive::Exhaustive;

/// One operation of a generated thread. Every thread has one register.
#[derive(Clone, Copy, Debug)]
enum Op {
    /// register = variable
    Load(usize),
    /// variable = value
    Store(usize, usize),
    /// register = variable; variable += value
    Add(usize, usize),
    /// register = whether variable was `from` and has become `to`
    Cas(usize, usize, usize),
    /// Skips so many operations if the register is 0; no step.
    SkipIfZero(usize),
    Lock(usize),
    Unlock(usize),
    Yield,
}

type Program = Vec<Vec<Op>>;

const VARIABLES: usize = 2;
const LOCKS: usize = 2;

/// What an execution leaves: all variables, then all registers; `None` for a deadlock.
type Final = Option<Vec<usize>>;

#[derive(Clone)]
struct Machine<'p> {
    program: &'p Program,
    at: Vec<usize>,
    registers: Vec<usize>,
    variables: [usize; VARIABLES],
    holder: [Option<usize>; LOCKS],
}

impl<'p> Machine<'p> {
    fn new(program: &'p Program) -> Self {
        let n = program.len();
        let mut machine =
            Self { program, at: vec![0; n], registers: vec![0; n], variables: [0; VARIABLES], holder: [None; LOCKS] };
        (0..n).for_each(|t| machine.skip(t));
        machine
    }

    fn next(&self, thread: usize) -> Option<Op> {
        self.program[thread].get(self.at[thread]).copied()
    }

    fn skip(&mut self, thread: usize) {
        while let Some(Op::SkipIfZero(n)) = self.next(thread) {
            self.at[thread] += if self.registers[thread] == 0 { 1 + n } else { 1 };
        }
    }

    fn able(&self) -> Vec<usize> {
        let can = |&t: &usize| match self.next(t) {
            None => false,
            Some(Op::Lock(m)) => self.holder[m].is_none(),
            Some(_) => true,
        };
        (0..self.program.len()).filter(can).collect()
    }

    fn step(&mut self, t: usize) {
        match self.next(t).unwrap() {
            Op::Load(v) => self.registers[t] = self.variables[v],
            Op::Store(v, k) => self.variables[v] = k,
            Op::Add(v, k) => {
                self.registers[t] = self.variables[v];
                self.variables[v] += k;
            }
            Op::Cas(v, from, to) => {
                self.registers[t] = usize::from(self.variables[v] == from);
                if self.variables[v] == from {
                    self.variables[v] = to;
                }
            }
            Op::Lock(m) => self.holder[m] = Some(t),
            Op::Unlock(m) => self.holder[m] = None,
            Op::SkipIfZero(_) | Op::Yield => {}
        }
        self.at[t] += 1;
        self.skip(t);
    }

    /// All orders: how often each final state is reached, and with which probability by a uniform walk.
    fn enumerate(&self, probability: f64, ends: &mut BTreeMap<Final, (u64, f64)>) {
        let able = self.able();
        if able.is_empty() {
            let done = (0..self.program.len()).all(|t| self.next(t).is_none());
            let end = done.then(|| self.variables.iter().chain(&self.registers).copied().collect());
            let entry = ends.entry(end).or_default();
            entry.0 += 1;
            entry.1 += probability;
        }
        for &thread in &able {
            let mut next = self.clone();
            next.step(thread);
            next.enumerate(probability / able.len() as f64, ends);
        }
    }
}

fn run_thread(ops: &[Op], variables: &[AtomicUsize], locks: &[Mutex<()>]) -> usize {
    let mut register = 0;
    let mut guards: Vec<Option<_>> = locks.iter().map(|_| None).collect();
    let mut at = 0;
    while let Some(&op) = ops.get(at) {
        match op {
            Op::Load(v) => register = variables[v].load(SeqCst),
            Op::Store(v, k) => variables[v].store(k, SeqCst),
            Op::Add(v, k) => register = variables[v].fetch_add(k, SeqCst),
            Op::Cas(v, from, to) => register = variables[v].compare_exchange(from, to, SeqCst, SeqCst).is_ok().into(),
            Op::SkipIfZero(n) => at += if register == 0 { n } else { 0 },
            Op::Lock(m) => guards[m] = Some(locks[m].lock().unwrap()),
            Op::Unlock(m) => guards[m] = None,
            Op::Yield => thread::yield_now(),
        }
        at += 1;
    }
    register
}

/// Runs the program under `strategy` and counts how often each final state comes out.
fn explore(program: &Program, strategy: &mut dyn Strategy, executions: Option<u64>) -> (Report, BTreeMap<Final, u64>) {
    let ends: Arc<StdMutex<BTreeMap<Final, u64>>> = Arc::default();
    let (counted, program) = (ends.clone(), program.clone());
    let body = move || {
        let variables: Arc<[AtomicUsize; VARIABLES]> = Arc::new(std::array::from_fn(|_| AtomicUsize::new(0)));
        let locks: Arc<[Mutex<()>; LOCKS]> = Arc::new(std::array::from_fn(|_| Mutex::new(())));
        let start = |ops: &Vec<Op>| {
            let (ops, variables, locks) = (ops.clone(), variables.clone(), locks.clone());
            thread::spawn(move || run_thread(&ops, &*variables, &*locks))
        };
        let handles: Vec<_> = program.iter().map(start).collect();
        let registers: Vec<_> = handles.into_iter().map(|h| h.join().unwrap()).collect();
        // All threads have ended, so these loads are steps without alternatives.
        let end = variables.iter().map(|v| v.load(SeqCst)).chain(registers).collect();
        *counted.lock().unwrap().entry(Some(end)).or_default() += 1;
    };
    let limits = Limits { executions, keep_going: true, repeats: false, ..Limits::default() };
    let report = search(&mut Threads::new(Arc::new(body), &Settings::default()), strategy, &limits);
    let mut ends = std::mem::take(&mut *ends.lock().unwrap());
    if report.failing > 0 {
        ends.insert(None, report.failing);
    }
    (report, ends)
}

fn generate(rng: &mut Rng) -> Program {
    let threads = 2 + rng.below(2);
    let most = if threads == 2 { 7 } else { 4 };
    let thread = |_| {
        let length = 1 + rng.below(most) as usize;
        generate_thread(rng, length)
    };
    (0..threads).map(thread).collect()
}

fn generate_thread(rng: &mut Rng, length: usize) -> Vec<Op> {
    let mut ops = Vec::new();
    let mut held: Vec<usize> = Vec::new();
    while ops.len() + held.len() < length {
        let v = rng.below(VARIABLES as u32) as usize;
        let k = 1 + rng.below(2) as usize;
        ops.push(match rng.below(11) {
            0 | 1 => Op::Load(v),
            2 => Op::Store(v, k),
            3 => Op::Add(v, k),
            4 => Op::Cas(v, k - 1, k),
            5 if held.is_empty() => Op::SkipIfZero(1),
            6..=9 => {
                let free: Vec<_> = (0..LOCKS).filter(|m| !held.contains(m)).collect();
                if free.is_empty() {
                    continue;
                }
                let m = free[rng.below(free.len() as u32) as usize];
                held.push(m);
                Op::Lock(m)
            }
            10 if !held.is_empty() => Op::Unlock(held.pop().unwrap()),
            _ => Op::Yield,
        });
    }
    // A skip must not leave a lock held: what follows a skip is never a lock, because of this last pass.
    for i in 1..ops.len() {
        if matches!((ops[i - 1], ops[i]), (Op::SkipIfZero(_), Op::Lock(_) | Op::Unlock(_))) {
            ops[i - 1] = Op::Yield;
        }
    }
    ops.extend(held.into_iter().rev().map(Op::Unlock));
    ops
}

fn oracle(program: &Program) -> BTreeMap<Final, (u64, f64)> {
    let mut ends = BTreeMap::new();
    Machine::new(program).enumerate(1.0, &mut ends);
    ends
}

#[test]
fn exhaustive_search_walks_every_order_once() {
    let mut rng = Rng::new(2026);
    let mut deadlocks = 0;
    for round in 0..300 {
        let program = generate(&mut rng);
        let expected: BTreeMap<_, _> = oracle(&program).into_iter().map(|(end, (count, _))| (end, count)).collect();
        let total: u64 = expected.values().sum();
        if total > 20_000 {
            continue;
        }
        deadlocks += u64::from(expected.contains_key(&None));
        let orders = [Exhaustive::depth_first(), Exhaustive::breadth_first(), Exhaustive::random(round)];
        for mut strategy in orders {
            let (report, ends) = explore(&program, &mut strategy, None);
            assert_eq!(ends, expected, "{strategy:?} on {program:?}");
            assert_eq!(report.executions, total);
        }
    }
    assert!(deadlocks > 5, "the generator makes too few programs that can deadlock: {deadlocks}");
}

#[test]
fn a_random_walk_has_the_exact_probabilities() {
    let mut rng = Rng::new(7);
    let samples = 4_000;
    for seed in 0..40 {
        let program = generate(&mut rng);
        let expected = oracle(&program);
        let (_, ends) = explore(&program, &mut Random::new(seed), Some(samples));
        assert!(ends.keys().all(|end| expected.contains_key(end)), "an impossible end of {program:?}");
        for (end, (_, probability)) in expected {
            let mean = probability * samples as f64;
            let deviation = (mean * (1.0 - probability).max(0.0)).sqrt();
            let hits = *ends.get(&end).unwrap_or(&0) as f64;
            assert!(
                (hits - mean).abs() <= 5.0 * deviation + 1.0,
                "{hits} hits of {end:?}, expected {mean}: {program:?}"
            );
        }
    }
}
