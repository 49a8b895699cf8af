//! Rows, and how they are checked.

use std::sync::Arc;

use raddle::{Explorer, Report, Verdict, thread};

/// What is true of a program.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// It holds in all orders. `dpor` runs exactly so many executions; the others run at least one of each kind.
    Verified(u64),
    /// It holds in all orders, but reduction is not proved for what it does, so only the other strategies need to say so.
    Holds,
    /// It fails in some order, with a failure of this kind.
    Fails(&'static str),
    /// It fails in some order, which reduction may leave out: it must not say `verified` then.
    FailsWithoutReduction(&'static str),
    /// There is never more than one thing that could happen next.
    NothingToExplore,
}

/// A program and its answer.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    name: &'static str,
    answer: Answer,
    program: fn(),
    settings: fn(Explorer) -> Explorer,
    workers: &'static [usize],
}

const fn row(name: &'static str, answer: Answer, program: fn()) -> Row {
    Row { name, answer, program, settings: |explorer| explorer, workers: &[1, 2] }
}

/// A program that holds in all orders, of which `dpor` runs `orders`.
pub const fn verified(name: &'static str, orders: u64, program: fn()) -> Row {
    row(name, Answer::Verified(orders), program)
}

/// A program that holds in all orders, but that reduction proves nothing about.
pub const fn holds(name: &'static str, program: fn()) -> Row {
    row(name, Answer::Holds, program)
}

/// A program that fails in some order. The kind may be one "or" another.
pub const fn fails(name: &'static str, kind: &'static str, program: fn()) -> Row {
    row(name, Answer::Fails(kind), program)
}

/// A program that fails in an order that reduction may leave out, without claiming a proof.
pub const fn fails_without_reduction(name: &'static str, kind: &'static str, program: fn()) -> Row {
    row(name, Answer::FailsWithoutReduction(kind), program)
}

/// A program in which nothing concurrent happens.
pub const fn nothing(name: &'static str, program: fn()) -> Row {
    row(name, Answer::NothingToExplore, program)
}

impl Row {
    /// The same with settings of its own. The tables run without spurious wake-ups unless these say otherwise.
    pub const fn with(self, settings: fn(Explorer) -> Explorer) -> Self {
        Self { settings, ..self }
    }

    /// The same, with one worker only: a loop has to go round a thousand times before it is taken to spin.
    pub const fn alone(self) -> Self {
        Self { workers: &[1], ..self }
    }

    fn run(&self, strategy: &str, workers: usize) -> Report {
        let explorer = Explorer::new().spurious_wakeups(0).strategy(strategy).workers(workers);
        (self.settings)(explorer).run(self.program)
    }

    /// What is wrong with the report, if anything is.
    fn judge(&self, strategy: &str, report: &Report) -> Result<(), String> {
        let reduces = strategy.starts_with("dpor");
        let fails_with = |kinds: &str| {
            report.failure().is_some_and(|failure| kinds.split(" or ").any(|kind| kind == failure.kind()))
        };
        let right = match self.answer {
            // The portfolio begins with systematic executions, and stops to sample if they take too long.
            Answer::Verified(_) if strategy == "portfolio" => !report.failed(),
            Answer::Verified(orders) => {
                let counts = match strategy {
                    "dpor" => report.executions() == orders,
                    "dpor-source" | "dpor-classic" | "exhaustive" => report.executions() >= orders,
                    _ => true,
                };
                // Where an attempt to read took a lock, reductions claim no proof.
                let selects = reduces && report.verdict_line().contains("a selection");
                (report.verified() || selects) && counts
            }
            Answer::Holds if reduces => !report.failed(),
            Answer::Holds if strategy == "portfolio" => !report.failed(),
            Answer::Holds => report.verified(),
            Answer::Fails(kind) => fails_with(kind),
            Answer::FailsWithoutReduction(kind) if reduces => fails_with(kind) || !report.verified(),
            Answer::FailsWithoutReduction(kind) => fails_with(kind),
            Answer::NothingToExplore => report.verdict() == Verdict::NothingToExplore,
        };
        if right { Ok(()) } else { Err(format!("{:?} ({:?}) under {strategy}: {report}", self.name, self.answer)) }
    }
}

const STRATEGIES: [&str; 8] =
    ["dpor", "dpor-source", "dpor-classic", "exhaustive", "preemption", "delay", "states", "portfolio"];

/// Runs every row under every strategy, with one worker and with two, and tells all that is wrong.
pub fn check(rows: &[Row]) {
    let mut wrong = Vec::new();
    for row in rows {
        for strategy in STRATEGIES {
            for &workers in row.workers {
                wrong.extend(row.judge(strategy, &row.run(strategy, workers)).err());
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong verdicts:\n\n{}", wrong.len(), wrong.join("\n"));
}

/// Runs both functions on what they share, the first in the main thread and the second in another one, which is joined.
pub fn two<T: Send + Sync + 'static>(shared: T, main: fn(&T), other: fn(&T)) {
    let shared = Arc::new(shared);
    let theirs = shared.clone();
    let thread = thread::spawn(move || other(&theirs));
    main(&shared);
    thread.join().unwrap();
}

/// Runs each function in a thread of its own and joins them all.
pub fn each<T: Send + Sync + 'static, const N: usize>(shared: T, functions: [fn(&T); N]) -> Arc<T> {
    let shared = Arc::new(shared);
    let threads = functions.map(|function| {
        let theirs = shared.clone();
        thread::spawn(move || function(&theirs))
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    shared
}

/// Runs a function up to its panic, which goes no further.
pub fn caught(body: impl FnOnce()) {
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
}
