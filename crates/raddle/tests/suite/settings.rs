//! Settings by builder and by environment. Children of this process get the environment, and one test each to run.

use std::process::{Command, Output};
use std::time::Duration;

use raddle::strategy::{Exhaustive, Pct, Random};
use raddle::{Explorer, thread};

use crate::programs;

/// Runs one of the ignored tests below with some variables set.
fn child(test: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let exe = std::env::current_exe().unwrap();
    let mut command = Command::new(exe);
    command.args(["--exact", "--ignored", "--nocapture", test]);
    for name in ["STRATEGY", "EXECUTIONS", "TIME", "SEED", "WORKERS", "STEPS", "REPLAY", "OUT"] {
        command.env_remove(format!("RADDLE_{name}"));
    }
    command.env("RADDLE_OUT", "").env("NO_COLOR", "1").envs(variables.iter().copied());
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(text.contains("running 1 test"), "{text}");
    (status.success(), text)
}

#[raddle::test(strategy = "random", executions = 30, seed = 1)]
#[ignore = "run as a child of other tests"]
fn passes() {
    programs::counts_under_a_lock();
}

#[raddle::test(strategy = "random", executions = 300, regressions = false)]
#[ignore = "run as a child of other tests"]
fn fails() {
    programs::lost_update();
}

#[test]
#[ignore = "run as a child of other tests"]
#[expect(clippy::print_stdout, reason = "to see where it goes")]
fn says_something() {
    Explorer::new().check(|| println!("the program speaks"));
}

#[test]
fn the_environment_wins() {
    let passes = |variables: &[(&str, &str)]| {
        let (success, text) = child("settings::passes", variables);
        assert!(success, "{text}");
        text
    };
    let says = |variables: &[(&str, &str)], executions: &str, label: &str| {
        let text = passes(variables);
        let line = text.lines().find(|line| line.contains("raddle: no failure in ")).unwrap_or_default();
        assert!(
            line.contains(&format!("in {executions} ")) && line.contains(&format!("(a sample: {label})")),
            "{text}"
        );
    };
    says(&[], "30", "random, seed 1");
    says(&[("RADDLE_SEED", "9")], "30", "random, seed 9");
    says(&[("RADDLE_EXECUTIONS", "12")], "12", "random, seed 1");
    says(&[("RADDLE_STRATEGY", "pct:2")], "30", "pct:2, seed 1");
    says(&[("RADDLE_WORKERS", "3")], "30", "random, seed 1");
    assert!(passes(&[("RADDLE_STRATEGY", "exhaustive"), ("RADDLE_TIME", "1m")]).contains("verified: all "));
}

#[test]
fn a_wrong_variable_is_reported_with_the_allowed_values() {
    let says = |variable: (&str, &str), expected: &str| {
        let (success, text) = child("settings::passes", &[variable]);
        assert!(!success && text.contains(expected), "{text}");
    };
    says(("RADDLE_STRATEGY", "pctt"), "RADDLE_STRATEGY is `pctt`, which is not a strategy (did you mean `pct`?)");
    says(("RADDLE_TIME", "30"), "RADDLE_TIME is `30`, which is not a duration such as `500ms`");
    says(("RADDLE_WORKERS", "0"), "RADDLE_WORKERS is `0`, which is not a number of workers between 1 and 1024");
    says(("RADDLE_EXECUTIONS", "many"), "RADDLE_EXECUTIONS is `many`, which is not a number of executions");
    says(("RADDLE_STEPS", "-3"), "RADDLE_STEPS is `-3`, which is not a number of steps");
    says(("RADDLE_REPLAY", "v9:1"), "this schedule has version 9");
}

#[test]
fn a_replay_by_environment_is_one_execution() {
    let (success, text) = child("settings::fails", &[("RADDLE_REPLAY", "v1:1,2,1")]);
    assert!(!success && text.contains("FAILED in 1 order (replay): panic in main"), "{text}");
    let (success, text) = child("settings::fails", &[("RADDLE_REPLAY", "v1:1x2")]);
    assert!(success && text.contains("no failure in 1 order (replay)"), "{text}");
    // One that does not fit proves nothing, so the test does not pass.
    let (success, text) = child("settings::fails", &[("RADDLE_REPLAY", "v1:1,9,2")]);
    assert!(!success && text.contains("the schedule does not fit at step") && text.contains("task 9 cannot"), "{text}");
}

