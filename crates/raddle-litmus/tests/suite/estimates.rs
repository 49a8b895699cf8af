//! Estimates of the numbers of executions and traces from a hundred probes, compared with the oracle.

use std::ops::Range;

use raddle_engine::estimate::Estimate;
use raddle_engine::example::Counters;
use raddle_engine::outcome::Failure;
use raddle_engine::replay::replay;
use raddle_engine::search::{Ended, Limits, search};
use raddle_engine::strategy::{Claim, Counting, Summarize};
use raddle_engine::system;
use raddle_litmus::generate::{Size, generate};
use raddle_litmus::{Program, oracle};
use raddle_strategies::optimal::Optimal;
use raddle_strategies::probing::Probe;
use raddle_strategies::probing::Probed;
use raddle_strategies::tree::exhaustive::Exhaustive;

use crate::counts::{counters, fib, indexer, lastzero, lock2x, philosophers, readers, senders, two_phase_commit};
use crate::{MAX_ORACLE_STATES, program};

const SEEDS: u64 = 24;

/// The result of the probes, without the pilots.
fn probed<P: system::Program + Clone>(program: &P, counting: Counting, seed: u64, probes: u64) -> Estimate {
    let mut probe = Probe::new(counting, seed);
    let limits = Limits { executions: Some(Probe::PILOTS + probes), keep_going: true, ..Limits::default() };
    search(&mut program.clone(), &mut probe, &limits);
    probe.estimate().expect("there were probes")
}

/// For how many seeds the estimate is within a factor of two, and for how many the interval contains the true number.
fn tried<P: system::Program + Clone>(program: &P, counting: Counting, truth: f64, probes: u64) -> (u64, u64) {
    tried_with(0..SEEDS, program, counting, truth, probes)
}

fn tried_with<P: system::Program + Clone>(
    seeds: Range<u64>,
    program: &P,
    counting: Counting,
    truth: f64,
    probes: u64,
) -> (u64, u64) {
    let (mut near, mut inside) = (0, 0);
    for seed in seeds {
        let estimate = probed(program, counting, seed, probes);
        let (least, most) = estimate.interval().expect("probes tell their error");
        near += u64::from((truth / 2.0..=truth * 2.0).contains(&estimate.orders));
        inside += u64::from(least <= truth * (1.0 + 1e-9) && truth <= most * (1.0 + 1e-9));
    }
    (near, inside)
}

fn truth(program: &Program, counting: Counting) -> f64 {
    let counted = match counting {
        Counting::Orders => oracle::executions(program, 20 * MAX_ORACLE_STATES),
        Counting::Traces => oracle::traces(program, 20 * MAX_ORACLE_STATES),
    };
    counted.expect("the oracle has room").count.all as f64
}

const OPTIMAL_EXAMPLE: &str = "shared x = 0, y = 0, z = 0; thread p { store(x, 1); } thread q { store(y, 1); }
    thread r { if load(y) == 0 { store(z, 1); } }
    thread s { if load(z) == 1 { if load(y) == 0 { store(x, 2); } } }";

/// Programs with unbalanced trees, and some with balanced ones.
fn programs() -> Vec<(&'static str, Program)> {
    [
        ("readers(8)", readers(8)),
        ("lastzero(5)", lastzero(5)),
        ("fib(4)", fib(4)),
        ("binc(4)", counters(4, &["x", "y"])),
        ("lock2x(3)", lock2x(3)),
        ("philosophers(2)", philosophers(2)),
        ("two-phase commit(3)", two_phase_commit(3)),
        ("senders(4)", senders(4, "unordered")),
        ("the example of POPL 2014", OPTIMAL_EXAMPLE.to_owned()),
    ]
    .map(|(name, text)| (name, program(&text)))
    .into()
}

