//! The same programs on Raddle, shuttle, loom, traceforge and stateright, in one run, as ratios.
//!
//! `programs` holds the text they run, `library` says how each of them runs it, `measure` takes
//! the figures, `experiment` says which figures make one comparison, and `report` prints it.
//!
//! Searches of all orders are apart: `searcher` says who can do one, `apart` runs it in a process of its own,
//! and `whole` makes the comparisons. `real` holds larger programs, and `debug`
//! compares a build without optimisation. `states` compares searches of all states of a model.

#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

mod actors;
mod apart;
mod arguments;
mod debug;
mod experiment;
mod library;
mod measure;
mod process;
mod programs;
mod real;
mod report;
mod searcher;
mod states;
mod whole;

use std::process::ExitCode;

fn main() -> ExitCode {
    let request = match arguments::parse(std::env::args().skip(1)) {
        Ok(request) => request,
        Err(mistake) => {
            eprintln!("error: {mistake}\n\n{}", arguments::USAGE);
            return ExitCode::from(2);
        }
    };
    match request {
        arguments::Request::Help => println!("{}", arguments::USAGE),
        arguments::Request::Search(order) => order.carry_out_here(),
        arguments::Request::States(order) => order.carry_out_here(),
        arguments::Request::Run(options) => {
            let mut report = report::Report::begin(options.form);
            for experiment in options.experiments {
                experiment.run(&options.effort, |comparison| report.show(&comparison));
            }
            report.end();
        }
    }
    ExitCode::SUCCESS
}
