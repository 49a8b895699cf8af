//! How much of the orders of receives is covered in equal time, in programs without a bug.

use programs::bita::{Program, correct};
use raddle_engine::coverage::Criterion;
use raddle_strategies::receives::ReceiveOrder;
use raddle_strategies::samplers::random::Random;
use serde_json::{Value, json};

use super::bugs::{DELAYS, LONGEST, count};
use super::delays::RandomDelays;
use super::statistics::Mean;
use super::trial::{Sample, Trial, cover};
use crate::grid::{Grid, duration, rounded};
use crate::plot::{Axis, Kind, Line, Plot};

/// The programs of the paper's table.
const PROGRAMS: [&str; 4] = ["Gatling", "GeoTrellis", "Signal/Collect", "Fyrie"];

/// What the paper draws: a program, a criterion, and what our picture is called.
const FIGURES: [(&str, Criterion, &str); 2] = [
    ("Signal/Collect", Criterion::Pairs, "receive-order-signal-collect"),
    ("Gatling", Criterion::Consecutive, "receive-order-gatling"),
];

/// How coverage grew in one run.
struct Run {
    trial: Trial,
    samples: Vec<Sample>,
}

/// All runs with one seed.
struct Round {
    /// By [criterion](Criterion::index): by schedules that were generated for it alone.
    guided: [Run; 3],
    /// By [length](LONGEST).
    delayed: [Run; 3],
    random: Run,
}

/// A program and its runs.
pub struct Study {
    program: Program,
    rounds: Vec<Round>,
}

/// A program by one criterion: pairs that came in both orders when `receive-order` was done, or its time was up.
pub struct Covered {
    pub label: &'static str,
    pub criterion: Criterion,
    seconds: Mean,
    guided: Mean,
    delayed: [Mean; 3],
    random: Mean,
}

/// Runs those programs whose label is wanted.
pub fn measure(wanted: &dyn Fn(&str) -> bool, runs: u64, limit_seconds: f64) -> Vec<Study> {
    let chosen = correct().filter(|program| PROGRAMS.contains(&program.label) && wanted(program.label));
    chosen
        .map(|program| Study { program, rounds: (1..=runs).map(|seed| round(program, seed, limit_seconds)).collect() })
        .collect()
}

fn round(program: Program, seed: u64, limit_seconds: f64) -> Round {
    let run = |strategy: &mut dyn raddle_engine::strategy::Strategy| {
        let (trial, samples) = cover(program.run, strategy, limit_seconds);
        Run { trial, samples }
    };
    Round {
        guided: Criterion::ALL.map(|criterion| run(&mut ReceiveOrder::by(seed, &[criterion]))),
        delayed: LONGEST.map(|longest| run(&mut RandomDelays::new(seed, longest))),
        random: run(&mut Random::new(seed)),
    }
}

impl Run {
    /// Pairs covered by then.
    fn pairs(&self, criterion: Criterion, seconds: f64) -> f64 {
        let until = self.samples.iter().take_while(|sample| sample.0 <= seconds);
        until.last().map_or(0.0, |sample| sample.1[criterion.index()] as f64)
    }

    fn last(&self, criterion: Criterion) -> f64 {
        self.pairs(criterion, f64::INFINITY)
    }
}

