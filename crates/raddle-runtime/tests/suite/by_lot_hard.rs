//! Programs that are hard on walks whose steps nobody wants to see: they must go as they do where somebody looks.

mod dropping;
mod failing;
mod looking;
mod waiting;

use std::fmt::Debug;
use std::sync::{Arc, Mutex as StdMutex};

use raddle_engine::search::Limits;
use raddle_engine::strategy::Strategy;
use raddle_engine::strategy::random::Random;
use raddle_engine::strategy::watched::Watched;
use raddle_runtime::actor::{Actor, Context, Delivery, System};
use raddle_runtime::threads::Settings;

use crate::by_lot::{Walked, assert_same};
use crate::explore::run_with;
use crate::model::ORDERS;

/// What happened in each execution.
#[derive(Clone, Default)]
pub struct Diary(Arc<StdMutex<Vec<Vec<String>>>>);

impl Diary {
    fn note(&self, what: impl Debug) {
        self.0.lock().unwrap().last_mut().unwrap().push(format!("{what:?}"));
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

fn walk(
    settings: &Settings,
    limits: &Limits,
    seed: u64,
    delivery: Delivery,
    seen: bool,
    body: fn(&Diary, System),
) -> Walked<Vec<String>> {
    let diary = Diary::default();
    let written = diary.clone();
    let mut strategy: Box<dyn Strategy> = Box::new(Random::new(seed));
    if seen {
        strategy = Box::new(Watched::new(strategy, |_: &dyn Strategy, _: &_| ()));
    }
    let report = run_with(settings, &mut *strategy, limits.clone(), move || {
        diary.0.lock().unwrap().push(Vec::new());
        body(&diary, System::new().delivery(delivery));
    });
    let written = written.0.lock().unwrap().clone();
    (report, written)
}

const WALKS: u64 = 60;

/// Demands that walks go the same way whether somebody looks or not; says how many failed.
#[track_caller]
fn same(body: fn(&Diary, System)) -> u64 {
    same_with(&Settings::default(), body)
}

#[track_caller]
fn same_with(settings: &Settings, body: fn(&Diary, System)) -> u64 {
    let limits = Limits { executions: Some(WALKS), keep_going: true, steps: 1_000, ..Limits::default() };
    let mut failing = 0;
    for delivery in ORDERS {
        for seed in 1..4 {
            let walk = |seen| walk(settings, &limits, seed, delivery, seen, body);
            failing += assert_same(&(delivery, seed), walk(false), walk(true));
        }
    }
    failing
}
