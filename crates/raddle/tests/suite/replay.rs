//! A failing schedule is text, and the text is the failure again.

use raddle::{Explorer, Failure, Report, Schedule};

use crate::programs;

/// What a report says beyond its first line and its last ones, which tell how the failure was come by.
pub fn story(report: &Report) -> String {
    let text = report.to_string();
    let lines = text.lines().skip(1).filter(|line| !line.starts_with("replay:"));
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

#[test]
fn every_failure_can_be_replayed() {
    let all: [fn(); 6] = [
        programs::lost_update,
        programs::three_locks,
        programs::same_lock_twice,
        programs::spins_for_ever,
        programs::forgets_a_guard,
        programs::panics_in_a_destructor,
    ];
    for program in all {
        for strategy in ["random", "pct", "pos", "surw", "exhaustive", "exhaustive:random", "portfolio"] {
            let found = Explorer::new().strategy(strategy).run(program);
            let text = found.schedule().expect("all of these fail").to_string();
            let again = Explorer::new().replay(&text).run(program);
            assert_eq!(again.executions(), 1);
            assert_eq!(again.failure(), found.failure());
            assert_eq!(again.schedule(), found.schedule());
            assert_eq!(story(&again), story(&found));
        }
    }
}

#[test]
fn the_same_seed_is_the_same_search() {
    for strategy in ["random", "pct", "pos", "surw", "portfolio", "exhaustive:random"] {
        let run = |seed| Explorer::new().strategy(strategy).seed(seed).run(programs::three_locks);
        let (a, b) = (run(5), run(5));
        assert_eq!(a.to_string(), b.to_string());
        assert_eq!((a.executions(), a.steps()), (b.executions(), b.steps()));
    }
}

#[test]
fn a_schedule_that_passes_is_reported_as_well() {
    let report = Explorer::new().replay("v1:1x2,2x2").run(programs::lost_update);
    assert!(!report.failed());
    assert_eq!(report.verdict_line(), "no failure in 1 order (replay)");
    assert!(report.to_string().contains("load counter → 2"), "{report}");
}

#[test]
fn a_schedule_that_does_not_fit_says_where_and_why() {
    let report = Explorer::new().replay("v1:1,7").run(programs::lost_update);
    let text = report.to_string();
    assert!(
        text.contains("the schedule does not fit at step 4 (after 1 of 2 decisions): task 7 cannot go on"),
        "{text}"
    );
    assert!(text.contains("from there on it went freely"), "{text}");
}

#[test]
fn a_schedule_is_also_read_from_a_file() {
    let file = std::env::temp_dir().join(format!("raddle-replay-{}.txt", std::process::id()));
    std::fs::write(&file, "# two kept ones\nv1:1x2,2x2\nv1:1,2,1\n").unwrap();
    let report = Explorer::new().replay(file.to_str().unwrap()).run(programs::lost_update);
    std::fs::remove_file(&file).unwrap();
    assert!(matches!(report.failure(), Some(Failure::Panic { .. })), "{report}");
}

#[test]
fn schedules_are_values() {
    let schedule: Schedule = "v1:1,2,1".parse().unwrap();
    assert!(Explorer::new().replay(schedule.to_string()).run(programs::lost_update).failed());
}

#[test]
#[should_panic(expected = "the schedule to replay, `no-such-file`, cannot be read: a schedule starts with `v1:`")]
fn what_is_neither_schedule_nor_file_is_an_error() {
    Explorer::new().replay("no-such-file").run(|| ());
}

#[test]
#[should_panic(expected = "the strategy `replay` needs a schedule")]
fn replaying_nothing_is_an_error() {
    Explorer::new().strategy("replay").run(|| ());
}
