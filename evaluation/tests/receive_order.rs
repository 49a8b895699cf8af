//! `evaluation receive-order`, as it is called.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// An empty folder of its own.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        fs::remove_dir_all(&path).expect("what an earlier run left can be removed");
    }
    path
}

/// One run for all, since it takes its time. Whether the rivals find anything is not asked: that is for chance to decide.
#[test]
fn every_strategy_is_run_and_the_page_is_written() {
    let folder = folder("receive-order-page");
    let mut command = Command::new(env!("CARGO_BIN_EXE_evaluation"));
    command.args(["receive-order", "--json", "--only", "Messenger 1", "--runs", "2", "--seconds", "2", "--out"]);
    let output = command.arg(&folder).output().expect("the command can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).expect("what it says is text");
    let lines: Vec<Value> =
        said.lines().map(|line| serde_json::from_str(line).expect("each line is an object")).collect();
    let runs =
        |strategy: &str| lines.iter().filter(|line| line["kind"] == "bug" && line["strategy"] == strategy).count();
    for strategy in ["receive-order", "delays ≤ 1", "delays ≤ 10", "delays ≤ 100", "free-running", "random", "pct:3"]
    {
        assert_eq!(runs(strategy), 2, "{strategy}");
    }
    assert_eq!(runs("dpor"), 1, "it has no seed");
    assert_eq!(runs("receive-order:pr") + runs("receive-order:pbr") + runs("receive-order:pcr"), 6);
    let guided = lines.iter().filter(|line| line["strategy"] == "receive-order");
    assert!(guided.clone().all(|line| line["found"] == "dead letter"), "{:?}", guided.collect::<Vec<_>>());
    let page = fs::read_to_string(folder.join("evaluation.md")).expect("the page is there");
    assert!(page.contains("<!-- receive-order: begin -->") && page.contains("| Messenger 1 |"), "{page}");
}
