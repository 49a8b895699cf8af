//! The experiments: which programs are measured, and which figures make one comparison.

use crate::actors::{self, ACTORS, Crowd};
use crate::debug;
use crate::library::{Library, Missing};
use crate::measure::{self, Effort, Figure, Figures};
use crate::programs::{Operation, Program};
use crate::real::Code;
use crate::states::{self, PROTOCOLS, Protocol};
use crate::whole;

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
    /// What does a message between actors cost?
    Actors(Crowd),
    /// How many states a second, and what memory each takes?
    States(Protocol),
    /// How many executions, and how long, until every order is covered?
    Coverage(Program),
    /// What does an execution cost under reduction, and without?
    Cost(Program),
    /// Does memory stay where it was while reduction explores?
    SearchMemory(Program),
    /// What does it take to cover the test of a larger piece of code, and what does an execution of it cost?
    Real(Code),
    /// What does it cost without optimisation?
    Debug,
    /// What does a second worker bring to the strategy of this number?
    Scaling(usize, Program),
}

/// What was measured of one program, side by side.
#[derive(Debug)]
pub struct Comparison {
    pub program: String,
    pub metric: Metric,
    /// What the figures belong to; the first is the one that the others are compared with.
    pub columns: &'static [&'static str],
    /// One for each column.
    pub figures: Vec<Figure>,
}

/// The columns of comparisons between libraries, in the order of `Library::ALL`.
const LIBRARIES: &[&str] = &["raddle", "shuttle", "loom"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    ExecutionsPerSecond,
    NsPerExecution,
    /// A step is one repetition of the operation by one thread.
    NsPerStep,
    /// A step's cost in the longest execution over that in the shortest; 1 is linear.
    Linearity,
    GrowthKib,
    /// Executions until every order is covered.
    ExecutionsToCover,
    /// CPU time until every order is covered.
    MsToCover,
    /// Time of day, and CPU time, of one search.
    WallMs,
    CpuMs,
    /// CPU time of the busiest worker of one search: its time of day, had each worker a core of its own and never to wait.
    BusiestMs,
    /// Executions of one search that ran to their end.
    Executions,
    /// Executions of one search that were begun and pruned.
    GivenUp,
    /// Distinct states of a model.
    States,
    /// Of CPU time.
    StatesPerSecond,
    /// The peak of resident memory over the distinct states.
    BytesPerState,
}

