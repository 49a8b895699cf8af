//! How many traces real threads seem to have, from a hundred probes, against what reduction finds.

use std::sync::Arc;

use raddle_engine::search::{Limits, search};
use raddle_engine::strategy::{Counting, Strategy, Summarize};
use raddle_runtime::choice::choose;
use raddle_runtime::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle_runtime::sync::{Condvar, Mutex, RwLock, mpsc};
use raddle_runtime::thread;
use raddle_runtime::threads::{Settings, Threads};
use raddle_strategies::optimal::Optimal;
use raddle_strategies::probing::Probe;
use raddle_strategies::tree::exhaustive::Exhaustive;

type Body = Arc<dyn Fn() + Send + Sync>;

fn executions(body: &Body, strategy: &mut dyn Strategy, executions: Option<u64>) -> u64 {
    let limits = Limits { executions, keep_going: true, ..Limits::default() };
    let settings = Settings { spurious: 0, ..Settings::default() };
    search(&mut Threads::new(body.clone(), &settings), strategy, &limits).executions
}

fn check(name: &str, body: impl Fn() + Send + Sync + 'static) {
    let body: Body = Arc::new(body);
    let strategies: [(Counting, Box<dyn Strategy>); 2] =
        [(Counting::Traces, Box::new(Optimal::new())), (Counting::Orders, Box::new(Exhaustive::depth_first()))];
    for (counting, mut strategy) in strategies {
        let truth = executions(&body, &mut *strategy, None) as f64;
        assert!(truth > 4.0, "{name}, {counting:?}: {truth} is too easy");
        for seed in 0..10 {
            let mut probe = Probe::new(counting, seed);
            executions(&body, &mut probe, Some(Probe::PILOTS + 100));
            let orders = probe.estimate().expect("there were probes").orders;
            assert!((truth / 2.0..=truth * 2.0).contains(&orders), "{name}, {counting:?}: {orders} for {truth}");
        }
    }
}

#[test]
fn locks_and_atomics() {
    check("two locks", || {
        let shared = Arc::new((Mutex::new(0), Mutex::new(0), AtomicUsize::new(0)));
        let workers = (0..2).map(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                *shared.0.lock().unwrap() += 1;
                shared.2.fetch_add(1, SeqCst);
                *shared.1.lock().unwrap() += 1;
            })
        });
        workers.collect::<Vec<_>>().into_iter().for_each(|worker| worker.join().unwrap());
    });
    check("a reader and two writers", || {
        let shared = Arc::new(RwLock::new(0));
        let writers = (0..2).map(|n| {
            let shared = shared.clone();
            thread::spawn(move || *shared.write().unwrap() += n)
        });
        let writers: Vec<_> = writers.collect();
        let _seen = *shared.read().unwrap();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
    });
}

#[test]
fn waiting_and_messages() {
    check("a condition", || {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let wakers = (0..2).map(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                *shared.0.lock().unwrap() += 1;
                shared.1.notify_one();
            })
        });
        let _wakers: Vec<_> = wakers.collect();
        let mut count = shared.0.lock().unwrap();
        while *count < 2 {
            count = shared.1.wait(count).unwrap();
        }
    });
    check("a channel and a choice", || {
        let (sender, receiver) = mpsc::channel();
        for n in 0..2 {
            let sender = sender.clone();
            thread::spawn(move || sender.send(n).unwrap());
        }
        sender.send(choose(2)).unwrap();
        drop(sender);
        assert_eq!(receiver.iter().count(), 3);
    });
}

#[test]
fn threads_that_are_started_late() {
    check("one after the other", || {
        let count = Arc::new(AtomicUsize::new(0));
        let others = (0..2).map(|_| {
            let count = count.clone();
            thread::spawn(move || {
                if count.fetch_add(1, SeqCst) == 0 {
                    let count = count.clone();
                    thread::spawn(move || count.fetch_add(10, SeqCst));
                }
                count.load(SeqCst);
            })
        });
        others.collect::<Vec<_>>().into_iter().for_each(|other| other.join().unwrap());
    });
}
