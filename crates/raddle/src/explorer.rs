//! The builder behind `#[raddle::test]`.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::environment::Environment;
use crate::model::Model;
use crate::plan::Plan;
use crate::report::Report;
use crate::report::progress::ProgressLine;
use crate::session::Session;
use crate::settings::{SettingError, Settings, Wanted};
use crate::strategy::Strategy;
use crate::workers::Body;

/// Runs a concurrent program in many orders and reports the result.
///
/// Nothing has to be set. The environment wins over what is set here: see the [crate's page](crate#settings).
///
/// ```
/// use raddle::sync::{Arc, Mutex};
/// use raddle::{Explorer, thread};
///
/// let report = Explorer::new().strategy("exhaustive").run(|| {
///     let turns = Arc::new(Mutex::new(0));
///     let other = turns.clone();
///     let thread = thread::spawn(move || *other.lock().unwrap() += 1);
///     *turns.lock().unwrap() += 1;
///     thread.join().unwrap();
///     assert_eq!(*turns.lock().unwrap(), 2);
/// });
/// assert!(report.verified());
/// ```
#[derive(Default)]
#[must_use = "nothing happens until `run` or `check`"]
pub struct Explorer {
    settings: Settings,
    /// The first wrong setting; `run` and `check` report it.
    wrong: Option<SettingError>,
    test: Test,
}

/// The test that an explorer belongs to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Test {
    /// Its path, with the crate's name first; empty for a bare explorer.
    pub(crate) path: String,
    /// The directory of its crate.
    pub(crate) crate_dir: Option<&'static str>,
}

impl Explorer {
    /// The default: a [portfolio](crate::strategy::Portfolio) of strategies, 10,000 executions.
    pub fn new() -> Self {
        Self::default()
    }

    /// The strategy that decides what happens next: its name, or a value, such as those in [`strategy`](crate::strategy) or one of your own.
    ///
    /// If no budget is set, samplers and the portfolio run 10,000 executions; `exhaustive`, `dpor`, `delay` and others that end by themselves
    /// run for 60 seconds. A wrong name makes [`run`](Self::run) panic with a message that lists the right ones.
    pub fn strategy<By>(mut self, strategy: impl IntoStrategy<By>) -> Self {
        match strategy.asked() {
            Asked::Name(name) => self.set("strategy", &name),
            Asked::Value(strategy) => {
                self.settings.strategy = Some(Wanted::Value(strategy));
                self
            }
        }
    }

    /// Runs at most this many executions. The default, `portfolio`, has a systematic start before its samplers: it runs at most so many as
    /// well, which do not count.
    pub fn executions(self, executions: u64) -> Self {
        self.set("executions", &executions.to_string())
    }

    /// Searches at most this long. The systematic start of `portfolio` gets at most half of it.
    pub fn time(mut self, time: Duration) -> Self {
        if time.is_zero() {
            return self.set("time", "0s");
        }
        self.settings.time = Some(time);
        self
    }

    /// The most steps in one execution, 100,000 if not set. An execution with more is a failure.
    pub fn steps(self, steps: u32) -> Self {
        self.set("steps", &steps.to_string())
    }

    /// After this long without a step, Raddle reports which task hangs, with a schedule. 10 seconds if not set, never if zero.
    pub fn hang(mut self, time: Duration) -> Self {
        self.settings.hang = Some(time);
        self
    }

    /// After this long without a step, the process ends as failed, since a task that hangs cannot be stopped. 60 seconds if not set, never
    /// if zero.
    pub fn hang_end(mut self, time: Duration) -> Self {
        self.settings.hang_end = Some(time);
        self
    }

    /// The seed of a strategy that is given by its name, 0 if not set. Equal seeds give equal searches. A strategy that is given as a value
    /// has its own seed.
    pub fn seed(self, seed: u64) -> Self {
        self.set("seed", &seed.to_string())
    }

    /// How many executions run at the same time, each on an OS thread of its own; the number of cores if not set.
    ///
    /// `dpor-source`, `dpor-classic` and `hapset` always use one worker: workers that share such a search could lose orders.
    ///
    /// What a search covers does not depend on the number of workers. The reported failure may depend on it: under `exhaustive:breadth-first` and
    /// `exhaustive:random` it is the first that any worker finds, and under `preemption` it is one of those with the fewest preemptions. Under
    /// `random`, `pct`, `portfolio` and `exhaustive` it is the same as with one worker, unless the time runs out first.
    pub fn workers(self, workers: usize) -> Self {
        self.set("workers", &workers.to_string())
    }

    /// Runs only orders that are near the first one, with at most `most` deviations. Under `exhaustive`, `dpor-source` and `dpor-classic`, taking
    /// the k-th alternative at a point, counted from 0, costs k deviations. Under `dpor`, each reversed race costs one.
    pub fn deviations(self, most: u32) -> Self {
        self.set("deviations", &most.to_string())
    }

