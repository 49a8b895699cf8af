//! What the paper claims, and how it comes out here. Every figure is worked out from what was measured.

use raddle_engine::coverage::Criterion;

use super::Results;
use super::bugs::{self, CONTENDERS, Cell, DELAYS, FREE, Row};
use super::covered::{Covered, Study};
use super::statistics::{Mean, geometric};
use super::trial::Trial;
use crate::grid::{Grid, duration, grouped, rounded};

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

/// What each strategy did on all bugs.
pub fn summary(rows: &[Row], limit_seconds: f64) -> Grid {
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
    let always = guided().filter(|cell| cell.finds() == cell.trials.len()).count();
    let all = || guided().flat_map(|cell| &cell.trials);
    let most = all().map(schedules).max().unwrap_or(0);
    let first = all().filter(|trial| trial.found.is_some() && schedules(trial) == 0).count();
    let times = |name: &str| slowdown(rows, name, limit).map(|times| format!("{}×", rounded(times)));
    let delays = DELAYS.iter().filter_map(|name| Some((*name, slowdown(rows, name, limit)?)));
    let best = delays.min_by(|one, other| one.1.total_cmp(&other.1));
    let best = best.map(|(name, times)| format!("{}× ({name})", rounded(times)));
    let limited = format!("; this depends on when a run gives up, here after {}, there after an hour", duration(limit));
    let others = ["random", "pct:3", "dpor"].map(|name| format!("{name} {}", times(name).unwrap_or("–".to_owned())));
    vec![
        (
            "all twelve bugs are found in every run",
            format!("{always} of {}, with at most {} schedules", rows.len(), grouped(most)),
        ),
        ("ten of the twelve by PR with at most three schedules", by_pairs(rows)),
        (
            "122 times faster than the best random delays (124 and 203 times for the other two)",
            best.unwrap_or("they find nothing".to_owned()) + &limited,
        ),
        (
            "656 times faster than the default scheduler",
            times(FREE).unwrap_or("it finds nothing".to_owned()) + &limited,
        ),
        ("", format!("in the same way, against other strategies of ours: {}", others.join(", "))),
        ("", format!("in {first} of {} runs the first execution, which is at random, shows the bug", all().count())),
    ]
}

/// How many times as much CPU time a strategy takes for each find as `receive-order`.
fn slowdown(rows: &[Row], name: &str, limit_seconds: f64) -> Option<f64> {
    let at = CONTENDERS.iter().position(|contender| contender.name == name)?;
    Some(Total::of(rows, at, limit_seconds).each()? / Total::of(rows, 0, limit_seconds).each()?)
}

/// How many schedules were run.
fn schedules(trial: &Trial) -> u64 {
    trial.executions.saturating_sub(1)
}

/// Which bugs are found by pairs of receives, and how soon.
fn by_pairs(rows: &[Row]) -> String {
    let found = |trial: &Trial| trial.found.is_some() && matches!(trial.criterion, None | Some(Criterion::Pairs));
    let own = |row: &Row| row.cells[0].trials.iter().all(found);
    let mean = |row: &Row| Mean::of(row.cells[0].trials.iter().map(|trial| schedules(trial) as f64)).mean;
    let soon = |row: &Row| own(row) && row.cells[0].trials.iter().all(|trial| schedules(trial) <= 3);
    let other: Vec<String> = rows.iter().filter(|row| !soon(row)).map(by_what).collect();
    format!(
        "{} of {} by PR in every run, {} of them with at most three schedules in the mean, {} in every run. Those that take more, at \
         least once: {}",
        rows.iter().filter(|row| own(row)).count(),
        rows.len(),
        rows.iter().filter(|row| own(row) && mean(row) <= 3.0).count(),
        rows.len() - other.len(),
        if other.is_empty() { "none".to_owned() } else { other.join("; ") }
    )
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
