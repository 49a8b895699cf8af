//! Optimal reduction in pieces against the oracle: each trace once, nothing pruned.

use raddle_engine::search::{Ended, Report};
use raddle_engine::strategy::Claim;
use raddle_litmus::conformance::{Reference, run};
use raddle_litmus::generate::Size;
use raddle_litmus::oracle::Seen;
use raddle_litmus::{Litmus, Program};
use raddle_strategies::optimal::{Mistake, Optimal};

use crate::seeds::{number, programs, seeds};

const SIZE: Size = Size { threads: 4, steps: 10 };

/// True if every trace was run exactly once, and nothing else.
fn is_exact(report: &Report, seen: &Seen, known: &Reference) -> bool {
    let all = seen.traces() == known.counted.count.all && seen.ends == known.counted.ends;
    let counts = (report.executions, u128::from(report.failing), report.pruned);
    all && counts == (known.traces(), known.counted.count.failing, 0) && report.ended == Ended::Done(Claim::Exhausted)
}

fn fuzz(seeds: std::ops::Range<u64>, size: Size) -> u64 {
    let mut tried = 0;
    let mut wrong: Vec<(usize, String)> = Vec::new();
    for (seed, litmus, program, known) in programs(seeds, size) {
        tried += 1;
        let (report, seen) = run(&program, &mut Optimal::new(), 20 * known.traces() + 100);
        if !is_exact(&report, &seen, &known) {
            let text = litmus.to_string();
            let Report { executions, pruned, .. } = report;
            let told =
                format!("{executions} executions, {pruned} pruned, {} of {} traces", seen.traces(), known.traces());
            wrong.push((text.len(), format!("{seed}: {told}\n{text}")));
        }
    }
    wrong.sort_unstable();
    assert!(wrong.is_empty(), "{} of {tried} wrong; the shortest: {}", wrong.len(), wrong[0].1);
    tried
}

#[test]
fn generated_programs() {
    let tried = fuzz(10_000..11_200, SIZE);
    assert!(tried >= 1_000, "only {tried} programs were small enough");
}

#[test]
#[ignore = "minutes, and for release builds; FROM and COUNT say which seeds"]
fn many_generated_programs() {
    let seeds = seeds(100_000, 100_000);
    let count = seeds.end - seeds.start;
    let threads = u32::try_from(number("THREADS", 4)).expect("few");
    let steps = u32::try_from(number("STEPS", 10)).expect("few");
    let tried = fuzz(seeds, Size { threads, steps });
    assert!(tried * 3 > count, "only {tried} of {count} programs were small enough");
}

/// In how many of 600 programs a mistake is detected.
fn caught(mistake: Mistake) -> usize {
    let wrong = |(_, _, program, known): &(u64, Litmus, Program, Reference)| {
        let mut mistaken = Optimal::new().with_mistake(mistake);
        let (report, seen) = run(program, &mut mistaken, 20 * known.traces() + 100);
        !is_exact(&report, &seen, known)
    };
    programs(30_000..30_600, SIZE).filter(wrong).count()
}

#[test]
fn each_rule_is_needed() {
    let mistakes = [Mistake::IgnoresNames, Mistake::ForgetsUndone, Mistake::NotParsimonious, Mistake::IgnoresWaits];
    for mistake in mistakes {
        let wrong = caught(mistake);
        assert!(wrong > 0, "{mistake:?} was not detected");
    }
}
