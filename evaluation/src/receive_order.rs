//! `evaluation receive-order`: the programs of the paper on coverage of receives, how soon each strategy finds their bugs, and what is
//! covered meanwhile.

mod bugs;
mod claims;
mod covered;
mod delays;
mod free;
mod scale;
mod statistics;
mod trial;
mod words;

use std::io::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use programs::bita;
use serde_json::json;

use self::bugs::{CONTENDERS, CRITERIA, Row};
use self::covered::Study;
use self::scale::Scale;
use crate::page;
use crate::say::{complain, say};

/// What can be said on the command line.
#[derive(Args)]
pub struct Arguments {
    /// One JSON object per line.
    #[arg(long)]
    json: bool,
    /// Only programs whose label contains this.
    #[arg(long, value_name = "LABEL")]
    only: Option<String>,
    /// Runs of each strategy on each bug, each with a seed of its own; half as many for coverage.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// CPU time after which a run gives up.
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    seconds: f64,
    /// Writes the results into this folder too: their part of evaluation.md, and pictures [default: nothing is written].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Runs the program of this label outside of Raddle's control: the command calls itself so.
    #[arg(long, value_name = "LABEL", hide = true)]
    free: Option<String>,
    /// Analyses one large execution: the command calls itself so.
    #[arg(long, hide = true)]
    scale: bool,
}

/// All that was measured.
struct Results {
    runs: u64,
    limit_seconds: f64,
    bugs: Vec<Row>,
    criteria: Vec<Row>,
    studies: Vec<Study>,
    scale: Option<Scale>,
}

/// Measures, tells what came of it, and writes it if asked to. Fails if a correct program fails, or a bug shows in another way than it
/// should.
pub fn run(arguments: &Arguments) -> ExitCode {
    if let Some(label) = &arguments.free {
        let Some(program) = bita::bugs().chain(bita::correct()).find(|program| program.label == label) else {
            complain(&format!("there is no program `{label}`"));
            return ExitCode::FAILURE;
        };
        say(&free::run(program.run, arguments.seconds).to_string());
        return ExitCode::SUCCESS;
    }
    if arguments.scale {
        say(&scale::run().to_string());
        return ExitCode::SUCCESS;
    }
    match evaluate(arguments) {
        Ok(code) => code,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn evaluate(arguments: &Arguments) -> Result<ExitCode, Error> {
    arguments.out.as_deref().map(page::prepare).transpose()?;
    let results = measure(arguments)?;
    if arguments.json {
        tell(&results);
    } else {
        say(&words::text(&results));
    }
    let wrong = [&results.bugs, &results.criteria].into_iter().flat_map(|rows| bugs::wrong(rows));
    let wrong: Vec<String> = wrong.chain(results.studies.iter().flat_map(Study::wrong)).collect();
    wrong.iter().for_each(|wrong| complain(wrong));
    arguments.out.as_deref().map(|folder| words::section(&results).write(folder)).transpose()?;
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn measure(arguments: &Arguments) -> Result<Results, Error> {
    let wanted = |label: &str| arguments.only.as_ref().is_none_or(|only| label.contains(only.as_str()));
    let (runs, limit_seconds) = (arguments.runs, arguments.seconds);
    Ok(Results {
        runs,
        limit_seconds,
        bugs: bugs::measure(&CONTENDERS, &wanted, runs, limit_seconds)?,
        criteria: bugs::measure(&CRITERIA, &wanted, runs, limit_seconds)?,
        studies: covered::measure(&wanted, runs.div_ceil(2), limit_seconds),
        scale: wanted("GeoTrellis").then(scale::measure).transpose()?,
    })
}

fn tell(results: &Results) {
    let rows = bugs::json(&results.bugs).chain(bugs::json(&results.criteria));
    rows.chain(results.studies.iter().flat_map(Study::json)).for_each(|object| say(&object.to_string()));
    if let Some(scale) = results.scale {
        let Scale { receives, actors, record_seconds, schedule_seconds, must_seconds, before_bytes, peak_bytes } =
            scale;
        let object = json!({
            "kind": "scale", "receives": receives, "actors": actors, "record_cpu_seconds": record_seconds,
            "first_schedule_cpu_seconds": schedule_seconds, "must_cpu_seconds": must_seconds,
            "before_bytes": before_bytes, "peak_bytes": peak_bytes,
        });
        say(&object.to_string());
    }
    for (claim, ours) in claims::claims(results) {
        say(&json!({ "kind": "claim", "paper": claim, "ours": ours }).to_string());
    }
}
