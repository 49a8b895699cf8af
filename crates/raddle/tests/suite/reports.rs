//! What the terminal shows.

use raddle::Explorer;

use crate::programs;

#[test]
fn a_lost_update() {
    let report = Explorer::new().name("suite::counter::counts").regressions(false).run(programs::lost_update);
    insta::assert_snapshot!(report);
}

#[test]
fn a_deadlock_of_three_locks() {
    let report = Explorer::new().name("suite::locks::all_colours").regressions(false).run(programs::three_locks);
    insta::assert_snapshot!(report);
}

/// A search that had to guess never says `verified`.
#[test]
fn a_loop_that_counts_its_rounds() {
    let report = Explorer::new().strategy("exhaustive").run(programs::counts_its_rounds);
    assert!(!report.verified() && !report.failed());
    insta::assert_snapshot!(report);
}
