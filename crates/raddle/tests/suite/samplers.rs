//! Samplers on programs that create their threads as they go.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use raddle::sync::atomic::{AtomicU32, Ordering};
use raddle::{Explorer, thread};

/// How often each order of what three threads did to one counter came up.
fn orders(strategy: &str) -> BTreeMap<String, u32> {
    let seen: Arc<Mutex<BTreeMap<String, u32>>> = Arc::default();
    let told = seen.clone();
    let report = Explorer::new().strategy(strategy).executions(12_000).workers(1).run(move || {
        let (clock, own) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let order = Arc::new(Mutex::new(String::new()));
        let tick = |who: char| {
            let (clock, order) = (clock.clone(), order.clone());
            move || {
                clock.fetch_add(1, Ordering::SeqCst);
                order.lock().unwrap().push(who);
            }
        };
        let (a, b, c) = (tick('a'), tick('b'), tick('c'));
        a();
        let first = thread::spawn(move || {
            // Takes long before it comes to the clock.
            (0..8).for_each(|_| _ = own.load(Ordering::SeqCst));
            b();
            b();
        });
        a();
        let second = thread::spawn(c);
        a();
        first.join().unwrap();
        second.join().unwrap();
        let order = order.lock().unwrap().clone();
        *told.lock().unwrap_or_else(PoisonError::into_inner).entry(order).or_default() += 1;
    });
    assert_eq!(report.executions(), 12_000);
    seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

#[test]
fn under_surw_future_threads_count_for_their_creator() {
    // The b come after the first a and c after the second: a forest, with 6! / (6 · 3 · 2) orders.
    let seen = orders("surw");
    let orders: usize = 20;
    let expected = 12_000.0 / orders as f64;
    let square: f64 = seen.values().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    let free = orders as f64 - 1.0;
    assert!(seen.len() == orders && (square - free).abs() < 5.0 * (2.0 * free).sqrt(), "{square}: {seen:?}");
}

/// Nine threads that set one number and then another; a tenth must see neither or both.
fn reorder() {
    let numbers = Arc::new([const { AtomicU32::new(0) }; 2]);
    let set = |_| {
        let numbers = numbers.clone();
        thread::spawn(move || numbers.iter().for_each(|number| number.store(1, Ordering::SeqCst)))
    };
    let mut threads: Vec<_> = (0..9).map(set).collect();
    threads.push({
        let numbers = numbers.clone();
        thread::spawn(move || {
            let seen = [numbers[0].load(Ordering::SeqCst), numbers[1].load(Ordering::SeqCst)];
            assert_ne!(seen, [1, 0], "one was set and the other was not");
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Which objects there are is known by what each thread does: the numbers they are given depend on how many threads were there
/// when somebody first touched them.
#[test]
fn objects_are_the_same_in_every_execution_under_surw() {
    let after = |seed| {
        let report = Explorer::new().strategy("surw").seed(seed).executions(2_000).workers(1).run(reorder);
        if report.failed() { report.executions() } else { 10_000 }
    };
    // By one object, it is the last of ten in one execution of ten.
    let mean = (1..=10).map(after).sum::<u64>() / 10;
    assert!(mean <= 60, "{mean}");
}
