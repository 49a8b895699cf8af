//! Several explorers that use the same files at once, and things that are no files where files are expected.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::{Explorer, Report, thread};

use crate::programs;

fn fresh_dir(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// Three threads with three steps each: 1,680 orders.
fn nine_steps() {
    let count = Arc::new(AtomicUsize::new(0));
    let add = |_| {
        let count = count.clone();
        thread::spawn(move || {
            for _ in 0..3 {
                count.fetch_add(1, SeqCst);
            }
        })
    };
    let threads: Vec<_> = (0..3).map(add).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn explorer(dir: &Path) -> Explorer {
    Explorer::new().name("suite::same").set("out", dir.to_str().unwrap()).workers(1)
}

/// Each of four explorers of one name runs a little further, or from the start if another one is at it.
#[test]
fn searches_with_one_name_do_not_overwrite_each_other() {
    let dir = fresh_dir("same-name");
    let sitting = |executions| {
        let explorer = explorer(&dir).resume(true).strategy("exhaustive").executions(executions);
        let report = explorer.run(nine_steps);
        assert!(!report.failed() && !report.to_string().contains("could not be saved"), "{report}");
        assert!(!report.verified() || report.executions() == 1_680, "{report}");
        report
    };
    std::thread::scope(|scope| {
        (0..4).for_each(|who| drop(scope.spawn(move || (0..5).for_each(|_| drop(sitting(100 + who))))));
    });
    let last = (0..20).map(|_| sitting(500)).find(Report::verified).expect("it ends");
    assert_eq!(last.executions(), 1_680);
}

#[test]
fn a_search_beside_another_of_its_name_begins_from_the_start_and_keeps_nothing() {
    let dir = fresh_dir("same-name-locked");
    let (left, lock) = (dir.join("suite-same.left.json"), dir.join(".suite-same.left.json.lock"));
    let sitting = || explorer(&dir).resume(true).strategy("exhaustive").executions(100).run(nine_steps);
    assert_eq!(sitting().executions(), 100);
    let kept = fs::read_to_string(&left).unwrap();
    // The lock belongs to whoever opened the file, so this is as good as another process.
    let other = fs::File::open(lock).unwrap();
    other.lock().unwrap();
    let report = sitting();
    assert!(report.to_string().contains("another search of this test is running"), "{report}");
    assert_eq!((report.executions(), fs::read_to_string(&left).unwrap()), (100, kept));
    drop(other);
    assert_eq!(sitting().executions(), 200);
}

fn make_pipe(file: &Path) {
    assert!(Command::new("mkfifo").arg(file).status().unwrap().success());
}

/// Opening a named pipe waits for whoever writes to it, and nobody does.
#[cfg(unix)]
#[test]
fn a_pipe_or_a_directory_in_place_of_a_file_is_reported_and_not_changed() {
    for (name, make, said) in [
        ("pipe", make_pipe as fn(&Path), "it is a pipe, a socket or a device and not a file"),
        ("directory", |file: &Path| fs::create_dir(file).unwrap(), "it is a directory and not a file"),
    ] {
        let dir = fresh_dir(name);
        let regressions = dir.join("suite-same.txt");
        make(&regressions);
        let report = explorer(&dir).run(programs::lost_update);
        let note = format!("suite-same.txt is left as it is and not used: it cannot be read: {said}");
        assert!(report.failed() && report.to_string().contains(&note), "{report}");
        assert!(!regressions.is_file());

        let replayed = explorer(&dir).replay(regressions.to_str().unwrap());
        let error = wrong_setting(replayed);
        assert!(error.contains("no schedule to replay in ") && error.ends_with(said), "{error}");

        make(&dir.join("suite-same.left.json"));
        let error = wrong_setting(explorer(&dir).strategy("exhaustive").regressions(false).resume(true));
        assert!(error.contains(&format!("cannot be read ({said}); delete it to begin again")), "{error}");

        make(&dir.join("suite-same.learned.json"));
        let report = explorer(&dir).strategy("hapset").regressions(false).run(programs::counts_under_a_lock);
        let text = report.to_string();
        assert!(text.contains(&format!("cannot be used: {said}; it could not be set aside")), "{text}");
        assert!(text.contains("what was learned could not be saved"), "{text}");
    }
}

/// What an explorer says of a setting that is wrong.
fn wrong_setting(explorer: Explorer) -> String {
    let run = || explorer.run(programs::counts_under_a_lock);
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).expect_err("the setting is wrong");
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let dir = fresh_dir("too-large");
    let regressions = dir.join("suite-same.txt");
    fs::File::create(&regressions).unwrap().set_len(1 << 40).unwrap();
    let report = explorer(&dir).run(programs::counts_under_a_lock);
    let note = "is left as it is and not used: it cannot be read: it has more than 33554432 bytes";
    assert!(report.to_string().contains(note), "{report}");
    fs::remove_file(&regressions).unwrap();
}
