//! What is said of the results, in the terminal and on the page. Every figure in the sentences is worked out from what was measured.

use raddle_engine::coverage::Criterion;

use super::Results;
use super::bugs::{self, CONTENDERS, Cell, DELAYS, FREE, Row};
use super::covered::{self, Covered, Study};
use super::scale::Scale;
use super::statistics::geometric;
use super::trial::Trial;
use crate::grid::{Grid, duration, grouped, rounded};
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

/// What one strategy did on all bugs.
struct Total {
    seconds: f64,
    finds: usize,
    runs: usize,
    bugs: usize,
    /// Bugs that it was of any use for.
    of_bugs: usize,
}

impl Total {
    fn of(rows: &[Row], at: usize, limit_seconds: f64) -> Self {
        let cells = || rows.iter().map(|row| &row.cells[at]).filter(|cell| !cell.is_idle());
        Self {
            seconds: cells().flat_map(|cell| cell.times(limit_seconds)).sum(),
            finds: cells().map(Cell::finds).sum(),
            runs: cells().map(|cell| cell.trials.len()).sum(),
            bugs: cells().filter(|cell| cell.finds() > 0).count(),
            of_bugs: cells().count(),
        }
    }

    /// CPU time for each time that a bug was found, as in the paper: all time that was spent, by the number of finds.
    fn each(&self) -> Option<f64> {
        (self.finds > 0).then(|| self.seconds / self.finds as f64)
    }
}

fn summary(rows: &[Row], limit_seconds: f64) -> Grid {
    let mut grid =
        Grid::new(&["strategy", "bugs found", "runs that found one", "CPU in all", "CPU for each find", "slowdown"]);
    let own = Total::of(rows, 0, limit_seconds).each();
    for (at, contender) in CONTENDERS.iter().enumerate() {
        let total = Total::of(rows, at, limit_seconds);
        let slowdown = total.each().zip(own).map(|(each, own)| format!("{}×", rounded(each / own)));
        grid.row(vec![
            contender.name.to_owned(),
            format!("{} of {}", total.bugs, total.of_bugs),
            format!("{} of {}", total.finds, total.runs),
            duration(total.seconds),
            total.each().map_or("–".to_owned(), duration),
            slowdown.unwrap_or("–".to_owned()),
        ]);
    }
    grid
}

/// What the paper claims, or nothing where it is silent, and how it comes out here.
pub fn claims(results: &Results) -> Vec<(&'static str, String)> {
    let rows = &results.bugs;
    let mut claims = Vec::new();
    if !rows.is_empty() {
        claims.extend(of_bugs(rows, results.limit_seconds));
    }
    if !results.criteria.is_empty() {
        claims.push(("of the criteria alone, PR finds bugs soonest, and PCR is far behind", alone(results)));
    }
    let covered: Vec<Covered> = results.studies.iter().flat_map(Study::covered).collect();
    if !covered.is_empty() {
        claims.push((
            "at least twice the coverage of the best random delays in the same time, by PR three times (geometric means)",
            coverage(&covered),
        ));
    }
    claims
}

fn of_bugs(rows: &[Row], limit: f64) -> Vec<(&'static str, String)> {
    let guided = || rows.iter().map(|row| &row.cells[0]);
    let by_pairs = |row: &&Row| {
        let cell = &row.cells[0];
        let soon = |trial: &Trial| {
            trial.found.is_some() && trial.executions <= 4 && matches!(trial.criterion, None | Some(Criterion::Pairs))
        };
        cell.trials.iter().all(soon)
    };
    let soon: Vec<&str> = rows.iter().filter(by_pairs).map(|row| row.program.label).collect();
    let in_the_mean = |row: &&Row| {
        let trials = &row.cells[0].trials;
        let by_pairs = |trial: &Trial| matches!(trial.criterion, None | Some(Criterion::Pairs));
        let found = trials.iter().all(|trial| trial.found.is_some() && by_pairs(trial));
        found && trials.iter().map(|trial| trial.executions - 1).sum::<u64>() <= 3 * trials.len() as u64
    };
    let mean = rows.iter().filter(in_the_mean).count();
    let always = guided().filter(|cell| cell.finds() == cell.trials.len()).count();
    let most = guided().flat_map(|cell| cell.trials.iter().map(|trial| trial.executions - 1)).max().unwrap_or(0);
    let other: Vec<String> = rows.iter().filter(|row| !by_pairs(row)).map(by_what).collect();
    let own = Total::of(rows, 0, limit).each();
    let times = |at: usize| Some(Total::of(rows, at, limit).each()? / own?);
    let at = |name: &str| CONTENDERS.iter().position(|contender| contender.name == name);
    let delays = DELAYS.iter().filter_map(|name| Some((*name, times(at(name)?)?)));
    let best = delays.min_by(|one, other| one.1.total_cmp(&other.1));
    let best =
        best.map_or("no delays find anything".to_owned(), |(name, times)| format!("{}× ({name})", rounded(times)));
    let free = at(FREE)
        .and_then(times)
        .map_or("the free-running program never fails".to_owned(), |times| format!("{}×", rounded(times)));
    let others = ["random", "pct:3", "dpor"].map(|name| {
        let times = at(name).and_then(times).map_or("–".to_owned(), |times| format!("{}×", rounded(times)));
        format!("{name} {times}")
    });
    let all = || guided().flat_map(|cell| &cell.trials);
    let first = all().filter(|trial| trial.found.is_some() && trial.executions == 1).count();
    vec![
        (
            "all twelve bugs are found in every run",
            format!("{always} of {}, with at most {} schedules", rows.len(), grouped(most)),
        ),
        (
            "ten of the twelve by PR with at most three schedules",
            format!(
                "{mean} of {} in the mean of the runs, {} in every run. Those that take more in some run: {}",
                rows.len(),
                soon.len(),
                or_none(&other)
            ),
        ),
        ("122 times faster than the best random delays (124 and 203 times for the other two)", best),
        ("656 times faster than the default scheduler", free),
        ("", format!("in the same way, against other strategies of ours: {}", others.join(", "))),
        (
            "",
            format!(
                "in {first} of {} runs the first execution, which is at random and by no schedule, shows the bug",
                all().count()
            ),
        ),
    ]
}

