//! `evaluation litmus`: explores litmus files, one line for each.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use raddle_engine::facts::Fact;
use raddle_engine::outcome::Failure;
use raddle_engine::search::{Ended, Limits, Report, search};
use raddle_engine::strategy::Claim;
use raddle_litmus::syntax::Expected;
use raddle_litmus::{Litmus, Program, oracle};
use serde_json::json;

use crate::say::{complain, say};
use crate::strategies::{self, Named, Scope};

/// What can be said on the command line.
#[derive(Args)]
pub struct Arguments {
    /// The programs.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Who decides.
    #[arg(long, value_name = "NAME", default_value = strategies::DEFAULT)]
    strategy: String,
    /// One JSON object per line.
    #[arg(long)]
    json: bool,
    /// Stop after so many executions of a file [default: 10000 for strategies that sample, no limit for the others].
    #[arg(long, value_name = "N")]
    executions: Option<u64>,
    /// An execution that takes more steps than this has failed.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    steps: u32,
    /// For the strategies that draw random numbers.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Count by the oracle of the tests instead, which is independent of all strategies.
    #[arg(long, hide = true)]
    oracle: bool,
}

/// Executions that a sampling strategy is given for each file.
const SAMPLE: u64 = 10_000;

/// States that the oracle may remember.
const ROOM: usize = 300_000;

/// What is said of a file.
struct Line {
    file: String,
    strategy: String,
    executions: u128,
    blocked: u64,
    failing: u128,
    verdict: String,
    /// What was expected and not found.
    mismatches: Vec<String>,
}