impl Study {
    /// By each criterion that applies: nothing can be covered by changes of behaviour where there are none.
    pub fn covered(&self) -> impl Iterator<Item = Covered> + '_ {
        Criterion::ALL.into_iter().filter_map(|criterion| {
            let own = |round: &Round| round.guided[criterion.index()].trial.seconds;
            let mean = |pairs: &dyn Fn(&Round) -> f64| Mean::of(self.rounds.iter().map(pairs));
            let covered = Covered {
                label: self.program.label,
                criterion,
                seconds: mean(&own),
                guided: mean(&|round| round.guided[criterion.index()].last(criterion)),
                delayed: [0, 1, 2].map(|at| mean(&|round| round.delayed[at].pairs(criterion, own(round)))),
                random: mean(&|round| round.random.pairs(criterion, own(round))),
            };
            (covered.guided.mean > 0.0).then_some(covered)
        })
    }

    /// The paper's figures, of the first round.
    fn figure(&self, criterion: Criterion) -> Plot {
        let best = self.covered().find(|covered| covered.criterion == criterion).map_or(0, |covered| covered.best());
        let round = &self.rounds[0];
        let runs = [
            (format!("receive-order:{}", criterion.name()), &round.guided[criterion.index()]),
            (DELAYS[best].to_owned(), &round.delayed[best]),
            ("random".to_owned(), &round.random),
        ];
        let end = runs.iter().map(|(_, run)| run.trial.seconds).fold(0.0, f64::max);
        let line = |(colour, (label, run)): (usize, &(String, &Run))| {
            let points = run.samples.iter().map(|sample| (sample.0, sample.1[criterion.index()] as f64));
            // What has nothing left to do stays where it is.
            let points = [(0.0, 0.0)].into_iter().chain(points).chain([(end, run.last(criterion))]).collect();
            Line { label: label.clone(), dashed: colour == 2, colour, points }
        };
        let most = runs.iter().map(|(_, run)| run.last(criterion)).fold(1.0, f64::max);
        Plot {
            title: self.figure_title(criterion),
            x: Axis::new("CPU time (s)", Kind::Linear, 0.0, end),
            y: Axis::new("pairs in both orders", Kind::Linear, 0.0, most * 1.05),
            level: None,
            lines: runs.iter().enumerate().map(line).collect(),
        }
    }

    fn figure_title(&self, criterion: Criterion) -> String {
        format!("Coverage over time, {}, {}", self.program.label, criterion.name().to_uppercase())
    }

    /// All runs, as objects.
    pub fn json(&self) -> Vec<Value> {
        let mut objects = Vec::new();
        for (seed, round) in (1..).zip(&self.rounds) {
            let guided = Criterion::ALL.map(|criterion| format!("receive-order:{}", criterion.name()));
            let names = guided.iter().map(String::as_str).chain(DELAYS).chain(["random"]);
            let runs = round.guided.iter().chain(&round.delayed).chain([&round.random]);
            objects.extend(names.zip(runs).map(|(strategy, run)| {
                let [pr, pbr, pcr] = Criterion::ALL.map(|criterion| run.last(criterion));
                json!({
                    "kind": "coverage", "program": self.program.label, "strategy": strategy, "seed": seed,
                    "executions": run.trial.executions, "cpu_seconds": run.trial.seconds, "nothing_left": run.trial.done,
                    "pr": pr, "pbr": pbr, "pcr": pcr,
                })
            }));
        }
        objects
    }

    /// Failures, of which there should be none.
    pub fn wrong(&self) -> Vec<String> {
        let runs =
            self.rounds.iter().flat_map(|round| round.guided.iter().chain(&round.delayed).chain([&round.random]));
        let found = runs.filter_map(|run| run.trial.found);
        found.map(|found| format!("{} fails, and should not: {found}", self.program.label)).collect()
    }
}

impl Covered {
    /// Which of the delays covers most.
    fn best(&self) -> usize {
        let most = self.delayed.iter().enumerate().max_by(|(_, one), (_, other)| one.mean.total_cmp(&other.mean));
        most.map_or(0, |(at, _)| at)
    }

    /// How many times as many pairs as the best of the delays.
    pub fn improvement(&self) -> f64 {
        self.guided.mean / self.delayed[self.best()].mean
    }

    /// How many times as many pairs as `random`.
    pub fn over_random(&self) -> f64 {
        self.guided.mean / self.random.mean
    }
}

/// All of it.
pub fn grid(studies: &[Study]) -> Grid {
    let header =
        ["program", "criterion", "CPU", "receive-order", "best of the delays", "which", "times", "random", "times"];
    let mut grid = Grid::new(&header);
    for covered in studies.iter().flat_map(Study::covered) {
        let best = covered.best();
        let times = |number: f64| format!("{}×", rounded(number));
        grid.row(vec![
            covered.label.to_owned(),
            covered.criterion.name().to_uppercase(),
            covered.seconds.text(duration),
            covered.guided.text(count),
            covered.delayed[best].text(count),
            DELAYS[best].to_owned(),
            times(covered.improvement()),
            covered.random.text(count),
            times(covered.over_random()),
        ]);
    }
    grid
}

/// The pictures: what stands above each, its name and itself.
pub fn pictures(studies: &[Study]) -> Vec<(String, String, String)> {
    let of = |(label, criterion, slug): &(&str, Criterion, &str)| {
        let study = studies.iter().find(|study| study.program.label == *label)?;
        Some((study.figure_title(*criterion), (*slug).to_owned(), study.figure(*criterion).svg()))
    };
    FIGURES.iter().filter_map(of).collect()
}
