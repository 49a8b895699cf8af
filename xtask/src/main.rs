//! The project's own commands: `cargo xtask <command>`.
//!
//! `test` is all a fresh machine with Rust needs: it installs what the tests use and runs them all. `check` is what the
//! continuous integration adds to it: formatting and lints.

use std::path::Path;
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask <command>

  test    install what the tests need, then run all of them
  check   formatting, lints and docs, with warnings denied
  bench   the same programs on Raddle and its peers, as ratios
";

fn main() -> ExitCode {
    let command = std::env::args().nth(1);
    let result = match command.as_deref() {
        Some("test") => test(),
        Some("check") => check(),
        Some("bench") => cargo(&["run", "--release", "--manifest-path", "benches-peers/Cargo.toml"]),
        other => Err(other.map_or(USAGE.to_owned(), |name| format!("there is no command `{name}`\n\n{USAGE}"))),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            say(&message);
            ExitCode::FAILURE
        }
    }
}

fn test() -> Result<(), String> {
    // Everything the tests need comes with their crates; fetching first keeps a slow network apart from a slow test.
    cargo(&["fetch", "--locked"])?;
    cargo(&["test", "--workspace", "--locked"])?;
    if has_nextest() {
        cargo(&["nextest", "run", "--locked", "-p", "raddle"])?;
    } else {
        say("cargo-nextest is not installed: the tests ran under `cargo test` only");
    }
    cargo(&["test", "--locked", "--manifest-path", "benches-peers/Cargo.toml"])
}

fn check() -> Result<(), String> {
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["fmt", "--check", "--manifest-path", "benches-peers/Cargo.toml"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    run(Command::new("cargo").args(["doc", "--workspace", "--no-deps", "--locked"]).env("RUSTDOCFLAGS", "-D warnings"))
}

fn has_nextest() -> bool {
    Command::new("cargo").args(["nextest", "--version"]).output().is_ok_and(|output| output.status.success())
}

fn cargo(arguments: &[&str]) -> Result<(), String> {
    run(Command::new("cargo").args(arguments))
}

fn run(command: &mut Command) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace");
    let status = command.current_dir(root).status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}")) }
}

#[expect(clippy::print_stderr, reason = "a command speaks to whoever called it")]
fn say(message: &str) {
    eprintln!("{message}");
}
