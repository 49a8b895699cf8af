//! Programs that are hard on walks whose steps nobody wants to see: they must go as they do where somebody looks.

mod dropping;
mod failing;
mod looking;
mod waiting;

use std::fmt::Debug;
use std::sync::{Arc, Mutex as StdMutex};
use std::thread::ThreadId;

use raddle_engine::search::{Limits, Report, Search, Status, Worker};
use raddle_engine::strategy::{Sharing, Strategy};
use raddle_runtime::actor::{Actor, Context, Delivery, System};
use raddle_runtime::threads::{Settings, Threads};
use raddle_strategies::samplers::pct::Pct;
use raddle_strategies::samplers::random::Random;
use raddle_strategies::samplers::round_robin::RoundRobin;
use raddle_strategies::watched::Watched;

use crate::explore::run_with;
use crate::model::ORDERS;
use crate::untraced::{Walked, assert_same};

/// What happened in each execution, and on which thread of the system's it was.
#[derive(Clone, Default)]
pub struct Diary(Arc<StdMutex<Days>>);

type Days = Vec<(ThreadId, Vec<String>)>;

impl Diary {
    /// Another execution begins.
    fn begin(&self) {
        self.0.lock().unwrap().push((std::thread::current().id(), Vec::new()));
    }

    fn note(&self, what: impl Debug) {
        let (mut days, here) = (self.0.lock().unwrap(), std::thread::current().id());
        let today = days.iter_mut().rfind(|day| day.0 == here).expect("it has begun");
        today.1.push(format!("{what:?}"));
    }
}

type Handler<M> = dyn FnMut(M, &mut Context<'_, M>) + Send;

/// Handles messages as a function says.
struct Does<M>(Box<Handler<M>>);

impl<M: Send + 'static> Actor for Does<M> {
    type Msg = M;

    fn handle(&mut self, msg: M, ctx: &mut Context<'_, M>) {
        (self.0)(msg, ctx);
    }
}

fn does<M>(handle: impl FnMut(M, &mut Context<'_, M>) + Send + 'static) -> Does<M> {
    Does(Box::new(handle))
}

/// Who decides; none of them wants to see the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Random(u64),
    Pct(u64),
    RoundRobin,
}

impl By {
    fn strategy(self) -> Box<dyn Strategy> {
        match self {
            By::Random(seed) => Box::new(Random::new(seed)),
            By::Pct(seed) => Box::new(Pct::new(seed, 3)),
            By::RoundRobin => Box::new(RoundRobin::new()),
        }
    }
}

/// A program to walk through.
#[derive(Clone, Copy)]
struct Case<'a> {
    settings: &'a Settings,
    delivery: Delivery,
    body: fn(&Diary, System),
}

impl Case<'_> {
    fn program(self, diary: &Diary) -> impl Fn() + Send + Sync + 'static {
        let Self { delivery, body, .. } = self;
        let diary = diary.clone();
        move || {
            diary.begin();
            body(&diary, System::new().delivery(delivery));
        }
    }

    fn walk(self, by: By, seen: bool) -> Walked<Vec<String>> {
        let diary = Diary::default();
        let mut strategy = by.strategy();
        if seen {
            strategy = Box::new(Watched::new(strategy, |_: &mut dyn Strategy, _: &_| ()));
        }
        let report = run_with(self.settings, &mut *strategy, limits(), self.program(&diary));
        (report, diary.take())
    }

    /// Walks with two workers.
    fn walk_together(self, by: By, limits: &Limits) -> Walked<Vec<String>> {
        let (diary, mut first) = (Diary::default(), by.strategy());
        let body = Arc::new(self.program(&diary));
        let search = Search::new(&mut *first, limits, WORKERS);
        // Nothing has to be learnt before they begin.
        let mut worker = || match first.sharing() {
            Sharing::ByNumber(by_number) => search.worker_with(by_number.copy()),
            _ => panic!("{by:?} is not shared by number"),
        };
        // A worker that had to leave a task behind is replaced.
        let work = |worker: &mut Worker<'_>| {
            let mut fresh = || worker.work(&mut Threads::new(body.clone(), self.settings));
            while std::thread::scope(|scope| scope.spawn(&mut fresh).join().expect("a worker")) != Status::Over {}
        };
        let mut all_workers: Vec<_> = (0..WORKERS).map(|_| worker()).collect();
        std::thread::scope(|scope| all_workers.iter_mut().for_each(|worker| drop(scope.spawn(|| work(worker)))));
        (search.close(all_workers), diary.take())
    }
}

impl Diary {
    fn take(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut *self.0.lock().unwrap()).into_iter().map(|day| day.1).collect()
    }
}

const WALKS: u64 = 60;

const WORKERS: usize = 2;

fn limits() -> Limits {
    Limits { executions: Some(WALKS), keep_going: true, steps: 1_000, repeats: false, ..Limits::default() }
}

/// Demands that walks go the same way whether somebody looks or not; says how many failed.
#[track_caller]
fn same(body: fn(&Diary, System)) -> u64 {
    same_with(&Settings::default(), body)
}

#[track_caller]
fn same_with(settings: &Settings, body: fn(&Diary, System)) -> u64 {
    let mut failing = 0;
    for delivery in ORDERS {
        let case = Case { settings, delivery, body };
        for by in [By::Random(1), By::Random(2), By::Random(3), By::Pct(1), By::RoundRobin] {
            let seen = case.walk(by, true);
            failing += assert_same(&(delivery, by), case.walk(by, false), seen.clone());
            if by == By::Random(1) {
                assert_shared(case, by, seen);
            }
        }
    }
    failing
}

/// Demands that two workers come to what one has come to.
#[track_caller]
fn assert_shared(case: Case<'_>, by: By, (alone, expected): Walked<Vec<String>>) {
    let about = (case.delivery, by);
    let (report, mut log) = case.walk_together(by, &limits());
    for expected in &expected {
        let at = log.iter().position(|log| log == expected);
        log.swap_remove(at.unwrap_or_else(|| panic!("{about:?}: nobody came to {expected:#?}, but to {log:#?}")));
    }
    // Each worker has run its first that fails again.
    assert!(log.len() <= WORKERS && log.iter().all(|again| expected.contains(again)), "{about:?}: {log:?}");
    let counts = |r: &Report| (r.executions, r.failing, r.steps, r.longest, r.caveats.guessed_spin);
    assert_eq!(counts(&report), counts(&alone), "{about:?}");
    let found = |report: &Report| report.found.as_ref().map(|found| format!("{found:?}"));
    assert_eq!(found(&report), found(&alone), "{about:?}");
    let (stopped, _) = case.walk_together(by, &Limits { keep_going: false, ..limits() });
    assert_eq!(found(&stopped), found(&alone), "{about:?}, where the first failure ends all");
}