/// Tasks that count, and the number of their executions: multinomial coefficients.
const COUNTERS: [(&[u32], f64); 6] = [
    (&[4, 4], 70.0),
    (&[3, 3, 3], 1_680.0),
    (&[5, 5, 5], 756_756.0),
    (&[12, 1, 2], 1_365.0),
    (&[20, 1, 1], 462.0),
    (&[1, 1, 1, 1, 1, 6], 55_440.0),
];

const BOTH: [Counting; 2] = [Counting::Orders, Counting::Traces];

#[test]
fn a_hundred_probes_are_within_a_factor_of_two_and_know_their_error() {
    let (mut inside, mut all) = (0, 0);
    for counting in BOTH {
        let mut check = |name: &str, (near, within): (u64, u64)| {
            assert_eq!(near, SEEDS, "{name}, {counting:?}: within a factor of two");
            assert!(within * 10 >= SEEDS * 7, "{name}, {counting:?}: {within} intervals have the truth in them");
            inside += within;
            all += SEEDS;
        };
        for (steps, orders) in COUNTERS {
            check(&format!("{steps:?}"), tried(&Counters::new(steps), counting, orders, 100));
        }
        for (name, program) in programs() {
            check(name, tried(&program, counting, truth(&program, counting), 100));
        }
    }
    // Two standard errors should give 95 %.
    assert!(inside * 100 >= all * 88, "only {inside} of {all} intervals have the truth in them");
}

/// How often the interval contains the true number, over enough seeds that chance does not matter.
#[test]
#[ignore = "half a minute, and for release builds"]
fn two_standard_errors_keep_what_they_promise() {
    let (mut near, mut inside, mut all) = (0, 0, 0);
    let mut add = |(more_near, more_inside): (u64, u64)| {
        (near, inside, all) = (near + more_near, inside + more_inside, all + 100);
    };
    for counting in BOTH {
        for (steps, orders) in COUNTERS {
            add(tried_with(100..200, &Counters::new(steps), counting, orders, 100));
        }
        for (_, program) in programs() {
            add(tried_with(100..200, &program, counting, truth(&program, counting), 100));
        }
    }
    assert!(near * 1_000 >= all * 999, "only {near} of {all} are within a factor of two");
    assert!((all * 93..=all * 98).contains(&(inside * 100)), "{inside} of {all} intervals have the truth in them");
}

