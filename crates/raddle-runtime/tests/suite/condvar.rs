//! Condition variables.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use raddle_engine::outcome::Failure;
use raddle_engine::search::Ended;
use raddle_runtime::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle_runtime::sync::{Arc, Condvar, Mutex};
use raddle_runtime::thread;
use raddle_runtime::threads::{LeakedThreads, Settings};

use crate::explore::{exhaustive, fails, panic_message, passes, results};

type Gate = Arc<(Mutex<bool>, Condvar)>;

const SOON: Duration = Duration::from_millis(1);

fn open(gate: &Gate) {
    *gate.0.lock().unwrap() = true;
    gate.1.notify_all();
}

/// One thread does `wait` with a gate that another opens.
fn with_opener(wait: fn(&Gate)) -> impl Fn() + Send + Sync + 'static {
    move || {
        let gate = Gate::default();
        let other = gate.clone();
        let thread = thread::spawn(move || open(&other));
        wait(&gate);
        thread.join().unwrap();
    }
}

#[test]
fn waiting_in_a_loop_ends_when_notified() {
    passes(with_opener(|gate| {
        let mut open = gate.0.lock().unwrap();
        while !*open {
            open = gate.1.wait(open).unwrap();
        }
    }));
    passes(with_opener(|gate| assert!(*gate.1.wait_while(gate.0.lock().unwrap(), |open| !*open).unwrap())));
}

#[test]
fn waiting_without_looking_loses_the_wake_up() {
    let failure = fails(with_opener(|gate| {
        drop(gate.0.lock().unwrap());
        let _guard = gate.1.wait(gate.0.lock().unwrap()).unwrap();
    }));
    let Failure::Deadlock { waiting } = failure else { panic!("{failure:?}") };
    assert_eq!(waiting.iter().map(|w| w.op.verb).collect::<Vec<_>>(), ["wait"]);
}

#[test]
fn releasing_and_waiting_is_one_step() {
    // The opener notifies while it holds the mutex, so between the look and the wait there is no room for it.
    passes(|| {
        let gate = Gate::default();
        let other = gate.clone();
        let thread = thread::spawn(move || {
            let mut open = other.0.lock().unwrap();
            *open = true;
            other.1.notify_one();
        });
        let mut open = gate.0.lock().unwrap();
        while !*open {
            open = gate.1.wait(open).unwrap();
        }
        drop(open);
        thread.join().unwrap();
    });
}

#[test]
fn waits_end_for_no_reason_within_the_budget() {
    let wait_once = with_opener(|gate| {
        let open = gate.0.lock().unwrap();
        if !*open {
            assert!(*gate.1.wait(open).unwrap(), "woken for no reason");
        }
    });
    let wait_once = Arc::new(wait_once);
    let again = wait_once.clone();
    assert!(panic_message(&fails(move || wait_once())).contains("woken for no reason"));
    let never = exhaustive(&Settings { spurious: 0, ..Settings::default() }, move || again());
    assert!(never.verified(), "{never:?}");
}

#[test]
fn a_timed_wait_ends_both_ways() {
    let timed_out = results(|| {
        let gate = Gate::default();
        let other = gate.clone();
        let thread = thread::spawn(move || open(&other));
        let (open, result) = gate.1.wait_timeout_while(gate.0.lock().unwrap(), SOON, |open| !*open).unwrap();
        assert!(*open || result.timed_out());
        drop(open);
        thread.join().unwrap();
        result.timed_out()
    });
    assert_eq!(timed_out, [false, true].into());
}

#[test]
fn a_timed_wait_without_a_notification_times_out() {
    passes(|| {
        let (mutex, condvar) = (Mutex::new(5), Condvar::new());
        let (guard, result) = condvar.wait_timeout_while(mutex.lock().unwrap(), SOON, |_| true).unwrap();
        assert!(result.timed_out());
        #[expect(deprecated, reason = "it is there, so it is tested")]
        let (guard, notified) = condvar.wait_timeout_ms(guard, 1).unwrap();
        assert_eq!(*guard, 5);
        let _ = notified;
    });
    let ways = results(|| {
        let (mutex, condvar) = (Mutex::new(()), Condvar::new());
        let (_guard, result) = condvar.wait_timeout(mutex.lock().unwrap(), SOON).unwrap();
        result.timed_out()
    });
    assert_eq!(ways, [false, true].into(), "by its time or for no reason");
}

#[test]
fn polling_with_timed_waits_ends() {
    passes(with_opener(|gate| {
        let mut open = gate.0.lock().unwrap();
        while !*open {
            open = gate.1.wait_timeout(open, SOON).unwrap().0;
        }
    }));
    passes(with_opener(|gate| {
        let mut open = gate.0.lock().unwrap();
        loop {
            let (guard, result) = gate.1.wait_timeout_while(open, SOON, |open| !*open).unwrap();
            if !result.timed_out() {
                break;
            }
            open = guard;
        }
    }));
}

