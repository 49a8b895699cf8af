//! `evaluation delay`: the programs of the paper on delaying explorers, and how soon each strategy finds their bugs.

mod explorer;
mod words;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use programs::delay::{Program, bugs, correct};
use raddle_engine::search::{Limits, search};
use raddle_engine::strategy::Strategy;
use raddle_engine::strategy::delay::{Delay, ProbabilisticRoundRobin, RoundRobin, RunToCompletion};
use raddle_engine::strategy::pct::Pct;
use raddle_engine::strategy::preemption::Preemption;
use raddle_engine::strategy::random::Random;
use serde_json::json;

use self::explorer::AfterStart;
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
    /// Seeds for each strategy that has one; the median is told.
    #[arg(long, value_name = "N", default_value_t = 5)]
    seeds: u64,
    /// Executions after which a strategy gives up, those included that it gives up itself.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    most: u64,
    /// Seconds after which a strategy gives up.
    #[arg(long, value_name = "S", default_value_t = 10)]
    seconds: u64,
    /// Writes the table into this folder too: its part of evaluation.md [default: nothing is written].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// A strategy of the table.
struct Contender {
    name: &'static str,
    seeded: bool,
    make: fn(seed: u64) -> Box<dyn Strategy>,
    /// Made for the programs whose labels begin like this.
    only: &'static str,
}

const CONTENDERS: [Contender; 7] = [
    Contender { name: "random", seeded: true, make: |seed| Box::new(Random::new(seed)), only: "" },
    Contender { name: "pct:3", seeded: true, make: |seed| Box::new(Pct::new(seed, 3)), only: "" },
    Contender { name: "preemption", seeded: false, make: |_| Box::new(Preemption::unbounded()), only: "" },
    Contender { name: "delay", seeded: false, make: |_| Box::new(Delay::new(RoundRobin::default())), only: "" },
    Contender {
        name: "delay:rtc",
        seeded: false,
        make: |_| Box::new(Delay::new(RunToCompletion::default())),
        only: "",
    },
    Contender {
        name: "delay:prr",
        seeded: true,
        make: |seed| Box::new(Delay::new(ProbabilisticRoundRobin::new(seed))),
        only: "",
    },
    Contender {
        name: "delay, own explorer",
        seeded: false,
        make: |_| Box::new(Delay::new(AfterStart::default())),
        only: "ChainRep",
    },
];

/// What one run of a strategy on one program came to.
#[derive(Clone, Debug)]
struct Trial {
    /// Executions until the bug was found, or until it was given up.
    executions: u64,
    states: u64,
    /// How it failed, if it did.
    kind: Option<&'static str>,
    /// In the strategy's words: "found with 2 delays".
    remark: Option<String>,
    /// Nothing was left to look at.
    whole: bool,
}

/// The trials of one strategy on one program, as many as there are seeds.
struct Cell {
    strategy: &'static str,
    trials: Vec<Trial>,
}

struct Row {
    program: Program,
    cells: Vec<Cell>,
}

impl Cell {
    /// The middle one, those that found nothing last; `None` if there are none.
    fn median(&self) -> Option<&Trial> {
        let mut order: Vec<&Trial> = self.trials.iter().collect();
        order.sort_by_key(|trial| (trial.kind.is_none(), trial.executions));
        order.get(order.len() / 2).copied()
    }
}

/// Runs every strategy on every bug, tells what came of it, and writes it if asked to. Fails if a correct program fails, or a bug
/// shows in another way than it should.
pub fn run(arguments: &Arguments) -> ExitCode {
    if let Some(Err(error)) = arguments.out.as_deref().map(page::prepare) {
        complain(&error.to_string());
        return ExitCode::FAILURE;
    }
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
    if let Some(Err(error)) = arguments.out.as_deref().map(|folder| words::section(&rows, arguments).write(folder)) {
        complain(&error.to_string());
        return ExitCode::FAILURE;
    }
    code
}

fn measure(program: Program, arguments: &Arguments) -> Row {
    let cell = |contender: &Contender| {
        if !program.label.starts_with(contender.only) {
            return Cell { strategy: contender.name, trials: Vec::new() };
        }
        let seeds = if contender.seeded { arguments.seeds.max(1) } else { 1 };
        let trials = (1..=seeds).map(|seed| trial(program, &mut *(contender.make)(seed), arguments)).collect();
        Cell { strategy: contender.name, trials }
    };
    Row { program, cells: CONTENDERS.iter().map(cell).collect() }
}

fn trial(program: Program, strategy: &mut dyn Strategy, arguments: &Arguments) -> Trial {
    let time = Some(Duration::from_secs(arguments.seconds));
    let limits = Limits { executions: Some(arguments.most), time, ..Limits::default() };
    let report = search(&mut (program.model)(), strategy, &limits);
    let kind = report.found.as_ref().map(|found| found.failure.kind());
    let remark = report.found.as_ref().and_then(|found| found.remark.clone());
    let executions = report.executions + report.pruned;
    Trial { executions, states: report.states, kind, remark, whole: report.verified() }
}

fn json_of(row: &Row) -> impl Iterator<Item = serde_json::Value> + '_ {
    row.cells.iter().flat_map(move |cell| {
        cell.trials.iter().map(move |trial| {
            json!({
                "program": row.program.label, "strategy": cell.strategy, "found": trial.kind, "executions": trial.executions,
                "states": trial.states, "remark": trial.remark, "verified": trial.whole,
            })
        })
    })
}

/// What cannot be.
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
