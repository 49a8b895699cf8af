//! The programs in `litmus/` have the counts that they state: according to the oracle, and in every search.

use std::fs;
use std::path::Path;

use raddle_engine::strategy::Strategy;
use raddle_litmus::conformance::run;
use raddle_litmus::oracle::{self, Uncounted};
use raddle_litmus::syntax::Expected;
use raddle_litmus::{Litmus, Program};
use raddle_strategies::optimal::Optimal;
use raddle_strategies::reduction::Dpor;
use raddle_strategies::tree::preemption::Preemption;

use crate::MAX_ORACLE_STATES;

/// Too many states for the oracle; the same programs in a smaller form are in `counts.rs`.
const TOO_LARGE: [&str; 1] = ["indexer-13"];

/// Too many executions for a search that runs equivalent ones; smaller programs of the same kind are there, too.
const TOO_MANY_ORDERS: [&str; 2] = ["indexer-13", "lastzero-8"];

struct File {
    name: String,
    litmus: Litmus,
    program: Program,
    traces: u64,
    failing: u64,
}

fn files() -> Vec<File> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let entries = fs::read_dir(&folder).expect("the folder is in the repository");
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("names are plain").to_owned();
        let litmus = crate::read(&name);
        let program = Program::new(&litmus, &name).unwrap_or_else(|error| panic!("{name}:{error}"));
        let traces = litmus.expected(&Expected::Traces).unwrap_or_else(|| panic!("{name} says no count"));
        let failing = litmus.expected(&Expected::Failing).unwrap_or(0);
        File { name, litmus, program, traces, failing }
    };
    let files: Vec<File> = entries.map(read).collect();
    assert!(files.len() >= 50, "only {} programs in {}", files.len(), folder.display());
    files
}

#[test]
fn the_oracle_counts_what_they_say() {
    let mut both = 0;
    for File { name, program, traces, failing, .. } in files() {
        let large = TOO_LARGE.contains(&name.as_str());
        match oracle::traces(&program, if large { 100 } else { MAX_ORACLE_STATES }) {
            Ok(counted) => {
                assert_eq!((counted.count.all, counted.count.failing), (traces.into(), failing.into()), "{name}");
                if let Ok(orders) = oracle::orders(&program, 4_000) {
                    assert_eq!(orders.count, counted.count, "{name}");
                    both += 1;
                }
            }
            Err(why) => assert!(large && matches!(why, Uncounted::TooLarge(_)), "{name}: {why}"),
        }
    }
    assert!(both >= 40, "only {both} were counted twice");
}

#[test]
fn every_reduction_finds_what_they_say() {
    let mut with_blocked = 0;
    for File { name, litmus, program, traces, failing } in files() {
        let most = 50 * traces + 10_000;
        let (mut optimal, mut source) = (Optimal::new(), Dpor::source());
        let reductions: [(&mut dyn Strategy, &str); 2] = [(&mut optimal, "dpor"), (&mut source, "dpor-source")];
        for (reduction, strategy) in reductions {
            let (report, seen) = run(&program, reduction, most);
            let found = (report.executions, report.failing, seen.traces());
            assert_eq!(found, (traces, failing, traces.into()), "{strategy}: {name}");
            assert!(strategy != "dpor" || report.pruned == 0, "{strategy}: {name}: {} pruned", report.pruned);
            if let Some(blocked) = litmus.expected(&Expected::Blocked(strategy.to_owned())) {
                assert_eq!(report.pruned, blocked, "{strategy}: {name}");
                with_blocked += 1;
            }
        }
        let (report, seen) = run(&program, &mut Dpor::classic(), most);
        assert_eq!(seen.traces(), traces.into(), "dpor-classic: {name}");
        assert_eq!(report.failing > 0, failing > 0, "dpor-classic: {name}");
    }
    assert!(with_blocked > 0, "no program says how many executions are pruned");
}

#[test]
fn few_preemptions_first_finds_what_they_say() {
    for File { name, program, traces, failing, .. } in files() {
        if TOO_MANY_ORDERS.contains(&name.as_str()) {
            continue;
        }
        let (report, seen) = run(&program, &mut Preemption::unbounded(), 100_000);
        assert_eq!(seen.traces(), traces.into(), "{name}");
        assert_eq!(report.failing > 0, failing > 0, "{name}");
    }
}