#[test]
fn a_step_bound_by_environment() {
    let (success, text) = child("settings::passes", &[("RADDLE_STEPS", "3")]);
    assert!(!success && text.contains("too many steps"), "{text}");
}

#[test]
fn colours_when_asked_for() {
    let (_, plain) = child("settings::fails", &[("CLICOLOR_FORCE", "1")]);
    assert!(!plain.contains('\u{1b}'), "NO_COLOR wins: {plain}");
    let (_, coloured) = child("settings::fails", &[("NO_COLOR", ""), ("CLICOLOR_FORCE", "1")]);
    assert!(coloured.contains("\u{1b}["), "{coloured}");
}

#[test]
fn the_output_of_programs_is_captured_with_the_test() {
    let exe = std::env::current_exe().unwrap();
    let run = |arguments: &[&str]| {
        let output =
            Command::new(&exe).args(["--exact", "--ignored", "settings::says_something"]).args(arguments).output();
        let Output { stdout, stderr, .. } = output.unwrap();
        format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr))
    };
    assert!(!run(&[]).contains("the program speaks"));
    assert!(run(&["--nocapture"]).contains("the program speaks"));
}

#[test]
fn strategies_are_names_or_values() {
    let run = |explorer: Explorer| explorer.executions(500).run(programs::lost_update);
    assert!(run(Explorer::new().strategy("random")).failed());
    assert!(run(Explorer::new().strategy(String::from("pct"))).failed());
    assert!(run(Explorer::new().strategy(Random::new(1))).failed());
    assert!(run(Explorer::new().strategy(Pct::new(1, 2))).failed());
    assert!(run(Explorer::new().strategy(Exhaustive::breadth_first())).failed());
    let sampled = Explorer::new().strategy(Random::new(3)).executions(20).run(programs::counts_under_a_lock);
    assert_eq!(sampled.verdict_line(), "no failure in 20 executions of a program with ≈ 2 orders (a sample: random)");
}

