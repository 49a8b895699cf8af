//! Searches in several sittings: each goes on where the one before was stopped.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use raddle::sync::atomic::{AtomicU32, Ordering};
use raddle::{Explorer, Report, thread};

/// A test with files of its own, which remembers the orders it was run in.
struct Watched {
    name: &'static str,
    strategy: &'static str,
    out: PathBuf,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Watched {
    fn new(name: &'static str, strategy: &'static str) -> Self {
        let out = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&out);
        Self { name, strategy, out, seen: Arc::default() }
    }

    fn explorer(&self, executions: u64) -> Explorer {
        let explorer = Explorer::new().strategy(self.strategy).executions(executions).workers(1).resume(true);
        explorer.name(format!("suite::{}", self.name)).regressions(false).set("out", self.out.to_str().unwrap())
    }

    /// Some threads that take some turns each; fails in the orders that `fails` says.
    fn run(&self, explorer: Explorer, turns: &'static [u32], fails: fn(&str) -> bool) -> Report {
        let seen = self.seen.clone();
        explorer.run(move || {
            let order = Arc::new(Mutex::new(String::new()));
            let clock = Arc::new(AtomicU32::new(0));
            let take_turns = |(who, &turns): (usize, &u32)| {
                let (order, clock) = (order.clone(), clock.clone());
                thread::spawn(move || {
                    for _ in 0..turns {
                        clock.fetch_add(1, Ordering::SeqCst);
                        order.lock().unwrap().push_str(&who.to_string());
                    }
                })
            };
            let threads: Vec<_> = turns.iter().enumerate().map(take_turns).collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            let order = order.lock().unwrap().clone();
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(order.clone());
            assert!(!fails(&order), "in this order");
        })
    }

    /// The orders that were run. Some executions are run again at once, to see whether they do the same: these are left out.
    fn seen(&self) -> Vec<String> {
        let mut seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        seen.dedup();
        seen
    }
}

fn never(_: &str) -> bool {
    false
}

#[test]
fn resumed_samplers_run_the_same_executions() {
    for strategy in ["random", "pct", "pos", "surw", "portfolio"] {
        for split in [10, 40] {
            let whole = Watched::new("in-one", strategy);
            whole.run(whole.explorer(80), &[9, 5, 7], never);
            let parts = Watched::new("in-two", strategy);
            parts.run(parts.explorer(split), &[9, 5, 7], never);
            let both = parts.run(parts.explorer(80 - split), &[9, 5, 7], never);
            assert_eq!(both.executions(), 80);
            assert!(parts.seen() == whole.seen(), "{strategy}, stopped after {split}");
        }
    }
}

#[test]
fn a_portfolio_finishes_its_systematic_start_in_any_number_of_sittings() {
    let test = Watched::new("start", "portfolio");
    let last = (0..20).map(|_| test.run(test.explorer(2), &[2, 2], never)).find(Report::verified);
    assert_eq!(last.expect("it ends").verdict_line(), "verified: all 6 orders");
    let mut seen = test.seen();
    assert_eq!(seen.len(), 6);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 6, "none was run twice");

    // Where there are more, samples come between, which are counted apart.
    let test = Watched::new("start-between", "portfolio");
    let last = (0..20).map(|_| test.run(test.explorer(7), &[2, 2, 2], never)).find(Report::verified);
    assert_eq!(last.expect("it ends").verdict_line(), "verified: all 90 orders");
    let mut seen = test.seen();
    assert!(seen.len() > 90, "samples come between");
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 90);

    // Stopped just where nothing is left.
    let test = Watched::new("start-to-the-end", "portfolio");
    assert!(!test.run(test.explorer(90), &[2, 2, 2], never).verified());
    assert!(test.run(test.explorer(90), &[2, 2, 2], never).verified());
}

#[test]
fn the_first_failure_is_that_of_all_sittings() {
    fn fails(order: &str) -> bool {
        order.starts_with("00") || order.ends_with("01")
    }
    for strategy in ["exhaustive", "dpor", "random", "portfolio"] {
        let whole = Watched::new("failing-in-one", strategy);
        let whole = whole.run(whole.explorer(60).keep_going(true), &[2, 2, 1], fails);
        let parts = Watched::new("failing-in-parts", strategy);
        let sitting = || parts.run(parts.explorer(10).keep_going(true), &[2, 2, 1], fails);
        let last = (0..6).map(|_| sitting()).find(|report| report.executions() == whole.executions());
        let last = last.expect("six sittings are enough");
        assert_eq!(last.verdict_line(), whole.verdict_line(), "{strategy}");
        let schedule = |report: &Report| report.schedule().expect("it failed").to_string();
        assert_eq!(schedule(&last), schedule(&whole), "{strategy}");
    }
}

#[test]
fn a_failure_of_an_earlier_sitting_ends_one_that_is_not_to_go_on() {
    let test = Watched::new("failed-before", "exhaustive");
    let fails = |order: &str| order == "0011";
    assert_eq!(test.run(test.explorer(3).keep_going(true), &[2, 2], fails).failing(), 1);
    let report = test.run(test.explorer(3), &[2, 2], fails);
    assert!(report.failed() && report.executions() == 3, "{report}");
    assert!(report.schedule().is_some());
}
