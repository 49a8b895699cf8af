//! How many different executions `random` and `exhaustive` have run after so much CPU time.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use cpu_time::ProcessTime;
use programs::eta::{Counted, Eta, TABLE};
use raddle_engine::search::{Limits, search};
use raddle_engine::strategy::{After, Claim, Decision, Needs, Next, Run, Start, Strategy};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;
use raddle_strategies::samplers::random::Random;
use raddle_strategies::tree::exhaustive::Exhaustive;
use serde_json::{Value, json};

use super::published::Name;
use super::table::everything;
use super::watch::Marks;
use crate::grid::{Grid, duration, grouped, rounded};
use crate::plot::{Axis, Kind, Line, Plot};

/// The programs of the race, and how many times the executions of a program `random` may run.
const SUBJECTS: [(&str, Eta, u64); 2] =
    [("eta-unique-small", Eta::Store(1, 1, 1, 3), 400), ("eta-unique-store", Eta::Store(2, 2, 2, 3), 20)];

const SEED: u64 = 1;

/// A program under both strategies.
pub struct Race {
    /// The name of its picture.
    pub slug: &'static str,
    pub counted: Counted,
    pub exhaustive: Curve,
    pub random: Curve,
}

/// How many unique executions a strategy had seen, over time.
pub struct Curve {
    strategy: &'static str,
    pub seen: Vec<Seen>,
}

/// The number of unique executions by then.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    seconds: f64,
    executions: u64,
    unique: u64,
}

/// Counts the executions that a strategy runs for the first time. Equal decisions have equal hashes; a collision among a few million
/// executions is unlikely (one in a million).
struct Counter<S> {
    inner: S,
    hashes: HashSet<u64>,
    executions: u64,
    /// The number of all executions. When it is reached, nothing is new any more.
    all: u64,
    marks: Marks,
    started: ProcessTime,
    seen: Vec<Seen>,
}

impl<S: Strategy> Strategy for Counter<S> {
    fn needs(&self) -> Needs {
        self.inner.needs()
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if self.hashes.len() as u64 >= self.all {
            return Next::Done(Claim::Selective);
        }
        match self.inner.begin(prefix) {
            Next::Run(start) => Next::Run(Start { steps: true, ..start }),
            done => done,
        }
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.inner.choose(at, so_far)
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.inner.end(run);
        let mut hasher = DefaultHasher::new();
        for step in run.trace.steps().iter().filter(|step| step.alternatives > 1) {
            (step.task, step.variant).hash(&mut hasher);
        }
        self.hashes.insert(hasher.finish());
        self.executions += 1;
        if self.marks.is_due(self.executions) {
            self.look();
        }
        After::Next
    }
}

impl<S> Counter<S> {
    fn look(&mut self) {
        let (executions, unique) = (self.executions, self.hashes.len() as u64);
        self.seen.push(Seen { seconds: self.started.elapsed().as_secs_f64(), executions, unique });
    }
}

impl Curve {
    fn run(program: Eta, strategy: impl Strategy, all: u64, most: u64) -> Self {
        let mut counter = Counter {
            inner: strategy,
            hashes: HashSet::new(),
            executions: 0,
            all,
            marks: Marks::default(),
            started: ProcessTime::now(),
            seen: Vec::new(),
        };
        let limits = Limits { executions: Some(most), ..everything() };
        let strategy = search(&mut program.model(), &mut counter, &limits).strategy;
        counter.look();
        Self { strategy, seen: counter.seen }
    }

    fn last(&self) -> Seen {
        *self.seen.last().expect("the last execution is looked at")
    }
}

impl Race {
    /// The name of the race.
    pub fn title(&self) -> String {
        format!("Unique executions over time, {}", Name(self.counted.program))
    }

    /// All races on programs of at most so many executions, of which `random` runs at most ten times as many.
    pub fn all(most: u64) -> impl Iterator<Item = Self> {
        let row = |program| *TABLE.iter().find(|row| row.program == program).expect("it is in the table");
        let all = SUBJECTS.into_iter().map(move |(slug, program, times)| (slug, row(program), times));
        all.filter(move |(_, counted, _)| counted.executions <= most).map(move |(slug, counted, times)| {
            let Counted { program, executions, .. } = counted;
            let walks = (executions * times).min(most.saturating_mul(10));
            Self {
                slug,
                counted,
                exhaustive: Curve::run(program, Exhaustive::depth_first(), executions, executions),
                random: Curve::run(program, Random::new(SEED), executions, walks),
            }
        })
    }

    /// What is not as expected: the decision tree never repeats an execution.
    pub fn wrong(&self) -> Option<String> {
        let Counted { program, executions, .. } = self.counted;
        let Seen { executions: run, unique, .. } = self.exhaustive.last();
        ((run, unique) != (executions, executions)).then(|| {
            format!("{}: exhaustive saw {unique} different executions in {run}; there are {executions}", Name(program))
        })
    }

    /// One object for each strategy.
    pub fn json(&self) -> Vec<Value> {
        let object = |curve: &Curve| {
            let points = curve.seen.iter().map(|seen| json!([seen.seconds, seen.executions, seen.unique]));
            json!({
                "kind": "unique",
                "program": Name(self.counted.program).to_string(),
                "strategy": curve.strategy,
                "all": self.counted.executions,
                "points": points.collect::<Vec<_>>(),
            })
        };
        [&self.exhaustive, &self.random].map(object).into()
    }

    /// The covered part, over time.
    pub fn plot(&self) -> Plot {
        let all = self.counted.executions as f64;
        let line = |(colour, curve): (usize, &Curve)| {
            let point = |seen: &Seen| (seen.seconds * 1e3, seen.unique as f64 / all * 100.0);
            let label = curve.strategy.to_owned();
            Line { label, dashed: false, colour, points: curve.seen.iter().map(point).collect() }
        };
        let curves = [&self.exhaustive, &self.random];
        // The part before one hundredth of the time is not visible.
        let whole = self.exhaustive.last().seconds * 1e3;
        let (from, to) = (whole / 100.0, self.random.last().seconds.max(1e-6) * 1e3);
        Plot {
            title: self.title(),
            x: Axis::new("CPU time, ms", Kind::Log, from, to.max(whole) * 1.05),
            y: Axis::new("different executions seen, % of all", Kind::Linear, 0.0, 105.0),
            level: None,
            lines: curves.into_iter().zip([0, 1]).map(|(curve, colour)| line((colour, curve))).collect(),
        }
    }
}

/// The results at the end.
pub fn grid(races: &[Race]) -> Grid {
    let header =
        ["program", "all", "exhaustive: CPU", "random saw meanwhile", "random ran", "random: CPU", "random saw"];
    let mut grid = Grid::new(&header);
    for Race { counted, exhaustive, random, .. } in races {
        let part = |unique: u64| format!("{} %", rounded(unique as f64 / counted.executions as f64 * 100.0));
        let whole = exhaustive.last();
        let meanwhile = random.seen.iter().rev().find(|seen| seen.seconds <= whole.seconds);
        let end = random.last();
        grid.row(vec![
            Name(counted.program).to_string(),
            grouped(counted.executions),
            duration(whole.seconds),
            part(meanwhile.map_or(0, |seen| seen.unique)),
            grouped(end.executions),
            duration(end.seconds),
            part(end.unique),
        ]);
    }
    grid
}
