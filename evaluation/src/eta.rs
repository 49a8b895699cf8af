//! `evaluation eta`: the programs of the paper on Eta, beside its figures.

mod estimates;
mod published;
mod table;
mod unique;
mod watch;
mod words;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use self::estimates::{Study, subjects};
use self::table::Row;
use self::unique::Race;
use crate::page;
use crate::say::{complain, say};

/// What can be said on the command line.
#[derive(Args)]
pub struct Arguments {
    /// One JSON object per line.
    #[arg(long)]
    json: bool,
    /// Leaves out what takes minutes: the three million executions of Phils(3).
    #[arg(long)]
    quick: bool,
    /// Leaves out searches of more executions than this, and random walks after ten times as many.
    #[arg(long, value_name = "N")]
    most: Option<u64>,
    /// Writes tables and plots into this folder too: its part of evaluation.md, and evaluation/*.svg [default: nothing is
    /// written].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// The most executions of a search that is over quickly.
const QUICK: u64 = 1_000_000;

/// All that was measured.
struct Results {
    rows: Vec<Row>,
    studies: Vec<Study>,
    races: Vec<Race>,
}

/// Measures, tells, and writes if asked to. Fails if a count is not the published one.
pub fn run(arguments: &Arguments) -> ExitCode {
    let quick = if arguments.quick { QUICK } else { u64::MAX };
    let most = arguments.most.unwrap_or(u64::MAX).min(quick);
    // Before the work, which can take minutes.
    if let Some(Err(error)) = arguments.out.as_deref().map(page::prepare) {
        complain(&error.to_string());
        return ExitCode::FAILURE;
    }
    let results = Results {
        rows: published::rows().map(|row| Row::measure(row, most)).collect(),
        studies: subjects(most).map(Study::of).collect(),
        races: Race::all(most).collect(),
    };
    if arguments.json {
        results.json().for_each(|object| say(&object.to_string()));
    } else {
        say(&words::text(&results));
    }
    let mut code = ExitCode::SUCCESS;
    for wrong in results.wrong() {
        complain(&wrong);
        code = ExitCode::FAILURE;
    }
    if let Some(Err(error)) = arguments.out.as_deref().map(|folder| words::section(&results).write(folder)) {
        complain(&error.to_string());
        return ExitCode::FAILURE;
    }
    code
}

impl Results {
    fn json(&self) -> impl Iterator<Item = serde_json::Value> {
        let rows = self.rows.iter().flat_map(Row::json);
        let studies = self.studies.iter().flat_map(Study::json);
        rows.chain(studies).chain(self.races.iter().flat_map(Race::json))
    }

    fn wrong(&self) -> Vec<String> {
        let rows = self.rows.iter().flat_map(Row::wrong);
        let studies = self.studies.iter().flat_map(|study| study.wrong.iter().cloned());
        rows.chain(studies).chain(self.races.iter().filter_map(Race::wrong)).collect()
    }
}
