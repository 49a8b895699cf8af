//! Partial-order reduction of real threads: it reaches what the search of all orders reaches, in fewer executions.

use std::sync::Arc;
use std::time::Duration;

use raddle_engine::search::Report;
use raddle_runtime::choice::choose;
use raddle_runtime::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle_runtime::sync::{Barrier, Condvar, Mutex, RwLock, mpsc};
use raddle_runtime::thread;
use raddle_strategies::optimal::Optimal;
use raddle_strategies::reduction::Dpor;
use raddle_strategies::tree::exhaustive::Exhaustive;

use crate::reached::{Body, reach, reaches_the_same, same, same_but_for_pruned};

#[test]
fn atomics_and_locks() {
    let (few, many) = same(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let log = Arc::new(Mutex::new(Vec::new()));
        let threads: Vec<_> = (0..3)
            .map(|i| {
                let (x, log) = (x.clone(), log.clone());
                thread::spawn(move || {
                    let seen = x.fetch_add(1, SeqCst);
                    if seen == i {
                        log.lock().unwrap().push(i);
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        Arc::into_inner(log).expect("all threads are gone").into_inner().unwrap()
    });
    assert!(few < many, "{few} of {many}");
}

#[test]
fn independent_threads_have_one_order() {
    let (few, many) = same(|| {
        let threads: Vec<_> = (0..3)
            .map(|i| {
                thread::spawn(move || {
                    let own = AtomicUsize::new(i);
                    own.fetch_add(1, SeqCst);
                    own.load(SeqCst)
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(few == 1 && many > 1, "{few} of {many}");
}

#[test]
fn deadlocks() {
    same(|| {
        let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
        let (a2, b2) = (a.clone(), b.clone());
        let other = thread::spawn(move || {
            let _b = b2.lock().unwrap();
            let _a = a2.lock().unwrap();
        });
        {
            let _a = a.lock().unwrap();
            let _b = b.lock().unwrap();
        }
        other.join().unwrap();
        vec![]
    });
}

#[test]
fn panics_do_not_hide_other_results() {
    // The search continues without the failing event, and some of these executions are pruned.
    let body: Body = Arc::new(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..3)
            .map(|i| {
                let x = x.clone();
                thread::spawn(move || {
                    let seen = x.fetch_add(1, SeqCst);
                    let _ = x.load(SeqCst);
                    assert!(seen != i || i == 1, "{i} saw {seen}");
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        vec![x.load(SeqCst)]
    });
    reaches_the_same(&body);
}

#[test]
fn readers_and_writers() {
    same(|| {
        let lock = Arc::new(RwLock::new(0));
        let readers: Vec<_> = (0..2)
            .map(|_| {
                let lock = lock.clone();
                thread::spawn(move || *lock.read().unwrap())
            })
            .collect();
        *lock.write().unwrap() += 1;
        readers.into_iter().map(|t| t.join().unwrap()).collect()
    });
}

#[test]
fn try_locks() {
    same(|| {
        let lock = Arc::new(RwLock::new(0));
        let mutex = Arc::new(Mutex::new(0));
        let (lock2, mutex2) = (lock.clone(), mutex.clone());
        let other = thread::spawn(move || {
            let read = lock2.read().unwrap();
            let held = mutex2.try_lock().is_ok();
            drop(read);
            usize::from(held)
        });
        let guard = mutex.lock().unwrap();
        let wrote = lock.try_write().is_ok();
        drop(guard);
        vec![other.join().unwrap(), usize::from(wrote)]
    });
}

#[test]
fn condition_variables() {
    same(|| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let waiters: Vec<_> = (0..2)
            .map(|_| {
                let pair = pair.clone();
                thread::spawn(move || {
                    let mut left = pair.0.lock().unwrap();
                    if *left == 0 {
                        left = pair.1.wait(left).unwrap();
                    }
                    *left
                })
            })
            .collect();
        *pair.0.lock().unwrap() = 1;
        pair.1.notify_one();
        pair.1.notify_one();
        waiters.into_iter().map(|t| t.join().unwrap()).collect()
    });
}

#[test]
fn timed_waits() {
    same_but_for_pruned(|| {
        let pair = Arc::new((Mutex::new(0), Condvar::new()));
        let pair2 = pair.clone();
        let waiter = thread::spawn(move || {
            let guard = pair2.0.lock().unwrap();
            let (guard, timed_out) = pair2.1.wait_timeout(guard, Duration::from_millis(10)).unwrap();
            *guard * 2 + usize::from(timed_out.timed_out())
        });
        let sleeper = thread::spawn(|| thread::sleep(Duration::from_millis(5)));
        *pair.0.lock().unwrap() = 1;
        pair.1.notify_one();
        sleeper.join().unwrap();
        vec![waiter.join().unwrap()]
    });
}

#[test]
fn parking() {
    same_but_for_pruned(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let x2 = x.clone();
        let parked = thread::spawn(move || {
            thread::park();
            let first = x2.load(SeqCst);
            thread::park_timeout(Duration::from_millis(1));
            first * 10 + x2.load(SeqCst)
        });
        let handle = parked.thread().clone();
        let other = thread::spawn(move || handle.unpark());
        x.store(1, SeqCst);
        parked.thread().unpark();
        other.join().unwrap();
        x.store(2, SeqCst);
        vec![parked.join().unwrap()]
    });
}

#[test]
fn a_spurious_wakeup_beside_a_blocked_task() {
    same_but_for_pruned(|| {
        let x = Arc::new(AtomicUsize::new(0));
        let stuck = thread::spawn(thread::park);
        let (y, z) = (x.clone(), x.clone());
        let waiter = thread::spawn(move || {
            let pair = (Mutex::new(()), Condvar::new());
            drop(pair.1.wait(pair.0.lock().unwrap()).unwrap());
            y.load(SeqCst)
        });
        let timed = thread::spawn(move || {
            thread::park_timeout(Duration::from_millis(1));
            z.load(SeqCst)
        });
        x.store(1, SeqCst);
        let seen = vec![timed.join().unwrap(), waiter.join().unwrap()];
        stuck.join().unwrap();
        seen
    });
}

#[test]
fn spurious_wakeups_share_a_budget() {
    same_but_for_pruned(|| {
        let (x, y) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let exchange = |x: Arc<AtomicUsize>| move || usize::from(x.compare_exchange_weak(0, 1, SeqCst, SeqCst).is_ok());
        let threads = [x.clone(), x, y].map(|x| thread::spawn(exchange(x)));
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
}

#[test]
fn timeouts_happen_in_the_order_of_deadlines() {
    same(|| {
        let (sender, receiver) = mpsc::channel();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (log2, log3) = (log.clone(), log.clone());
        let sleeper = thread::spawn(move || {
            thread::sleep(Duration::from_millis(5));
            log2.lock().unwrap().push(2);
            let _ = sender.send(1);
        });
        let other = thread::spawn(move || {
            thread::park_timeout(Duration::from_millis(7));
            log3.lock().unwrap().push(3);
        });
        let got = receiver.recv_timeout(Duration::from_millis(6)).unwrap_or(0);
        log.lock().unwrap().push(got);
        sleeper.join().unwrap();
        // From here on, no task can observe when the sleep begins.
        thread::sleep(Duration::from_millis(1));
        log.lock().unwrap().push(4);
        other.join().unwrap();
        log.lock().unwrap().clone()
    });
}

#[test]
fn channels() {
    same(|| {
        let (sender, receiver) = mpsc::channel();
        let senders: Vec<_> = (1..=2)
            .map(|i| {
                let sender = sender.clone();
                thread::spawn(move || sender.send(i).unwrap())
            })
            .collect();
        drop(sender);
        let early = receiver.try_recv().unwrap_or(0);
        let mut seen: Vec<usize> = receiver.iter().collect();
        senders.into_iter().for_each(|t| t.join().unwrap());
        seen.push(early);
        seen
    });
}

#[test]
fn bounded_channels() {
    for bound in [0, 1] {
        same_but_for_pruned(move || {
            let (sender, receiver) = mpsc::sync_channel(bound);
            let other = sender.clone();
            let first = thread::spawn(move || usize::from(sender.send(1).is_ok()));
            let second = thread::spawn(move || usize::from(other.try_send(2).is_ok()));
            let got = receiver.recv().unwrap_or(9);
            let then = receiver.recv_timeout(Duration::from_millis(1)).unwrap_or(0);
            drop(receiver);
            vec![got, then, first.join().unwrap(), second.join().unwrap()]
        });
    }
}

#[test]
fn barriers_scopes_and_choices() {
    same(|| {
        let barrier = Barrier::new(2);
        let x = AtomicUsize::new(0);
        let mut seen = Vec::new();
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                x.fetch_add(choose(2), SeqCst);
                let leads = barrier.wait().is_leader();
                usize::from(leads) * 10 + x.load(SeqCst)
            });
            x.fetch_add(1, SeqCst);
            barrier.wait();
            x.fetch_add(choose(2) * 2, SeqCst);
            seen.push(other.join().unwrap());
        });
        seen.push(x.load(SeqCst));
        seen
    });
}

#[test]
#[ignore = "a measurement, not a check"]
#[expect(clippy::print_stderr, reason = "what was measured is for whoever asked for it")]
fn cost_of_an_execution() {
    let body: Body = Arc::new(|| {
        let x = Arc::new(Mutex::new(0));
        let work = |x: &Mutex<usize>| (0..3).for_each(|_| *x.lock().unwrap() += 1);
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let x = x.clone();
                thread::spawn(move || work(&x))
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        vec![*x.lock().unwrap()]
    });
    let per_execution = |report: &Report| report.elapsed / u32::try_from(report.executions.max(1)).expect("few");
    for _ in 0..3 {
        let all = reach(Exhaustive::depth_first(), &body, 20_000).report;
        let reduced = reach(Optimal::new(), &body, 20_000).report;
        eprintln!(
            "exhaustive {} × {:?}, dpor {} × {:?}",
            all.executions,
            per_execution(&all),
            reduced.executions,
            per_execution(&reduced)
        );
    }
}

/// An attempt to read takes the lock together with other readers, without waiting. The reader has both guards at once, so the writer comes
/// before it or after it; the attempt comes before, within or after the writer's section.
#[test]
fn an_attempt_to_read_beside_a_reader_and_a_writer() {
    let body: Body = Arc::new(|| {
        let value = Arc::new(RwLock::new(0));
        let reader = thread::spawn({
            let value = value.clone();
            move || *value.read().unwrap() + *value.read().unwrap()
        });
        let writer = thread::spawn({
            let value = value.clone();
            move || *value.write().unwrap() += 1
        });
        let tried = value.try_read().map(|value| *value).unwrap_or(7);
        writer.join().unwrap();
        vec![reader.join().unwrap(), tried]
    });
    let all = reach(Exhaustive::depth_first(), &body, 200_000);
    let reduced = reach(Optimal::new(), &body, 200_000);
    assert_eq!((reduced.results.len(), reduced.report.executions), (6, 6));
    assert_eq!(reduced.results, all.results);
    // Source sets miss most of these, and do not claim a proof.
    let by_source_sets = reach(Dpor::source(), &body, 200_000);
    assert!(by_source_sets.results.len() < 6 && !by_source_sets.report.verified());
}

/// A step that waits for a lock also reads the number of senders. Another holder of the lock in between does not hide the orders of the
/// two.
#[test]
fn a_lock_and_the_number_of_senders() {
    same_but_for_pruned(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let (sender, receiver) = mpsc::channel::<()>();
        let threads: Vec<_> = (1..=2)
            .map(|who| {
                let (log, sender) = (log.clone(), sender.clone());
                thread::spawn(move || {
                    log.lock().unwrap().push(who);
                    let mut log = log.lock().unwrap();
                    drop(sender);
                    log.push(10 * who);
                })
            })
            .collect();
        drop(sender);
        let _ = receiver.recv();
        threads.into_iter().for_each(|t| t.join().unwrap());
        log.lock().unwrap().clone()
    });
}
