//! Loom on the larger programs. It searches in a process of its own: where the code fails, destructors panic again while the first
//! panic is on its way, which aborts.

use std::process::Command;

const ALL: [&str; 7] = ["channel", "senders", "oneshot", "notify", "semaphore", "deque", "slab"];

/// What loom says of a bug: a deadlock, or accesses to a cell that race.
const FAILURES: [&str; 2] = ["deadlock; threads", "Causality violation"];

/// Lets loom search the program, with a bound of two preemptions and at most so many executions. Returns how the search
/// ended, and what was printed about failures.
fn search(program: &str, executions: u64) -> (String, String) {
    let ran = Command::new(env!("CARGO_BIN_EXE_benches-peers"))
        .args(["--search", "loom:2", program, "1", &executions.to_string(), "600000"])
        .output()
        .expect("the benches are built");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&ran.stdout), text(&ran.stderr))
}

#[test]
#[cfg_attr(debug_assertions, ignore = "minutes without optimisation: run with `--release`")]
fn loom_finds_every_bug() {
    for code in ALL {
        let (_, failures) = search(&format!("planted-{code}"), 1_000_000);
        assert!(FAILURES.iter().any(|failure| failures.contains(failure)), "{code}: {failures}");
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "minutes without optimisation: run with `--release`")]
fn loom_covers_the_right_code_and_finds_nothing() {
    for code in ALL {
        let (answer, failures) = search(&format!("real-{code}"), 1_000_000);
        assert!(answer.contains("searched:whole"), "{code}: {answer}{failures}");
    }
}
