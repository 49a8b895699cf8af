//! Failing schedules are kept and run first the next time.

use std::fs;
use std::path::{Path, PathBuf};

use raddle::{Explorer, Report};

use crate::programs;

/// A directory of one test's own, gone at its end.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("raddle-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    fn run(&self, program: fn()) -> Report {
        let explorer = Explorer::new().strategy("random").executions(200).name("suite::bank::transfer");
        explorer.set("out", self.0.to_str().unwrap()).run(program)
    }

    fn file(&self) -> PathBuf {
        self.0.join("suite-bank-transfer.txt")
    }

    /// How many files there are, without locks.
    fn files(&self) -> usize {
        let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| !name.to_string_lossy().ends_with(".lock")).count()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_failing_schedule_is_written_and_runs_first_the_next_time() {
    let dir = Dir::new("kept");
    let found = dir.run(programs::lost_update);
    let schedule = found.schedule().unwrap().to_string();
    let written = fs::read_to_string(dir.file()).unwrap();
    let expected = format!(
        "# Schedules in which `suite::bank::transfer` failed. Raddle runs them first, before it searches.\n\
         # One per line, the newest last. Check this file in; delete what is of no more use.\n\n\
         # panic in main: assertion `left == right` failed: an update was lost\n{schedule}\n"
    );
    assert_eq!(written, expected);
    assert!(found.to_string().ends_with(&format!("saved: {}", dir.file().display())), "{found}");

    let again = dir.run(programs::lost_update);
    assert_eq!(again.verdict_line(), "FAILED after 1 order (a saved schedule): panic in main");
    assert!(again.to_string().contains(&format!("regression {}:5 fails again", dir.file().display())), "{again}");
    assert_eq!(fs::read_to_string(dir.file()).unwrap(), written);
    assert_eq!(dir.files(), 1);
}

#[test]
fn schedules_that_pass_or_no_longer_fit_are_noted() {
    let dir = Dir::new("fits");
    fs::write(dir.file(), "v1:1\nv1:9,9\n").unwrap();
    let report = dir.run(programs::counts_under_a_lock);
    assert_eq!(report.executions(), 200);
    let text = report.to_string();
    assert!(text.contains("1 no longer fails, 1 no longer fits: line 2, at step 3"), "{text}");
}

#[test]
fn a_file_that_makes_no_sense_is_reported_and_left_alone() {
    let dir = Dir::new("corrupt");
    let content = "v1:1\n<<<<<<< HEAD\n";
    fs::write(dir.file(), content).unwrap();
    let report = dir.run(programs::lost_update);
    assert!(report.failed());
    let text = report.to_string();
    assert!(text.contains("is left as it is and not used: line 2 is not a schedule"), "{text}");
    assert_eq!(fs::read_to_string(dir.file()).unwrap(), content);
    assert_eq!(dir.files(), 1);
}

#[test]
fn a_file_that_cannot_be_written_is_a_note() {
    let dir = Dir::new("unwritable");
    fs::write(dir.0.join("in-the-way"), "").unwrap();
    let out = dir.0.join("in-the-way").join("deeper");
    let explorer = Explorer::new().name("suite::bank::transfer").set("out", out.to_str().unwrap());
    let text = explorer.run(programs::lost_update).to_string();
    assert!(text.contains("note: ") && text.contains("in-the-way"), "{text}");
    assert!(text.contains("an update was lost"), "{text}");
}

#[test]
fn at_most_twenty_are_kept() {
    let dir = Dir::new("twenty");
    let old: String = (0..20).map(|i| format!("v1:={i}\n")).collect();
    fs::write(dir.file(), &old).unwrap();
    let report = dir.run(programs::lost_update);
    let kept = fs::read_to_string(dir.file()).unwrap();
    let schedules: Vec<_> = kept.lines().filter(|line| line.starts_with("v1")).collect();
    assert_eq!(schedules.len(), 20, "{report}\n{kept}");
    assert_eq!(schedules.last().copied(), Some(report.schedule().unwrap().to_string().as_str()));
    let note = format!("the 1 oldest schedule was removed from {}: it has at most 20", dir.file().display());
    assert!(report.to_string().contains(&note), "{report}");
}

#[test]
fn a_long_table_is_written_whole() {
    let dir = Dir::new("whole");
    let explorer = Explorer::new().strategy("round-robin").steps(500).name("suite::turns").regressions(false);
    let report = explorer.set("out", dir.0.to_str().unwrap()).run(programs::never_ends);
    let whole = fs::read_to_string(dir.0.join("suite-turns.report.txt")).unwrap();
    assert!(report.to_string().contains("rows left out"), "{report}");
    assert!(whole.lines().count() > 490, "{whole}");
}

#[test]
fn a_program_without_a_name_leaves_nothing_behind() {
    assert!(Explorer::new().run(programs::lost_update).failed());
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert!(!crate_dir.join("raddle-regressions").exists());
}