#[test]
fn the_time_ends_a_search() {
    let forever = || {
        let threads: Vec<_> = (0..4).map(|_| thread::spawn(|| (0..10).for_each(|_| thread::yield_now()))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    let report = Explorer::new().strategy("exhaustive").time(Duration::from_millis(50)).run(forever);
    assert!(!report.failed() && !report.verified(), "{report}");
    let line = report.verdict_line();
    assert!(line.starts_with("no failure in ") && line.ends_with(" (stopped early: exhaustive)"), "{report}");
}

#[test]
#[should_panic(expected = "raddle: strategy is `nope`, which is not a strategy; there are: portfolio, random, pct")]
fn a_wrong_name_is_an_error_when_it_is_run() {
    Explorer::new().strategy("nope").run(|| ());
}

#[test]
#[should_panic(expected = "raddle: executions is `0`, which is not a number of executions, 1 or more")]
fn a_wrong_number_is_an_error_when_it_is_run() {
    Explorer::new().executions(0).run(|| ());
}

/// Four threads that take ten turns each have more orders than anybody can wait for.
fn no_end() {
    let threads: Vec<_> = (0..4).map(|_| thread::spawn(|| (0..10).for_each(|_| thread::yield_now()))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn deviations_are_bounded_where_that_makes_sense() {
    let bounded = |strategy: &str, most| Explorer::new().strategy(strategy).deviations(most).run(no_end).verdict_line();
    assert_eq!(bounded("exhaustive", 0), "no failure with up to 0 deviations (the 1 order there is)");
    assert!(bounded("exhaustive", 2).starts_with("no failure with up to 2 deviations (all "));
    let stopped = Explorer::new().strategy("exhaustive").deviations(1).executions(3).run(no_end).verdict_line();
    assert!(stopped.ends_with(" (stopped early: exhaustive, up to 1 deviation)"), "{stopped}");
    let error = std::panic::catch_unwind(|| bounded("random", 1)).expect_err("random has no first order to stray from");
    let error = error.downcast_ref::<String>().expect("a message");
    assert_eq!(error, "raddle: deviations can be bounded under exhaustive and dpor, not under random");
}

/// A directory of its own for a test's files.
fn fresh_dir(name: &str) -> std::path::PathBuf {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    dir
}

#[test]
fn a_stopped_search_is_resumed() {
    let program = || {
        let threads: Vec<_> = (0..3).map(|_| thread::spawn(|| (0..2).for_each(|_| thread::yield_now()))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    let whole = Explorer::new().strategy("exhaustive").run(program).verdict_line();
    let dir = fresh_dir("taken-up");
    let sitting = |strategy: &str, executions| {
        let explorer = Explorer::new().strategy(strategy).executions(executions).resume(true).name("suite::taken_up");
        explorer.set("out", dir.to_str().unwrap()).run(program)
    };
    let mut sittings = 0;
    let last = loop {
        let report = sitting("exhaustive", 20);
        sittings += 1;
        if report.verified() {
            break report;
        }
        assert!(report.to_string().contains("suite-taken_up.left.json; the next run continues it"), "{report}");
    };
    assert!(sittings > 2, "{sittings}");
    assert_eq!(last.verdict_line(), whole);
    assert!(!dir.join("suite-taken_up.left.json").exists(), "nothing is left");
}

#[test]
fn a_search_saved_by_another_build_starts_again() {
    let dir = fresh_dir("built-anew");
    let run = || {
        let explorer = Explorer::new().strategy("exhaustive").executions(50).resume(true).name("suite::built_anew");
        explorer.set("out", dir.to_str().unwrap()).run(no_end)
    };
    assert_eq!((run().executions(), run().executions()), (50, 100));
    let file = dir.join("suite-built_anew.left.json");
    let written = std::fs::read_to_string(&file).expect("what is left");
    std::fs::write(&file, written.replace("\"program\":", "\"program\":0,\"was\":")).unwrap();
    let again = run();
    assert_eq!(again.executions(), 50);
    assert!(again.to_string().contains("note: the test was rebuilt"), "{again}");
    assert_eq!(run().executions(), 100);
}

#[test]
fn the_rest_of_another_search_is_refused_and_not_overwritten() {
    let dir = fresh_dir("refused");
    let run = |strategy: &'static str, name: &'static str| {
        let out = dir.to_str().unwrap().to_owned();
        let run = move || {
            let explorer = Explorer::new().strategy(strategy).executions(50).resume(true).name(name);
            explorer.set("out", &out).run(no_end)
        };
        std::panic::catch_unwind(run)
            .map(|_| ())
            .map_err(|panic| panic.downcast_ref::<String>().expect("a message").clone())
    };
    run("exhaustive", "suite::refused").expect("nothing is there yet");
    let file = dir.join("suite-refused.left.json");
    let written = std::fs::read_to_string(&file).expect("what is left");
    let error = run("dpor", "suite::refused").expect_err("another strategy");
    assert!(error.contains("was left by the strategy exhaustive and not by dpor; delete it to begin again"), "{error}");
    let error = run("round-robin", "suite::refused").expect_err("it cannot");
    assert_eq!(error, "raddle: the search cannot be resumed: round-robin cannot be saved");
    for (broken, why) in [
        (written.replace("\"format\":4", "\"format\":7"), "has format 7 and not 4"),
        (written[..written.len() / 2].to_owned(), "is broken"),
        (written.replace("\"bytes\":\"", "\"bytes\":\"00"), "it is not what was written"),
        (written.replace("spurious_wakeups 1", "spurious_wakeups 2"), "was left with the settings"),
        (String::new(), "is broken"),
    ] {
        std::fs::write(&file, &broken).unwrap();
        let error = run("exhaustive", "suite::refused").expect_err(why);
        assert!(error.contains(why), "{error}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), broken, "it is left as it is");
    }
}
