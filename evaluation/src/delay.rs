//! `evaluation delay`: the programs of the paper on delaying explorers, and how soon each strategy finds their bugs.

mod claims;
mod contenders;
mod explorer;
mod picture;
mod words;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use cpu_time::ProcessTime;
use programs::delay::{Program, bugs, correct};
use raddle_engine::facts::Fact;
use raddle_engine::replay::Script;
use raddle_engine::search::{Limits, search};
use raddle_engine::strategy::{Strategy, Unit};
use serde_json::json;

use self::contenders::{CONTENDERS, Contender};
use crate::page;
use crate::say::{complain, say};

/// Command-line arguments.
#[derive(Args)]
pub struct Arguments {
    /// One JSON object per line.
    #[arg(long)]
    json: bool,
    /// Only programs whose label contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Seeds for each strategy that has one; the median is shown.
    #[arg(long, value_name = "N", default_value_t = 5)]
    seeds: u64,
    /// The number of executions of a sampler; searches have ten times as many, with pruned ones.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    most: u64,
    /// The time limit of a strategy, in seconds.
    #[arg(long, value_name = "S", default_value_t = 4)]
    seconds: u64,
    /// States that a search keeps in memory, at 9.1 to 11.4 bytes each.
    #[arg(long, value_name = "N", default_value_t = 4_000_000)]
    states: usize,
    /// Writes tables and a picture into this folder too: its part of evaluation.md [default: nothing is written].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// The result of one run of a strategy on one program.
#[derive(Clone, Debug, Default)]
struct Trial {
    /// Executions until the bug was found, or until the budget was spent.
    executions: u64,
    states: u64,
    /// Its failure, if it failed.
    kind: Option<&'static str>,
    /// The number of deviations from the explorer's order in the failing execution.
    delays: Option<u32>,
    /// Decisions in that execution.
    decisions: usize,
    /// The search was complete.
    whole: bool,
}

/// The trials of one strategy on one program, as many as there are seeds, or until most have found nothing.
struct Cell {
    strategy: &'static str,
    trials: Vec<Trial>,
    median: Option<Trial>,
}

struct Row {
    program: Program,
    cells: Vec<Cell>,
}

impl Row {
    /// Executions until this contender found the bug, if it did.
    fn found(&self, at: usize) -> Option<u64> {
        self.median(at).filter(|trial| trial.kind.is_some()).map(|trial| trial.executions)
    }