impl Metric {
    pub fn name(self) -> &'static str {
        match self {
            Metric::ExecutionsPerSecond => "executions_per_second",
            Metric::NsPerExecution => "ns_per_execution",
            Metric::NsPerStep => "ns_per_step",
            Metric::Linearity => "linearity",
            Metric::GrowthKib => "memory_growth_kib",
            Metric::ExecutionsToCover => "executions_to_cover",
            Metric::MsToCover => "ms_to_cover",
            Metric::WallMs => "wall_ms",
            Metric::CpuMs => "cpu_ms",
            Metric::BusiestMs => "busiest_worker_cpu_ms",
            Metric::Executions => "executions",
            Metric::GivenUp => "given_up",
            Metric::States => "distinct_states",
            Metric::StatesPerSecond => "states_per_second",
            Metric::BytesPerState => "bytes_per_state",
        }
    }

    /// Whether its figures are whole numbers.
    pub fn counts(self) -> bool {
        matches!(
            self,
            Metric::ExecutionsToCover | Metric::Executions | Metric::GivenUp | Metric::GrowthKib | Metric::States
        )
    }

    /// How many times better the first figure is. `None` where a quotient says nothing: memory that
    /// did not grow cannot be so many times smaller than other memory.
    pub fn ratio(self, first: f64, other: f64) -> Option<f64> {
        let ratio = match self {
            Metric::ExecutionsPerSecond | Metric::StatesPerSecond => first / other,
            Metric::NsPerExecution | Metric::NsPerStep | Metric::Linearity | Metric::BytesPerState => other / first,
            Metric::ExecutionsToCover | Metric::MsToCover | Metric::WallMs | Metric::CpuMs | Metric::BusiestMs => {
                other / first
            }
            Metric::GrowthKib | Metric::Executions | Metric::GivenUp | Metric::States => return None,
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
        all.extend(ACTORS.map(Experiment::Actors));
        all.extend(PROTOCOLS.map(Experiment::States));
        let little = [Program::Readers(3), Program::LastZero(3)];
        let large = [Program::Readers(10), Program::LastZero(8), Program::LeftFirst(4), Program::Critical(4)];
        all.extend(small.into_iter().chain(little).chain(large).map(Experiment::Coverage));
        // Large enough that the start of a search does not weigh.
        let many = [Program::Mpsc, Program::Critical(5), Program::LastZero(10), Program::Readers(13)];
        all.extend(many.map(Experiment::Cost));
        all.extend([Program::LastZero(10), Program::Readers(13)].map(Experiment::SearchMemory));
        let shared = [
            (0, Program::LastZero(8)),
            (0, Program::LastZero(12)),
            (0, Program::Readers(14)),
            (0, Program::Critical(5)),
            (1, Program::Readers(8)),
            (1, Program::LastZero(4)),
            (2, Program::Locked),
            (2, Program::LastZero(8)),
        ];
        all.extend(Code::ALL.map(Experiment::Real));
        all.push(Experiment::Debug);
        all.extend(shared.map(|(strategy, program)| Experiment::Scaling(strategy, program)));
        all
    }

    /// What `--filter` looks in.
    pub fn name(&self) -> String {
        match self {
            Experiment::Memory => "memory".to_owned(),
            Experiment::Throughput(program) | Experiment::Lifecycle(program) => program.to_string(),
            Experiment::LongExecution(operation) => operation.to_string(),
            Experiment::Actors(crowd) => crowd.to_string(),
            Experiment::States(protocol) => format!("states {protocol}"),
            Experiment::Coverage(program) => format!("coverage {program}"),
            Experiment::Cost(program) => format!("cost {program}"),
            Experiment::SearchMemory(program) => format!("search memory {program}"),
            Experiment::Real(code) => format!("real {code}"),
            Experiment::Debug => format!("debug {}", debug::PROGRAM),
            Experiment::Scaling(strategy, program) => format!("workers {} {program}", whole::SHARED[*strategy].0),
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
                    columns: LIBRARIES,
                    figures: seconds.map(|figure| figure.map(|seconds| 1.0 / seconds)).into(),
                });
            }
            Experiment::Lifecycle(program) => show(compare_executions(program, effort)),
            Experiment::LongExecution(operation) => compare_lengths(operation, effort, show),
            Experiment::Actors(crowd) => actors::compare(crowd, effort, show),
            Experiment::States(protocol) => states::compare(protocol, effort, show),
            Experiment::Coverage(program) => whole::coverage(program, effort, show),
            Experiment::Cost(program) => show(whole::cost(program, effort)),
            Experiment::SearchMemory(program) => whole::memory(program, effort, show),
            Experiment::Real(code) => {
                whole::real(code, effort, &mut show);
                show(compare_executions(Program::Real(code), effort));
            }
            Experiment::Debug => show(debug::compare(effort)),
            Experiment::Scaling(strategy, program) => whole::scaling(whole::SHARED[strategy], program, effort, show),
        }
    }
}

fn compare_executions(program: Program, effort: &Effort) -> Comparison {
    let seconds = measure::seconds_per_execution(program, effort);
    let figures = seconds.map(|figure| figure.map(|seconds| seconds * 1e9)).into();
    Comparison { program: program.to_string(), metric: Metric::NsPerExecution, columns: LIBRARIES, figures }
}

fn compare_memory(effort: &Effort) -> Comparison {
    let program = Program::Locked;
    let figures = Library::ALL.map(|library| match library {
        Library::Loom => Err(Missing {
            label: "not measured".into(),
            reason: "not measured: loom: a million executions take it about a minute".to_owned(),
        }),
        Library::Raddle | Library::Shuttle => measure::memory_growth_kib(library, program, effort),
    });
    Comparison { program: program.to_string(), metric: Metric::GrowthKib, columns: LIBRARIES, figures: figures.into() }
}

fn compare_lengths(operation: Operation, effort: &Effort, mut show: impl FnMut(Comparison)) {
    let mut by_length: Vec<Figures> = Vec::new();
    for repetitions in LENGTHS {
        let program = Program::Long(operation, repetitions);
        let steps = (2 * repetitions) as f64;
        let seconds = measure::seconds_per_execution(program, effort);
        let figures = seconds.map(|figure| figure.map(|seconds| seconds * 1e9 / steps));
        by_length.push(figures.clone());
        show(Comparison {
            program: program.to_string(),
            metric: Metric::NsPerStep,
            columns: LIBRARIES,
            figures: figures.into(),
        });
    }
    let [shortest, .., longest] = by_length.as_slice() else {
        unreachable!("there are at least two lengths");
    };
    let quotient = |(long, short): (&Figure, &Figure)| match (long, short) {
        (Ok(long), Ok(short)) => Ok(long / short),
        (Err(missing), _) | (_, Err(missing)) => Err(missing.clone()),
    };
    let figures = longest.iter().zip(shortest).map(quotient).collect();
    show(Comparison { program: operation.to_string(), metric: Metric::Linearity, columns: LIBRARIES, figures });
}