/// Two threads wait for a turn each, and the third hands out turns.
fn turns(hand_out: fn(&Condvar)) -> impl Fn() -> u32 + Send + Sync + 'static {
    move || {
        let shared = Arc::new((Mutex::new(0_u32), Condvar::new(), AtomicU32::new(0)));
        let waiters: Vec<_> = (1..=2)
            .map(|number| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let mut turns = shared.1.wait_while(shared.0.lock().unwrap(), |turns| *turns == 0).unwrap();
                    *turns -= 1;
                    let _ = shared.2.compare_exchange(0, number, SeqCst, SeqCst);
                })
            })
            .collect();
        *shared.0.lock().unwrap() += 2;
        hand_out(&shared.1);
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
        shared.2.load(SeqCst)
    }
}

#[test]
fn any_waiter_may_be_the_one_to_wake() {
    let first = results(turns(|condvar| {
        condvar.notify_one();
        condvar.notify_one();
    }));
    assert_eq!(first, [1, 2].into());
    assert_eq!(results(turns(Condvar::notify_all)), [1, 2].into());
}

#[test]
fn notifying_one_wakes_only_one() {
    let one = turns(Condvar::notify_one);
    assert!(matches!(fails(move || drop(one().to_string())), Failure::Deadlock { .. }));
}

/// Which of two waiters is woken, although they begin to wait in a fixed order and nothing wakes them for no reason.
#[test]
fn which_one_wakes_is_a_choice() {
    let woken = Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    let into = woken.clone();
    let settings = Settings { spurious: 0, leaked_threads: LeakedThreads::Allow, ..Settings::default() };
    let report = exhaustive(&settings, move || {
        let shared = Arc::new((Mutex::new((0, None)), Condvar::new(), Condvar::new()));
        for number in 1..=2 {
            let shared = shared.clone();
            thread::spawn(move || {
                let (mutex, waiting, news) = &*shared;
                let mut guard = news.wait_while(mutex.lock().unwrap(), |state| state.0 != number - 1).unwrap();
                guard.0 += 1;
                news.notify_all();
                let mut guard = waiting.wait(guard).unwrap();
                guard.1 = Some(number);
                news.notify_all();
            });
        }
        let (mutex, waiting, news) = &*shared;
        let guard = news.wait_while(mutex.lock().unwrap(), |state| state.0 != 2).unwrap();
        waiting.notify_one();
        let first = news.wait_while(guard, |state| state.1.is_none()).unwrap().1;
        into.lock().unwrap().insert(first);
    });
    assert!(report.found.is_none() && matches!(report.ended, Ended::Done(_)), "{report:?}");
    assert_eq!(*woken.lock().unwrap(), [Some(1), Some(2)].into());
}

#[test]
fn more_waiters_than_slots_are_all_woken() {
    let limits = raddle_engine::search::Limits { executions: Some(3), ..Default::default() };
    let body = || {
        let shared = Arc::new((Mutex::new(0), Condvar::new()));
        let waiters: Vec<_> = (0..100)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let mut turns = shared.1.wait_while(shared.0.lock().unwrap(), |turns| *turns == 0).unwrap();
                    *turns -= 1;
                })
            })
            .collect();
        for _ in 0..100 {
            *shared.0.lock().unwrap() += 1;
            shared.1.notify_one();
        }
        waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
    };
    let mut program = raddle_runtime::threads::Threads::new(Arc::new(body), &Settings::default());
    let mut random = raddle_strategies::samplers::random::Random::new(3);
    let report = raddle_engine::search::search(&mut program, &mut random, &limits);
    assert_eq!(report.found.map(|found| found.failure), None);
}

#[test]
fn two_mutexes_with_one_condvar_panic() {
    let failure = fails(|| {
        let (a, b, condvar) = (Mutex::new(()), Mutex::new(()), Condvar::new());
        drop(condvar.wait_timeout(a.lock().unwrap(), SOON));
        drop(condvar.wait_timeout(b.lock().unwrap(), SOON));
    });
    assert!(panic_message(&failure).contains("another Mutex"));
}

#[test]
fn real_threads_wait_outside_of_executions() {
    let gate = Gate::default();
    let other = gate.clone();
    let thread = std::thread::spawn(move || open(&other));
    assert!(*gate.1.wait_while(gate.0.lock().unwrap(), |open| !*open).unwrap());
    thread.join().unwrap();
    let start = Instant::now();
    let (guard, result) = gate.1.wait_timeout_while(gate.0.lock().unwrap(), SOON, |open| *open).unwrap();
    assert!(result.timed_out() && *guard && start.elapsed() >= SOON);
}
