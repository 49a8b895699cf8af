//! Generated threads whose every operation leaves a larger number than the one before it: in each task's rows the numbers grow.

use std::sync::Arc;

use raddle_engine::replay::{Record, Script, replay};
use raddle_engine::rng::Rng;
use raddle_engine::search::Limits;
use raddle_engine::system::Choice;
use raddle_runtime::sync::Mutex;
use raddle_runtime::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle_runtime::thread;
use raddle_runtime::threads::{Settings, Threads};

use super::*;

/// What a generated thread does to one of its objects; the last is its own.
#[derive(Clone, Copy)]
enum Op {
    Store,
    Swap,
    Exchange,
    StoreUnderLock,
    StartAndJoin,
}

type Shared = Arc<(Vec<AtomicUsize>, Mutex<()>)>;

fn generate(rng: &mut Rng) -> Vec<(Op, usize)> {
    let ops = [Op::Store, Op::Swap, Op::Exchange, Op::StoreUnderLock, Op::StartAndJoin];
    (0..3 + rng.below(6)).map(|_| (ops[rng.below(5) as usize], rng.below(3) as usize)).collect()
}

fn run(ops: &[(Op, usize)], shared: &Shared) {
    let own = AtomicUsize::new(0);
    for (number, (op, object)) in (100..).zip(ops) {
        let at = shared.0.get(*object).unwrap_or(&own);
        match op {
            Op::Store => at.store(number, SeqCst),
            Op::Swap => _ = at.swap(number, SeqCst),
            Op::Exchange => _ = at.compare_exchange_weak(at.load(SeqCst), number, SeqCst, SeqCst),
            Op::StoreUnderLock => {
                let guard = shared.1.lock().unwrap();
                at.store(number, SeqCst);
                drop(guard);
            }
            Op::StartAndJoin => {
                let shared = shared.clone();
                thread::Builder::new()
                    .name(format!("← {number}"))
                    .spawn(move || shared.0[0].load(SeqCst))
                    .unwrap()
                    .join()
                    .unwrap();
            }
        }
    }
}

fn record(seed: u64) -> Record {
    let mut rng = Rng::new(seed);
    let programs: Arc<[_]> = (0..3).map(|_| generate(&mut rng)).collect();
    // Wherever there is a choice there are two alternatives at least.
    let choices = (0..60).map(|_| Choice(rng.below(2))).collect();
    let body = move || {
        let shared: Shared = Arc::new(([0, 0].map(AtomicUsize::new).into(), Mutex::new(())));
        let start = |which: usize| {
            let (shared, programs) = (shared.clone(), programs.clone());
            thread::spawn(move || run(&programs[which], &shared))
        };
        let threads = [start(0), start(1)];
        run(&programs[2], &shared);
        for thread in threads {
            thread.join().unwrap();
        }
    };
    let script = Script::Choices { seed, choices };
    replay(&mut Threads::new(Arc::new(body), &Settings::default()), &script, &Limits::default())
}

/// What an operation leaves, or whom it starts or waits for, by the number in it.
fn number_in(text: &str) -> Option<u32> {
    let digits = text.rsplit(['→', '←']).next()?.trim().split(' ').next()?;
    digits.parse().ok().filter(|number| *number >= 100)
}

#[test]
fn rows_of_a_task_are_in_the_order_of_its_program() {
    let mut seen = 0;
    for seed in 0..150 {
        let record = record(seed);
        let names = Names::new(&record, None);
        let rows = tell(&record, None, &names);
        let mut latest: HashMap<TaskId, u32> = HashMap::new();
        for row in rows.iter().filter(|row| !row.text.starts_with("load") && !row.text.ends_with("(fails)")) {
            let Some(number) = number_in(&row.text) else { continue };
            let before = latest.insert(row.task, number).unwrap_or(0);
            // A join has the number of the spawn before it.
            assert!(before <= number, "seed {seed}: {} after {before} in {rows:#?}", row.text);
            seen += 1;
        }
    }
    assert!(seen > 1_000, "{seen}");
}