    /// Whether a search that is stopped is saved in a file and the next search continues it; only for a [named](Self::name) test. After the
    /// test was rebuilt, the search begins again. The numbers in the verdict are those of all runs together; each run has the whole budget.
    /// A strategy that is given as a value is recognized by its name only. If its seed or bound is another one, delete the file first.
    ///
    /// Ctrl-C (or SIGTERM) then lets the current executions end, writes the file, and ends the process. A second Ctrl-C ends it at once. The
    /// file is also written every few seconds, so a crash or a kill loses no more than that; under `hapset` it is written only at the end. If two
    /// searches of one test run at the same time, the second begins from the start and saves nothing.
    pub fn resume(self, resume: bool) -> Self {
        self.set("resume", &resume.to_string())
    }

    /// Under `hapset`, learns from this many random executions, drawn by [`seed`](Self::seed), before the guided search begins; 0 if not set.
    /// Other strategies ignore it.
    pub fn learn(self, executions: u64) -> Self {
        self.set("learn", &executions.to_string())
    }

    /// Under `hapset`, tells statements apart by this many of their callers, and not only by the place of the operation; 0 if not set, at most
    /// 64. With 1, a function that locks for its callers is another statement for each of them. Other strategies ignore it.
    ///
    /// For this, frames are walked at every operation, which takes several times as long as the operation. Optimised builds need debug information
    /// (`debug = "line-tables-only"` is enough).
    pub fn context(self, calls: usize) -> Self {
        self.set("context", &calls.to_string())
    }

    /// Whether the report says which orders of receives were covered, by actors and channels: see [`Report::coverage`]. If not set, it is on under
    /// `receive-order` and off under all others, since it takes time, and memory that grows with the square of the receives.
    pub fn coverage(self, coverage: bool) -> Self {
        self.set("coverage", &coverage.to_string())
    }

    /// Whether the schedules that `receive-order` generates are saved beside the crate's sources and run before each later search of this test,
    /// under every strategy; only for a [named](Self::name) test. They stay until they are saved again.
    pub fn save_schedules(self, save: bool) -> Self {
        self.set("save_schedules", &save.to_string())
    }

    /// The stack of each thread of the program, in bytes; 2 MiB if not set, at most 1 GiB.
    pub fn stack_size(self, bytes: usize) -> Self {
        self.set("stack_size", &bytes.to_string())
    }

    /// How many waits of one execution may end spuriously; 1 if not set.
    pub fn spurious_wakeups(self, wakeups: u32) -> Self {
        self.set("spurious_wakeups", &wakeups.to_string())
    }

    /// Whether a panic of a spawned thread is only reported to the thread that joins it, as outside Raddle. If not set, it is a failure of the
    /// program.
    pub fn isolate_panics(self, isolate: bool) -> Self {
        self.set("isolate_panics", &isolate.to_string())
    }

    /// What happens if threads still wait when the test function has returned and nothing can wake them: `"fail"`, the default, reports a
    /// failure. `"allow"` accepts them if they do not wait for one another, and the verdict names them.
    pub fn leaked_threads(self, how: &str) -> Self {
        self.set("leaked_threads", how)
    }

    /// How many threads a search may abandon before it ends, 1,000,000 if not set. A thread is abandoned if it can never continue when its
    /// execution ends. Its destructors do not run, and what it owns is never freed.
    pub fn abandoned_threads(self, most: u64) -> Self {
        self.set("abandoned_threads", &most.to_string())
    }

    /// When a timed wait may run out. `"any"`, the default: at any moment, since a real thread can be slow. `"late"`: only when nothing else can
    /// happen, so a timeout that is only a safety net does not fire while other threads can continue. This leaves out orders, and the verdict says
    /// so.
    pub fn timeouts(self, when: &str) -> Self {
        self.set("timeouts", when)
    }

    /// Whether to continue after a failure and count the failing executions. The first one is reported.
    pub fn keep_going(self, keep_going: bool) -> Self {
        self.set("keep_going", &keep_going.to_string())
    }

    /// Whether failing schedules are saved in a file and run first the next time; only for a [named](Self::name) test.
    pub fn regressions(self, keep: bool) -> Self {
        self.set("regressions", &keep.to_string())
    }

    /// Whether a test with [nothing to explore](crate::Verdict::NothingToExplore) fails.
    pub fn must_explore(self, must_explore: bool) -> Self {
        self.set("must_explore", &must_explore.to_string())
    }

    /// The path of the test, as in `concat!(module_path!(), "::my_test")`. Files are named after it, and the replay line of a report runs
    /// `cargo test` with it. Without a name, the replay line says which variable to set, and nothing is saved.
    pub fn name(mut self, path: impl Into<String>) -> Self {
        self.test.path = path.into();
        self
    }

    /// Runs one execution instead of a search: this schedule, or the newest one in this file.
    pub fn replay(self, text_or_path: impl AsRef<str>) -> Self {
        self.set("replay", text_or_path.as_ref())
    }

