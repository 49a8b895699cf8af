//! How soon each strategy finds each of the twelve bugs.

use std::io::Error;

use programs::bita::{Program, bugs};
use raddle_engine::coverage::Criterion;
use raddle_strategies::optimal::Optimal;
use raddle_strategies::receives::ReceiveOrder;
use raddle_strategies::samplers::pct::Pct;
use raddle_strategies::samplers::random::Random;
use serde_json::{Value, json};

use super::delays::RandomDelays;
use super::free;
use super::statistics::Mean;
use super::trial::{Trial, find};
use crate::grid::{Grid, duration, rounded};

/// One way to look for a bug.
pub struct Contender {
    pub name: &'static str,
    /// Whether two runs may differ.
    pub varies: bool,
    run: fn(&Program, seed: u64, limit_seconds: f64) -> Result<Trial, Error>,
}

/// Those of the paper's table and ours, the one it is about first.
pub const CONTENDERS: [Contender; 8] = [
    Contender {
        name: "receive-order",
        varies: true,
        run: |program, seed, limit| guided(program, seed, limit, &Criterion::ALL),
    },
    Contender { name: DELAYS[0], varies: true, run: |program, seed, limit| delayed(program, seed, limit, 0) },
    Contender { name: DELAYS[1], varies: true, run: |program, seed, limit| delayed(program, seed, limit, 1) },
    Contender { name: DELAYS[2], varies: true, run: |program, seed, limit| delayed(program, seed, limit, 2) },
    Contender { name: FREE, varies: true, run: |program, _, limit| free::find(program.label, limit) },
    Contender {
        name: "random",
        varies: true,
        run: |program, seed, limit| Ok(find(program.run, &mut Random::new(seed), limit)),
    },
    Contender {
        name: "pct:3",
        varies: true,
        run: |program, seed, limit| Ok(find(program.run, &mut Pct::new(seed, 3), limit)),
    },
    Contender {
        name: "dpor",
        varies: false,
        run: |program, _, limit| Ok(find(program.run, &mut Optimal::new(), limit)),
    },
];

/// Each criterion alone.
pub const CRITERIA: [Contender; 3] = [
    Contender {
        name: "receive-order:pr",
        varies: true,
        run: |program, seed, limit| guided(program, seed, limit, &[Criterion::Pairs]),
    },
    Contender {
        name: "receive-order:pbr",
        varies: true,
        run: |program, seed, limit| guided(program, seed, limit, &[Criterion::BehaviourChanges]),
    },
    Contender {
        name: "receive-order:pcr",
        varies: true,
        run: |program, seed, limit| guided(program, seed, limit, &[Criterion::Consecutive]),
    },
];

/// The longest delays, in units of what handling a message takes, and what their strategies are called.
pub const LONGEST: [f64; 3] = [1.0, 10.0, 100.0];
pub const DELAYS: [&str; 3] = ["delays ≤ 1", "delays ≤ 10", "delays ≤ 100"];

/// What is not under Raddle's control.
pub const FREE: &str = "free-running";

fn guided(program: &Program, seed: u64, limit: f64, criteria: &[Criterion]) -> Result<Trial, Error> {
    let mut strategy = ReceiveOrder::by(seed, criteria);
    let trial = find(program.run, &mut strategy, limit);
    let goal = strategy.goal().filter(|_| trial.found.is_some());
    Ok(Trial { criterion: goal.map(|goal| goal.0), ..trial })
}

fn delayed(program: &Program, seed: u64, limit: f64, longest: usize) -> Result<Trial, Error> {
    Ok(find(program.run, &mut RandomDelays::new(seed, LONGEST[longest]), limit))
}

/// The trials of one strategy on one program, as many as there are seeds.
pub struct Cell {
    pub strategy: &'static str,
    pub trials: Vec<Trial>,
}

/// A bug, and how it was found.
pub struct Row {
    pub program: Program,
    pub cells: Vec<Cell>,
}

/// Runs all contenders on all bugs whose label is wanted.
pub fn measure(
    contenders: &[Contender],
    wanted: &dyn Fn(&str) -> bool,
    runs: u64,
    limit_seconds: f64,
) -> Result<Vec<Row>, Error> {
    let row = |program: Program| -> Result<Row, Error> {
        let cells = contenders.iter().map(|contender| -> Result<Cell, Error> {
            let runs = if contender.varies { runs } else { 1 };
            let trials = (1..=runs).map(|seed| (contender.run)(&program, seed, limit_seconds));
            Ok(Cell { strategy: contender.name, trials: trials.collect::<Result<_, Error>>()? })
        });
        Ok(Row { program, cells: cells.collect::<Result<_, Error>>()? })
    };
    bugs().filter(|program| wanted(program.label)).map(row).collect()
}

