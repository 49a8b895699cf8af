//! Samplers, compared with probabilities that were computed by hand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use raddle_engine::search::{Limits, search};
use raddle_engine::strategy::{Run, Strategy};
use raddle_engine::trace::Step;
use raddle_strategies::samplers::pos::Pos;
use raddle_strategies::samplers::random::Random;
use raddle_strategies::samplers::surw::Surw;
use raddle_strategies::watched::Watched;

/// How often each order of those steps occurred: one letter for each step, by thread.
fn orders(text: &str, strategy: Box<dyn Strategy>, executions: u64, which: fn(&Step) -> bool) -> BTreeMap<String, u64> {
    let seen = Arc::new(Mutex::new(BTreeMap::new()));
    let watch = {
        let seen = seen.clone();
        move |_: &mut dyn Strategy, run: &Run<'_>| {
            let steps = run.trace.steps().iter().filter(|step| which(step));
            let order: String = steps.map(|step| char::from(b'a' + step.task.number() as u8)).collect();
            *seen.lock().unwrap().entry(order).or_insert(0) += 1;
        }
    };
    let limits = Limits { executions: Some(executions), keep_going: true, ..Limits::default() };
    search(&mut crate::program(text), &mut Watched::new(strategy, watch), &limits);
    seen.lock().unwrap().clone()
}

/// True if `count` of `all` is within five standard deviations of probability `p`.
fn is_likely(count: u64, all: u64, p: f64) -> bool {
    let deviation = (all as f64 * p * (1.0 - p)).sqrt();
    (count as f64 - all as f64 * p).abs() < 5.0 * deviation
}

const MANY: u64 = 20_000;

fn all(_: &Step) -> bool {
    true
}

fn of(orders: &BTreeMap<String, u64>, order: &str) -> u64 {
    orders.get(order).copied().unwrap_or(0)
}

#[test]
fn independent_steps_keep_their_priority_under_pos() {
    let text = "shared x = 0, y = 0; thread a { load(x); } thread b { load(y); load(y); load(y); load(y); load(y); }";
    let seen = orders(text, Box::new(Pos::new(1)), MANY, all);
    // The step is last if it drew the lowest of six priorities, and third if it drew less than the first two and more than the third.
    for (order, p) in [("abbbbb", 1.0 / 2.0), ("bbabbb", 1.0 / 12.0), ("bbbbba", 1.0 / 6.0)] {
        assert!(is_likely(of(&seen, order), MANY, p), "{order}: {seen:?}");
    }
    let walked = orders(text, Box::new(Random::new(1)), MANY, all);
    assert!(is_likely(of(&walked, "bbbbba"), MANY, 1.0 / 32.0), "{walked:?}");
}

#[test]
fn racing_steps_draw_again_under_pos() {
    let text = "shared x = 0, y = 0; thread a { store(x, 1); } thread b { store(x, 2); load(y); }";
    let seen = orders(text, Box::new(Pos::new(2)), MANY, all);
    // If it kept the priority with which it lost, the last order would occur once in three.
    for (order, p) in [("abb", 0.5), ("bab", 0.25), ("bba", 0.25)] {
        assert!(is_likely(of(&seen, order), MANY, p), "{order}: {seen:?}");
    }
    let one_each = "shared x = 0; thread t(i in 1..=3) { store(x, i); }";
    let seen = orders(one_each, Box::new(Pos::new(3)), MANY, all);
    assert_eq!(seen.len(), 6);
    assert!(seen.values().all(|&count| is_likely(count, MANY, 1.0 / 6.0)), "{seen:?}");
}

/// `x` is the first object of these programs.
fn on_x(step: &Step) -> bool {
    step.access.object.number() == 0
}

/// True if all of so many orders occurred about equally often: chi-square within five standard deviations.
fn is_uniform(seen: &BTreeMap<String, u64>, orders: usize) -> bool {
    let expected = seen.values().sum::<u64>() as f64 / orders as f64;
    let square: f64 = seen.values().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    let free = orders as f64 - 1.0;
    seen.len() == orders && (square - free).abs() < 5.0 * (2.0 * free).sqrt()
}

#[test]
fn orders_of_what_matters_are_uniform_under_surw() {
    let text = "shared x = 0, y = 0, z = 0;
        thread a { store(x, 1); }
        thread b { load(y); load(y); load(y); load(y); load(y); load(y); add(x, 1); load(y); add(x, 1); }
        thread c { add(x, 1); add(x, 2); load(z); add(x, 3); load(z); load(z); }";
    // There are 6! / (1! 2! 3!) orders.
    let seen = orders(text, Box::new(Surw::new(7)), MANY, on_x);
    assert!(is_uniform(&seen, 60), "{seen:?}");
    let walked = orders(text, Box::new(Random::new(7)), MANY, on_x);
    assert!(!is_uniform(&walked, 60), "a random walk is not: this can tell");
}

#[test]
fn locks_are_taken_in_every_order_under_surw() {
    let text = "mutex m; shared y = 0;
        thread a { lock(m); unlock(m); }
        thread b { load(y); load(y); load(y); load(y); lock(m); unlock(m); lock(m); unlock(m); }";
    let seen = orders(text, Box::new(Surw::new(5)), MANY, |step| step.op.verb == "lock");
    assert!(is_uniform(&seen, 3), "{seen:?}");
}

#[test]
fn counts_that_differ_from_execution_to_execution_do_no_harm() {
    // The first thread takes more steps. A thread with a wrong count must not keep others from their steps.
    let text = "shared x = 0, y = 0;
        thread t(i in 1..=3) { v = add(x, 1); if v == 0 { add(y, 1); add(x, 1); add(x, 1); add(y, 1); } add(y, 1); }";
    let seen = orders(text, Box::new(Surw::new(9)), MANY, on_x);
    let walked = orders(text, Box::new(Random::new(9)), MANY, on_x);
    assert!(walked.len() > 30 && seen.keys().eq(walked.keys()), "{seen:?} and {walked:?}");
}
