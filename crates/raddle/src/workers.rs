//! The OS threads on which executions run.
//!
//! All tasks of an execution run on one OS thread, never on the caller's. A worker may become unusable (if a task had to be abandoned in
//! the middle of a panic hook), and then a new one continues. The output of the program is discarded, except for the execution that is
//! [shown](Workers::show).

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use raddle_engine::board::Remains;
use raddle_engine::coverage::Coverage;
use raddle_engine::replay::{Record, Script, replay};
use raddle_engine::search::{self, Limits, Saver, Search, Status, Worker};
use raddle_engine::strategy::{Sharing, Strategy};
use raddle_engine::system::Program;
use raddle_runtime::crash::{LastWords, Patience, attend};
use raddle_runtime::model::Model;
use raddle_runtime::output::{self, Redirected, Sink};
use raddle_runtime::threads::{Facts, Settings, Threads};
use raddle_strategies::names::Name;

use crate::report::progress::ProgressLine;

/// The program under test.
#[derive(Clone)]
pub(crate) enum Body {
    /// A function with threads and actors.
    Threads(Arc<dyn Fn() + Send + Sync>),
    /// A function that makes a model, called once for each worker.
    Model(Arc<dyn Fn() -> Model + Send + Sync>),
}

impl Body {
    /// Whether this is a program of threads, and not a model.
    pub(crate) fn has_threads(&self) -> bool {
        matches!(self, Self::Threads(_))
    }

    /// The default strategy.
    pub(crate) fn usual_strategy(&self) -> Name {
        let name = match self {
            Self::Threads(_) => "portfolio",
            Self::Model(_) => "delay:doubling",
        };
        Name::parse(name).expect("raddle bug: the default is no strategy")
    }
}

/// What a worker does with a program of either kind.
trait Work {
    type Result: Send;

    fn with<P: Program>(self, program: &mut P) -> Self::Result;
}

/// Works with a worker until the search is over or the worker cannot be used any more.
struct WorkFrom<'a, 's>(&'a mut Worker<'s>);

impl Work for WorkFrom<'_, '_> {
    type Result = Status;

    fn with<P: Program>(self, program: &mut P) -> Status {
        self.0.work(program)
    }
}

/// Runs one execution, for a report.
struct Replay<'a>(&'a Script, &'a Limits);

impl Work for Replay<'_> {
    type Result = Record;

    fn with<P: Program>(self, program: &mut P) -> Record {
        replay(program, self.0, self.1)
    }
}

/// Starts workers for one program.
pub(crate) struct Workers {
    /// The name of their OS threads.
    pub(crate) name: String,
    pub(crate) body: Body,
    pub(crate) settings: Settings,
    /// Whether the program has printed anything.
    pub(crate) printed: AtomicBool,
    /// The text for a crash or a hang in the middle of an execution.
    pub(crate) last_words: Arc<LastWords>,
    pub(crate) patience: Patience,
}

/// An execution that was run for a report.
pub(crate) struct Shown {
    pub(crate) record: Record,
    /// The output of the program; empty if it is not known.
    pub(crate) printed: String,
}

/// The inputs of a search, besides its strategy and limits.
#[derive(Default)]
pub(crate) struct SearchInputs {
    /// The rest of an earlier search, to continue.
    pub(crate) left: Option<Remains>,
    /// Where the covered orders of receives are recorded, if the user asks for that.
    pub(crate) coverage: Option<Arc<Mutex<Coverage>>>,
    pub(crate) stop: Option<Arc<AtomicBool>>,
    /// Saves the rest of the search, every few seconds.
    pub(crate) saver: Option<Saver>,
}

/// The stack size for the engine, a strategy, and the table of a deep search. Tasks have stacks of their own.
const WORKER_STACK_BYTES: usize = 4 << 20;

/// When a search is saved for the first time. Many searches end before.
const FIRST_SAVED: Duration = Duration::from_secs(1);

/// How many workers may search, of those that the user asks for.
fn workers_for(strategy: &mut dyn Strategy, asked: usize) -> usize {
    match strategy.sharing() {
        Sharing::ByNumber(_) => asked,
        Sharing::ByPiece(by_piece) if by_piece.splits() => asked,
        Sharing::ByPiece(_) | Sharing::Alone => 1,
    }
}

impl Workers {
    /// Searches on at most so many workers until the strategy is done or the budget is spent.
    pub(crate) fn search(
        &self,
        strategy: &mut dyn Strategy,
        limits: &Limits,
        workers: usize,
        inputs: SearchInputs,
        progress_line: Option<Arc<ProgressLine>>,
    ) -> (search::Report, Remains) {
        let workers = workers_for(strategy, workers);
        let mut search = match inputs.left {
            Some(left) => Search::resume(strategy, limits, workers, left),
            None => Search::new(strategy, limits, workers),
        };
        if let Some(coverage) = inputs.coverage {
            search = search.covering(coverage);
        }
        if let Some(stop) = inputs.stop {
            search = search.stopped_by(stop);
        }
        if let Some(saver) = inputs.saver {
            search = search.saved_by(FIRST_SAVED, saver, strategy);
        }
        if let Some(progress_line) = progress_line.clone() {
            search = search.observed(Box::new(move |progress| progress_line.tell(progress)));
        }
        let all_workers = thread::scope(|scope| {
            let others: Vec<_> = (1..workers).map(|_| self.start(scope, || self.work_on(search.join()))).collect();
            let first = self.work_on(Some(search.worker(strategy)));
            let others = others.into_iter().map(|other| other.join().unwrap_or_else(|bug| panic::resume_unwind(bug)));
            first.into_iter().chain(others.flatten()).collect::<Vec<_>>()
        });
        if let Some(progress_line) = progress_line {
            progress_line.finish();
        }
        search.leave(all_workers)
    }

