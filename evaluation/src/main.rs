//! Runs programs under the strategies and reports what they find.
//!
//! ```text
//! cargo run --release -p evaluation -- litmus FILE… [--strategy S] [--json]
//! ```

#![forbid(unsafe_code)]

mod litmus;
mod strategies;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Runs programs under the strategies and reports what they find.
#[derive(Parser)]
#[command(name = "evaluation", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Explores programs written in the litmus language, and checks what they say they expect.
    Litmus(litmus::Arguments),
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Litmus(arguments) => litmus::run(&arguments),
    }
}
