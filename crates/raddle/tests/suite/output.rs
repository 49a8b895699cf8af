//! What the program under test prints, with the harness and without. Children of this process print.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "to see where it goes")]

use std::process::Command;

use raddle::Explorer;
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::thread;

/// Two threads that print, in all orders.
fn pushes() -> usize {
    let list = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for i in 0..2 {
            let list = &list;
            scope.spawn(move || {
                list.lock().unwrap().push(i);
                println!("pushed {i}");
            });
        }
    });
    eprintln!("both are in");
    list.lock().unwrap().len()
}

#[raddle::test(regressions = false)]
#[ignore = "run as a child of other tests"]
fn prints_and_passes() {
    assert_eq!(pushes(), 2);
}

#[raddle::test(regressions = false)]
#[ignore = "run as a child of other tests"]
fn prints_and_fails() {
    assert_eq!(pushes(), 3);
}

#[raddle::test(regressions = false, strategy = "exhaustive")]
#[ignore = "run as a child of other tests"]
fn returns_an_error() -> Result<(), String> {
    let n = Arc::new(AtomicUsize::new(0));
    let other = n.clone();
    let thread = thread::spawn(move || other.store(1, SeqCst));
    let seen = n.load(SeqCst);
    thread.join().unwrap();
    if seen == 1 { Err("too early".to_owned()) } else { Ok(()) }
}

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        panic!("the second");
    }
}

#[raddle::test(regressions = false)]
#[ignore = "run as a child of other tests"]
fn panics_twice() {
    let _bomb = PanicsWhenDropped;
    panic!("the first");
}

/// A mistake that is none of a task's: the test cannot even begin.
#[test]
#[ignore = "run as a child of other tests"]
fn cannot_make_its_model() {
    Explorer::new().check_model(|| panic!("this cannot be made"));
}

/// What a child prints to its two streams.
fn child(test: &str, arguments: &[&str], backtrace: &str) -> (String, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--ignored", &format!("output::{test}")]).args(arguments);
    let output = command.env("RUST_BACKTRACE", backtrace).output().unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_passing_test_shows_the_output_of_one_execution() {
    let shown = "--- output of one execution ---\npushed 0\npushed 1\nboth are in\n--- end of output ---\n";
    for arguments in [["--nocapture"], ["--show-output"]] {
        let (stdout, stderr) = child("prints_and_passes", &arguments, "0");
        assert!(stdout.contains(shown), "{stdout}{stderr}");
        assert_eq!((stdout + &stderr).matches("pushed 0").count(), 1);
    }
    let (stdout, stderr) = child("prints_and_passes", &[], "0");
    assert!(!(stdout + &stderr).contains("pushed"));
}

#[test]
fn a_failing_test_shows_the_failing_execution_and_then_the_verdict() {
    let (stdout, stderr) = child("prints_and_fails", &[], "0");
    let shown = "--- output of the failing execution ---\npushed 0\npushed 1\nboth are in\n--- end of output ---\n";
    assert!(stdout.contains(shown), "{stdout}{stderr}");
    assert!(stdout.find(shown) < stdout.find("FAILED after"), "{stdout}");
    assert_eq!((stdout + &stderr).matches("pushed 0").count(), 1);
}

#[test]
fn backtraces_have_the_frames_of_the_program_only() {
    let (stdout, _) = child("prints_and_fails", &[], "1");
    assert!(stdout.contains("main panicked at crates/raddle/tests/suite/output.rs:"), "{stdout}");
    assert!(stdout.contains("   0: suite::output::prints_and_fails::prints_and_fails\n"), "{stdout}");
    for others in ["raddle_runtime::", "raddle_engine::", "corosensei::", "core::panicking", "raddle::explorer"] {
        assert!(!stdout.contains(others), "{stdout}");
    }
}

#[test]
fn an_error_is_reported_with_the_place_of_the_test() {
    let (stdout, _) = child("returns_an_error", &[], "0");
    let place = "  the test returned an error: \"too early\"\n  at crates/raddle/tests/suite/output.rs:";
    assert!(stdout.contains(place), "{stdout}");
}

#[test]
fn nothing_is_said_of_an_abort_that_does_not_come() {
    let (stdout, stderr) = child("panics_twice", &[], "0");
    assert!(stdout.contains("Outside Raddle, the process aborts here."), "{stdout}");
    assert!(!(stdout + &stderr).contains("non-unwinding panic"));
}

#[test]
fn failures_outside_of_executions_are_reported() {
    let (stdout, stderr) = child("cannot_make_its_model", &[], "0");
    assert!((stdout + &stderr).contains("this cannot be made"));
}