    /// Works with this worker until the search is over, on as many new OS threads as needed.
    fn work_on<'s>(&self, worker: Option<Worker<'s>>) -> Option<Worker<'s>> {
        let mut worker = worker?;
        while self.on_fresh_worker(WorkFrom(&mut worker)) == Status::NeedsFreshWorker {}
        Some(worker)
    }

    /// Runs one execution, for a report.
    pub(crate) fn replay(&self, script: &Script, limits: &Limits) -> Record {
        self.replay_to(Sink::Nowhere, false, script, limits).record
    }

    /// Runs the execution that is shown, and keeps its output; its panics are printed if `print_panics`.
    pub(crate) fn show(&self, script: &Script, limits: &Limits, print_panics: bool) -> Shown {
        self.replay_to(Sink::Kept, print_panics, script, limits)
    }

    /// Runs one execution, and prints its output immediately.
    pub(crate) fn show_live(&self, script: &Script, limits: &Limits, print_panics: bool) -> Record {
        self.replay_to(Sink::Unchanged, print_panics, script, limits).record
    }

    fn replay_to(&self, sink: Sink, print_panics: bool, script: &Script, limits: &Limits) -> Shown {
        let mut settings = Settings { tell: true, context: 0, print_panics, ..self.settings.clone() };
        if let Script::Names(schedule) | Script::Hints(schedule) = script {
            // A schedule depends on what was known about the program when it was written.
            settings.facts = Facts::of_words(&schedule.facts);
        }
        let printed = AtomicBool::new(false);
        let (name, body, last_words) = (self.name.clone(), self.body.clone(), self.last_words.clone());
        let telling = Self { name, body, settings, printed, last_words, patience: self.patience };
        let (record, printed) = telling.on_fresh_worker_to(sink, Replay(script, limits));
        Shown { record, printed }
    }

    fn on_fresh_worker<W: Work + Send>(&self, work: W) -> W::Result {
        self.on_fresh_worker_to(Sink::Nowhere, work).0
    }

    /// Does the work on a new OS thread. Returns the output of the program, if it is kept.
    fn on_fresh_worker_to<W: Work + Send>(&self, sink: Sink, work: W) -> (W::Result, String) {
        let work = || {
            let redirected = Redirected::to(sink);
            let _attending = attend(self.last_words.clone(), self.patience);
            let result = match &self.body {
                Body::Threads(body) => work.with(&mut Threads::new(body.clone(), &self.settings)),
                Body::Model(make) if self.settings.tell => work.with(&mut make().telling()),
                Body::Model(make) => work.with(&mut make()),
            };
            let printed = redirected.end();
            self.printed.fetch_or(printed.is_some(), Ordering::Relaxed);
            (result, String::from_utf8_lossy(&printed.unwrap_or_default()).into_owned())
        };
        let run =
            || thread::scope(|scope| self.start(scope, work).join().unwrap_or_else(|bug| panic::resume_unwind(bug)));
        // Output that is not redirected belongs to the test harness.
        let done = if sink == Sink::Unchanged { Ok(run()) } else { output::apart(run) };
        done.unwrap_or_else(|bug| panic::resume_unwind(bug))
    }

    fn start<'scope, R: Send + 'scope>(
        &self,
        scope: &'scope thread::Scope<'scope, '_>,
        work: impl FnOnce() -> R + Send + 'scope,
    ) -> thread::ScopedJoinHandle<'scope, R> {
        let stack_bytes = match self.body {
            Body::Threads(_) => WORKER_STACK_BYTES,
            // Its handlers run on the worker's own stack.
            Body::Model(_) => WORKER_STACK_BYTES.max(self.settings.stack_bytes),
        };
        let builder = thread::Builder::new().name(self.name.clone()).stack_size(stack_bytes);
        builder
            .spawn_scoped(scope, work)
            .unwrap_or_else(|error| panic!("raddle: the system cannot start a thread to run the test on: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use raddle_strategies::names::{Name, Options};

    use super::workers_for;

    #[test]
    fn several_workers_run_what_can_be_shared() {
        let workers = |name: &str| {
            let mut strategy = Name::parse(name).and_then(|name| name.make(&Options::default())).expect(name);
            workers_for(&mut *strategy, 4)
        };
        for name in ["dpor-source", "dpor-classic", "hapset", "hapset:all"] {
            assert_eq!(workers(name), 1, "{name}");
        }
        for name in ["dpor", "exhaustive", "preemption", "delay", "states", "random"] {
            assert_eq!(workers(name), 4, "{name}");
        }
    }
}