    fn median(&self, at: usize) -> Option<&Trial> {
        self.cells[at].median.as_ref()
    }
}

/// Runs every strategy on every bug, shows the results, and writes them if asked to. Fails if a correct program fails, or a bug shows in
/// another way than expected.
pub fn run(arguments: &Arguments) -> ExitCode {
    if let Some(Err(error)) = arguments.out.as_deref().map(page::prepare) {
        complain(&error.to_string());
        return ExitCode::FAILURE;
    }
    let (clock, cpu) = (Instant::now(), ProcessTime::now());
    let chosen = |program: &Program| arguments.only.as_ref().is_none_or(|text| program.label.contains(text.as_str()));
    let rows: Vec<Row> = correct().chain(bugs()).filter(chosen).map(|program| measure(program, arguments)).collect();
    if arguments.json {
        rows.iter().flat_map(json_of).for_each(|object| say(&object.to_string()));
    } else {
        say(&words::text(&rows));
    }
    let mut code = ExitCode::SUCCESS;
    for wrong in rows.iter().flat_map(wrong) {
        complain(&wrong);
        code = ExitCode::FAILURE;
    }
    let spent = (clock.elapsed().as_secs_f64(), cpu.elapsed().as_secs_f64());
    let written = arguments.out.as_deref().map(|folder| words::section(&rows, arguments, spent).write(folder));
    if let Some(Err(error)) = written {
        complain(&error.to_string());
        return ExitCode::FAILURE;
    }
    code
}

fn measure(program: Program, arguments: &Arguments) -> Row {
    Row { program, cells: CONTENDERS.iter().map(|contender| cell(program, contender, arguments)).collect() }
}

fn cell(program: Program, contender: &Contender, arguments: &Arguments) -> Cell {
    let mut cell = Cell { strategy: contender.name, trials: Vec::new(), median: None };
    if !program.label.starts_with(contender.only) {
        return cell;
    }
    // If there is nothing to find, one seed is as good as many.
    let seeded = contender.seeded && program.failure.is_some();
    let seeds = if seeded { arguments.seeds.max(1) as usize } else { 1 };
    let most = if contender.kind.samples() { arguments.most } else { arguments.most.saturating_mul(10) };
    for seed in 1..=seeds as u64 {
        let mut strategy = (contender.make)(seed, arguments.states);
        cell.trials.push(trial(program, &mut *strategy, most, arguments.seconds));
        if cell.trials.iter().filter(|trial| trial.kind.is_none()).count() > seeds / 2 {
            break;
        }
    }
    cell.median = median(&cell.trials, seeds);
    cell
}

/// The median of so many trials; trials that found nothing come last.
fn median(trials: &[Trial], seeds: usize) -> Option<Trial> {
    let mut order: Vec<&Trial> = trials.iter().collect();
    order.sort_by_key(|trial| (trial.kind.is_none(), trial.executions));
    let found = order.iter().filter(|trial| trial.kind.is_some()).count();
    // If the trials were stopped because most had found nothing, the missing ones do not matter.
    let middle = if found > seeds / 2 { order.get(seeds / 2) } else { order.last() };
    middle.map(|trial| (*trial).clone())
}

fn trial(program: Program, strategy: &mut dyn Strategy, most: u64, seconds: u64) -> Trial {
    let limits = Limits { executions: Some(most), time: Some(Duration::from_secs(seconds)), ..Limits::default() };
    let report = search(&mut (program.model)(), strategy, &limits);
    let found = report.found.as_ref();
    let delays = found.and_then(|found| match &found.remark {
        Some(Fact::FoundWith(number, Unit::Delay)) => Some(*number),
        _ => None,
    });
    let decisions = found.map_or(0, |found| match &found.script {
        Script::Choices { choices, .. } => choices.len(),
        _ => 0,
    });
    Trial {
        executions: report.executions + report.pruned,
        states: report.states,
        kind: found.map(|found| found.failure.kind()),
        delays,
        decisions,
        whole: report.verified(),
    }
}

fn json_of(row: &Row) -> impl Iterator<Item = serde_json::Value> + '_ {
    row.cells.iter().flat_map(move |cell| {
        cell.trials.iter().map(move |trial| {
            json!({
                "program": row.program.label, "strategy": cell.strategy, "found": trial.kind, "executions": trial.executions,
                "states": trial.states, "delays": trial.delays, "decisions": trial.decisions, "verified": trial.whole,
            })
        })
    })
}

/// Results that are impossible.
fn wrong(row: &Row) -> Vec<String> {
    let expected = row.program.failure;
    let kinds = row
        .cells
        .iter()
        .flat_map(|cell| cell.trials.iter().filter_map(|trial| trial.kind).map(move |kind| (cell, kind)));
    kinds
        .filter(|(_, kind)| Some(*kind) != expected)
        .map(|(cell, kind)| format!("{} under {}: {kind}, expected: {expected:?}", row.program.label, cell.strategy))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_one_is_that_of_all_seeds() {
        let trial = |executions, found: bool| Trial { executions, kind: found.then_some("panic"), ..Trial::default() };
        let of = |trials: &[Trial]| median(trials, 5).map(|trial| (trial.executions, trial.kind.is_some()));
        let all = [trial(7, true), trial(100, false), trial(3, true), trial(9, true), trial(100, false)];
        assert_eq!(of(&all), Some((9, true)));
        let left_off = [trial(7, true), trial(100, false), trial(90, false), trial(100, false)];
        assert_eq!(of(&left_off), Some((100, false)));
        assert_eq!(of(&[]), None);
    }
}
