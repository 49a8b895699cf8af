//! Searches by states: they visit exactly the reachable states, whatever the order, the width of a stratum, the limit on states and the
//! number of workers.

use std::collections::HashSet;
use std::ops::Range;

use raddle_engine::board::Remains;
use raddle_engine::outcome::Outcome;
use raddle_engine::search::{Ended, Limits, search};
use raddle_engine::strategy::{Claim, Strategy};
use raddle_engine::system::{Choice, Point, Program as _, Snapshots, System};
use raddle_engine::trace::Trace;
use raddle_litmus::Program;
use raddle_litmus::generate::{Size, generate};
use raddle_strategies::states::States;
use raddle_strategies::states::delay::{Delay, DelayingExplorer, ProbabilisticRoundRobin, RoundRobin, RunToCompletion};

use crate::delay_sample::Recording;
use crate::workers::{Play, play_within};

const SIZE: Size = Size { threads: 3, steps: 8 };

pub fn generated(seeds: Range<u64>) -> impl Iterator<Item = (u64, Program)> {
    seeds.map(|seed| (seed, Program::new(&generate(seed, SIZE), "generated").expect("what is generated can be run")))
}

/// The reachable states.
struct Reachable {
    states: HashSet<u64>,
    /// One of them is a failure.
    fails: bool,
}

/// All reachable states, by exhaustive exploration; `None` if there are too many.
fn reachable(program: &Program) -> Option<Reachable> {
    let mut trace = Trace::default();
    let mut open = vec![program.clone().start(0, &mut trace)];
    let (mut states, mut fails) = (HashSet::new(), false);
    while let Some(system) = open.pop() {
        if !states.insert(system.fingerprint().expect("litmus programs can be seen")) {
            continue;
        }
        fails |= matches!(system.point(), Point::End(Outcome::Failed(_)));
        for choice in 0..system.point().alternatives() {
            let mut next = system.fork();
            next.advance(Choice(choice), &mut trace);
            open.push(next);
        }
        if states.len() > 3_000 {
            return None;
        }
    }
    Some(Reachable { states, fails })
}

/// The limit on stored states, and what happens when it is reached.
#[derive(Clone, Copy, Debug)]
struct CacheLimit {
    states: usize,
    replaces: bool,
}

type Make<'a> = &'a (dyn Fn(Option<CacheLimit>) -> Box<dyn Strategy> + Sync);

/// By so many delays, or doubling if that is 0.
fn delay<E: DelayingExplorer + Clone + Send + 'static>(
    explorer: &E,
    width: u32,
    limit: Option<CacheLimit>,
) -> Box<dyn Strategy> {
    let delay = Delay::new(explorer.clone());
    let delay = if width == 0 { delay.doubling() } else { delay.by(width) };
    Box::new(match limit {
        None => delay,
        Some(CacheLimit { states, replaces: false }) => delay.with_states(states),
        Some(CacheLimit { states, replaces: true }) => delay.with_states(states).replacing_states(),
    })
}

fn plain(limit: Option<CacheLimit>) -> Box<dyn Strategy> {
    Box::new(match limit {
        None => States::default(),
        Some(CacheLimit { states, replaces: false }) => States::up_to(states),
        Some(CacheLimit { states, replaces: true }) => States::up_to(states).replacing(),
    })
}

fn limits() -> Limits {
    Limits { keep_going: true, ..Limits::default() }
}

/// Checks that one worker visits all states.
fn check_alone(told: &str, seed: u64, program: &Program, make: Make<'_>) {
    let Some(Reachable { states, fails }) = reachable(program) else { return };
    let report = search(&mut program.clone(), &mut *make(None), &limits());
    assert_eq!(report.states, states.len() as u64, "seed {seed}, {told}: {report:?}");
    assert_eq!(report.ended, Ended::Done(Claim::Exhausted), "seed {seed}, {told}");
    assert_eq!(report.found.is_some(), fails, "seed {seed}, {told}");
}

