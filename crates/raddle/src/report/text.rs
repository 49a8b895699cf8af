//! The whole report as text.

use raddle_engine::outcome::Failure;
use raddle_engine::replay::Record;

use super::paint::{Paint, Tone};
use super::table::{self, Extent};
use super::{Failed, Origin, Report, Verdict, account, receives, story, verdict};

/// If a schedule is longer than this, the report names its file instead.
const LONGEST_TO_PASTE: usize = 500;

/// Writes the report.
pub(crate) fn write(report: &Report, extent: Extent, paint: Paint) -> String {
    let tone = match report.verdict {
        Verdict::Failed => Tone::Bad,
        Verdict::Verified => Tone::Good,
        Verdict::NothingToExplore => Tone::Stuck,
        Verdict::NoFailure => Tone::Plain,
    };
    let mut blocks = vec![vec![paint.paint(tone, &verdict::line(report))]];
    if let Some(failed) = &report.failed {
        let names = report.names(&failed.record);
        let sentences = account::sentences(&failed.failure, &names);
        blocks.push(sentences.iter().map(|line| format!("  {}", paint.paint(Tone::Heading, line))).collect());
        if failed.same {
            blocks.push(table_of(report, &failed.record, Some(&failed.failure), extent, paint));
        }
    }
    if let Some(record) = &report.passed {
        blocks.push(table_of(report, record, None, extent, paint));
    }
    let sampled = !report.proof.selected && !report.proof.stopped && report.verdict == Verdict::NoFailure;
    blocks.push(report.coverage.as_ref().map(|coverage| receives::lines(coverage, sampled)).unwrap_or_default());
    blocks.push(last_lines(report, paint));
    blocks.retain(|block| !block.is_empty());
    blocks.iter().map(|block| block.join("\n")).collect::<Vec<_>>().join("\n\n")
}

fn table_of(report: &Report, record: &Record, failure: Option<&Failure>, extent: Extent, paint: Paint) -> Vec<String> {
    let names = report.names(record);
    let rows = story::tell(record, failure, &names);
    if rows.is_empty() {
        return Vec::new();
    }
    let lines = table::lay_out(&rows, &names, extent, paint);
    lines.iter().map(|line| format!("  {line}").trim_end().to_owned()).collect()
}

fn last_lines(report: &Report, paint: Paint) -> Vec<String> {
    let mut lines: Vec<String> = report.notes.iter().map(|note| format!("note: {note}")).collect();
    if let Some(file) = &report.whole {
        lines.push(format!("all rows: {}", file.display()));
    }
    if let Some(failed) = &report.failed {
        lines.extend(
            replay_line(report, failed).map(|command| format!("replay: {}", paint.paint(Tone::Command, &command))),
        );
    }
    if let Some(file) = &report.saved {
        lines.push(format!("saved: {}", file.display()));
    }
    lines
}

/// The command that reproduces the failure. There is none if one execution alone cannot show it.
fn replay_line(report: &Report, failed: &Failed) -> Option<String> {
    if failed.origin == Origin::Replay || !failed.replays() {
        return None;
    }
    let text = failed.record.schedule.to_string();
    let what = if text.len() <= LONGEST_TO_PASTE {
        text
    } else {
        report.saved.as_ref().or(report.kept_in.as_ref()).map(|file| file.display().to_string())?
    };
    Some(command(report, &format!("RADDLE_REPLAY={what}")))
}

/// The command that runs the test with a setting of the environment.
pub(super) fn command(report: &Report, setting: &str) -> String {
    let (before, after) = around(&report.test.path);
    format!("{before}{setting}{after}")
}

/// The command that runs a test, before and after a setting of the environment.
pub(crate) fn around(test_path: &str) -> (&'static str, String) {
    // The harness names a test by its path without the crate. A name without a path was given to an explorer, perhaps in a program.
    match test_path.split_once("::") {
        Some((_, path)) => ("", format!(" cargo test {path} -- --exact")),
        None => ("set ", " and run it again".to_owned()),
    }
}
