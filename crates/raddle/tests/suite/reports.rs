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
