//! `evaluation litmus` and `evaluation fuzz`, as they are called.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

fn litmus(arguments: &[&str]) -> Output {
    evaluation("litmus", arguments)
}

fn evaluation(subcommand: &str, arguments: &[&str]) -> Output {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_evaluation"));
    command.current_dir(root).arg(subcommand).args(arguments).output().expect("the command can be run")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("what it says is text")
}

/// A file of this content, in a place of its own.
fn file(name: &str, content: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).expect("the build's own folder can be written to");
    path.to_str().expect("its name is plain").to_owned()
}

#[test]
fn one_line_for_each_file() {
    let output = litmus(&["litmus/deadlock01.litmus", "litmus/binc-3.litmus", "--strategy", "exhaustive"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(
        text(&output.stdout),
        "litmus/deadlock01.litmus: exhaustive: 6 executions, 0 blocked, 2 failing: \
         failed: deadlock: thread 1 waits in lock, thread 2 waits in lock\n\
         litmus/binc-3.litmus: exhaustive: 90 executions, 0 blocked, 0 failing: verified: all orders\n"
    );
}

#[test]
fn json_has_one_object_per_line() {
    let output = litmus(&["litmus/lazy01.litmus", "litmus/ainc-5.litmus", "--strategy", "exhaustive", "--json"]);
    let lines: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("each line is an object")).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["file"], "litmus/lazy01.litmus");
    assert_eq!(lines[0]["strategy"], "exhaustive");
    assert_eq!(lines[0]["executions"], 6);
    assert_eq!(lines[0]["blocked"], 0);
    assert_eq!(lines[0]["failing"], 2);
    assert_eq!(lines[0]["verdict"], "failed: check: assertion failed: v < 3 at 4:38");
    assert_eq!(lines[1]["verdict"], "verified: all orders");
}

#[test]
fn what_is_not_as_expected_is_said_and_fails() {
    let wrong =
        file("wrong.litmus", "//! traces: 3\n//! failing: 1\nshared x = 0; thread t(i in 1..=2) { add(x, 1); }");
    let output = litmus(&[&wrong, "--oracle"]);
    assert!(!output.status.success());
    let said = text(&output.stderr);
    assert!(said.contains("expected 3 traces, found 2"), "{said}");
    assert!(said.contains("expected 1 failing traces, found 0"), "{said}");
    let output = litmus(&[&wrong, "--strategy", "exhaustive"]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("found 0 failing executions"), "{}", text(&output.stderr));
}

#[test]
fn mistakes_are_said_with_their_place() {
    let broken = file("broken.litmus", "shared x = 0;\nthread t { load(y); }");
    let output = litmus(&[&broken, "litmus/ainc-5.litmus", "--strategy", "exhaustive"]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("broken.litmus:2:17: unknown name `y`"), "{}", text(&output.stderr));
    // The other files are explored all the same.
    assert!(text(&output.stdout).contains("120 executions"), "{}", text(&output.stdout));
    let output = litmus(&["litmus/ainc-5.litmus", "--strategy", "best"]);
    assert!(text(&output.stderr).starts_with("there is no strategy `best`; there are dpor, "));
    assert!(!output.status.success());
}

#[test]
fn a_syntax_error_names_line_column_and_what_was_expected() {
    let broken = file("syntax.litmus", "shared x = 0;\nthread t {\n  store(x, 1)\n}\n");
    let output = litmus(&[&broken]);
    assert!(!output.status.success());
    assert!(text(&output.stderr).ends_with("syntax.litmus:4:1: expected `;`, found `}`\n"), "{}", text(&output.stderr));
}

#[test]
fn the_verdict_says_what_was_proved() {
    let verdict = |arguments: &[&str]| {
        let output = litmus(arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).split_once(" failing: ").expect("the line has a verdict").1.trim_end().to_owned()
    };
    let (deadlock, binc) = ("litmus/deadlock01.litmus", "litmus/binc-3.litmus");
    let found = verdict(&[deadlock, "--strategy", "preemption"]);
    assert!(found.starts_with("failed: deadlock: ") && found.ends_with(" (found with 1 preemption)"), "{found}");
    assert_eq!(verdict(&[deadlock, "--strategy", "preemption:0"]), "no failure with up to 0 preemptions");
    assert_eq!(verdict(&[binc, "--strategy", "preemption:1"]), "no failure with up to 1 preemption");
    assert_eq!(verdict(&[binc, "--strategy", "preemption"]), "verified: all orders (equivalent ones left out)");
    assert_eq!(verdict(&[binc, "--strategy", "exhaustive"]), "verified: all orders");
    assert_eq!(verdict(&[binc, "--strategy", "random"]), "no failure in a sample");
    assert_eq!(verdict(&[binc, "--strategy", "exhaustive", "--executions", "3"]), "no failure in a part of the orders");
    assert!(verdict(&[binc, "--strategy", "delay"]).starts_with("verified: all "));
}

#[test]
fn fuzzing_passes_and_notices_a_mistake() {
    let fine = evaluation("fuzz", &["--seconds", "1", "--seed", "5"]);
    assert!(fine.status.success(), "{}", text(&fine.stderr));
    assert!(text(&fine.stdout).starts_with("seeds 5 to "), "{}", text(&fine.stdout));
    assert!(text(&fine.stdout).ends_with("every strategy did what the oracle says\n"), "{}", text(&fine.stdout));
    // Among the first programs are some that show that the order of concurrent schedules has to be settled, and that the operation has to be
    // kept, and not only the task.
    for (mistake, strategy) in [("ignores-names", "strategy: dpor\n"), ("keeps-task-only", "strategy: dpor-source\n")] {
        let wrong = evaluation("fuzz", &["--seconds", "60", "--mistake", mistake]);
        assert_eq!(wrong.status.code(), Some(1), "{}", text(&wrong.stdout));
        let said = text(&wrong.stderr);
        for part in ["seed ", "thread ", strategy, "expected: ", "got: "] {
            assert!(said.contains(part), "no {part} in {said}");
        }
    }
}