impl Cell {
    /// In how many runs the bug was found.
    pub fn finds(&self) -> usize {
        self.trials.iter().filter(|trial| trial.found.is_some()).count()
    }

    /// The times of all runs; the limit stands for those that did not find the bug.
    pub fn times(&self, limit_seconds: f64) -> impl Iterator<Item = f64> {
        self.trials.iter().map(move |trial| if trial.found.is_some() { trial.seconds } else { limit_seconds })
    }

    /// Nothing was generated: what was found, the first execution has shown.
    pub fn is_idle(&self) -> bool {
        let idle = self.trials.iter().all(|trial| trial.executions == 1);
        idle && self.trials.iter().any(|trial| trial.done && trial.found.is_none())
    }

    fn say(&self, mean: impl Fn(&Self) -> String) -> String {
        match (self.finds(), self.trials.len()) {
            _ if self.is_idle() => "n/a".to_owned(),
            (0, _) => "–".to_owned(),
            (finds, runs) if finds == runs => mean(self),
            (finds, runs) => format!("{} ({finds} of {runs})", mean(self)),
        }
    }
}

/// Executions until the bug is found.
pub fn executions(rows: &[Row]) -> Grid {
    grid(rows, |cell| cell.say(|cell| Mean::of(cell.trials.iter().map(|trial| trial.executions as f64)).text(count)))
}

/// CPU time until the bug is found.
pub fn times(rows: &[Row], limit_seconds: f64) -> Grid {
    grid(rows, |cell| cell.say(|cell| Mean::of(cell.times(limit_seconds)).text(duration)))
}

fn grid(rows: &[Row], say: impl Fn(&Cell) -> String) -> Grid {
    let mut header = vec!["bug"];
    header.extend(rows.first().into_iter().flat_map(|row| row.cells.iter().map(|cell| cell.strategy)));
    let mut grid = Grid::new(&header);
    for row in rows {
        grid.row([row.program.label.to_owned()].into_iter().chain(row.cells.iter().map(&say)).collect());
    }
    grid
}

/// A mean of counts.
pub fn count(number: f64) -> String {
    if number >= 100.0 { rounded(number) } else { format!("{number:.1}") }
}

/// With what the schedules were generated that have shown each bug, and how many it took.
pub fn criteria(rows: &[Row]) -> Grid {
    let mut grid = Grid::new(&["bug", "paper: needs", "first execution", "PR", "PBR", "PCR", "schedules at most"]);
    for Row { program, cells } in rows {
        let Some(cell) = cells.first() else { continue };
        let found = || cell.trials.iter().filter(|trial| trial.found.is_some());
        let by = |criterion: Option<Criterion>| match found().filter(|trial| trial.criterion == criterion).count() {
            0 => String::new(),
            times => times.to_string(),
        };
        let most = found().map(|trial| trial.executions - 1).max();
        let mut line =
            vec![program.label.to_owned(), program.needs.map(needs).unwrap_or_default().to_owned(), by(None)];
        line.extend(Criterion::ALL.map(|criterion| by(Some(criterion))));
        line.push(most.map_or("–".to_owned(), |most| most.to_string()));
        grid.row(line);
    }
    grid
}

/// What the paper finds a bug with.
pub fn needs(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Pairs => "PR",
        Criterion::BehaviourChanges => "PBR",
        Criterion::Consecutive => "PCR",
    }
}

/// All trials, as objects.
pub fn json(rows: &[Row]) -> impl Iterator<Item = Value> + '_ {
    let of_cell = |row: &Row, cell: &Cell| {
        let label = row.program.label;
        let object = move |(seed, trial): (u64, &Trial)| {
            json!({
                "kind": "bug", "program": label, "strategy": cell.strategy, "seed": seed, "found": trial.found,
                "executions": trial.executions, "cpu_seconds": trial.seconds,
                "criterion": trial.criterion.map(Criterion::name), "nothing_left": trial.done,
            })
        };
        (1..).zip(&cell.trials).map(object).collect::<Vec<_>>()
    };
    rows.iter().flat_map(move |row| row.cells.iter().flat_map(move |cell| of_cell(row, cell)))
}

/// Bugs that show in another way than they should.
pub fn wrong(rows: &[Row]) -> impl Iterator<Item = String> + '_ {
    rows.iter().flat_map(|row| {
        let seen =
            row.cells.iter().flat_map(|cell| cell.trials.iter().filter_map(move |trial| Some((cell, trial.found?))));
        // Outside, all that can be seen of a failure is a panic.
        let other = |(cell, found): &(&Cell, &str)| {
            Some(*found) != row.program.failure && (cell.strategy != FREE || *found != "panic")
        };
        let text = |(cell, found): (&Cell, &str)| {
            format!("{} under {}: {found}, expected: {:?}", row.program.label, cell.strategy, row.program.failure)
        };
        seen.filter(other).map(text).collect::<Vec<_>>()
    })
}
