//! The search by preemptions, compared with all executions and their numbers of preemptions.

use raddle_engine::facts::Fact;
use raddle_engine::search::{Ended, Limits, Report, search};
use raddle_engine::strategy::{Bound, Claim, Unit};
use raddle_litmus::conformance::{OracleLimits, Reference};
use raddle_litmus::generate::{Size, generate};
use raddle_litmus::oracle::{self, Bounded};
use raddle_litmus::{Litmus, Program};
use raddle_strategies::tree::preemption::Preemption;

use crate::{program, read};

/// Checks the programs of these seeds. Returns how many were small enough, and in how many of them something needs two or more preemptions.
fn fuzz(seeds: std::ops::Range<u64>, size: Size, limits: OracleLimits) -> (u64, u64) {
    let (mut tried, mut deep) = (0, 0);
    for seed in seeds {
        let litmus = generate(seed, size);
        let program = Program::new(&litmus, "generated").unwrap_or_else(|error| panic!("{seed}: {error}\n{litmus}"));
        let Some(known) = Reference::of(&program, limits) else { continue };
        let Some(bounded) = &known.bounded else { continue };
        tried += 1;
        deep += u64::from(bounded.len() > 2);
        known.check_preemption(&program).unwrap_or_else(|fault| panic!("{seed}: {fault}\n{litmus}"));
    }
    (tried, deep)
}

#[test]
fn every_bound_covers_exactly_its_orders() {
    let (tried, deep) = fuzz(20_000..20_300, Size { threads: 3, steps: 7 }, OracleLimits::default());
    assert!(tried >= 200 && deep >= 100, "{tried} programs, {deep} with two preemptions and more");
}

#[test]
#[ignore = "minutes, and for release builds"]
fn every_bound_covers_exactly_its_orders_in_larger_programs() {
    let (tried, deep) =
        fuzz(30_000..33_000, Size { threads: 4, steps: 9 }, OracleLimits { orders: 6_000, ..OracleLimits::default() });
    assert!(tried >= 1_500 && deep >= 1_000, "{tried} programs, {deep} with two preemptions and more");
}

fn found(litmus: &Litmus, most: u32) -> Report {
    let mut program = Program::new(litmus, "test").expect("the program is fine");
    search(&mut program, &mut Preemption::up_to(most), &Limits::default())
}

#[test]
fn published_bugs_need_as_many_preemptions_as_published() {
    let published = [
        ("lazy01", 0),
        ("token-ring", 0),
        ("deadlock01", 1),
        ("bluetooth-driver", 1),
        ("twostage", 1),
        ("reorder-3", 1),
        ("philosophers-3", 1),
    ];
    for (name, fewest) in published {
        let litmus = read(name);
        let remark = Fact::FoundWith(fewest, Unit::Preemption);
        let report = found(&litmus, u32::MAX);
        assert_eq!(report.found.and_then(|found| found.remark), Some(remark), "{name}");
        if fewest == 1 {
            let below = found(&litmus, 0);
            assert!(below.found.is_none(), "{name}");
            assert_eq!(below.ended, Ended::Done(Claim::Bounded(Bound { most: 0, unit: Unit::Preemption })), "{name}");
        }
    }
}

/// How many executions have 0, 1, 2, … preemptions.
fn counts(text: &str) -> Vec<u64> {
    let bounded = oracle::preemptions(&program(text), 10_000).expect("it is small");
    bounded.iter().map(Bounded::executions).collect()
}

#[test]
fn the_yardstick_itself_counted_by_hand() {
    // aabb bbaa; abba baab; abab baba.
    assert_eq!(counts("shared x = 0; thread t(i in 1..=2) { store(x, i); load(x); }"), [2, 2, 2]);
    // A switch away from a blocked task is free: after a, only b's lock is pending, and it is blocked.
    assert_eq!(counts("mutex m; thread t(i in 1..=2) { lock(m); unlock(m); }"), [2]);
    // Data choices cost nothing.
    assert_eq!(counts("shared x = 0; thread t { v = choose(3); store(x, v); } thread u { load(x); }"), [6]);
    // A receiver with a message is enabled; one without is blocked.
    let text = "channel c: unordered; thread s { send(c, 1); send(c, 2); } thread r { recv(c); recv(c); }";
    // s1 s2, then r takes them in either order: 2. s1 is preempted, r takes 1 and blocks, s2, r: 1.
    assert_eq!(counts(text), [2, 1]);
}

#[test]
fn the_same_prefix_with_another_running_is_another() {
    // After the first steps of a and b, in either order, the happens-before relation is the same. The task that went second is running, and
    // only from one of these prefixes does the failing end cost one preemption in all.
    let text = "shared x = 0, y = 0, z = 0;
        thread a { store(x, 1); store(z, 1); }
        thread b { store(y, 1); assert load(z) == 0; store(z, 2); v = load(x); }
        final { assert load(z) != 1; }";
    let known = Reference::of(&program(text), OracleLimits::default()).expect("it is small");
    known.check_preemption(&program(text)).unwrap_or_else(|fault| panic!("{fault}"));
}
