//! `evaluation hapset`: the programs of the paper on learned ordering constraints and those of SCTBench, and how soon each strategy
//! finds their bugs.

mod contenders;
mod published;
mod words;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use cpu_time::ProcessTime;
use programs::{Program, hapset, sctbench};
use raddle_engine::search::Limits;
use serde_json::json;

use self::contenders::{CONTENDERS, Contender};
use crate::on_threads::{self, Body};
use crate::page;
use crate::say::{complain, say};

/// What can be said on the command line.
#[derive(Args)]
pub struct Arguments {
    /// One JSON object per line.
    #[arg(long)]
    json: bool,
    /// Only programs whose label contains this.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Only strategies whose name contains this.
    #[arg(long, value_name = "TEXT")]
    strategy: Option<String>,
    /// Seeds for each strategy that has one.
    #[arg(long, value_name = "N", default_value_t = 20)]
    seeds: u64,
    /// Executions after which a strategy gives up.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    most: u64,
    /// Seconds after which a strategy gives up.
    #[arg(long, value_name = "S", default_value_t = 2)]
    seconds: u64,
    /// Writes the tables into this folder too: its part of evaluation.md [default: nothing is written].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// What one run of a strategy on one program came to.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// Executions until the bug was found, or until the budget was spent; pruned ones included.
    executions: u64,
    cpu: Duration,
    /// How it failed, if it did.
    kind: Option<&'static str>,
    /// The strategy had nothing left to do.
    over: bool,
}

/// The trials of one strategy on one program, one for each seed.
struct Cell {
    strategy: &'static str,
    trials: Vec<Trial>,
}

impl Cell {
    fn found(&self) -> usize {
        self.trials.iter().filter(|trial| trial.kind.is_some()).count()
    }

    /// The middle one, those that found nothing last.
    fn median(&self) -> Option<Trial> {
        let mut order = self.trials.clone();
        order.sort_by_key(|trial| (trial.kind.is_none(), trial.executions));
        order.get(self.trials.len() / 2).copied()
    }

    /// Executions of those that found it, on average.
    fn mean(&self) -> f64 {
        let found = self.trials.iter().filter(|trial| trial.kind.is_some()).map(|trial| trial.executions as f64);
        found.sum::<f64>() / self.found() as f64
    }
}

/// Where a program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Suite {
    Paper,
    Sctbench,
    /// A program of the paper with more threads.
    Grown,
}

struct Row {
    label: String,
    suite: Suite,
    failure: Option<&'static str>,
    cells: Vec<Cell>,
}

/// A program to be run.
struct Subject {
    label: String,
    suite: Suite,
    failure: Option<&'static str>,
    body: Body,
}

/// Programs that are run with more and more threads.
const GROWN: [&str; 2] = ["aget", "thrift"];

fn subjects() -> Vec<Subject> {
    let of = |suite| {
        move |program: Program| {
            let body: Body = Arc::new(program.run);
            Subject { label: program.label.to_owned(), suite, failure: program.failure, body }
        }
    };
    let mut subjects: Vec<_> = hapset::bugs().map(of(Suite::Paper)).collect();
    subjects.extend(sctbench::bugs().map(of(Suite::Sctbench)));
    for program in hapset::bugs().filter(|program| GROWN.contains(&program.label)) {
        let Some(family) = program.sized else { continue };
        subjects.extend((family.least..=family.most).map(|threads| {
            let body: Body = Arc::new(move || (family.run)(threads));
            let label = format!("{}, {threads} threads", program.label);
            Subject { label, suite: Suite::Grown, failure: program.failure, body }
        }));
    }
    subjects
}

/// Runs every strategy on every bug, tells what came of it, and writes it if asked to. Fails if a bug shows in another way than it
/// should.
pub fn run(arguments: &Arguments) -> ExitCode {
    if let Some(Err(error)) = arguments.out.as_deref().map(page::prepare) {
        complain(&error.to_string());
        return ExitCode::FAILURE;
    }
    let chosen = |subject: &Subject| arguments.only.as_ref().is_none_or(|text| subject.label.contains(text.as_str()));
    let rows: Vec<Row> = subjects().iter().filter(|subject| chosen(subject)).map(|it| measure(it, arguments)).collect();
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
    if let Some(Err(error)) = arguments.out.as_deref().map(|folder| words::section(&rows, arguments).write(folder)) {
        complain(&error.to_string());
        return ExitCode::FAILURE;
    }
    code
}

fn measure(subject: &Subject, arguments: &Arguments) -> Row {
    let cells = CONTENDERS.iter().map(|contender| cell(subject, contender, arguments)).collect();
    Row { label: subject.label.clone(), suite: subject.suite, failure: subject.failure, cells }
}

fn cell(subject: &Subject, contender: &Contender, arguments: &Arguments) -> Cell {
    let mut cell = Cell { strategy: contender.name, trials: Vec::new() };
    if arguments.strategy.as_ref().is_some_and(|text| !contender.name.contains(text.as_str())) {
        return cell;
    }
    let seeds = if contender.seeded { arguments.seeds.max(1) } else { 1 };
    let limits = Limits {
        executions: Some(arguments.most),
        time: Some(Duration::from_secs(arguments.seconds)),
        ..Limits::default()
    };
    for seed in 1..=seeds {
        let (mut strategy, started) = ((contender.make)(seed), ProcessTime::now());
        let report = on_threads::search(&subject.body, &mut *strategy, &limits);
        cell.trials.push(Trial {
            executions: report.executions + report.pruned,
            cpu: started.elapsed(),
            kind: report.found.as_ref().map(|found| found.failure.kind()),
            over: matches!(report.ended, raddle_engine::search::Ended::Done(_)),
        });
        // Three that find nothing say enough of a strategy that never does.
        if cell.trials.len() == 3 && cell.found() == 0 {
            break;
        }
    }
    cell
}

fn json_of(row: &Row) -> impl Iterator<Item = serde_json::Value> + '_ {
    row.cells.iter().flat_map(move |cell| {
        cell.trials.iter().map(move |trial| {
            json!({
                "program": row.label, "strategy": cell.strategy, "found": trial.kind, "executions": trial.executions,
                "cpu_seconds": trial.cpu.as_secs_f64(), "over": trial.over,
            })
        })
    })
}

/// What cannot be.
fn wrong(row: &Row) -> Vec<String> {
    let kinds = row.cells.iter().flat_map(|cell| cell.trials.iter().map(move |trial| (cell.strategy, trial.kind)));
    kinds
        .filter(|(_, kind)| kind.is_some() && *kind != row.failure)
        .map(|(strategy, kind)| format!("{} under {strategy}: {kind:?}, expected: {:?}", row.label, row.failure))
        .collect()
}
