//! What holds for every suite of programs on threads.

use programs::{Family, Program};
use raddle::{Explorer, Failure, Report};

/// How a bug is found.
pub struct Found {
    label: &'static str,
    strategy: &'static str,
    seed: u64,
    /// How many executions suffice.
    most: u64,
}

impl Found {
    pub const fn by(label: &'static str, strategy: &'static str, seed: u64, most: u64) -> Self {
        Self { label, strategy, seed, most }
    }
}

fn explorer(strategy: &str, seed: u64, most: u64) -> Explorer {
    Explorer::new().strategy(strategy).seed(seed).executions(most).regressions(false)
}

/// Runs a program at most so often.
pub fn explore(program: Program, strategy: &str, seed: u64, most: u64) -> Report {
    explorer(strategy, seed, most).run(program.run)
}

/// What was found.
pub fn kind(report: &Report) -> Option<&'static str> {
    report.failure().map(Failure::kind)
}

fn line(found: &[Found], program: Program) -> &Found {
    let line = found.iter().find(|line| line.label == program.label);
    line.unwrap_or_else(|| panic!("{} has no line in the table", program.label))
}

/// Each by the line of the table that is about it.
pub fn every_bug_is_found(bugs: impl Iterator<Item = Program>, found: &[Found]) {
    let mut lines = 0;
    for program in bugs {
        let &Found { strategy, seed, most, .. } = line(found, program);
        let report = explore(program, strategy, seed, most);
        assert_eq!(kind(&report), program.failure, "{}: {report}", program.label);
        lines += 1;
    }
    assert_eq!(lines, found.len(), "a line of the table is about no program");
}

/// One execution, in which each thread takes one step after the other, shows the bugs with these labels and no others.
pub fn turns_show_only(shown: &[&str], programs: impl Iterator<Item = Program>) {
    let mut failures = Vec::new();
    for program in programs {
        let report = explore(program, "round-robin", 0, 1);
        if report.failed() {
            assert_eq!(kind(&report), program.failure, "{}: {report}", program.label);
            failures.push(program.label);
        }
    }
    assert_eq!(failures, shown);
}

/// Those in `verified` in every order, the others in a few thousand.
pub fn correct_programs_pass(correct: impl Iterator<Item = Program>, verified: &[&str]) {
    let mut all_orders = 0;
    for program in correct {
        if verified.contains(&program.label) {
            let report = explore(program, "dpor", 0, 20_000);
            assert!(report.verified(), "{}: {report}", program.label);
            all_orders += 1;
        } else {
            for strategy in ["random", "pct"] {
                let report = explore(program, strategy, 1, 2_000);
                assert_eq!(kind(&report), None, "{}: {report}", program.label);
            }
        }
    }
    assert_eq!(all_orders, verified.len(), "the table is about a program that there is not");
}

/// Where a program is made for several numbers of threads, its bug is there with each of `sizes`, or not, as its label says.
pub fn families_are_alike(programs: impl Iterator<Item = Program>, sizes: fn(Family) -> [u32; 2]) {
    let run = |family: Family, size| explorer("random", 1, 1_000).run(move || (family.run)(size));
    for program in programs {
        let Some(family) = program.sized else { continue };
        for size in sizes(family) {
            let report = run(family, size);
            assert_eq!(kind(&report), program.failure, "{} with {size}: {report}", program.label);
        }
    }
}
