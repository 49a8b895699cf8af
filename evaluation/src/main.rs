//! Runs programs under the strategies and reports what they find.
//!
//! ```text
//! cargo run --release -p evaluation -- litmus FILE… [--strategy S] [--json]
//! cargo run --release -p evaluation -- fuzz --seconds N [--seed S]
//! cargo run --release -p evaluation -- eta [--json] [--quick] [--out docs]
//! cargo run --release -p evaluation -- delay [--json] [--only TEXT] [--out docs]
//! cargo run --release -p evaluation -- hapset [--json] [--only TEXT] [--out docs]
//! cargo run --release -p evaluation -- receive-order [--json] [--only LABEL] [--runs N] [--seconds S] [--out docs]
//! ```

#![forbid(unsafe_code)]

mod delay;
mod eta;
mod fuzz;
mod grid;
mod guide_cost;
mod hapset;
mod litmus;
mod on_threads;
mod page;
mod plot;
mod receive_order;
mod say;
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
    /// Checks every strategy against an independent count, on generated programs.
    Fuzz(fuzz::Arguments),
    /// Runs the programs of the paper on Eta beside its figures: counts, speed, size estimates, unique executions.
    Eta(eta::Arguments),
    /// Runs the programs of the paper on delaying explorers: how soon each strategy finds their bugs.
    Delay(delay::Arguments),
    /// Runs the programs of the paper on learned ordering constraints, and SCTBench: how soon each strategy finds their bugs.
    Hapset(hapset::Arguments),
    /// Runs some executions with and without learning which orderings were seen, for a profiler to count.
    #[command(hide = true)]
    GuideCost(guide_cost::Arguments),
    /// Runs the programs of the paper on coverage of receives: how soon each strategy finds their bugs, and what it covers.
    ReceiveOrder(receive_order::Arguments),
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Litmus(arguments) => litmus::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Eta(arguments) => eta::run(&arguments),
        Command::Delay(arguments) => delay::run(&arguments),
        Command::Hapset(arguments) => hapset::run(&arguments),
        Command::GuideCost(arguments) => guide_cost::run(&arguments),
        Command::ReceiveOrder(arguments) => receive_order::run(&arguments),
    }
}
