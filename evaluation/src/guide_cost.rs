//! `evaluation guide-cost`: so many executions of one program, with and without learning and asking, to be counted by callgrind.
//!
//! Searches that go by what they have learned run other executions than those that do not, and then their costs cannot be compared. So
//! the guide of `reverse_all` learns and is asked, and its answer makes no difference; `without_learning` runs the same executions, and its
//! guide does nothing; `classic` is the reduction that has none. Each run says which executions those were, in a number that is the same for
//! the same choices. All go for the deepest first, as `classic` does, unless `--turns` lets the guided ones take turns.

mod noted;

use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use clap::{Args, ValueEnum};
use programs::{bita, hapset, sctbench};
use raddle_engine::search::{Limits, Report, Search, Status};
use raddle_engine::strategy::Strategy;
use raddle_runtime::sync::mpsc;
use raddle_runtime::threads::{Settings, Threads};
use raddle_strategies::hapset::Hapset;
use raddle_strategies::reduction::Dpor;

use self::noted::Noted;
use crate::on_threads::Body;
use crate::say::{complain, say};

/// What can be said on the command line.
#[derive(Args)]
pub struct Arguments {
    /// A program of the paper, of SCTBench or of the actors, by its label; or `channels`.
    program: String,
    /// Who searches.
    #[arg(long, value_enum, default_value_t = Who::Heedless)]
    who: Who,
    /// How many executions are run.
    #[arg(long, value_name = "N", default_value_t = 200)]
    executions: u64,
    /// The guided searches take turns between the deepest and what is nearest to the root.
    #[arg(long)]
    turns: bool,
    /// With so many threads, where the program has any number.
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Who {
    /// Learns, asks, and runs everything all the same.
    Heedless,
    /// Runs the same and learns nothing.
    Blind,
    /// Goes by what it has learned.
    Hapset,
    /// Classic reduction without sleep sets.
    Classic,
}

impl Who {
    fn strategy(self, turns: bool) -> Box<dyn Strategy> {
        let hapset = || if turns { Hapset::new() } else { Hapset::new().deepest_first() };
        match self {
            Self::Heedless => Box::new(hapset().reverse_all()),
            Self::Blind => Box::new(hapset().without_learning()),
            Self::Hapset => Box::new(hapset()),
            Self::Classic => Box::new(Dpor::classic().without_sleep_sets()),
        }
    }
}

/// Runs the executions, and says what they were.
pub fn run(arguments: &Arguments) -> ExitCode {
    let Some(body) = body(&arguments.program, arguments.threads) else {
        complain(&format!("no program is called {}, or not with a number of threads", arguments.program));
        return ExitCode::FAILURE;
    };
    let (report, choices) = search(&body, &mut *arguments.who.strategy(arguments.turns), arguments.executions);
    let Report { executions, pruned, failing, steps, .. } = report;
    let who = arguments.who;
    say(&format!("{who:?}: {executions} executions, {pruned} pruned, {failing} failed, {steps} steps: {choices:016x}"));
    ExitCode::SUCCESS
}

fn body(label: &str, threads: Option<u32>) -> Option<Body> {
    if label == "channels" {
        return Some(Arc::new(channels));
    }
    let on_threads = hapset::ALL.into_iter().chain(sctbench::ALL).flatten();
    let program = on_threads.copied().find(|program| program.label == label);
    match (program, threads) {
        (Some(program), Some(threads)) => program.sized.map(|family| Arc::new(move || (family.run)(threads)) as Body),
        (Some(program), None) => Some(Arc::new(program.run)),
        (None, _) => {
            bita::ALL.into_iter().flatten().find(|program| program.label == label).map(|it| Arc::new(it.run) as Body)
        }
    }
}

/// Three threads that ask a fourth, each twice, and wait for its answers.
fn channels() {
    let (ask, asked) = mpsc::channel();
    raddle_runtime::thread::scope(|scope| {
        for number in 0..3_u32 {
            let ask = ask.clone();
            scope.spawn(move || {
                let (answer, answers) = mpsc::channel();
                for round in 0..2 {
                    ask.send((number + round, answer.clone())).expect("who answers waits for all that ask");
                    assert_eq!(answers.recv(), Ok(2 * (number + round)));
                }
            });
        }
        drop(ask);
        scope.spawn(move || {
            while let Ok((number, answer)) = asked.recv() {
                let _ = answer.send(2 * number);
            }
        });
    });
}

fn search(body: &Body, strategy: &mut dyn Strategy, executions: u64) -> (Report, u64) {
    let limits = Limits { executions: Some(executions), keep_going: true, ..Limits::default() };
    let search = Search::new(strategy, &limits, 1);
    let mut worker = search.worker(strategy);
    let mut choices = 0;
    loop {
        let work = || {
            let mut noted = Noted::new(Threads::new(body.clone(), &Settings::default()), choices);
            let status = worker.work(&mut noted);
            (status, noted.choices())
        };
        let status;
        (status, choices) = thread::scope(|scope| scope.spawn(work).join().expect("raddle bug: a worker has panicked"));
        if status == Status::Over {
            return (search.close(vec![worker]), choices);
        }
    }
}
