//! Takes the figures: CPU time per execution, and growth of resident memory.
//!
//! Noise on a shared machine only ever adds time, so the lowest of several measurements is the one
//! to keep. The libraries take turns within each round: a slow moment of the machine then
//! meets all of them, and not just the one whose turn it was.

use crate::library::{Library, Missing};
use crate::process;
use crate::programs::Program;
use std::time::Duration;

/// A figure, or why there is none.
pub type Figure = Result<f64, Missing>;

/// One figure for each library, in the order of `Library::ALL`.
pub type Figures = [Figure; Library::COUNT];

/// How much CPU time goes into a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The CPU time that one measurement aims for.
    slice: Duration,
    /// The fewest executions in one measurement, unless they are long ones. Each measurement is a search of
    /// its own and begins with cold stacks, which must not weigh: for a thousand threads they cost shuttle as much
    /// as eight executions.
    executions_at_least: u64,
    /// How many measurements the lowest is taken of.
    pub rounds: u32,
    /// How many executions to watch the memory over.
    memory_executions: u64,
    /// Searches of all orders are repeated until they have taken this long together.
    pub search_at_least: Duration,
    /// A search that takes longer than this is cut off.
    pub search_at_most: Duration,
    /// Executions of a sampler whose work is shared.
    pub sampled: u64,
}

impl Effort {
    pub const FULL: Effort = Effort {
        slice: Duration::from_millis(200),
        executions_at_least: 500,
        rounds: 5,
        memory_executions: 1_000_000,
        search_at_least: Duration::from_millis(500),
        search_at_most: Duration::from_secs(10),
        sampled: 300_000,
    };
    pub const QUICK: Effort = Effort {
        slice: Duration::from_millis(25),
        executions_at_least: 50,
        rounds: 3,
        memory_executions: 100_000,
        search_at_least: Duration::from_millis(50),
        search_at_most: Duration::from_secs(1),
        sampled: 50_000,
    };
}

/// CPU seconds that one execution of the program takes on each library.
pub fn seconds_per_execution(program: Program, effort: &Effort) -> Figures {
    let sizes = Library::ALL.map(|library| match library.obstacle(program) {
        None => Ok(executions_to_measure(library, program, effort)),
        Some(missing) => Err(missing),
    });
    let mut lowest: Figures = sizes.clone().map(|size| size.map(|_| f64::INFINITY));
    for _ in 0..effort.rounds {
        for ((library, size), lowest) in Library::ALL.into_iter().zip(&sizes).zip(&mut lowest) {
            if let (Ok(executions), Ok(lowest)) = (size, lowest) {
                *lowest = lowest.min(measure_once(library, program, *executions));
            }
        }
    }
    lowest
}

/// How many executions take about a slice of CPU time. Finding it out is the warm-up.
fn executions_to_measure(library: Library, program: Program, effort: &Effort) -> u64 {
    let slice = effort.slice.as_secs_f64();
    let at_least = match program {
        // Thousands of steps outweigh the start by themselves.
        Program::Long(..) => 1,
        _ => effort.executions_at_least,
    };
    let mut executions = 1_u64;
    loop {
        let per_execution = measure_once(library, program, executions);
        // Runs far shorter than a slice are mostly start and say little about a whole one.
        if per_execution * executions as f64 >= slice / 8.0 {
            return ((slice / per_execution) as u64).max(at_least);
        }
        executions *= 2;
    }
}

fn measure_once(library: Library, program: Program, executions: u64) -> f64 {
    let start = process::cpu_time();
    let done = library.run(program, executions);
    let used = process::cpu_time() - start;
    assert!(done >= executions, "{} ran `{program}` {done} times instead of {executions}", library.name());
    used.as_secs_f64() / done as f64
}

/// KiB by which resident memory grows between the thousandth execution and the last.
pub fn memory_growth_kib(library: Library, program: Program, effort: &Effort) -> Figure {
    const WARM_UP: u64 = 1_000;
    if let Some(missing) = library.obstacle(program) {
        return Err(missing);
    }
    library.run(program, WARM_UP);
    let early = process::resident_kib();
    library.run(program, effort.memory_executions - WARM_UP);
    let late = process::resident_kib();
    Ok(late as f64 - early as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::Operation;

    const SMALL_OF_EACH: [Program; 9] = [
        Program::Locked,
        Program::Atomic,
        Program::Mpsc,
        Program::Philosophers,
        Program::SpawnJoin(0),
        Program::SpawnJoin(4),
        Program::Long(Operation::YieldNow, 10),
        Program::Long(Operation::LockUnlock, 10),
        Program::Long(Operation::FetchAdd, 10),
    ];

    #[test]
    fn every_library_runs_as_often_as_asked_or_says_why_not() {
        for program in SMALL_OF_EACH {
            for library in Library::ALL {
                if library.obstacle(program).is_none() {
                    assert_eq!(library.run(program, 30), 30, "{library:?} {program}");
                }
            }
        }
    }

    #[test]
    fn loom_is_not_asked_for_more_threads_than_it_has() {
        assert!(Library::Loom.obstacle(Program::SpawnJoin(4)).is_none());
        let missing = Library::Loom.obstacle(Program::SpawnJoin(5)).expect("six threads are too many");
        assert_eq!(missing.label, "cannot run");
    }

    #[test]
    fn loom_is_not_asked_for_executions_longer_than_its_clocks() {
        let obstacle = |repetitions| Library::Loom.obstacle(Program::Long(Operation::FetchAdd, repetitions));
        assert!(obstacle(32_767).is_none());
        assert!(obstacle(32_768).is_some());
    }
}
