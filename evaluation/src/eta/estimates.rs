//! Compares the estimated size of a search, while it runs, with its actual size.

use std::sync::{Arc, Mutex, MutexGuard};

use programs::eta::{Eta, TABLE};
use raddle_engine::search::{Limits, search};
use raddle_engine::strategy::{Counting, Run, Strategy};
use raddle_strategies::probing::Probe;
use raddle_strategies::reduction::Dpor;
use raddle_strategies::tree::exhaustive::Exhaustive;
use raddle_strategies::watched::Watched;
use serde_json::{Value, json};

use super::published::Name;
use super::table::everything;
use super::watch::{Rules, Told, Walks};
use crate::grid::{Grid, grouped, rounded};
use crate::plot::{Axis, Kind, Line, Plot};

/// Which executions a study is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// All executions, in depth-first and in random order.
    Orders,
    /// Those that reductions run, in depth-first order, which is their only one.
    Traces,
}

/// A program to study.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// The name of its picture.
    pub slug: &'static str,
    pub program: Eta,
    pub of: Of,
    /// The number of executions.
    pub truth: u64,
}

/// Stores that are not in the paper: on its programs, reduction leaves too little to estimate. Both reductions agree on their number of
/// traces. The largest first.
const REDUCED: [(Eta, u64); 2] = [(Eta::Store(2, 2, 3, 6), 5_528), (Eta::Store(2, 2, 3, 5), 426)];

/// All subjects of at most so many executions.
pub fn subjects(most: u64) -> impl Iterator<Item = Subject> {
    let executions = |program| TABLE.iter().find(|row| row.program == program).expect("it is in the table").executions;
    let orders = [("eta-estimate-store", Eta::Store(2, 2, 2, 3)), ("eta-estimate-phils", Eta::Phils(3))]
        .map(|(slug, program)| Subject { slug, program, of: Of::Orders, truth: executions(program) });
    let reduced = REDUCED.into_iter().find(|(_, traces)| *traces <= most).map(|(program, truth)| Subject {
        slug: "eta-estimate-reduced",
        program,
        of: Of::Traces,
        truth,
    });
    orders.into_iter().filter(move |subject| subject.truth <= most).chain(reduced)
}

/// The results for a subject.
pub struct Study {
    pub subject: Subject,
    pub curves: Vec<Curve>,
    /// What is not as expected.
    pub wrong: Vec<String>,
}

/// The estimates of one rule for one search.
pub struct Curve {
    pub search: &'static str,
    pub rule: &'static str,
    told: Vec<Told>,
}

/// The largest number of random walks. Their estimate hardly changes any more then.
const WALKS: u64 = 100_000;

const SEED: u64 = 1;

fn held<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().expect("nobody panics while he learns")
}

impl Study {
    /// Runs all searches of the subject.
    pub fn of(subject: Subject) -> Self {
        let mut study = Self { subject, curves: Vec::new(), wrong: Vec::new() };
        match subject.of {
            Of::Orders => {
                study.watch("exhaustive, depth-first", Exhaustive::depth_first());
                study.watch("exhaustive, random order", Exhaustive::random(SEED));
                study.walk(Counting::Orders);
            }
            Of::Traces => {
                study.watch("dpor-classic", Dpor::classic());
                study.watch("dpor-source", Dpor::source());
                study.walk(Counting::Traces);
            }
        }
        study
    }

    fn watch(&mut self, name: &'static str, strategy: impl Strategy + 'static) {
        let Subject { program, truth, .. } = self.subject;
        let rules: Arc<Mutex<Rules>> = Arc::default();
        let learning = Arc::clone(&rules);
        let learn = move |strategy: &mut dyn Strategy, run: &Run<'_>| held(&learning).learn(strategy, run);
        let mut watched = Watched::new(Box::new(strategy), learn);
        let report = search(&mut program.model(), &mut watched, &everything());
        if report.executions != truth {
            let got = report.executions;
            self.wrong.push(format!("{}: {name} ran {got} executions; there are {truth}", Name(program)));
        }
        let (recursive, weighted) = held(&rules).finish(&mut watched);
        self.curves.push(Curve { search: name, rule: "recursive", told: recursive });
        self.curves.push(Curve { search: name, rule: "weighted backtrack", told: weighted });
    }

