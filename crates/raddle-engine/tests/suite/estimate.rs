//! Estimates of how many orders there are, against numbers by hand.

use raddle_engine::estimate::Estimate;
use raddle_engine::example::Counters;
use raddle_engine::search::{Limits, search};
use raddle_engine::strategy::{After, Capabilities, Decision, Needs, Next, Run, Sharing, Strategy, Summarize};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;
use raddle_strategies::samplers::random::Random;
use raddle_strategies::tree::exhaustive::Exhaustive;

/// Tasks that count, with the number of their orders by hand: multinomial coefficients. The last is lopsided.
const KNOWN: [(&[u32], f64); 4] = [(&[2, 2], 6.0), (&[4, 4], 70.0), (&[3, 3, 3], 1_680.0), (&[12, 1, 2], 1_365.0)];

/// A lopsided tree takes more: its few long branches carry most of the weight.
#[test]
fn a_hundred_walks_are_within_a_factor_of_two_on_trees_that_are_not_lopsided() {
    for (steps, truth) in &KNOWN[..3] {
        let limits = Limits { executions: Some(100), ..Limits::default() };
        for seed in 0..20 {
            let report = search(&mut Counters::new(steps), &mut Random::new(seed), &limits);
            let orders = report.estimate.expect("an estimate").orders;
            assert!((truth / 2.0..truth * 2.0).contains(&orders), "{steps:?}: {orders} for {truth}");
        }
    }
}

#[test]
fn many_walks_are_near_and_say_how_near() {
    for (steps, truth) in KNOWN {
        let limits = Limits { executions: Some(20_000), ..Limits::default() };
        let Estimate { orders, error } =
            search(&mut Counters::new(steps), &mut Random::new(5), &limits).estimate.expect("an estimate");
        let error = error.expect("an error");
        assert!(error < 0.25 && (orders / truth - 1.0).abs() <= 2.0 * error + 1e-9, "{steps:?}: {orders} ± {error}");
    }
}

#[test]
fn a_search_that_is_done_knows_the_truth() {
    for (steps, truth) in KNOWN {
        let report = search(&mut Counters::new(steps), &mut Exhaustive::depth_first(), &Limits::default());
        let orders = report.estimate.expect("an estimate").orders;
        assert!((orders - truth).abs() < 1e-6 && report.executions as f64 == truth, "{steps:?}: {orders}");
    }
}

/// The rule from first principles: all branches so far, and for each node the mean over those of its children that occur.
fn by_hand(branches: &[Vec<(Choice, u32)>], depth: usize) -> f64 {
    let Some(&(_, all)) = branches[0].get(depth) else { return 1.0 };
    let children: Vec<Vec<_>> = (0..all)
        .map(|child| branches.iter().filter(|branch| branch[depth].0.0 == child).cloned().collect())
        .filter(|below: &Vec<_>| !below.is_empty())
        .collect();
    let sum: f64 = children.iter().map(|below| by_hand(below, depth + 1)).sum();
    sum / children.len() as f64 * f64::from(all)
}

/// Remembers the decisions of every execution.
struct Remembered {
    inner: Exhaustive,
    branches: Vec<Vec<(Choice, u32)>>,
}

impl Strategy for Remembered {
    fn needs(&self) -> Needs {
        Needs::exhaustive("remembered")
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        let next = self.inner.begin(prefix);
        let mut branch = Vec::new();
        for (depth, &choice) in prefix.iter().enumerate() {
            let along = |earlier: &&Vec<(Choice, u32)>| {
                earlier.iter().take(depth).map(|(choice, _)| *choice).eq(prefix[..depth].iter().copied())
            };
            let before = self.branches.iter().find(along).expect("a prefix is what was walked before");
            branch.push((choice, before[depth].1));
        }
        self.branches.push(branch);
        next
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        let decision = self.inner.choose(at, so_far);
        let Decision::Take(choice) = decision else { panic!("nothing is left out") };
        self.branches.last_mut().expect("one was begun").push((choice, at.alternatives()));
        decision
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.inner.end(run);
        let expected = by_hand(&self.branches, 0);
        let told = Summarize::estimate(&self.inner).expect("an execution was seen").orders;
        assert!((told / expected - 1.0).abs() < 1e-9, "{told} for {expected} after {}", self.branches.len());
        After::Next
    }
}

#[test]
fn a_search_in_random_order_tells_by_all_that_it_has_visited() {
    assert!(Summarize::estimate(&Exhaustive::random(3)).is_none(), "nothing was seen yet");
    for (steps, truth) in [(&[2, 2][..], 6), (&[4, 4], 70), (&[3, 1, 2], 60)] {
        for seed in 0..5 {
            let mut strategy = Remembered { inner: Exhaustive::random(seed), branches: Vec::new() };
            let report = search(&mut Counters::new(steps), &mut strategy, &Limits::default());
            let told = Summarize::estimate(&strategy.inner).expect("all was seen").orders;
            assert!(report.executions == truth && (told - truth as f64).abs() < 1e-9, "{steps:?}: {told}");
        }
    }
}

#[test]
fn a_part_of_a_search_in_random_order_tells_nothing_of_the_whole() {
    let mut first = Exhaustive::random(1);
    let limits = Limits { executions: Some(10), ..Limits::default() };
    search(&mut Counters::new(&[4, 4]), &mut first, &limits);
    let Sharing::ByPiece(by_piece) = Capabilities::sharing(&mut first) else { panic!("the tree has pieces") };
    let (rest, mut second) = (by_piece.rest().expect("60 are left"), by_piece.copy());
    let Sharing::ByPiece(by_piece) = second.sharing() else { panic!("the tree has pieces") };
    by_piece.place(rest);
    second.begin(&mut Vec::new());
    second.end(&Run { outcome: None, trace: &Trace::default(), choices: 0, pending: &[], deadline: None });
    assert!(second.summary().expect("it tells").estimate().is_none());
}

#[test]
fn a_search_that_is_not_done_has_an_idea() {
    let limits = Limits { executions: Some(300), ..Limits::default() };
    let report = search(&mut Counters::new(&[3, 3, 3]), &mut Exhaustive::depth_first(), &limits);
    let orders = report.estimate.expect("an estimate").orders;
    assert!(orders > 1_680.0 / 2.0 && orders < 1_680.0 * 2.0, "{orders}");
}
