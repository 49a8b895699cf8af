//! Hash maps and sets whose order is the same in every execution.

use std::collections::BTreeSet;
use std::sync::Mutex as StdMutex;

use raddle::collections::{HashMap, HashSet};
use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::{Explorer, Failure, thread};

/// Each thread takes all locks in the order of its own map: a deadlock if the two orders differ.
fn locks_in_the_order_of_a_map() {
    let accounts: Vec<_> = (0..2).map(|i| Arc::new(Mutex::new(i))).collect();
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let map: HashMap<usize, Arc<Mutex<usize>>> = accounts.iter().cloned().enumerate().collect();
            thread::spawn(move || {
                let _guards: Vec<_> = map.values().map(|lock| lock.lock().unwrap()).collect();
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// A program that says in which orders two maps are iterated, one of each thread.
fn orders(strategy: &str, seed: u64) -> BTreeSet<[Vec<u32>; 2]> {
    let seen: Arc<StdMutex<BTreeSet<_>>> = Arc::default();
    let told = seen.clone();
    let report = Explorer::new().strategy(strategy).seed(seed).executions(100).run(move || {
        let turns = Arc::new(AtomicUsize::new(0));
        let other = turns.clone();
        let iterate = |turns: &AtomicUsize| {
            turns.fetch_add(1, Ordering::SeqCst);
            (0..20).collect::<HashSet<u32>>().into_iter().collect::<Vec<_>>()
        };
        let thread = thread::spawn(move || iterate(&other));
        let own = iterate(&turns);
        told.lock().unwrap().insert([own, thread.join().unwrap()]);
    });
    assert!(!report.failed(), "{report}");
    assert_eq!(report.verified(), matches!(strategy, "dpor" | "exhaustive" | "portfolio"), "{report}");
    std::mem::take(&mut seen.lock().unwrap())
}

#[test]
fn the_order_is_the_same_in_every_execution_and_differs_between_maps_and_seeds() {
    let mut all = BTreeSet::new();
    for seed in [0, 1, 2] {
        let by_strategy = ["dpor", "exhaustive", "random", "pct", "portfolio"].map(|name| orders(name, seed));
        assert!(by_strategy.iter().all(|orders| orders.len() == 1 && *orders == by_strategy[0]), "{by_strategy:?}");
        let [first, second] = by_strategy[0].first().unwrap().clone();
        assert_ne!(first, second);
        all.extend([first, second]);
    }
    assert_eq!(all.len(), 6);
}

#[test]
fn a_deadlock_by_hash_order_is_found_under_some_seed_and_replayed_under_any() {
    let reports = (1..=16).map(|seed| Explorer::new().seed(seed).run(locks_in_the_order_of_a_map));
    let failing = reports.filter(|report| report.failed()).collect::<Vec<_>>();
    assert!(!failing.is_empty() && failing.len() < 16, "{} of 16", failing.len());
    for report in failing {
        assert!(matches!(report.failure(), Some(Failure::Deadlock { .. })), "{report}");
        let schedule = report.schedule().unwrap().to_string();
        assert!(schedule.starts_with("v1/h"), "{schedule}");
        assert!(report.to_string().contains(&format!("RADDLE_REPLAY={schedule}")), "{report}");
        for seed in [0, 5] {
            let again = Explorer::new().seed(seed).replay(&schedule).run(locks_in_the_order_of_a_map);
            assert!(matches!(again.failure(), Some(Failure::Deadlock { .. })), "{again}");
        }
    }
}

#[test]
fn they_read_as_those_of_std() {
    let mut map = HashMap::from([(1, "one"), (2, "two")]);
    map.insert(3, "three");
    map.extend([(4, "four")]);
    *map.entry(1).or_default() = "uno";
    assert_eq!((map[&1], map.get(&2), map.len(), map.contains_key(&9)), ("uno", Some(&"two"), 4, false));
    for (_, value) in &mut map {
        *value = "all";
    }
    assert!((&map).into_iter().all(|(_, value)| *value == "all"));
    assert_eq!(map, map.clone());
    assert_eq!(format!("{:?}", HashMap::from([(1, 2)])), "{1: 2}");
    let set: HashSet<_> = map.into_keys().collect();
    assert_eq!(&set & &HashSet::from([1, 7]), HashSet::from([1]));
    assert_eq!(&set - &HashSet::from([1, 2, 3]), HashSet::from([4]));
    assert!(HashMap::<u8, u8>::with_capacity(10).capacity() >= 10 && HashSet::<u8>::new().is_empty());
}