    /// Where the crate of the test is: its regressions are kept there.
    #[doc(hidden)]
    pub fn crate_dir(mut self, dir: &'static str) -> Self {
        self.test.crate_dir = Some(dir);
        self
    }

    /// Any setting, by its name in attributes.
    #[doc(hidden)]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        if let Err(error) = self.settings.set(name, value) {
            self.wrong.get_or_insert(error);
        }
        self
    }

    /// Searches, and returns a report. A failing program does not make it panic.
    ///
    /// # Panics
    ///
    /// If a setting is wrong; the message says which, and what is allowed.
    #[track_caller]
    pub fn run<F: Fn() + Send + Sync + 'static>(self, program: F) -> Report {
        self.explore(Body::Threads(Arc::new(program)), false)
    }

    /// The same for a [model](crate::model). `make` is called once for each worker.
    ///
    /// If no strategy is set, it is `delay:doubling`: all states, those first that need few deviations from round robin. It runs for 60 seconds if
    /// no budget is set, as all strategies do that end by themselves. `states` searches depth-first, which is faster. A model has no threads, so
    /// `spurious_wakeups`, `isolate_panics` and `context` make no difference. Its handlers run on one stack of `stack_size` bytes, at least 4 MiB.
    ///
    /// ```
    /// use raddle::actor::{Actor, Context};
    /// use raddle::model::Model;
    ///
    /// #[derive(Clone, Hash)]
    /// struct Sum(u32);
    ///
    /// impl Actor for Sum {
    ///     type Msg = u32;
    ///     fn handle(&mut self, n: u32, _: &mut Context<'_, u32>) {
    ///         self.0 += n;
    ///     }
    /// }
    ///
    /// let report = raddle::Explorer::new().run_model(|| {
    ///     Model::new(|m| {
    ///         let sum = m.spawn(Sum(0));
    ///         (1..4).for_each(|n| m.send(&sum, n));
    ///     })
    ///     .finally(|state| assert!(state.actors::<Sum>().all(|sum| sum.0 == 6)))
    /// });
    /// assert!(report.verified());
    /// ```
    ///
    /// # Panics
    ///
    /// If a setting is wrong, or `make` panics.
    #[track_caller]
    pub fn run_model<F: Fn() -> Model + Send + Sync + 'static>(self, make: F) -> Report {
        self.explore(Body::Model(Arc::new(make)), false)
    }

    /// `may_print`: the panics of the execution that is shown may be printed, for their backtraces.
    #[track_caller]
    fn explore(self, body: Body, may_print: bool) -> Report {
        let environment = Environment::of_the_process();
        let plan = match self.wrong {
            Some(error) => Err(error),
            None => Plan::new(self.settings, &environment, body.usual_strategy()),
        };
        let session = plan.and_then(|mut plan| {
            plan.backtraces &= may_print || plan.replay.is_some();
            plan.shows_output = may_print;
            let progress_line = ProgressLine::new(&self.test.path, &environment)?;
            Session::new(self.test, plan, body, progress_line)
        });
        match session {
            Ok(session) => session.run(),
            Err(error) => panic!("raddle: {error}"),
        }
    }

    /// Searches, and panics with the report if the program fails.
    ///
    /// # Panics
    ///
    /// If the program fails, a schedule that is to be replayed does not fit, or a setting is wrong.
    #[track_caller]
    pub fn check<F: Fn() + Send + Sync + 'static>(self, program: F) {
        self.judge(Body::Threads(Arc::new(program)));
    }

    /// The same for a [model](Self::run_model).
    ///
    /// # Panics
    ///
    /// If the model fails, a schedule that is to be replayed does not fit, a setting is wrong, or `make` panics.
    #[track_caller]
    pub fn check_model<F: Fn() -> Model + Send + Sync + 'static>(self, make: F) {
        self.judge(Body::Model(Arc::new(make)));
    }

    #[track_caller]
    fn judge(self, body: Body) {
        let report = self.explore(body, true);
        if report.failed() || report.misfit {
            report.fail_test(Location::caller());
        }
        report.tell();
    }
}

/// A strategy, given by its name or as a value. The compiler infers `By`; it only separates the two kinds.
pub trait IntoStrategy<By> {
    #[doc(hidden)]
    fn asked(self) -> Asked;
}

/// Marks a strategy that is given by its name.
#[derive(Debug)]
pub enum ByName {}

/// Marks a strategy that is given as a value.
#[derive(Debug)]
pub enum ByValue {}

/// A strategy as it was asked for.
#[doc(hidden)]
pub enum Asked {
    /// By its name.
    Name(String),
    /// As a value.
    Value(Box<dyn Strategy>),
}

impl IntoStrategy<ByName> for &str {
    fn asked(self) -> Asked {
        Asked::Name(self.to_owned())
    }
}

impl IntoStrategy<ByName> for String {
    fn asked(self) -> Asked {
        Asked::Name(self)
    }
}

impl<S: Strategy + 'static> IntoStrategy<ByValue> for S {
    fn asked(self) -> Asked {
        Asked::Value(Box::new(self))
    }
}
