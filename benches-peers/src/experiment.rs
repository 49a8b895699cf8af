//! The experiments: which programs are measured, and which figures make one comparison.

use crate::library::{Library, Missing};
use crate::measure::{self, Effort, Figure, Figures};
use crate::programs::{Operation, Program};

/// One entry of the plan. It may give several comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Does memory stay where it was over very many executions?
    Memory,
    /// How many executions a second?
    Throughput(Program),
    /// What does it cost to start, spawn, join and end?
    Lifecycle(Program),
    /// What does a step of a long execution cost, and is that the same in a longer one?
    LongExecution(Operation),
}

/// What was measured of one program, on every library.
#[derive(Debug)]
pub struct Comparison {
    pub program: String,
    pub metric: Metric,
    pub figures: Figures,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    ExecutionsPerSecond,
    NsPerExecution,
    /// A step is one repetition of the operation by one thread.
    NsPerStep,
    /// A step's cost in the longest execution over that in the shortest; 1 is linear.
    Linearity,
    GrowthKib,
}

impl Metric {
    pub fn name(self) -> &'static str {
        match self {
            Metric::ExecutionsPerSecond => "executions_per_second",
            Metric::NsPerExecution => "ns_per_execution",
            Metric::NsPerStep => "ns_per_step",
            Metric::Linearity => "linearity",
            Metric::GrowthKib => "memory_growth_kib",
        }
    }

    /// How many times better Raddle's figure is. `None` where a quotient says nothing: memory that
    /// did not grow cannot be so many times smaller than other memory.
    pub fn ratio(self, raddle: f64, peer: f64) -> Option<f64> {
        let ratio = match self {
            Metric::ExecutionsPerSecond => raddle / peer,
            Metric::NsPerExecution | Metric::NsPerStep | Metric::Linearity => peer / raddle,
            Metric::GrowthKib => return None,
        };
        ratio.is_finite().then_some(ratio)
    }
}

/// Repetitions by each of the two threads of a long execution, shortest first.
const LENGTHS: [usize; 4] = [5_000, 10_000, 20_000, 40_000];

impl Experiment {
    /// Everything there is, in the order it is run. Memory comes first, before the other experiments leave the
    /// allocator with free blocks in which a leak could hide.
    pub fn all() -> Vec<Experiment> {
        let small = [Program::Locked, Program::Atomic, Program::Mpsc, Program::Philosophers];
        let lifecycles = [0, 1, 4, 1000].map(Program::SpawnJoin);
        let mut all = vec![Experiment::Memory];
        all.extend(small.map(Experiment::Throughput));
        all.extend(lifecycles.map(Experiment::Lifecycle));
        all.extend(Operation::ALL.map(Experiment::LongExecution));
        all
    }

    /// What `--filter` looks in.
    pub fn name(&self) -> String {
        match self {
            Experiment::Memory => "memory".to_owned(),
            Experiment::Throughput(program) | Experiment::Lifecycle(program) => program.to_string(),
            Experiment::LongExecution(operation) => operation.to_string(),
        }
    }

    /// Measures, and hands over each comparison as soon as it is known.
    pub fn run(self, effort: &Effort, mut show: impl FnMut(Comparison)) {
        match self {
            Experiment::Memory => show(compare_memory(effort)),
            Experiment::Throughput(program) => {
                let seconds = measure::seconds_per_execution(program, effort);
                show(Comparison {
                    program: program.to_string(),
                    metric: Metric::ExecutionsPerSecond,
                    figures: seconds.map(|figure| figure.map(|seconds| 1.0 / seconds)),
                });
            }
            Experiment::Lifecycle(program) => {
                let seconds = measure::seconds_per_execution(program, effort);
                show(Comparison {
                    program: program.to_string(),
                    metric: Metric::NsPerExecution,
                    figures: seconds.map(|figure| figure.map(|seconds| seconds * 1e9)),
                });
            }
            Experiment::LongExecution(operation) => compare_lengths(operation, effort, show),
        }
    }
}

fn compare_memory(effort: &Effort) -> Comparison {
    let program = Program::Locked;
    let figures = Library::ALL.map(|library| match library {
        Library::Loom => Err(Missing {
            label: "not measured",
            reason: "loom: a million executions take it about a minute".to_owned(),
        }),
        Library::Raddle | Library::Shuttle => measure::memory_growth_kib(library, program, effort),
    });
    Comparison { program: program.to_string(), metric: Metric::GrowthKib, figures }
}

fn compare_lengths(operation: Operation, effort: &Effort, mut show: impl FnMut(Comparison)) {
    let mut by_length: Vec<Figures> = Vec::new();
    for repetitions in LENGTHS {
        let program = Program::Long(operation, repetitions);
        let steps = (2 * repetitions) as f64;
        let seconds = measure::seconds_per_execution(program, effort);
        let figures = seconds.map(|figure| figure.map(|seconds| seconds * 1e9 / steps));
        by_length.push(figures.clone());
        show(Comparison { program: program.to_string(), metric: Metric::NsPerStep, figures });
    }
    let [shortest, .., longest] = by_length.as_slice() else {
        unreachable!("there are at least two lengths");
    };
    let quotient = |(long, short): (&Figure, &Figure)| match (long, short) {
        (Ok(long), Ok(short)) => Ok(long / short),
        (Err(missing), _) | (_, Err(missing)) => Err(missing.clone()),
    };
    let figures: Vec<Figure> = longest.iter().zip(shortest).map(quotient).collect();
    let figures = figures.try_into().expect("as many figures as libraries went in");
    show(Comparison { program: operation.to_string(), metric: Metric::Linearity, figures });
}
