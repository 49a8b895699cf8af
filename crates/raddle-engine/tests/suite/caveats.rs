//! What limits the conclusions from a search is counted.

use raddle_engine::example::Counters;
use raddle_engine::search::{Limits, search};
use raddle_strategies::samplers::random::Random;
use raddle_strategies::tree::exhaustive::Exhaustive;

#[test]
fn executions_with_alternatives_are_counted() {
    let concurrent = |tasks: &[u32]| {
        let report = search(&mut Counters::new(tasks), &mut Exhaustive::depth_first(), &Limits::default());
        (report.caveats.concurrent, report.executions)
    };
    assert_eq!(concurrent(&[2, 2]), (6, 6));
    assert_eq!(concurrent(&[3]), (0, 1));
    let limits = Limits { executions: Some(5), ..Limits::default() };
    let sampled = search(&mut Counters::new(&[2, 2]), &mut Random::new(1), &limits);
    assert_eq!(sampled.caveats.concurrent, 5);
}