/// With a low limit, states are visited repeatedly, but none is missed.
fn check_with_little_room(told: &str, seed: u64, program: &Program, make: Make<'_>) {
    let Some(Reachable { states, .. }) = reachable(program).filter(|all| all.states.len() < 60) else { return };
    for limit in
        [0, 64, 128].into_iter().flat_map(|states| [false, true].map(|replaces| CacheLimit { states, replaces }))
    {
        let mut recording = Recording::new(program);
        let report = search(&mut recording, &mut *make(Some(limit)), &limits());
        let told = format!("seed {seed}, {told}, {limit:?}: {report:?}");
        assert_eq!(recording.states(), states.iter().copied().collect(), "{told}");
        assert!(report.states >= states.len() as u64 && report.ended == Ended::Done(Claim::Exhausted), "{told}");
    }
}

/// Checks that several workers visit all states, also if some are lost.
fn check_with_others(told: &str, seed: u64, program: &Program, make: Make<'_>) {
    let Some(Reachable { states, .. }) = reachable(program) else { return };
    // A worker that is lost before its first commit starts again, so not all workers may be lost.
    let seldom = 30.max(4 * states.len() as u32);
    for play in [(2, 0), (4, 0), (3, seldom)].map(|(workers, lost)| Play { seed, workers, lost }) {
        let told = format!("seed {seed}, {told}, {} workers, {} lost", play.workers, play.lost);
        let (report, remains) = play_within(&limits(), &|| make(None), None, &mut program.clone(), play);
        assert_eq!((report.states, remains.is_empty()), (states.len() as u64, true), "{told}: {report:?}");
    }
}

#[test]
fn every_state_that_can_be_reached_is_visited_once() {
    for (seed, program) in generated(50_000..50_150) {
        let orders: [(&str, Make<'_>); 4] = [
            ("plain", &plain),
            ("rr", &|limit| delay(&RoundRobin::default(), 1, limit)),
            ("rtc", &|limit| delay(&RunToCompletion::default(), 1, limit)),
            ("prr", &|limit| delay(&ProbabilisticRoundRobin::new(seed), 1, limit)),
        ];
        for (told, make) in orders {
            check_alone(told, seed, &program, make);
            check_with_little_room(told, seed, &program, make);
            check_with_others(told, seed, &program, make);
        }
        for width in [0, 3, u32::MAX] {
            check_alone("rr, wide", seed, &program, &|limit| delay(&RoundRobin::default(), width, limit));
            check_alone("rtc, wide", seed, &program, &|limit| delay(&RunToCompletion::default(), width, limit));
        }
    }
}

/// Runs so many executions at a time, and resumes with the saved rest.
fn check_resumed(seed: u64, program: &Program, make: Make<'_>) {
    let Some(Reachable { states, .. }) = reachable(program) else { return };
    let limits = Limits { executions: Some(15), ..limits() };
    let mut from = None;
    let report = loop {
        let play = Play { seed, workers: 2, lost: 0 };
        let (report, remains) = play_within(&limits, &|| make(None), from, &mut program.clone(), play);
        if remains.is_empty() {
            break report;
        }
        let text = serde_json::to_string(&remains).expect("what is left can be written down");
        let read: Remains = serde_json::from_str(&text).expect("what was written can be read");
        assert!(read.is_sound());
        from = Some(read);
    };
    // The states themselves are not saved, so some are visited again.
    assert!(report.states >= states.len() as u64, "seed {seed}: {report:?}");
    assert_eq!(report.ended, Ended::Done(Claim::Exhausted), "seed {seed}");
}

#[test]
fn a_resumed_search_by_states_covers_the_same() {
    for (seed, program) in generated(51_000..51_060) {
        check_resumed(seed, &program, &plain);
        check_resumed(seed, &program, &|limit| delay(&RoundRobin::default(), 1, limit));
    }
}
