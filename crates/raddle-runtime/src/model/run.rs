//! One execution of a model, in one piece of memory that stays where it is: searches pass executions and their copies around.

use raddle_engine::caveats::Caveats;
use raddle_engine::ids::TaskId;
use raddle_engine::lots::Lots;
use raddle_engine::outcome::{Cast, Waiting};
use raddle_engine::schedule::TaskName;
use raddle_engine::system::{Choice, Foreseen, Pending, Point, System};
use raddle_engine::trace::Trace;

use crate::model::step::Scene;

/// One execution of a model.
pub struct Run(pub(super) Box<Scene>);

impl System for Run {
    #[inline]
    fn point(&self) -> Point<'_> {
        self.0.point()
    }

    fn advance(&mut self, choice: Choice, trace: &mut Trace) {
        self.0.advance(choice, trace);
    }

    fn step(&mut self, choice: Choice, trace: &mut Trace) {
        self.0.step(choice, trace);
    }

    #[inline]
    fn survey(&mut self) {
        self.0.survey();
    }

    fn wander(&mut self, lots: &mut Lots, trace: &mut Trace) {
        self.0.wander(lots, trace);
    }

    fn task_name(&self, task: TaskId) -> TaskName {
        self.0.task_name(task)
    }

    fn cast(&self) -> Cast {
        self.0.cast()
    }

    fn unfinished(&self, so_far: &Trace) -> Vec<Waiting> {
        self.0.unfinished(so_far)
    }

    fn pending(&self) -> Vec<Pending> {
        self.0.pending()
    }

    fn caveats(&self) -> Caveats {
        self.0.caveats()
    }

    fn fork(&self) -> Option<Self> {
        Some(Self(self.0.clone()))
    }

    fn fork_onto(&self, other: &mut Self) -> bool {
        self.0.fork_onto(&mut other.0)
    }

    fn fingerprint(&self) -> Option<u64> {
        self.0.fingerprint()
    }

    fn foresee(&mut self, choice: Choice, so_far: &Trace) -> Option<Foreseen> {
        self.0.foresee(choice, so_far)
    }
}
