//! What is said of the results, in the terminal and on the page.

use super::Results;
use super::bugs;
use super::claims::{claims, summary};
use super::covered;
use super::scale::Scale;
use crate::grid::{duration, grouped};
use crate::page::Section;

/// For the terminal.
pub fn text(results: &Results) -> String {
    let limit = results.limit_seconds;
    let mut parts = vec![
        bugs::executions(&results.bugs).text(),
        bugs::times(&results.bugs, limit).text(),
        summary(&results.bugs, limit).text(),
        bugs::criteria(&results.bugs).text(),
        bugs::executions(&results.criteria).text(),
        covered::grid(&results.studies).text(),
    ];
    parts.extend(results.scale.map(said));
    parts.push(told(results, "").join("\n"));
    parts.join("\n\n")
}

fn told(results: &Results, mark: &str) -> Vec<String> {
    let told = |(claim, ours): (&str, String)| match claim {
        "" => format!("{mark}Beyond the paper: {ours}."),
        _ => format!("{mark}The paper: {claim}. Here: {ours}."),
    };
    claims(results).into_iter().map(told).collect()
}

fn said(scale: Scale) -> String {
    let Scale { receives, actors, record_seconds, schedule_seconds, must_seconds, before_bytes, peak_bytes } = scale;
    let bytes =
        |bytes: Option<u64>| bytes.map_or("unknown".to_owned(), |bytes| format!("{} MB", grouped(bytes / 1_000_000)));
    format!(
        "GeoTrellis with {} receives of {} actors: {} of CPU time to read the receives off the trace, {} more until the first schedule \
         is there, of which {} are for must-happen-before. The peak of the process's memory is {} ({} when the execution was over).",
        grouped(receives),
        grouped(actors),
        duration(record_seconds),
        duration(schedule_seconds),
        duration(must_seconds),
        bytes(peak_bytes),
        bytes(before_bytes),
    )
}

/// For the page.
pub fn section(results: &Results) -> Section {
    let limit = results.limit_seconds;
    let mut parts = vec![
        head(results),
        "#### Executions".to_owned(),
        bugs::executions(&results.bugs).markdown(),
        "#### CPU time".to_owned(),
        bugs::times(&results.bugs, limit).markdown(),
        "#### All bugs together".to_owned(),
        summary(&results.bugs, limit).markdown(),
        SUMMARY.to_owned(),
        BY_WHAT.to_owned(),
        bugs::criteria(&results.bugs).markdown(),
        ALONE.to_owned(),
        bugs::executions(&results.criteria).markdown(),
        bugs::times(&results.criteria, limit).markdown(),
        COVERAGE.to_owned(),
        covered::grid(&results.studies).markdown(),
    ];
    let mut pictures = Vec::new();
    for (title, slug, svg) in covered::pictures(&results.studies) {
        parts.push(format!("![{title}](evaluation/{slug}.svg)"));
        pictures.push((slug, svg));
    }
    if let Some(scale) = results.scale {
        parts.extend(["### A large execution".to_owned(), said(scale)]);
    }
    parts.extend(["### The paper's claims".to_owned(), told(results, "- ").join("\n")]);
    Section { name: "receive-order", text: parts.join("\n\n"), pictures }
}

fn head(results: &Results) -> String {
    let (runs, limit) = (results.runs, results.limit_seconds);
    format!(
        "## Coverage of receives: Bita\n\n\
         Written by `cargo run --release -p evaluation -- receive-order --runs {runs} --seconds {limit} --out docs`. \
         The programs are `programs/src/bita/`: the paper's, made small, with bugs of the same kinds. They are not the paper's own, and delays are on a virtual clock, so figures compare \
         strategies with one another and not with those of the paper. CPU time is that of the thread that searches (the crate `cpu-time`); \
         of the free-running program, that of its process. All searches are by one worker.\n\n\
         - *delays ≤ n*: each message is delivered after a random delay, on a virtual clock, of at most n times what handling a message takes; \
         messages of one sender to one receiver stay in order (`evaluation/src/receive_order/delays.rs`). The paper's delays of 100 to 300 ms \
         are presumably much longer than handlers take; so is 100 here, and still longer ones would make no difference, since only delays would \
         decide. 1 is as long as handling, 10 lies between.\n\
         - *free-running*: the same program on threads of the system, without Raddle, again and again. It is found to fail if anything \
         panics or it does not end.\n\n\
         ### Twelve bugs\n\n\
         The mean of {runs} runs, each with a seed of its own, with its 95 % confidence interval. A run gives up after {limit} s of \
         CPU time, which then stands for its time, as the paper does it; *(k of n)*: in k of n runs; –: in none. `dpor` has no seed and is run once.",
    )
}

const SUMMARY: &str = "\
*CPU for each find* is all time that was spent, by the number of runs that found the bug, as in the paper's table. It says little of a \
strategy that hardly finds anything: then it depends on the limit.";

const BY_WHAT: &str = "\
### By what `receive-order` finds them

It tries PR, then PBR where anybody changes behaviour, then PCR, from a first execution at random; runs by what the schedule was generated \
for that shows the bug. *Schedules*: executions without the first one.";

const ALONE: &str = "\
### The criteria against each other

Executions and CPU time with one criterion alone. n/a: nobody changes behaviour, so nothing is generated after the first execution.";

const COVERAGE: &str = "\
### Coverage in equal time

Pairs of receives that came in both orders, in programs without a bug. `receive-order` runs with the criterion that is measured, until \
nothing is left to generate or the limit above is spent; the others run for the same time. Counting is part of the time of all. \
*Best of the delays*: the longest delay that covers most. What is out of reach counts for nobody: how many pairs there are is not known.";
