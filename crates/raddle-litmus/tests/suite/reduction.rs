//! Partial-order reduction against the oracle: the optimal algorithm runs each trace once, the others miss none.

use raddle_engine::search::{Ended, Limits, Report, search};
use raddle_engine::strategy::dpor::{Dpor, Mistake};
use raddle_litmus::generate::{Size, generate};
use raddle_litmus::oracle::{self, Counted, Seen, Watched};
use raddle_litmus::{Litmus, Program};

use crate::ROOM;

const SIZE: Size = Size { threads: 4, steps: 10 };

/// Traces that a program may have to be tried.
const MOST_TRACES: u128 = 300;

/// Executions after which an algorithm that repeats traces without end is let off.
const MOST_REPEATED: u64 = 5_000;

fn run(program: &Program, mut dpor: Dpor, most: u64) -> (Report, Seen) {
    let mut watched = Watched::new(program.clone());
    let limits = Limits { executions: Some(most), keep_going: true, ..Limits::default() };
    let report = search(&mut watched, &mut dpor, &limits);
    (report, watched.seen())
}

/// What is wrong with what the algorithms did, if anything.
fn faults(program: &Program, counted: &Counted) -> Option<String> {
    let traces = u64::try_from(counted.count.all).expect("there are few");
    let failing = u64::try_from(counted.count.failing).expect("there are few");
    let (report, seen) = run(program, Dpor::optimal(), 20 * traces + 100);
    if (report.executions, report.pruned, report.failing) != (traces, 0, failing) || seen.most_often() > 1 {
        let Report { executions, pruned, .. } = report;
        let (distinct, most) = (seen.traces(), seen.most_often());
        return Some(format!(
            "optimal: {executions} executions of {traces} ({distinct} distinct, one {most} times), {pruned} blocked"
        ));
    }
    if seen.ends != counted.ends {
        return Some("optimal: other ends".to_owned());
    }
    let (source, source_seen) = run(program, Dpor::source(), 100 * traces + 1_000);
    if (source.executions, source.failing) != (traces, failing) || !source_seen.same_traces(&seen) {
        let Report { executions, pruned, .. } = source;
        return Some(format!("source: {executions} executions of {traces}, {pruned} blocked"));
    }
    let (classic, classic_seen) = run(program, Dpor::classic(), 1_000 * traces + 10_000);
    if !classic_seen.same_traces(&seen) {
        return Some(format!(
            "classic: {} executions, {} traces of {traces}",
            classic.executions,
            classic_seen.traces()
        ));
    }
    let (classic, classic_seen) = run(program, Dpor::classic().without_sleep_sets(), MOST_REPEATED);
    let done = classic.ended != Ended::BudgetSpent;
    if (done && !classic_seen.same_traces(&seen)) || classic.pruned > 0 {
        let Report { executions, pruned, .. } = classic;
        let distinct = classic_seen.traces();
        return Some(format!(
            "classic without sleep sets: {executions} executions, {distinct} traces of {traces}, {pruned} blocked"
        ));
    }
    None
}

/// Programs of a range of seeds that are not too large, with what the oracle says of them.
fn programs(seeds: std::ops::Range<u64>, size: Size) -> impl Iterator<Item = (u64, Litmus, Program, Counted)> {
    seeds.filter_map(move |seed| {
        let litmus = generate(seed, size);
        let program = Program::new(&litmus, "generated").unwrap_or_else(|error| panic!("{seed}: {error}\n{litmus}"));
        let counted = oracle::traces(&program, ROOM).ok()?;
        (counted.count.all <= MOST_TRACES).then_some((seed, litmus, program, counted))
    })
}

fn fuzz(seeds: std::ops::Range<u64>, size: Size) -> (u64, u64) {
    let (mut tried, mut wrong) = (0, 0);
    let mut first: Option<String> = None;
    let mut smallest = usize::MAX;
    for (seed, litmus, program, counted) in programs(seeds, size) {
        tried += 1;
        if let Some(fault) = faults(&program, &counted) {
            wrong += 1;
            let text = litmus.to_string();
            if text.len() < smallest {
                smallest = text.len();
                first = Some(format!("{seed}: {fault}\n{text}"));
            }
        }
    }
    assert!(first.is_none(), "{wrong} of {tried} wrong; the shortest: {}", first.unwrap_or_default());
    (tried, wrong)
}

#[test]
fn generated_programs() {
    let (tried, _) = fuzz(10_000..11_200, SIZE);
    assert!(tried >= 1_000, "only {tried} programs were small enough");
}

/// A number from the environment, for the run that takes as long as it is let.
fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
#[ignore = "minutes, and for release builds; FROM and COUNT say which seeds"]
fn many_generated_programs() {
    let (from, count) = (number("FROM", 100_000), number("COUNT", 20_000));
    let threads = u32::try_from(number("THREADS", 4)).expect("few");
    let steps = u32::try_from(number("STEPS", 10)).expect("few");
    let (tried, _) = fuzz(from..from + count, Size { threads, steps });
    assert!(tried * 3 > count, "only {tried} of {count} programs were small enough");
}

/// How many of the programs show that the algorithm has the mistake, as it misses traces, repeats them, or gives up.
fn caught(make: fn() -> Dpor, mistake: Mistake, may_block: bool) -> u64 {
    let wrong = |(_, _, program, counted): &(u64, Litmus, Program, Counted)| {
        let traces = u64::try_from(counted.count.all).expect("there are few");
        let (report, seen) = run(program, make().with_mistake(mistake), 100 * traces + 1_000);
        seen.traces() != counted.count.all || report.executions != traces || (!may_block && report.pruned > 0)
    };
    programs(10_000..11_200, SIZE).filter(wrong).count() as u64
}

#[test]
fn mistakes_are_noticed() {
    let skips = caught(Dpor::source, Mistake::SkipsBlocked, true);
    let cuts = caught(Dpor::optimal, Mistake::CutsSequence, false);
    let task_only = caught(Dpor::optimal, Mistake::KeepsTaskOnly, false);
    let task_only_source = caught(Dpor::source, Mistake::KeepsTaskOnly, true);
    let all = (skips, cuts, task_only, task_only_source);
    assert!(skips > 0 && cuts > 0 && task_only > 0 && task_only_source > 0, "programs that notice: {all:?}");
}
