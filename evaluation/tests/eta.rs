//! `evaluation eta`, as it is called.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The paper's programs with all their executions and their traces, as published: not from the table that the command reads.
const PUBLISHED: [(&str, u64, u64); 9] = [
    ("Store(1,1,1,3)", 1_946, 5),
    ("Store(1,1,2,3)", 10_933, 15),
    ("Store(1,2,2,3)", 18_275, 29),
    ("Store(2,2,2,3)", 82_719, 6),
    ("Store(2,2,3,3)", 239_466, 12),
    ("Phils(2)", 150, 5),
    ("Phils(3)", 3_159_870, 37),
    ("PingPong(10)", 2_048, 1),
    ("PingPong(15)", 65_536, 1),
];

/// Larger searches take too long in a debug build.
const MOST: u64 = 2_100;

fn eta(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evaluation"));
    let most = MOST.to_string();
    let output = command.args(["eta", "--quick", "--most", &most]).args(arguments).output();
    output.expect("the command can be run")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("what it says is text")
}

/// An empty folder of its own.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        fs::remove_dir_all(&path).expect("what an earlier run left can be removed");
    }
    path
}

fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["kind"] == kind).collect()
}

/// One run for all, since it takes its time.
#[test]
fn counts_are_the_published_ones_and_the_page_is_written() {
    let folder = folder("eta-page");
    let output = eta(&["--json", "--out", folder.to_str().expect("its name is plain")]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("each line is an object")).collect();
    let rows = of_kind(&lines, "row");
    for (program, executions, traces) in PUBLISHED {
        let count = |strategy: &str| {
            let row = rows.iter().find(|row| row["program"] == program && row["strategy"] == strategy)?;
            assert!(row["cpu_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{row}");
            row["executions"].as_u64()
        };
        assert_eq!(count("exhaustive"), (executions <= MOST).then_some(executions), "{program}");
        assert_eq!(count("dpor"), Some(traces), "{program}");
        assert!(count("dpor-classic").is_some_and(|got| (traces..=executions).contains(&got)), "{program}");
    }
    estimates_end_at_the_truth(&of_kind(&lines, "estimate"));
    exhaustive_sees_everything(&of_kind(&lines, "unique"));
    page_shows_its_pictures(&folder);
}

fn estimates_end_at_the_truth(curves: &[&Value]) {
    assert_eq!(curves.len(), 5, "two rules for two reductions, and probes");
    for curve in curves.iter().filter(|curve| curve["rule"] == "recursive") {
        let points = curve["points"].as_array().expect("a curve has points");
        let last = points.last().expect("the end is a point");
        let (done, told) = (last[0].as_u64(), last[1].as_f64().expect("an estimate is a number"));
        let truth = curve["truth"].as_u64();
        assert_eq!(done, truth);
        assert!((told - truth.expect("the truth is a number") as f64).abs() < 1e-6, "{told}");
    }
}

fn exhaustive_sees_everything(courses: &[&Value]) {
    let ends: Vec<_> = courses
        .iter()
        .map(|curve| {
            let last = curve["points"].as_array().and_then(|points| points.last()).expect("the end is a point");
            (curve["strategy"].as_str().expect("a name"), last[1].as_u64(), last[2].as_u64())
        })
        .collect();
    assert_eq!(ends[0], ("exhaustive", Some(1_946), Some(1_946)));
    let (strategy, run, unique) = ends[1];
    assert_eq!((strategy, run), ("random", Some(10 * MOST)));
    assert!(
        unique > Some(1_000) && unique < Some(1_946),
        "random runs some again and again, others not yet: {unique:?}"
    );
}

fn page_shows_its_pictures(folder: &Path) {
    let page = fs::read_to_string(folder.join("evaluation.md")).expect("the page is there");
    assert!(page.contains("| Phils(2) | 150 | 44 | 150 |"), "{page}");
    let shown: Vec<&str> = page.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert_eq!(shown.len(), 2, "one study and one race are small enough: {shown:?}");
    for picture in shown {
        let svg = fs::read_to_string(folder.join(picture)).expect("the picture is there");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{picture}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("eta-in-the-way");
    fs::write(&file, "").expect("the build's own folder can be written to");
    let output = eta(&["--out", file.to_str().expect("its name is plain")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("eta-in-the-way"), "{}", text(&output.stderr));
}