/// Explores all files. Fails if one cannot be read or is not what it says.
pub fn run(arguments: &Arguments) -> ExitCode {
    let (strategy, bound) = match strategies::find(&arguments.strategy) {
        Ok(found) => found,
        Err(message) => {
            complain(&message);
            return ExitCode::from(2);
        }
    };
    let mut code = ExitCode::SUCCESS;
    for file in &arguments.files {
        match explore(file, strategy, bound, arguments) {
            Ok(line) => {
                show(&line, arguments.json);
                for mismatch in &line.mismatches {
                    complain(&format!("{}: {mismatch}", line.file));
                    code = ExitCode::FAILURE;
                }
            }
            Err(message) => {
                complain(&message);
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

fn show(line: &Line, as_json: bool) {
    let Line { file, strategy, executions, blocked, failing, verdict, .. } = line;
    let text = if as_json {
        let executions = u64::try_from(*executions).unwrap_or(u64::MAX);
        let failing = u64::try_from(*failing).unwrap_or(u64::MAX);
        json!({
            "file": file,
            "strategy": strategy,
            "executions": executions,
            "blocked": blocked,
            "failing": failing,
            "verdict": verdict,
        })
        .to_string()
    } else {
        format!("{file}: {strategy}: {executions} executions, {blocked} blocked, {failing} failing: {verdict}")
    };
    say(&text);
}

fn explore(path: &Path, strategy: &Named, bound: u32, arguments: &Arguments) -> Result<Line, String> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| format!("{file}: {error}"))?;
    let litmus = Litmus::parse(&text).map_err(|error| format!("{file}:{error}"))?;
    let mut program = Program::new(&litmus, &file).map_err(|error| format!("{file}:{error}"))?;
    if arguments.oracle {
        return count(file, &litmus, &program);
    }
    let sample = (strategy.scope == Scope::Sample).then_some(SAMPLE);
    let limits = Limits {
        executions: arguments.executions.or(sample),
        time: None,
        steps: arguments.steps,
        keep_going: true,
        ..Limits::default()
    };
    let report = search(&mut program, &mut *(strategy.make)(arguments.seed, bound), &limits);
    let complete = matches!(report.ended, Ended::Done(Claim::Exhausted));
    let scope = if complete { strategy.scope } else { Scope::Sample };
    let failing = u128::from(report.failing);
    let mut mismatches = mismatches(&litmus, scope, report.executions.into(), failing);
    mismatches.extend(blocked_mismatch(&litmus, strategy.name, scope, report.pruned));
    Ok(Line {
        file,
        strategy: arguments.strategy.clone(),
        executions: report.executions.into(),
        blocked: report.pruned,
        failing,
        verdict: verdict(&report),
        mismatches,
    })
}

fn count(file: String, litmus: &Litmus, program: &Program) -> Result<Line, String> {
    let counted = oracle::traces(program, ROOM).map_err(|why| format!("{file}: {why}"))?;
    let verdict = match oracle::executions(program, ROOM) {
        Ok(plain) => format!("{} executions, of which {} fail", plain.count.all, plain.count.failing),
        Err(why) => why.to_string(),
    };
    let oracle::Count { all, failing } = counted.count;
    let mismatches = mismatches(litmus, Scope::Traces, all, failing);
    Ok(Line { file, strategy: "oracle".to_owned(), executions: all, blocked: 0, failing, verdict, mismatches })
}

/// What the file expects and a search of this scope did not find.
fn mismatches(litmus: &Litmus, scope: Scope, executions: u128, failing: u128) -> Vec<String> {
    let expected = |what| litmus.expected(&what).map(u128::from);
    let mut mismatches = Vec::new();
    if let Some(traces) = expected(Expected::Traces)
        && scope == Scope::Traces
        && traces != executions
    {
        mismatches.push(format!("expected {traces} traces, found {executions}"));
    }
    if let Some(wanted) = expected(Expected::Failing) {
        match scope {
            Scope::Traces if wanted != failing => {
                mismatches.push(format!("expected {wanted} failing traces, found {failing}"));
            }
            // Orders of one trace fail together, so only whether any fails can be compared.
            Scope::Everything if (wanted == 0) != (failing == 0) => {
                mismatches.push(format!("expected {wanted} failing traces, found {failing} failing executions"));
            }
            Scope::Sample if wanted == 0 && failing > 0 => {
                mismatches.push(format!("expected no failing trace, found {failing} failing executions"));
            }
            _ => {}
        }
    }
    mismatches
}

fn blocked_mismatch(litmus: &Litmus, strategy: &str, scope: Scope, blocked: u64) -> Option<String> {
    let wanted = litmus.expected(&Expected::Blocked(strategy.to_owned()))?;
    (scope != Scope::Sample && wanted != blocked)
        .then(|| format!("expected {wanted} blocked executions with {strategy}, found {blocked}"))
}

/// What was found, or what its absence proves.
fn verdict(report: &Report) -> String {
    match &report.found {
        Some(found) => {
            let remark = match &found.remark {
                Some(Fact::FoundWith(number, unit)) => {
                    format!(" (found with {number} {unit}{})", if *number == 1 { "" } else { "s" })
                }
                _ => String::new(),
            };
            format!("failed: {}{remark}", failure(&found.failure))
        }
        None => match report.ended {
            Ended::Done(Claim::Exhausted) if report.states > 0 => format!("verified: all {} states", report.states),
            Ended::Done(Claim::Exhausted) if report.reduced => {
                "verified: all orders (equivalent ones left out)".to_owned()
            }
            Ended::Done(Claim::Exhausted) => "verified: all orders".to_owned(),
            Ended::Done(Claim::Bounded(bound)) => format!("no failure with {bound}"),
            Ended::Done(Claim::Selective) => "no failure in the orders that were selected".to_owned(),
            Ended::BudgetSpent if report.systematic => "no failure in a part of the orders".to_owned(),
            Ended::Done(Claim::Sampled) | Ended::BudgetSpent | Ended::Failed => "no failure in a sample".to_owned(),
        },
    }
}

fn failure(failure: &Failure) -> String {
    match failure {
        Failure::Panic { message, place: Some(place), .. } => format!("{message} at {}:{}", place.line, place.column),
        Failure::Panic { message, .. } => message.clone(),
        Failure::Deadlock { waiting } => {
            let who: Vec<_> =
                waiting.iter().map(|w| format!("thread {} waits in {}", w.task.number() + 1, w.op.verb)).collect();
            format!("deadlock: {}", who.join(", "))
        }
        other => other.kind().to_owned(),
    }
}