type Hard = (&'static str, String, Counting, f64);

/// Some walks are too rare to occur in a hundred. The estimate is then mostly too small, and the interval is wide but not always wide
/// enough.
fn hard() -> [Hard; 4] {
    [
        ("lastzero(6)", lastzero(6), Counting::Traces, 144.0),
        ("lastzero(8)", lastzero(8), Counting::Traces, 704.0),
        ("philosophers(3)", philosophers(3), Counting::Orders, 168.0),
        ("philosophers(4)", philosophers(4), Counting::Orders, 98_184.0),
    ]
}

fn harder() -> [Hard; 2] {
    [
        ("lastzero(10)", lastzero(10), Counting::Traces, 3_328.0),
        ("indexer(15)", indexer(&(0..15).collect::<Vec<_>>()), Counting::Traces, 4_096.0),
    ]
}

fn mostly_right((name, text, counting, truth): Hard) {
    let (near, inside) = tried(&program(&text), counting, truth, 100);
    assert!(near * 10 >= SEEDS * 7, "{name}: {near} of {SEEDS} within a factor of two");
    assert!(inside * 10 >= SEEDS * 7, "{name}: {inside} of {SEEDS} intervals have the truth in them");
}

#[test]
fn where_a_hundred_probes_are_not_always_enough() {
    hard().into_iter().for_each(mostly_right);
}

#[test]
#[ignore = "half a minute, and for release builds"]
fn where_a_thousand_probes_are() {
    harder().into_iter().for_each(mostly_right);
    for (name, text, counting, truth) in hard().into_iter().chain(harder()) {
        let (near, inside) = tried(&program(&text), counting, truth, 1_000);
        assert!(near + 1 >= SEEDS, "{name}: {near} of {SEEDS} within a factor of two");
        assert!(inside * 10 >= SEEDS * 8, "{name}: {inside} of {SEEDS} intervals have the truth in them");
    }
}

/// On average over programs of all kinds, the estimate is unbiased.
#[test]
fn generated_programs() {
    for counting in BOTH {
        let (mut sum, mut tried, mut off) = (0.0, 0.0, 0);
        for seed in 0..200 {
            let litmus = generate(seed, Size { threads: 3, steps: 8 });
            let program = Program::new(&litmus, "generated").expect("what is generated is right");
            let Ok(counted) = oracle::traces(&program, MAX_ORACLE_STATES) else { continue };
            let truth = match counting {
                Counting::Traces => counted.count.all as f64,
                Counting::Orders => truth(&program, counting),
            };
            let ratio = probed(&program, counting, seed, 200).orders / truth;
            sum += ratio;
            tried += 1.0;
            off += u32::from(!(0.5..=2.0).contains(&ratio));
        }
        let mean = sum / tried;
        assert!(tried >= 150.0, "only {tried} programs could be counted");
        assert!((0.98..1.02).contains(&mean), "{counting:?}: {mean} on average");
        assert!(off <= 3, "{counting:?}: {off} are off by more than a factor of two");
    }
}

#[test]
fn probes_are_no_part_of_the_counts() {
    let limits = Limits { keep_going: true, ..Limits::default() };
    let mut dpor = Probed::new(Optimal::new(), Counting::Traces);
    let report = search(&mut program(&fib(4)), &mut dpor, &limits);
    assert_eq!((report.executions, report.pruned, report.ended), (1_107, 0, Ended::Done(Claim::Exhausted)));
    assert_eq!(report.probes, 411);
    assert_eq!(report.estimate, Some(Estimate::exactly(1_107)));

    let cut = Limits { executions: Some(1_050), ..limits };
    let mut dpor = Probed::new(Optimal::new(), Counting::Traces);
    let report = search(&mut program(&fib(5)), &mut dpor, &cut);
    let orders = report.estimate.expect("there were probes").orders;
    assert_eq!((report.executions, report.probes), (1_050, 411));
    assert!((8_953.0 / 2.0..8_953.0 * 2.0).contains(&orders), "{orders}");
}

/// Depth-first order reaches the first step of the last thread last.
const FAILS_LATE: &str = "shared x = 0; thread a { add(x, 1); add(x, 1); add(x, 1); add(x, 1); add(x, 1); }
    thread b { add(x, 1); add(x, 1); add(x, 1); add(x, 1); add(x, 1); } thread c { v = load(x); assert v != 0; }";

#[test]
fn a_probe_that_fails_has_found_a_failure() {
    let mut exhaustive = Probed::new(Exhaustive::depth_first(), Counting::Orders);
    let limits = Limits::default();
    let mut program = program(FAILS_LATE);
    let report = search(&mut program, &mut exhaustive, &limits);
    assert_eq!((report.ended, report.executions, report.failing), (Ended::Failed, 100, 1));
    assert!((1..110).contains(&report.probes), "{}", report.probes);
    let found = report.found.expect("it failed");
    assert_eq!(found.after, 100 + report.probes);
    let again = replay(&mut program, &found.script, &limits);
    assert!(again.divergence.is_none() && matches!(again.outcome.failure(), Some(Failure::Panic { .. })));

    let limits = Limits { keep_going: true, ..limits };
    let mut probed = Probed::new(Exhaustive::depth_first(), Counting::Orders);
    let with = search(&mut program, &mut probed, &limits);
    let without = search(&mut program, &mut Exhaustive::depth_first(), &limits);
    assert_eq!((with.executions, with.failing), (without.executions, without.failing));
    assert_eq!((with.executions, with.probes, without.probes), (2_772, 411 + 3, 0));
}
