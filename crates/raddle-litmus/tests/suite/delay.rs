//! Stratified search: each state is visited in its stratum, and failures are found with few delays.

use std::collections::{BTreeMap, HashMap, HashSet};

use raddle_engine::ids::TaskId;
use raddle_engine::outcome::Outcome;
use raddle_engine::search::{Ended, Limits, Report, search};
use raddle_engine::strategy::{Bound, Claim, Unit};
use raddle_engine::system::{Choice, Point, Program as _, Snapshots, System};
use raddle_engine::trace::Trace;
use raddle_litmus::Program;
use raddle_strategies::states::delay::{Delay, DelayingExplorer, Event, RoundRobin, RunToCompletion};

use crate::states::generated;

fn fails(system: &impl System) -> bool {
    matches!(system.point(), Point::End(Outcome::Failed(_)))
}

/// The fewest delays that lead to each state, by exploring all pairs of a state and an explorer. Explorers that behave alike are not
/// merged, so this is for small programs.
fn fewest<E: DelayingExplorer + Clone>(program: &mut Program, first: &E) -> Option<HashMap<u64, u32>> {
    struct Branch<S, E> {
        system: S,
        explorer: E,
        ready: Vec<TaskId>,
    }
    let mut trace = Trace::default();
    let system = program.start(0, &mut trace);
    let mut strata = BTreeMap::from([(0, vec![Branch { system, explorer: first.clone(), ready: Vec::new() }])]);
    let mut fewest: HashMap<u64, u32> = HashMap::new();
    let mut walked = 0;
    while let Some((delays, branches)) = strata.pop_first() {
        let mut branches = branches;
        while let Some(Branch { system, mut explorer, ready }) = branches.pop() {
            walked += 1;
            if walked > 30_000 {
                return None;
            }
            fewest.entry(system.fingerprint().expect("litmus programs can be seen")).or_insert(delays);
            let tasks: Vec<TaskId> = match system.point() {
                Point::Actions(actions) => actions.iter().map(|action| action.task).collect(),
                _ => Vec::new(),
            };
            let mut once = tasks.clone();
            once.dedup();
            let first_point = ready.is_empty();
            once.iter().filter(|task| !first_point && !ready.contains(task)).for_each(|task| {
                explorer.step(&Event::Woken(*task));
            });
            let mut shown: Vec<u32> = Vec::new();
            for rank in 0..system.point().alternatives() {
                let choice = if tasks.is_empty() {
                    rank
                } else {
                    loop {
                        let task = if tasks.len() > 1 { explorer.next(&once) } else { tasks[0] };
                        let new = |at: &usize| tasks[*at] == task && !shown.contains(&(*at as u32));
                        if let Some(at) = (0..tasks.len()).find(new) {
                            break at as u32;
                        }
                        explorer.delay();
                    }
                };
                shown.push(choice);
                let mut trace = Trace::default();
                let mut next = system.fork();
                next.advance(Choice(choice), &mut trace);
                let mut told = explorer.clone();
                trace
                    .steps()
                    .iter()
                    .filter(|step| step.alternatives > 0)
                    .for_each(|step| told.step(&Event::Stepped(step.task)));
                let way = Branch {
                    system: next,
                    explorer: told,
                    ready: if tasks.is_empty() { ready.clone() } else { once.clone() },
                };
                if rank == 0 {
                    branches.push(way)
                } else {
                    strata.entry(delays + rank).or_default().push(way)
                }
                if !tasks.is_empty() {
                    explorer.delay();
                }
            }
        }
    }
    Some(fewest)
}

fn run<E: DelayingExplorer + Clone + Send + 'static>(program: &Program, delay: Delay<E>) -> Report {
    let limits = Limits { keep_going: true, ..Limits::default() };
    search(&mut program.clone(), &mut { delay }, &limits)
}

/// Up to a bound, the search visits only states that so many delays lead to; without delays, all of them.
fn check_bounds<E: DelayingExplorer + Clone + Send + 'static>(seed: u64, program: &Program, explorer: &E) -> bool {
    let Some(fewest) = fewest(&mut program.clone(), explorer) else { return false };
    let most = fewest.values().copied().max().unwrap_or(0);
    for bound in 0..=most {
        let report = run(program, Delay::new(explorer.clone()).up_to(bound));
        let within = fewest.values().filter(|delays| **delays <= bound).count() as u64;
        assert!(report.states <= within, "seed {seed}, up to {bound}: {report:?}, but only {within} take so few");
        if bound == 0 || bound == most {
            assert!(bound > 0 || report.states == within, "seed {seed}, without delays: {report:?}, not {within}");
        }
        if report.ended != Ended::Done(Claim::Exhausted) {
            assert_eq!(report.ended, Ended::Done(Claim::Bounded(Bound { most: bound, unit: Unit::Delay })));
        }
    }
    most > 1
}

#[test]
fn no_state_is_in_a_lower_stratum_than_it_can_be() {
    let mut deep = 0;
    for (seed, program) in generated(52_000..52_200) {
        deep += u32::from(check_bounds(seed, &program, &RoundRobin::default()));
        deep += u32::from(check_bounds(seed, &program, &RunToCompletion::default()));
    }
    assert!(deep > 50, "only {deep} were deep enough");
}

#[test]
fn failures_are_found_with_few_delays() {
    let mut found = 0;
    for (seed, program) in generated(53_000..53_300) {
        let mut trace = Trace::default();
        let mut open = vec![program.clone().start(0, &mut trace)];
        let (mut seen, mut failing) = (HashSet::new(), false);
        while let Some(system) = open.pop().filter(|_| seen.len() < 2_000) {
            if !seen.insert(system.fingerprint()) {
                continue;
            }
            failing |= fails(&system);
            for choice in 0..system.point().alternatives() {
                let mut next = system.fork();
                next.advance(Choice(choice), &mut trace);
                open.push(next);
            }
        }
        if seen.len() >= 2_000 {
            continue;
        }
        let report = run(&program, Delay::new(RoundRobin::default()));
        assert_eq!(report.found.is_some(), failing, "seed {seed}");
        found += u32::from(failing);
    }
    assert!(found > 10, "only {found} fail");
}

/// Never runs the last task while another one is enabled. Such an explorer is unsound.
#[derive(Clone, Default)]
struct Unfair;

impl DelayingExplorer for Unfair {
    fn next(&mut self, ready: &[TaskId]) -> TaskId {
        ready[0]
    }

    fn step(&mut self, _: &Event) {}

    fn delay(&mut self) {}
}

#[test]
#[should_panic(expected = "do not make `next` return [TaskId(1)]")]
fn an_unsound_explorer_panics_with_the_missing_task() {
    let program = crate::program("shared x = 0; thread a { store(x, 1); } thread b { store(x, 2); }");
    run(&program, Delay::new(Unfair));
}
