//! The builder behind `#[raddle::test]`.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::environment::Environment;
use crate::model::Model;
use crate::report::Report;
use crate::report::progress::Teller;
use crate::session::Session;
use crate::settings::{Plan, SettingError, Settings, Wanted};
use crate::strategy::Strategy;
use crate::workers::Body;

/// Runs a concurrent program in many orders and reports what came of it.
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
    /// The first wrong setting, kept for when the program is to be run.
    wrong: Option<SettingError>,
    test: Test,
}

/// What is known of the test that this belongs to.
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

    /// Who decides: the name of a strategy, or one of the values in [`strategy`](crate::strategy).
    ///
    /// Samplers and the portfolio run 10,000 executions if no budget is set; `exhaustive`, `dpor`, `delay` and
    /// others that end by themselves run for 60 seconds. A name that
    /// there is not makes [`run`](Self::run) panic with a message that lists those there are.
    pub fn strategy<By>(mut self, strategy: impl IntoStrategy<By>) -> Self {
        match strategy.asked() {
            Asked::Name(name) => self.set("strategy", &name),
            Asked::Value(strategy) => {
                self.settings.strategy = Some(Wanted::Value(strategy));
                self
            }
        }
    }

    /// At most this many executions.
    pub fn executions(self, executions: u64) -> Self {
        self.set("executions", &executions.to_string())
    }

    /// At most this long.
    pub fn time(mut self, time: Duration) -> Self {
        if time.is_zero() {
            return self.set("time", "0s");
        }
        self.settings.time = Some(time);
        self
    }

    /// At most this many steps in one execution, 100,000 if not set; an execution that goes on is a failure.
    pub fn steps(self, steps: u32) -> Self {
        self.set("steps", &steps.to_string())
    }

    /// After so long without a step it is told which task does not come back, with a schedule; 10 seconds if not set, never if zero.
    pub fn hang(mut self, time: Duration) -> Self {
        self.settings.hang = Some(time);
        self
    }

    /// After so long without a step the process ends as failed, since a task that does not come back cannot be stopped; 60 seconds if not
    /// set, never if zero.
    pub fn hang_end(mut self, time: Duration) -> Self {
        self.settings.hang_end = Some(time);
        self
    }

    /// The seed of a strategy that was asked for by name, 0 if not set. The same seed, the same search.
    pub fn seed(self, seed: u64) -> Self {
        self.set("seed", &seed.to_string())
    }

    /// How many executions run at a time, each on an OS thread of its own; as many as there are cores if not set.
    ///
    /// `dpor` and its kin and `hapset` use one, however many are asked for: workers that shared a reduction could lose orders.
    ///
    /// What a search covers does not depend on it. Which failure is reported does under `exhaustive:breadth-first`
    /// and `exhaustive:random`: the first that any worker finds. So it does under `preemption`, but it is always one with the fewest
    /// preemptions. Under `random`, `pct`, `portfolio` and `exhaustive` it is the same as with one worker, unless the time
    /// runs out first.
    pub fn workers(self, workers: usize) -> Self {
        self.set("workers", &workers.to_string())
    }

    /// Leaves out orders that stray further than this from the first: the k-th alternative taken at a point, counted from 0, costs
    /// k, and the sum along an execution is at most `most`. For `exhaustive` and `dpor`.
    pub fn deviations(self, most: u32) -> Self {
        self.set("deviations", &most.to_string())
    }

    /// Whether what is left when the budget is spent is kept in a file, and the next search goes on with it; only for a
    /// [named](Self::name) test. When the test is built anew, the search begins again. Numbers are those of all sittings together.
    ///
    /// Ctrl-C (and SIGTERM) then ends the process after the executions that are being run, when the file is written; the second
    /// time, at once. The file is also written every few seconds, so that a crash or a kill costs no more than that; under `hapset` it
    /// is written at the end only. Of two searches of one test at the same time, the second begins from the start and keeps nothing.
    pub fn resume(self, resume: bool) -> Self {
        self.set("resume", &resume.to_string())
    }

    /// Under `hapset`, learns from so many random walks, drawn by [`seed`](Self::seed), before it is guided by what it knows; none if not
    /// set. Other strategies make no use of it.
    pub fn learn(self, executions: u64) -> Self {
        self.set("learn", &executions.to_string())
    }

    /// How many calls tell statements apart under `hapset`, beside the place of the operation itself; 0 if not set, at most 64. With 1, a
    /// function that locks for others is another statement for each place that calls it. Other strategies make no use of it.
    ///
    /// Frames are walked at every operation for that, which takes several times as long as the operation. Optimised builds
    /// must have debug information for it (`debug = "line-tables-only"` is enough).
    pub fn context(self, calls: usize) -> Self {
        self.set("context", &calls.to_string())
    }

    /// Whether the report says what was covered of the orders in which actors and channels receive their messages: see
    /// [`Report::coverage`]. On if not set under `receive-order`, and off under others, since it takes time
    /// and, with the square of the receives, memory.
    pub fn coverage(self, coverage: bool) -> Self {
        self.set("coverage", &coverage.to_string())
    }

    /// Whether the schedules that `receive-order` generates are kept beside the crate's sources, to be followed before each later search
    /// of this test, under whatever strategy; only for a [named](Self::name) test. They stay there until they are generated anew.
    pub fn save_schedules(self, save: bool) -> Self {
        self.set("save_schedules", &save.to_string())
    }

    /// The stack of each thread of the program, in bytes; 2 MiB if not set, at most 1 GiB.
    pub fn stack_size(self, bytes: usize) -> Self {
        self.set("stack_size", &bytes.to_string())
    }

    /// How many waits of one execution may end for no reason; 1 if not set.
    pub fn spurious_wakeups(self, wakeups: u32) -> Self {
        self.set("spurious_wakeups", &wakeups.to_string())
    }

    /// Whether a panic that ends a spawned thread is left to whoever joins it, as outside Raddle. If not set, it is a
    /// failure of the program.
    pub fn isolate_panics(self, isolate: bool) -> Self {
        self.set("isolate_panics", &isolate.to_string())
    }

    /// What becomes of threads that still wait when the test's function has returned and nobody can wake them: a failure (`"fail"`, if
    /// not set), or nothing (`"allow"`) as long as they do not wait for one another. The verdict names them.
    pub fn leaked_threads(self, how: &str) -> Self {
        self.set("leaked_threads", how)
    }

    /// How many threads may be abandoned in one search, 1,000,000 if not set: those that can never go on when an execution ends. Their
    /// destructors do not run, so what they own is never freed; a search that has abandoned so many ends.
    pub fn abandoned_threads(self, most: u64) -> Self {
        self.set("abandoned_threads", &most.to_string())
    }

    /// When a wait that has a time may end by it: at any moment, since a real thread can be slow (`"any"`, if not set), or only when
    /// nothing else can happen (`"late"`), so that a time that is a mere safety net never fires while others can go on. Orders are
    /// left out by that, and the verdict says so.
    pub fn timeouts(self, when: &str) -> Self {
        self.set("timeouts", when)
    }

    /// Whether to go on after a failure and count the failing executions. The first one is reported.
    pub fn keep_going(self, keep_going: bool) -> Self {
        self.set("keep_going", &keep_going.to_string())
    }

    /// Whether failing schedules are kept in a file and run first the next time; only for a [named](Self::name) test.
    pub fn regressions(self, keep: bool) -> Self {
        self.set("regressions", &keep.to_string())
    }

    /// Whether a test fails in which there is [nothing to explore](crate::Verdict::NothingToExplore).
    pub fn must_explore(self, must_explore: bool) -> Self {
        self.set("must_explore", &must_explore.to_string())
    }

    /// The path of the test, as in `concat!(module_path!(), "::my_test")`; reports and files use it.
    pub fn name(mut self, path: impl Into<String>) -> Self {
        self.test.path = path.into();
        self
    }

    /// One execution and no search: by this schedule, or by the newest one in this file.
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

    /// Searches, and reports. A failing program is a report, not a panic.
    ///
    /// # Panics
    ///
    /// If a setting is wrong; the message says which, and what is allowed.
    #[track_caller]
    pub fn run<F: Fn() + Send + Sync + 'static>(self, program: F) -> Report {
        self.explore(Body::Threads(Arc::new(program)), false)
    }

    /// The same for a [model](crate::model), which `make` makes, once for each worker.
    ///
    /// If no strategy is set it is `delay`: all states, those first that take few deviations from taking turns. As all
    /// [systematic](Self::strategy) strategies it runs for 60 seconds if no budget is set. `states` searches them depth-first, which is faster.
    /// A model has no threads, so `spurious_wakeups`, `isolate_panics` and `context` make no difference; its handlers run on
    /// one stack of `stack_size` bytes, at least 4 MiB.
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

    /// `may_print` says whether the panics of the execution that is shown may be printed, for their backtraces.
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
            let teller = Teller::new(&self.test.path, &environment)?;
            Session::new(self.test, plan, body, teller)
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

/// Says who decides: a name, or a strategy itself.
///
/// `By` only keeps the two apart, and is always inferred.
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
