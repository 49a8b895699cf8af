//! Counts that were computed by hand, for programs that only take steps.

use raddle_engine::example::Counters;
use raddle_engine::search::{Ended, Limits, Report, search};
use raddle_engine::strategy::Claim;

use super::*;

/// Executions with exactly 0, 1, 2, … preemptions.
fn by_bound(steps: &[u32]) -> Vec<u64> {
    let run =
        |most| search(&mut Counters::new(steps), &mut Preemption::up_to(most).without_cache(), &Limits::default());
    let reports: Vec<Report> = (0..8).map(run).collect();
    let last = reports.iter().position(Report::verified).expect("so small programs need no more");
    for (most, report) in (0..).zip(&reports[..last]) {
        assert_eq!(report.ended, Ended::Done(Claim::Bounded(Bound { most, unit: Unit::Preemption })));
    }
    let all: Vec<u64> = reports[..=last].iter().map(|report| report.executions).collect();
    (0..all.len()).map(|bound| all[bound] - if bound == 0 { 0 } else { all[bound - 1] }).collect()
}

#[test]
fn orders_by_the_number_of_preemptions() {
    // An execution is a word over a and b. A preemption is a change of letter where the earlier letter comes again.
    assert_eq!(by_bound(&[1, 1]), [2]);
    assert_eq!(by_bound(&[2, 1]), [2, 1]);
    assert_eq!(by_bound(&[2, 2]), [2, 2, 2]);
    assert_eq!(by_bound(&[3, 3]), [2, 4, 8, 4, 2]);
    assert_eq!(by_bound(&[1, 1, 1]), [6]);
    assert_eq!(by_bound(&[2, 2, 2]).iter().sum::<u64>(), 90);
}

#[test]
fn without_room_the_search_ends_with_a_bound() {
    let mut little = Preemption::unbounded().without_cache().with_room(40);
    let report = search(&mut Counters::new(&[4, 4]), &mut little, &Limits::default());
    let Ended::Done(Claim::Bounded(bound)) = report.ended else { panic!("{:?}", report.ended) };
    let up_to =
        search(&mut Counters::new(&[4, 4]), &mut Preemption::up_to(bound.most).without_cache(), &Limits::default());
    assert_eq!(report.executions, up_to.executions);
    assert!(report.executions < 70);
}

#[test]
fn a_stopped_search_claims_the_finished_iterations() {
    let limits = Limits { executions: Some(5), ..Limits::default() };
    let report = search(&mut Counters::new(&[3, 3]), &mut Preemption::unbounded().without_cache(), &limits);
    assert_eq!(report.ended, Ended::BudgetSpent);
    assert_eq!(report.covered.map(|bound| bound.to_string()).as_deref(), Some("up to 0 preemptions"));
    let limits = Limits { executions: Some(7), ..limits };
    let report = search(&mut Counters::new(&[3, 3]), &mut Preemption::unbounded().without_cache(), &limits);
    assert_eq!(report.covered.map(|bound| bound.to_string()).as_deref(), Some("up to 1 preemption"));
}
