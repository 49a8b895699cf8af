//! Ctrl-C in the middle of a search. Children of this process are told to end.
#![cfg(unix)]

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::thread;

/// Tells the parent that it runs.
fn begun() {
    let dir = PathBuf::from(std::env::var_os("RADDLE_OUT").unwrap());
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("begun"), "").unwrap();
}

fn takes_turns() {
    let threads: Vec<_> = (0..4).map(|_| thread::spawn(|| (0..10).for_each(|_| thread::yield_now()))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[raddle::test(strategy = "exhaustive", time = "1h")]
#[ignore = "run as a child of other tests"]
fn endless() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    takes_turns();
    ONCE.call_once(begun);
}

#[raddle::test(strategy = "exhaustive", time = "1h", workers = 1)]
#[ignore = "run as a child of other tests"]
fn stuck() {
    begun();
    loop {
        std::thread::park();
    }
}

/// 1,680 orders, each of which takes some time.
#[raddle::test(time = "1h")]
#[ignore = "run as a child of other tests"]
fn slow() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(begun);
    std::thread::sleep(Duration::from_millis(2));
    let count = raddle::sync::Arc::new(AtomicU32::new(0));
    let add = |_| {
        let count = count.clone();
        thread::spawn(move || (0..3).for_each(|_| assert!(count.fetch_add(1, SeqCst) < 9)))
    };
    let threads: Vec<_> = (0..3).map(add).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn left_of(test: &str, dir: &Path) -> PathBuf {
    dir.join(format!("suite-interrupted-{test}.left.json"))
}

fn file(dir: &Path) -> PathBuf {
    left_of("endless", dir)
}

/// A child that has begun.
fn child(test: &str, dir: &Path, resume: bool) -> Child {
    child_with(test, dir, resume, &[])
}

/// The same, with some variables set.
fn child_with(test: &str, dir: &Path, resume: bool, variables: &[(&str, &str)]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--ignored", "--nocapture", &format!("interrupted::{test}")]);
    command.env("RADDLE_OUT", dir).env("RADDLE_RESUME", resume.to_string()).envs(variables.iter().copied());
    let _ = std::fs::remove_file(dir.join("begun"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !dir.join("begun").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it began");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn tell(child: &Child, signal: &str) {
    let told = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(told.success());
}

/// The signal it died by, and what it said.
fn end(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    (output.status.signal(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn fresh_dir(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&dir);
    dir
}

#[test]
fn the_rest_is_saved_and_the_process_ends_by_the_signal() {
    for (signal, number) in [("-INT", 2), ("-TERM", 15)] {
        let dir = fresh_dir("interrupted");
        let first = child("endless", &dir, true);
        tell(&first, signal);
        let (died_by, said) = end(first);
        assert_eq!(died_by, Some(number), "{said}");
        assert!(said.contains("told to end; the rest of the search is saved in "), "{said}");
        let kept = std::fs::read_to_string(file(&dir)).expect("what is left");
        let second = child("endless", &dir, true);
        tell(&second, signal);
        assert_eq!(end(second).0, Some(number), "it was taken up again");
        assert_ne!(std::fs::read_to_string(file(&dir)).expect("what is left"), kept, "it went on");
    }
}

#[test]
fn the_verdict_so_far_is_printed_without_a_file_too() {
    let dir = fresh_dir("interrupted-plainly");
    let child = child("endless", &dir, false);
    tell(&child, "-INT");
    let (died_by, said) = end(child);
    assert_eq!((died_by, file(&dir).exists()), (Some(2), false), "{said}");
    assert!(said.contains("endless: told to end\nno failure in "), "{said}");
    assert!(said.contains("(stopped early: exhaustive)"), "{said}");
}

#[test]
fn the_report_names_what_the_end_waits_for() {
    let mut child = child("stuck", &fresh_dir("interrupted-hang"), false);
    tell(&child, "-INT");
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("Tell it once more (Ctrl-C)") {
        line.clear();
        assert_ne!(std::io::BufRead::read_line(&mut said, &mut line).unwrap(), 0, "it ended without a word");
    }
    tell(&child, "-INT");
    assert_eq!(end(child).0, Some(2));
}

#[test]
fn the_second_time_ends_it_at_once() {
    let mut child = child("stuck", &fresh_dir("interrupted-twice"), true);
    // Signals that come before the first was seen are one.
    while child.try_wait().unwrap().is_none() {
        tell(&child, "-INT");
    }
    assert_eq!(end(child).0, Some(2));
}

/// Kills a search as soon as it has written something down, and lets another one end it.
fn killed_and_resumed(strategy: &str, workers: &str) {
    let dir = fresh_dir(&format!("killed-{strategy}"));
    let variables = [("RADDLE_STRATEGY", strategy), ("RADDLE_WORKERS", workers)];
    let mut first = child_with("slow", &dir, true, &variables);
    let file = left_of("slow", &dir);
    while !file.exists() {
        assert!(first.try_wait().unwrap().is_none(), "it ended before it had written anything down");
        std::thread::sleep(Duration::from_millis(5));
    }
    tell(&first, "-KILL");
    assert_eq!(end(first).0, Some(9));
    let left = std::fs::read_to_string(&file).expect("what is left");
    let executions = left.split_once("\"total\":{\"executions\":").map(|(_, rest)| rest.split(',').next().unwrap());
    let executions: u32 = executions.and_then(|number| number.parse().ok()).expect("how many were run");
    assert!((1..1_680).contains(&executions), "{executions}");
    let second = child_with("slow", &dir, true, &variables).wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(second.status.success() && said.contains("verified: all 1,680 orders"), "{said}");
    assert!(!file.exists(), "nothing is left");
}

#[test]
fn a_killed_search_is_resumed_from_its_latest_save() {
    std::thread::scope(|scope| {
        scope.spawn(|| killed_and_resumed("exhaustive", "1"));
        scope.spawn(|| killed_and_resumed("dpor", "2"));
    });
}
