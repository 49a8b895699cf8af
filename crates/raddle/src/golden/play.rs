//! One search by the engine, as one line of text: the only file of the golden test that knows the engine's types.
//!
//! Several workers are played on this thread, one small step at a time, in an order that is drawn from a fixed seed. A search that is
//! stopped goes through JSON before it is resumed, as it does between two runs of a test.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use raddle_engine::board::Remains;
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::replay::replay;
use raddle_engine::rng::Rng;
use raddle_engine::search::{self, Limits, Search, SnapshotStack, Status, Worker};
use raddle_engine::strategy::{Run, Sharing, Strategy};
use raddle_engine::system::{Program, Variant};
use raddle_runtime::threads::{self, Facts, Threads};
use raddle_strategies::names::Name;
use raddle_strategies::watched::Watched;

use super::forms::Form;
use super::hash::Hash;
use super::programs::{GoldenBody, Subject};
use crate::environment::Environment;
use crate::explorer::Test;
use crate::plan::Plan;
use crate::report::Report;
use crate::settings::{SettingError, Settings};

/// How a search is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By one worker.
    Alone,
    /// By three workers.
    Shared,
    /// By one worker, which is stopped after a few executions and resumed.
    Resumed,
}

/// Executions before a search is stopped, to be resumed.
pub(super) fn first_part(executions: u64) -> u64 {
    executions / 10
}

/// Workers that share a search.
const WORKERS: usize = 3;

/// Runs the search and tells what came of it.
pub(super) fn run(subject: &Subject, form: &Form, way: Way) -> String {
    match &subject.body {
        GoldenBody::Litmus(program) => run_program(&|_| program.clone(), subject, form, way),
        GoldenBody::Threads(body) => {
            let body = *body;
            run_program(&|settings| Threads::new(Arc::new(body), settings), subject, form, way)
        }
        GoldenBody::Model(make) => run_program(&|_| make(), subject, form, way),
    }
}

type Make<'a, P> = &'a dyn Fn(&threads::Settings) -> P;

fn run_program<P: Program>(make: Make<'_, P>, subject: &Subject, form: &Form, way: Way) -> String {
    let search = |log| {
        let facts = RefCell::default();
        Played { make, form, steps: subject.steps, facts, log }.search(way, subject.executions)
    };
    let log = Log::default();
    let watched = match search(Some(log.clone())) {
        Ok(watched) => watched,
        Err(why) => return why,
    };
    // A search that is not watched may run without recording steps, and may skip known states. It must come to the same numbers.
    // How it is resumed is seen through the explorer.
    let plain = if way == Way::Resumed { watched.clone() } else { search(None).expect("as it could be watched") };
    let traces = log.traces(way);
    let same =
        if counts(&plain) == counts(&watched) { String::new() } else { format!(" (watched: {})", counts(&watched)) };
    let first = plain.0.found.as_ref();
    let first = first.map(|found| format!("first {} after {}; ", found.failure.kind(), found.after));
    let report = Report::of_search(Test::default(), &plain.0, plain.1.clone());
    let (first, verdict) = (first.unwrap_or_default(), report.verdict_line());
    format!("{}{same} traces {traces:016x} | {first}{verdict}", counts(&plain))
}

/// What a search found, and what its strategy is called.
type Searched = (search::Report, String);

fn counts((report, _): &Searched) -> String {
    let search::Report { executions, pruned, failing, probes, steps, states, .. } = report;
    format!("run {executions} pruned {pruned} failing {failing} probes {probes} steps {steps} states {states}")
}

/// The hashes of the executions that were watched, oldest first.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u64>>>);

impl Log {
    /// Which worker runs an execution first says nothing about the search, so what several have run is sorted.
    fn traces(&self, way: Way) -> u64 {
        let mut runs = self.0.lock().expect("nobody panics with it").clone();
        if way == Way::Shared {
            runs.sort_unstable();
        }
        let mut hash = Hash::default();
        runs.into_iter().for_each(|run| hash.add(run));
        hash.get()
    }

    fn watch(&self, strategy: Box<dyn Strategy>) -> Box<dyn Strategy> {
        let log = self.0.clone();
        let watch =
            move |_: &mut dyn Strategy, run: &Run<'_>| log.lock().expect("nobody panics with it").push(hash(run));
        Box::new(Watched::new(strategy, watch))
    }
}

/// What an execution decided, and how it ended.
fn hash(run: &Run<'_>) -> u64 {
    let mut hash = Hash::default();
    for step in run.trace.steps() {
        let variant = match step.variant {
            Variant::Ready => 0,
            Variant::TimedOut => 1,
            Variant::Spurious => 2,
            Variant::Message(message) => 3 + u64::from(message),
        };
        [u64::from(step.task.number()), variant, u64::from(step.alternatives)].into_iter().for_each(|n| hash.add(n));
    }
    match run.outcome {
        None => hash.add(0),
        Some(Outcome::Completed) => hash.add(1),
        Some(Outcome::Failed(failure)) => failure.kind().bytes().for_each(|byte| hash.add(u64::from(byte))),
    }
    hash.get()
}

/// A search that is played on this thread.
struct Played<'a, P> {
    make: Make<'a, P>,
    form: &'a Form,
    /// At most this many steps in one execution.
    steps: u32,
    /// What executions have shown of the program.
    facts: RefCell<Facts>,
    /// Where the executions are noted, if they are to be watched.
    log: Option<Log>,
}

