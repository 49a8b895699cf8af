//! The paper's examples.

use raddle_engine::coverage::receive_index::ReceiveIndex;

use super::*;
use crate::receives::example::{ERROR, Line, ONE_ACTION, TWO_ACTIONS, recorded};

struct Example {
    base: Base,
    lines: &'static [Line],
    achieved: Goals,
}

impl Example {
    fn new(lines: &'static [Line], changes: &str, criterion: Criterion) -> Self {
        let recorded = recorded(lines, changes);
        let places = ReceiveIndex::default().add_all(&recorded);
        let base = Base::new(recorded, places);
        let mut achieved = Goals::default();
        let all: Vec<_> = (0..lines.len()).collect();
        achieved.add(criterion, &base.orders(&all));
        Self { base, lines, achieved }
    }

    fn at(&self, label: &str) -> usize {
        self.lines.iter().position(|line| line.0 == label).unwrap()
    }

    fn say(&self, order: &[usize]) -> String {
        order.iter().map(|&event| self.lines[event].0).collect::<Vec<_>>().join(" ")
    }

    /// All schedules. Each counts as achieved when the next one is generated.
    fn all(&mut self, criterion: Criterion) -> Vec<String> {
        let (mut cursor, mut said) = (Cursor::default(), Vec::new());
        while let Some(planned) = self.base.next(criterion, &self.achieved, &Goals::default(), &mut cursor) {
            let new = self.achieved.add(criterion, &self.base.orders(&planned.order));
            assert!(new > 0, "{} adds nothing", self.say(&planned.order));
            said.push(self.say(&planned.order));
        }
        said
    }
}

#[test]
fn what_must_happen_before_in_figure_1() {
    let example = Example::new(&ONE_ACTION, "", Criterion::Pairs);
    let mut direct = Vec::new();
    for (i, j) in (0..5).flat_map(|j| (0..j).map(move |i| (i, j))) {
        let chain = example.base.must.chain(&example.base.recorded, i, j);
        assert_eq!(chain.is_empty(), !example.base.must.holds(i, j));
        if chain.len() == 1 {
            direct.push(format!("{} {}", ONE_ACTION[i].0, ONE_ACTION[j].0));
        }
    }
    assert_eq!(direct, ["ex w", "ex ad", "ad fl", "w fd", "fl fd"]);
    let must = &example.base.must;
    assert!(must.holds(example.at("ex"), example.at("fd")) && !must.holds(example.at("w"), example.at("fl")));
}

#[test]
fn the_worked_example_of_section_4() {
    let example = Example::new(&TWO_ACTIONS, "", Criterion::Pairs);
    let (w1, w2) = (example.at("w1"), example.at("w2"));
    let order = example.base.schedule(w1, w2, true, Criterion::Pairs, &example.achieved).unwrap();
    assert_eq!(example.say(&order), "ex1 ex2 w2 ad1 ad2 fl w1");
}

#[test]
fn a_few_schedules_cover_what_can_be_covered() {
    // The writes come in both orders, and each before and after the flush. The two `ad` come in both orders as well; after they are
    // swapped, nothing is known of the flush.
    let mut example = Example::new(&TWO_ACTIONS, "", Criterion::Pairs);
    assert_eq!(
        example.all(Criterion::Pairs),
        ["ex1 ex2 w2 ad1 ad2 fl w1", "ex1 w1 ex2 ad1 ad2 fl w2", "ex1 w1 ex2 w2 ad2 ad1"]
    );
    for (first, second) in [("w1", "w2"), ("w1", "fl"), ("w2", "fl"), ("ad1", "ad2")] {
        for (one, other) in [(first, second), (second, first)] {
            assert!(example.base.is_in(&example.achieved, example.at(one), example.at(other)), "{one} before {other}");
        }
    }
}

#[test]
fn an_error_is_looked_for_after_it_has_come() {
    let example = Example::new(&ERROR, "", Criterion::Pairs);
    let (check, error) = (example.at("ch"), example.at("er"));
    let order = example.base.schedule(check, error, true, Criterion::Pairs, &example.achieved).unwrap();
    // The order contains everything that the error needs, including the write after the flush.
    assert_eq!(example.say(&order), "ex ad fl fd w er ch");
    let mut example = example;
    let all = example.all(Criterion::Pairs);
    assert!(all.iter().any(|order| order.starts_with("ex ad fl ch fd") || order.contains("ch fd")), "{all:?}");
    assert!(all.iter().any(|order| order.contains("w fl")), "{all:?}");
}

#[test]
fn consecutive_receives_and_changes_of_behaviour() {
    let mut example = Example::new(&TWO_ACTIONS, "fl", Criterion::Consecutive);
    let all = example.all(Criterion::Consecutive);
    assert!(all.len() >= 4, "{all:?}");
    for (first, second) in [("w1", "w2"), ("w1", "fl"), ("w2", "fl")] {
        for (one, other) in [(first, second), (second, first)] {
            assert!(example.base.is_in(&example.achieved, example.at(one), example.at(other)), "{one} before {other}");
        }
    }
    let mut example = Example::new(&TWO_ACTIONS, "fl", Criterion::BehaviourChanges);
    let all = example.all(Criterion::BehaviourChanges);
    assert!(!all.is_empty() && all.iter().all(|order| order.contains("fl w")), "{all:?}");
}
