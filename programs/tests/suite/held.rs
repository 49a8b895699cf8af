//! What holds for every suite of programs on threads.

use programs::Program;
use raddle::{Explorer, Failure, Report};

/// How a bug is found.
pub struct Found {
    label: &'static str,
    strategy: &'static str,
    seed: u64,
    /// How many executions suffice.
    most: u64,
    /// Whether it also shows when each thread takes one step in turn.
    by_turns: bool,
}

impl Found {
    pub const fn by(label: &'static str, strategy: &'static str, seed: u64, most: u64) -> Self {
        Self { label, strategy, seed, most, by_turns: false }
    }

    pub const fn also_by_turns(self) -> Self {
        Self { by_turns: true, ..self }
    }
}

fn explore(program: Program, strategy: &str, seed: u64, most: u64) -> Report {
    let explorer = Explorer::new().strategy(strategy).seed(seed).executions(most).regressions(false);
    explorer.run(program.run)
}

fn kind(report: &Report) -> Option<&'static str> {
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

/// One execution, in which each thread takes one step after the other, fails where the table says so.
pub fn turns_show_what_they_must(
    bugs: impl Iterator<Item = Program>,
    correct: impl Iterator<Item = Program>,
    found: &[Found],
) {
    for program in bugs {
        let report = explore(program, "round-robin", 0, 1);
        let expected = program.failure.filter(|_| line(found, program).by_turns);
        assert_eq!(kind(&report), expected, "{}: {report}", program.label);
    }
    for program in correct {
        let report = explore(program, "round-robin", 0, 1);
        assert_eq!(kind(&report), None, "{}: {report}", program.label);
    }
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
