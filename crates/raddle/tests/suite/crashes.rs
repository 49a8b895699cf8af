//! Programs that end the process, or never come back, in the middle of an execution. They run as children of this process.
#![cfg(target_os = "linux")]

mod children;

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A child and what came of it.
struct Ended {
    output: Output,
    said: String,
    dir: PathBuf,
}

fn fresh_dir(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("crashes-{name}"));
    let _ = std::fs::remove_dir_all(&dir);
    dir
}

fn child(dir: &Path, name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--ignored", &format!("crashes::children::{name}")]).env("RADDLE_OUT", dir);
    command
}

fn run_in(dir: &Path, name: &str, replay: Option<&str>) -> Ended {
    let mut command = child(dir, name);
    let output = command.envs(replay.map(|schedule| ("RADDLE_REPLAY", schedule))).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Ended { output, said, dir: dir.to_owned() }
}

fn run(child: &str) -> Ended {
    run_in(&fresh_dir(child), child, None)
}

impl Ended {
    #[track_caller]
    fn says(&self, words: &str) -> &Self {
        let stdout = String::from_utf8_lossy(&self.output.stdout);
        assert!(self.said.contains(words), "no `{words}` in:\n{}\n{stdout}", self.said);
        self
    }

    #[track_caller]
    fn died_by(&self, signal: i32) -> &Self {
        assert_eq!(self.output.status.signal(), Some(signal), "{:?}\n{}", self.output.status, self.said);
        self
    }

    #[track_caller]
    fn left_with(&self, code: i32) -> &Self {
        assert_eq!(self.output.status.code(), Some(code), "{:?}\n{}", self.output.status, self.said);
        self
    }

    /// The schedule of the line that replays it.
    #[track_caller]
    fn schedule(&self) -> &str {
        let rest = self.said.split_once("RADDLE_REPLAY=").unwrap_or_else(|| panic!("{}", self.said)).1;
        rest.split_once(" cargo test crashes::children::").unwrap_or_else(|| panic!("{}", self.said)).0
    }

    fn kept(&self, child: &str) -> String {
        let file = self.dir.join(format!("suite-crashes-children-{child}.txt"));
        std::fs::read_to_string(file).unwrap_or_default()
    }

    /// The schedule was kept, and running it by hand or as a regression shows the same.
    #[track_caller]
    fn shows_again(&self, child: &str, words: &str) {
        let kept = self.kept(child);
        assert!(kept.ends_with(&format!("\n{}\n", self.schedule())), "{kept}");
        self.says("saved: ");
        let by_hand = run_in(&fresh_dir(&format!("{child}-again")), child, Some(self.schedule()));
        assert_eq!(by_hand.output.status, self.output.status, "{}", by_hand.said);
        by_hand.says(words);
        assert_eq!(by_hand.kept(child), "", "a replay keeps nothing");
        let regression = run_in(&self.dir, child, None);
        assert_eq!(regression.output.status, self.output.status, "{}", regression.said);
        regression.says(words);
        assert_eq!(regression.kept(child), kept, "it is kept once");
    }
}

#[test]
fn a_segmentation_fault() {
    let words = "FAILED: crash by SIGSEGV (invalid memory access at 0x10), in main";
    let ended = run("segv");
    ended.died_by(11).says(words).says("test: suite::crashes::children::segv\n");
    ended.says("the latest: load by main at crates/raddle/tests/suite/crashes/children.rs:");
    assert!(ended.kept("segv").contains("\n# crash by SIGSEGV"), "{}", ended.kept("segv"));
    ended.shows_again("segv", words);
}

#[test]
fn a_crash_of_a_sampled_execution() {
    for child in ["segv_by_random", "segv_by_pct"] {
        let ended = run(child);
        ended.died_by(11);
        assert!(ended.schedule().starts_with("v1:@"), "{}", ended.said);
        ended.shows_again(child, "crash by SIGSEGV");
    }
}

#[test]
fn a_crash_of_an_actor_in_an_untraced_run() {
    let ended = run("actor_by_random");
    ended.died_by(11).says("in Crashes#1").shows_again("actor_by_random", "crash by SIGSEGV");
}

