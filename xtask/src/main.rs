//! The project's own commands: `cargo xtask <command>`.
//!
//! `test` is all a fresh machine with Rust needs: it installs what the tests use and runs them all, but for those that take minutes:
//! these are for `test --long`. `check` is what the continuous integration adds to it: formatting, lints, docs, and the oldest dependencies.

mod oldest;

use std::process::{Command, ExitCode};

/// The directory of the workspace.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

const USAGE: &str = "usage: cargo xtask <command>

  test                        install what the tests need, then run all but the long ones
  test --long                 run the long ones, optimised
  fuzz-parsers [--inputs N]   give every parser texts that are almost right, a million in all if not said
  check                       formatting, lints and docs, with warnings denied; then `oldest`
  oldest                      build with the oldest versions of the dependencies that Cargo.toml allows
  bench                       the same programs on Raddle and its peers, as ratios
";

/// Inputs for all parsers together, if not said.
const FUZZ_INPUTS: u64 = 1_000_000;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["test"] => test(),
        ["test", "--long"] => test_long(),
        ["fuzz-parsers"] => fuzz_parsers(FUZZ_INPUTS),
        ["fuzz-parsers", "--inputs", number] => match number.replace('_', "").parse() {
            Ok(inputs) => fuzz_parsers(inputs),
            Err(_) => Err(format!("`{number}` is not a number of inputs\n\n{USAGE}")),
        },
        ["check"] => check(),
        ["oldest"] => oldest::build(),
        ["bench"] => cargo(&["run", "--release", "--manifest-path", "benches-peers/Cargo.toml"]),
        [] => Err(USAGE.to_owned()),
        _ => Err(format!("there is no command `{}`\n\n{USAGE}", arguments.join(" "))),
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

/// Tests that take minutes are ignored by `cargo test`. Those of the crate `raddle` are only run by other tests, as processes of their
/// own, but for the fuzz of its parsers.
fn test_long() -> Result<(), String> {
    let mut arguments = vec!["test", "--release", "--locked", "--workspace", "--exclude", "raddle", "--no-fail-fast"];
    arguments.extend(["--", "--ignored"]);
    let tests = cargo(&arguments);
    fuzz_parsers(FUZZ_INPUTS)?;
    tests
}

fn fuzz_parsers(inputs: u64) -> Result<(), String> {
    let test = "fuzz::parsers_answer_a_million_times";
    let arguments = ["test", "--release", "--locked", "-p", "raddle", "--lib", "--", "--exact", "--ignored", test];
    run(Command::new("cargo").args(arguments).env("FUZZ_INPUTS", inputs.to_string()))
}

fn check() -> Result<(), String> {
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["fmt", "--check", "--manifest-path", "benches-peers/Cargo.toml"])?;
    cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    run(Command::new("cargo")
        .args(["doc", "--workspace", "--no-deps", "--locked"])
        .env("RUSTDOCFLAGS", "-D warnings"))?;
    oldest::build()
}

fn has_nextest() -> bool {
    Command::new("cargo").args(["nextest", "--version"]).output().is_ok_and(|output| output.status.success())
}

fn cargo(arguments: &[&str]) -> Result<(), String> {
    run(Command::new("cargo").args(arguments))
}

fn run(command: &mut Command) -> Result<(), String> {
    let status = command.current_dir(ROOT).status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}")) }
}

#[expect(clippy::print_stderr, reason = "a command speaks to whoever called it")]
fn say(message: &str) {
    eprintln!("{message}");
}