impl<P: Program> Played<'_, P> {
    /// Searches in this way for so many executions; or tells why the strategy cannot be searched so. Begins again when an execution
    /// has shown something of the program that changes its executions, as a session does.
    fn search(&self, way: Way, executions: u64) -> Result<Searched, String> {
        loop {
            let searched = self.search_once(way, executions)?;
            if !searched.0.outdated {
                return Ok(searched);
            }
        }
    }

    fn search_once(&self, way: Way, executions: u64) -> Result<Searched, String> {
        let mut plan = self.plan().map_err(|error| error.to_string())?;
        let first = match (way, plan.strategy.sharing()) {
            (Way::Alone, _) => 0,
            (Way::Shared, Sharing::Alone) => return Err("one worker only".to_owned()),
            (Way::Resumed, Sharing::Alone) => return Err("cannot be resumed".to_owned()),
            // The executions that a sampler learns from are run by one worker.
            (Way::Shared, Sharing::ByNumber(by_number)) => by_number.warm_up(),
            (Way::Shared, Sharing::ByPiece(_)) => 0,
            (Way::Resumed, _) => first_part(executions),
        };
        let mut from = None;
        if first > 0 {
            let (searched, remains) = self.part(None, first, 1)?;
            if remains.is_empty() || searched.0.outdated {
                return Ok(searched);
            }
            from = Some(self.through_json(&remains));
        }
        let workers = if way == Way::Shared { WORKERS } else { 1 };
        Ok(self.part(from, executions.saturating_sub(first).max(1), workers)?.0)
    }

    /// The plan of a session with this strategy, which has decided nothing yet.
    fn plan(&self) -> Result<Plan, SettingError> {
        let mut settings = Settings::default();
        for (name, value) in self.form.settings() {
            settings.set(name, value)?;
        }
        settings.set("keep_going", "true")?;
        settings.set("steps", &self.steps.to_string())?;
        let usual = Name::parse("portfolio").expect("there is one");
        Plan::new(settings, &Environment::of_the_process(), usual)
    }

    /// Searches until there have been so many executions more.
    fn part(&self, from: Option<Remains>, executions: u64, workers: usize) -> Result<(Searched, Remains), String> {
        let Plan { mut strategy, label, limits, program, .. } = self.plan().map_err(|error| error.to_string())?;
        let settings = threads::Settings { facts: self.facts.borrow().clone(), ..program };
        let limits = Limits { executions: Some(executions), time: None, ..limits };
        let from = from.map(|from| {
            assert!(from.fits(&mut *strategy), "{label}: what was left cannot be resumed");
            self.fail_again(from, &limits, &settings)
        });
        let watch = |strategy| match &self.log {
            Some(log) => log.watch(strategy),
            None => strategy,
        };
        strategy = watch(strategy);
        let search = match from {
            Some(from) => Search::resume(&mut *strategy, &limits, workers, from),
            None => Search::new(&mut *strategy, &limits, workers),
        };
        let others: Vec<_> = (1..workers).map(|_| watch(copy(&mut *strategy))).collect();
        let mut all_workers = vec![search.worker(&mut *strategy)];
        all_workers.extend(others.into_iter().map(|other| search.worker_with(other)));
        let outdated = if workers == 1 {
            self.work(&mut all_workers[0], &settings)
        } else {
            self.play(&mut all_workers, &settings)
        };
        let (report, remains) = search.leave(all_workers);
        let learned = settings.learned.lock().unwrap_or_else(PoisonError::into_inner);
        let outdated = self.facts.borrow_mut().add(&learned) && (report.outdated || outdated);
        Ok(((search::Report { outdated, ..report }, label), remains))
    }

    /// Works as a session's only worker does.
    fn work(&self, worker: &mut Worker<'_>, settings: &threads::Settings) -> bool {
        while worker.work(&mut (self.make)(settings)) == Status::NeedsFreshWorker {}
        false
    }

    /// Lets the workers work in turns. True if the program turned out to be another than was known, which ends the search.
    fn play(&self, all_workers: &mut [Worker<'_>], settings: &threads::Settings) -> bool {
        let mut program = (self.make)(settings);
        let mut rng = Rng::new(7);
        let mut working: Vec<_> = all_workers.iter_mut().map(|worker| (worker, SnapshotStack::default())).collect();
        while !working.is_empty() {
            let turn = rng.below(u32::try_from(working.len()).expect("there are three")) as usize;
            let (worker, snapshots) = &mut working[turn];
            if worker.work_a_little(&mut program, snapshots) == Some(Status::Over) {
                drop(working.remove(turn));
            }
            if program.is_outdated() {
                return true;
            }
            if !program.sound() {
                program = (self.make)(settings);
            }
        }
        false
    }

    /// What was left, written down and read.
    fn through_json(&self, remains: &Remains) -> Remains {
        let text = serde_json::to_string(remains).expect("what is left can be written down");
        serde_json::from_str(&text).expect("what was written can be read")
    }

    /// A failure is not written down, only how to come to it: it is run again.
    fn fail_again(&self, mut from: Remains, limits: &Limits, settings: &threads::Settings) -> Remains {
        if let Some(script) = from.failed() {
            let outcome = replay(&mut (self.make)(settings), &script, limits).outcome;
            let failure: Failure = outcome.failure().expect("it fails again").clone();
            from.failed_again(failure);
        }
        from
    }
}

/// The same strategy for one more worker.
fn copy(strategy: &mut dyn Strategy) -> Box<dyn Strategy> {
    match strategy.sharing() {
        Sharing::Alone => unreachable!("raddle bug: {} is not shared", strategy.name()),
        Sharing::ByNumber(by_number) => by_number.copy(),
        Sharing::ByPiece(by_piece) => by_piece.copy(),
    }
}
