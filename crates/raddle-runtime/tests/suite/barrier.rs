//! Barriers.

use raddle_engine::outcome::Failure;
use raddle_runtime::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle_runtime::sync::{Arc, Barrier};
use raddle_runtime::thread;

use crate::explore::{fails, passes};

/// `threads` threads meet `times` times; each time all of them have arrived, and one of them leads.
fn meet(threads: u32, times: u32) {
    let shared = Arc::new((Barrier::new(threads as usize), AtomicU32::new(0), AtomicU32::new(0)));
    let work = move |shared: &(Barrier, AtomicU32, AtomicU32)| {
        for time in 1..=times {
            shared.1.fetch_add(1, SeqCst);
            if shared.0.wait().is_leader() {
                shared.2.fetch_add(1, SeqCst);
            }
            assert!(shared.1.load(SeqCst) >= threads * time, "went on before all had arrived");
        }
    };
    let others: Vec<_> = (1..threads)
        .map(|_| {
            let shared = shared.clone();
            thread::spawn(move || work(&shared))
        })
        .collect();
    work(&shared);
    others.into_iter().for_each(|other| other.join().unwrap());
    assert_eq!(shared.2.load(SeqCst), times, "one leader each time");
}

#[test]
fn all_arrive_before_any_goes_on_and_one_leads() {
    passes(|| meet(2, 1));
    passes(|| meet(2, 2));
}

#[test]
fn three_meet() {
    let limits = raddle_engine::search::Limits { executions: Some(2_000), ..Default::default() };
    let mut program = raddle_runtime::threads::Threads::new(Arc::new(|| meet(3, 2)), &Default::default());
    let report =
        raddle_engine::search::search(&mut program, &mut raddle_strategies::samplers::random::Random::new(1), &limits);
    assert_eq!(report.found.map(|found| found.failure), None);
}

#[test]
fn nobody_waits_alone() {
    passes(|| {
        assert!(Barrier::new(1).wait().is_leader());
        assert!(Barrier::new(0).wait().is_leader());
    });
}

#[test]
fn one_too_few_is_a_deadlock() {
    let failure = fails(|| {
        Barrier::new(2).wait();
    });
    assert!(matches!(failure, Failure::Deadlock { waiting } if waiting.len() == 1));
}

#[test]
fn statics_start_every_execution_without_waiting_threads() {
    static BARRIER: Barrier = Barrier::new(2);
    let failure = fails(|| {
        let thread = thread::spawn(|| BARRIER.wait().is_leader());
        assert_ne!(BARRIER.wait().is_leader(), thread.join().unwrap());
        BARRIER.wait();
    });
    assert!(matches!(failure, Failure::Deadlock { .. }));
}

#[test]
fn real_threads_meet_outside_of_executions() {
    meet(4, 10);
}