#[test]
fn other_signals() {
    for (child, signal, words) in [
        ("illegal", 4, "crash by SIGILL (invalid instruction"),
        ("aborts", 6, "crash by SIGABRT (the process was aborted), in second"),
        ("double_free", 6, "crash by SIGABRT (the process was aborted)"),
        ("divides", 8, "crash by SIGFPE (invalid arithmetic"),
        ("bus_error", 7, "crash by SIGBUS (invalid memory access"),
        ("raises_bus_error", 7, "crash by SIGBUS (invalid memory access)"),
    ] {
        run(child).died_by(signal).says(words).shows_again(child, words);
    }
}

#[test]
fn an_earlier_signal_handler_is_still_called() {
    run("handles_segv").left_with(77).says("crash by SIGSEGV");
}

#[test]
fn the_program_calls_exit() {
    let words = "FAILED: the program ended the process by `exit`, in main";
    run("exits").left_with(101).says(words).shows_again("exits", words);
}

#[test]
fn a_crash_of_a_model() {
    for child in ["model_segv", "model_segv_by_random", "model_check_segv"] {
        run(child).died_by(11).shows_again(child, "crash by SIGSEGV");
    }
    run("model_segv").says("in Crashes#1");
}

#[test]
fn a_stack_overflow_of_a_model() {
    let words = "FAILED: stack overflow, in Deep#1";
    run("model_deep").died_by(6).says(words).shows_again("model_deep", words);
}

#[test]
fn a_loop_without_operations() {
    let ended = run("loops");
    let words = "FAILED: hang, no step for";
    ended.left_with(101).says("raddle: hang, no step for").says("loop without any operation").says(words);
    ended.says("the latest: load by main at crates/raddle/tests/suite/crashes/children.rs:");
    ended.shows_again("loops", words);
}

#[test]
fn a_lock_of_std_that_is_held_across_a_step() {
    run("std_lock").left_with(101).says("a lock of `std`").says("FAILED: hang");
}

#[test]
fn a_hang_of_a_model() {
    run("model_loops").left_with(101).says("FAILED: hang").says("in Loops#1");
}

#[test]
fn a_task_that_continues_after_a_while_is_only_reported() {
    let ended = run("slow");
    ended.left_with(0).says("raddle: hang, no step for");
    assert!(!ended.said.contains("FAILED"), "{}", ended.said);
    assert!(ended.kept("slow").is_empty());
}

/// The names of the frames are looked up in the debug information, which takes a while the first time.
#[test]
fn a_backtrace_is_no_hang() {
    let mut command = child(&fresh_dir("panics_at_once"), "panics_at_once");
    let output = command.env("RUST_BACKTRACE", "1").output().unwrap();
    let (shown, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(shown.contains("stack backtrace:") && !said.contains("hang"), "{said}\n{shown}");
}

#[test]
fn a_panic_that_cannot_unwind_is_a_failure_like_any_other() {
    let ended = run("panics_across_a_foreign_frame");
    ended.left_with(101);
    let shown = String::from_utf8_lossy(&ended.output.stdout);
    for words in [
        "FAILED after 2 orders: abort in main\n",
        ": not across this frame\n  The panic came to a function that cannot unwind",
        "replay: RADDLE_REPLAY=v1:1 cargo test crashes::children::panics_across_a_foreign_frame -- --exact",
    ] {
        assert!(shown.contains(words), "no `{words}` in:\n{shown}");
    }
    assert_eq!(ended.said, "", "nothing aborts");
    assert!(!shown.contains("aborting"), "{shown}");
    assert!(ended.kept("panics_across_a_foreign_frame").ends_with("\nv1:1\n"));
}

#[test]
fn operations_inside_a_foreign_frame_do_not_end_the_process() {
    let ended = run("deadlocks_in_a_foreign_frame");
    let shown = String::from_utf8_lossy(&ended.output.stdout);
    ended.left_with(101);
    assert!(shown.contains(": deadlock\n"), "{shown}");
    assert_eq!(ended.said, "");
}

#[test]
fn a_crash_in_a_destructor_at_the_end() {
    run("crashes_when_dropped").died_by(11).shows_again("crashes_when_dropped", "crash by SIGSEGV");
}
