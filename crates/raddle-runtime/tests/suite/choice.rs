//! Explicit choices, and random numbers.

use raddle_engine::outcome::Failure;
use raddle_engine::replay::replay;
use raddle_engine::search::Limits;
use raddle_engine::trace::Class;
use raddle_runtime::choice::{any, choose, flip};
use raddle_runtime::rand::{random, random_range, shuffle};
use raddle_runtime::thread;
use raddle_runtime::threads::{Settings, Threads};
use raddle_strategies::samplers::random::Random as RandomStrategy;

use crate::explore::{Seen, panics_with, passes, run_with, sample};

#[test]
fn every_value_is_tried() {
    let seen = Seen::default();
    let out = seen.clone();
    let count = passes(move || out.note((choose(3), flip(), any(-1_i8..=1), any::<u8>(254..))));
    assert_eq!(count, 3 * 2 * 3 * 2);
    assert_eq!(seen.len(), 36);
    // One value is no choice.
    assert_eq!(passes(|| assert_eq!((choose(1), any(7..8)), (0, 7))), 1);
}

#[test]
fn choices_and_orders_multiply() {
    let count = passes(|| {
        let t = thread::spawn(|| {
            let _ = choose(3);
            thread::yield_now();
        });
        thread::yield_now();
        t.join().unwrap();
    });
    // Three values, and two orders of the two yields.
    assert_eq!(count, 6);
}

#[test]
fn choices_are_steps_with_their_values() {
    let body = || assert!(any(10..20) != 13, "unlucky");
    let report = run_with(&Settings::default(), &mut RandomStrategy::new(3), Limits::default(), body);
    let found = report.found.expect("13 comes up");
    let mut program = Threads::new(std::sync::Arc::new(body), &Settings::default());
    let record = replay(&mut program, &found.script, &Limits::default());
    assert_eq!(record.outcome.failure(), Some(&found.failure));
    let step = record.steps.iter().find(|step| step.op.class == Class::Choice).expect("the choice is a step");
    assert_eq!(step.found.map(|word| word.0), Some(3));
}

#[test]
fn mistakes_have_clear_messages() {
    assert!(
        panics_with(|| {
            let _ = choose(0);
        })
        .contains("nothing to choose from")
    );
    assert!(
        panics_with(|| {
            let _ = any(5..5);
        })
        .contains("the range is empty")
    );
    assert!(
        panics_with(|| {
            let _ = any(0_u64..=u64::from(u32::MAX));
        })
        .contains("more values than")
    );
    let outside = std::panic::catch_unwind(flip).unwrap_err();
    assert!(outside.downcast_ref::<String>().is_some_and(|said| said.contains("outside a Raddle test")));
}

#[test]
fn random_numbers_belong_to_the_execution() {
    let seen = Seen::default();
    let out = seen.clone();
    let report = sample(50, move || {
        let mut values = [1, 2, 3, 4];
        shuffle(&mut values);
        let fraction = random::<f64>();
        assert!((0.0..1.0).contains(&fraction));
        let inside = random_range(-5..=5);
        assert!((-5..=5).contains(&inside));
        out.note((random::<u64>(), random::<i8>(), random::<bool>(), random::<u128>(), inside, values));
    });
    assert_eq!(report.failing, 0);
    assert_eq!(seen.len(), 50);
}

#[test]
fn a_replay_draws_the_same_numbers() {
    let body = || {
        let value = random_range(0..20_u32);
        assert!(value != 7, "drawn {value} then {}", random::<u64>());
    };
    let report = run_with(&Settings::default(), &mut RandomStrategy::new(3), Limits::default(), body);
    let found = report.found.expect("7 comes up");
    let mut program = Threads::new(std::sync::Arc::new(body), &Settings::default());
    let record = replay(&mut program, &found.script, &Limits::default());
    assert_eq!(record.outcome.failure(), Some(&found.failure));
    assert!(matches!(found.failure, Failure::Panic { .. }));
}

#[test]
fn random_numbers_are_even() {
    let mut hits = [0_u32; 6];
    for _ in 0..6_000 {
        hits[random_range(0..6_usize)] += 1;
    }
    // Standard deviation of one count is about 29; six of them either way.
    assert!(hits.iter().all(|&h| (820..1_180).contains(&h)), "{hits:?}");
}

#[test]
fn threads_that_begin_with_a_choice_all_get_theirs() {
    let seen = Seen::default();
    let out = seen.clone();
    let count = passes(move || {
        let threads = [(); 2].map(|()| thread::spawn(|| choose(2)));
        out.note(threads.map(|t| t.join().unwrap()));
    });
    assert_eq!(count, 4);
    assert_eq!(seen.len(), 4);
}