    fn walk(&mut self, counting: Counting) {
        let walks: Arc<Mutex<Walks>> = Arc::default();
        let learning = Arc::clone(&walks);
        let learn = move |strategy: &mut dyn Strategy, _: &Run<'_>| held(&learning).learn(strategy);
        let mut watched = Watched::new(Box::new(Probe::new(counting, SEED)), learn);
        let limits = Limits { executions: Some(WALKS.min(self.subject.truth)), ..everything() };
        search(&mut self.subject.program.model(), &mut watched, &limits);
        self.curves.push(Curve { search: "probes", rule: "Knuth", told: held(&walks).finish(&mut watched) });
    }

    /// One object for each curve.
    pub fn json(&self) -> Vec<Value> {
        let Subject { program, truth, .. } = self.subject;
        let object = |curve: &Curve| {
            json!({
                "kind": "estimate",
                "program": Name(program).to_string(),
                "search": curve.search,
                "rule": curve.rule,
                "truth": truth,
                "points": curve.told,
            })
        };
        self.curves.iter().map(object).collect()
    }

    /// The name of the study.
    pub fn title(&self) -> String {
        let Subject { program, truth, of, .. } = self.subject;
        let what = if of == Of::Orders { "executions" } else { "traces" };
        format!("{}: {} {what}", Name(program), grouped(truth))
    }

    /// The ratio of estimate and truth at a few places, and from where on it stays right.
    pub fn grid(&self) -> Grid {
        let truth = self.subject.truth;
        let places: Vec<u64> = (1..8).map(|power| 10u64.pow(power)).filter(|place| *place < truth).collect();
        let titles: Vec<String> = places.iter().map(|place| format!("after {}", grouped(*place))).collect();
        let mut header = vec!["search and rule"];
        header.extend(titles.iter().map(String::as_str));
        header.push("within 2× from");
        let mut grid = Grid::new(&header);
        for curve in &self.curves {
            let mut cells = vec![curve.name()];
            cells.extend(places.iter().map(|&place| curve.at(place, truth).map_or("–".to_owned(), rounded)));
            cells.push(curve.steady_from(truth).map_or("never".to_owned(), grouped));
            grid.row(cells);
        }
        grid
    }

    /// The ratio of estimate and truth, over executions.
    pub fn plot(&self) -> Plot {
        let truth = self.subject.truth as f64;
        let ratios = self.curves.iter().flat_map(|curve| &curve.told).map(|(_, told)| told / truth);
        let (low, high) = ratios.fold((0.5, 2.0), |(low, high): (f64, f64), it| (low.min(it), high.max(it)));
        let line = |(nth, curve): (usize, &Curve)| Line {
            label: curve.name(),
            // One colour for each search, gaps for the second of its rules.
            colour: nth / 2 * 2 % 5,
            dashed: curve.rule == "weighted backtrack",
            points: curve.told.iter().map(|&(done, told)| (done as f64, told / truth)).collect(),
        };
        Plot {
            title: format!("Estimated size over true size, {}", self.title()),
            x: Axis::new("executions done", Kind::Log, 1.0, truth),
            y: Axis::new("estimate / truth", Kind::Log, low * 0.8, high * 1.25),
            level: Some((1.0, "truth".to_owned())),
            lines: self.curves.iter().enumerate().map(line).collect(),
        }
    }
}

impl Curve {
    fn name(&self) -> String {
        format!("{}: {}", self.search, self.rule)
    }

    /// The ratio of estimate and truth after so many executions, or the latest before that.
    fn at(&self, place: u64, truth: u64) -> Option<f64> {
        let last = self.told.last()?.0;
        let told = self.told.iter().rev().find(|(done, _)| *done <= place)?;
        (place <= last).then(|| told.1 / truth as f64)
    }

    /// The number of executions from which on the estimate is never wrong by more than a factor of two.
    fn steady_from(&self, truth: u64) -> Option<u64> {
        let off = |told: f64| !(0.5..=2.0).contains(&(told / truth as f64));
        let latest_off = self.told.iter().rposition(|(_, told)| off(*told));
        let first = latest_off.map_or(0, |at| at + 1);
        self.told.get(first).map(|(done, _)| *done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_steady_after_its_last_error() {
        let curve = |told: &[Told]| Curve { search: "s", rule: "r", told: told.to_vec() };
        let jumps = curve(&[(1, 4.0), (2, 10.0), (5, 30.0), (9, 12.0)]);
        assert_eq!(jumps.steady_from(10), Some(9));
        assert_eq!((jumps.at(4, 10), jumps.at(9, 10), jumps.at(10, 10)), (Some(1.0), Some(1.2), None));
        assert_eq!(curve(&[(1, 9.0)]).steady_from(10), Some(1));
        assert_eq!(curve(&[(1, 9.0), (2, 40.0)]).steady_from(10), None);
    }
}