fn or_none(words: &[String]) -> String {
    if words.is_empty() { "none".to_owned() } else { words.join("; ") }
}

/// How a bug is found that takes more than three schedules by pairs.
fn by_what(row: &Row) -> String {
    let trials = &row.cells[0].trials;
    let by = Criterion::ALL.iter().filter_map(|criterion| {
        let times = trials.iter().filter(|trial| trial.found.is_some() && trial.criterion == Some(*criterion)).count();
        (times > 0).then(|| format!("{} {times}×", criterion.name().to_uppercase()))
    });
    let first = trials.iter().filter(|trial| trial.found.is_some() && trial.criterion.is_none()).count();
    let first = (first > 0).then(|| format!("the first execution {first}×"));
    let lost = trials.iter().filter(|trial| trial.found.is_none()).count();
    let lost = (lost > 0).then(|| format!("not found {lost}×"));
    let by: Vec<String> = first.into_iter().chain(by).chain(lost).collect();
    let needs = row.program.needs.map_or("", bugs::needs);
    format!("{} (the paper: {needs}) by {}", row.program.label, by.join(", "))
}

/// Each criterion alone, on the bugs it can be used on.
fn alone(results: &Results) -> String {
    let words = bugs::CRITERIA.iter().enumerate().map(|(at, contender)| {
        let total = Total::of(&results.criteria, at, results.limit_seconds);
        let each = total.each().map_or("–".to_owned(), duration);
        let Total { bugs, of_bugs, finds, runs, .. } = total;
        let name = contender.name;
        format!("{name} finds {bugs} of the {of_bugs} it applies to, in {finds} of {runs} runs, {each} for each find")
    });
    words.collect::<Vec<_>>().join("; ")
}

fn coverage(covered: &[Covered]) -> String {
    let words = Criterion::ALL.iter().filter_map(|criterion| {
        let own =
            || covered.iter().filter(|covered| covered.criterion == *criterion && covered.improvement().is_finite());
        let (over_delays, over_random) =
            (geometric(own().map(Covered::improvement))?, geometric(own().map(Covered::over_random))?);
        let name = criterion.name().to_uppercase();
        Some(format!("{name} {}× (and {}× that of random)", rounded(over_delays), rounded(over_random)))
    });
    words.collect::<Vec<_>>().join(", ")
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
    format!(
        "## Coverage of receives: Bita\n\n\
         Written by `cargo run --release -p evaluation -- receive-order --out docs`. The programs are `programs/src/bita/`: the paper's, \
         made small, with bugs of the same kinds. They are not the paper's own, and delays are on a virtual clock, so figures compare \
         strategies with one another and not with those of the paper. CPU time is that of the thread that searches (the crate `cpu-time`); \
         of the free-running program, that of its process. All searches are by one worker.\n\n\
         - *delays ≤ n*: each message is delivered after a random delay, on a virtual clock, of at most n times what handling a message takes; \
         messages of one sender to one receiver stay in order (`evaluation/src/receive_order/delays.rs`). The paper's delays of 100 to 300 ms \
         are much longer than its handlers take; so is 100 here, and still longer ones would make no difference, since only delays would \
         decide. 1 is as long as handling, 10 lies between.\n\
         - *free-running*: the same program on threads of the system, without Raddle, again and again. It is found to fail if anything \
         panics or it does not end.\n\n\
         ### Twelve bugs\n\n\
         The mean of {} runs, each with a seed of its own, with its 95 % confidence interval. A run gives up after {} of CPU time, which then \
         stands for its time, as the paper does it; *(k of n)*: in k of n runs; –: in none. `dpor` has no seed and is run once.",
        results.runs,
        duration(results.limit_seconds)
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
