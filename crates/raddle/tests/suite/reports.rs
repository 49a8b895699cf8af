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

/// A loop with a bound is explored to its end, and needs no guess.
#[test]
fn a_loop_that_counts_its_rounds() {
    let report = Explorer::new().strategy("exhaustive").run(programs::counts_its_rounds);
    assert!(report.verified());
    insta::assert_snapshot!(report);
}

fn rows(program: fn()) -> raddle::Report {
    Explorer::new().name("suite::rows::rows").regressions(false).strategy("exhaustive").run(program)
}

#[test]
fn rows_of_a_task_are_in_the_order_of_its_program() {
    insta::assert_snapshot!("a_join_comes_before_what_follows_it", rows(programs::joins_and_goes_on));
    insta::assert_snapshot!("what_no_other_thread_sees_is_in_its_place", rows(programs::touches_its_own));
}

#[test]
fn one_row_for_one_operation() {
    insta::assert_snapshot!("an_exchange_that_succeeds", rows(programs::exchanges_once));
    insta::assert_snapshot!("an_exchange_that_fails_for_no_reason", rows(programs::exchanges_in_vain));
    insta::assert_snapshot!("a_notification_says_whom_it_wakes", rows(programs::wakes_one_of_two));
    insta::assert_snapshot!("a_wait_that_ends_for_no_reason", rows(programs::trusts_a_wake_up));
}

#[test]
fn timed_waits_are_shown_with_their_durations() {
    insta::assert_snapshot!(rows(programs::runs_out_of_time));
}

#[test]
fn pointers_are_shown_by_name() {
    insta::assert_snapshot!(rows(programs::swaps_pointers));
}

#[test]
fn spinning_is_folded() {
    insta::assert_snapshot!(rows(programs::spins_and_yields));
}

#[test]
fn threads_that_wait_after_main_has_returned() {
    insta::assert_snapshot!(rows(programs::leaves_a_receiver_waiting));
}
