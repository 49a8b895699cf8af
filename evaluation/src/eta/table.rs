//! The paper's table beside ours.

use std::time::Duration;

use cpu_time::ProcessTime;
use programs::eta::{Counted, Eta};
use raddle_engine::search::{Limits, Report, search};
use raddle_engine::strategy::Strategy;
use raddle_strategies::optimal::Optimal;
use raddle_strategies::reduction::Dpor;
use raddle_strategies::tree::exhaustive::Exhaustive;
use serde_json::{Value, json};

use super::published::{Name, Published};
use crate::grid::{Grid, duration, grouped, rounded};

/// The result of a strategy on a program.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    pub strategy: &'static str,
    pub executions: u64,
    /// Executions that were pruned.
    pub blocked: u64,
    /// For the whole search.
    pub cpu: Duration,
}

/// A program under the three strategies.
pub struct Row {
    pub published: Published,
    /// `None` if there are too many executions.
    pub exhaustive: Option<Measured>,
    pub classic: Measured,
    pub optimal: Measured,
}

/// Short searches are repeated for so long, because a clock is too coarse for a few microseconds.
const AT_LEAST: Duration = Duration::from_millis(20);

/// For searches shorter than this, the lowest of several measurements counts, because others may use the machine.
const SHORT: Duration = Duration::from_secs(1);

const SEVERAL: usize = 5;

/// The limits of all searches here: every execution counts, also failing ones.
pub fn everything() -> Limits {
    Limits { keep_going: true, ..Limits::default() }
}

fn measure(program: Eta, make: fn() -> Box<dyn Strategy>) -> Measured {
    let first = measure_once(program, make);
    let more = if first.cpu < SHORT { SEVERAL - 1 } else { 0 };
    let others = (0..more).map(|_| measure_once(program, make).cpu);
    Measured { cpu: others.fold(first.cpu, Duration::min), ..first }
}

fn measure_once(program: Eta, make: fn() -> Box<dyn Strategy>) -> Measured {
    let started = ProcessTime::now();
    let mut searches = 0;
    let report = loop {
        let report: Report = search(&mut program.model(), &mut *make(), &everything());
        searches += 1;
        if started.elapsed() >= AT_LEAST {
            break report;
        }
    };
    let cpu = started.elapsed() / searches;
    Measured { strategy: report.strategy, executions: report.executions, blocked: report.pruned, cpu }
}

impl Row {
    /// Runs the program under each strategy; under `exhaustive` only if it has at most so many executions.
    pub fn measure(published: Published, most: u64) -> Self {
        let Counted { program, executions, .. } = published.counted;
        Self {
            published,
            exhaustive: (executions <= most).then(|| measure(program, || Box::new(Exhaustive::depth_first()))),
            classic: measure(program, || Box::new(Dpor::classic())),
            optimal: measure(program, || Box::new(Optimal::new())),
        }
    }

    fn measured(&self) -> impl Iterator<Item = &Measured> {
        self.exhaustive.iter().chain([&self.classic, &self.optimal])
    }

    /// Differences from the published numbers, one sentence each. The numbers for persistent sets were not published; they lie between the
    /// traces and all executions.
    pub fn wrong(&self) -> Vec<String> {
        let Counted { program, executions, traces } = self.published.counted;
        let fits = |measured: &Measured| match measured.strategy {
            "exhaustive" => measured.executions == executions && measured.blocked == 0,
            "dpor" => measured.executions == traces && measured.blocked == 0,
            _ => (traces..=executions).contains(&measured.executions),
        };
        let wrong = self.measured().filter(|measured| !fits(measured));
        wrong
            .map(|Measured { strategy, executions: got, blocked, .. }| {
                format!(
                    "{}: {strategy} ran {got} executions and gave {blocked} up; there are {executions} executions and \
                     {traces} traces",
                    Name(program)
                )
            })
            .collect()
    }

    /// How many times the paper's executions per second `exhaustive` runs.
    pub fn times_faster(&self) -> Option<f64> {
        let measured = self.exhaustive.as_ref()?;
        Some(per_second(measured) * self.published.per_execution.as_secs_f64())
    }

    /// One object for each strategy.
    pub fn json(&self) -> Vec<Value> {
        let Published { counted, per_execution, reduced } = self.published;
        let object = |measured: &Measured| {
            json!({
                "kind": "row",
                "program": Name(counted.program).to_string(),
                "strategy": measured.strategy,
                "executions": measured.executions,
                "blocked": measured.blocked,
                "cpu_seconds": measured.cpu.as_secs_f64(),
                "executions_per_second": per_second(measured),
                "times_paper": per_second(measured) * per_execution.as_secs_f64(),
                "published_executions": counted.executions,
                "published_reduced": reduced,
                "published_traces": counted.traces,
            })
        };
        self.measured().map(object).collect()
    }
}

fn per_second(measured: &Measured) -> f64 {
    (measured.executions + measured.blocked) as f64 / measured.cpu.as_secs_f64()
}

/// Counts and times.
pub fn grid(rows: &[Row]) -> Grid {
    let mut grid = Grid::new(&[
        "program",
        "paper: all",
        "paper: reduced",
        "exhaustive",
        "CPU",
        "dpor-classic",
        "CPU",
        "dpor",
        "CPU",
    ]);
    for Row { published, exhaustive, classic, optimal } in rows {
        let Published { counted, reduced, .. } = *published;
        let mut cells = vec![Name(counted.program).to_string(), grouped(counted.executions), grouped(reduced)];
        for measured in [exhaustive.as_ref(), Some(classic), Some(optimal)] {
            let (executions, cpu) = match measured {
                Some(it) if it.blocked > 0 => (format!("{} + {}", grouped(it.executions), grouped(it.blocked)), it.cpu),
                Some(it) => (grouped(it.executions), it.cpu),
                None => {
                    cells.extend(["–".to_owned(), "–".to_owned()]);
                    continue;
                }
            };
            cells.extend([executions, duration(cpu.as_secs_f64())]);
        }
        grid.row(cells);
    }
    grid
}

/// Executions per second, beside the paper's.
pub fn speeds(rows: &[Row]) -> Grid {
    let header = ["program", "paper: ms per execution", "paper: per second", "exhaustive: per second", "times faster"];
    let mut grid = Grid::new(&header);
    for row in rows {
        let (Some(measured), Some(times)) = (&row.exhaustive, row.times_faster()) else { continue };
        let theirs = row.published.per_execution.as_secs_f64();
        grid.row(vec![
            Name(row.published.counted.program).to_string(),
            rounded(theirs * 1e3),
            rounded(1.0 / theirs),
            rounded(per_second(measured)),
            format!("{}×", rounded(times)),
        ]);
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::super::published::rows;
    use super::*;

    #[test]
    fn another_count_is_noticed() {
        let smallest = rows().find(|row| row.counted.program == Eta::Phils(2)).expect("it is a row");
        let row = Row::measure(smallest, u64::MAX);
        assert_eq!(row.wrong(), Vec::<String>::new());
        let counted = Counted { executions: 151, ..smallest.counted };
        let off = Row { published: Published { counted, ..smallest }, ..row };
        assert_eq!(
            off.wrong(),
            ["Phils(2): exhaustive ran 150 executions and gave 0 up; there are 151 executions and 5 traces"]
        );
        let counted = Counted { traces: 6, ..smallest.counted };
        let off = Row { published: Published { counted, ..smallest }, ..off };
        assert_eq!(off.wrong().len(), 2, "both reductions run too few");
    }
}
