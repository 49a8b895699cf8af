//! One execution of a model. Its state is boxed, because searches move executions and their copies around.

use raddle_engine::caveats::Caveats;
use raddle_engine::forward::ForwardChoices;
use raddle_engine::ids::TaskId;
use raddle_engine::outcome::{Participants, Waiting};
use raddle_engine::schedule::TaskName;
use raddle_engine::system::{Choice, Describe, Forward, Peeked, Pending, Point, Snapshots, System};
use raddle_engine::trace::Trace;

use crate::model::step::ModelState;

/// One execution of a model.
pub struct Run(pub(super) Box<ModelState>);

impl System for Run {
    #[inline]
    fn point(&self) -> Point<'_> {
        self.0.point()
    }

    fn step(&mut self, choice: Choice, trace: &mut Trace) {
        self.0.step(choice, trace);
    }

    #[inline]
    fn compute_enabled(&mut self) {
        self.0.compute_enabled();
    }

    fn caveats(&self) -> Caveats {
        self.0.caveats()
    }

    fn describe(&self) -> &dyn Describe {
        self
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots<Self>> {
        Some(self)
    }

    fn forward(&mut self) -> Option<&mut dyn Forward> {
        Some(self)
    }
}

impl Describe for Run {
    fn task_name(&self, task: TaskId) -> TaskName {
        self.0.task_name(task)
    }

    fn participants(&self) -> Participants {
        self.0.participants()
    }

    fn unfinished(&self, so_far: &Trace) -> Vec<Waiting> {
        self.0.unfinished(so_far)
    }

    fn pending(&self) -> Vec<Pending> {
        self.0.pending()
    }
}

impl Snapshots<Self> for Run {
    fn fork(&self) -> Self {
        Self(self.0.clone())
    }

    fn fork_onto(&self, other: &mut Self) {
        self.0.fork_onto(&mut other.0);
    }

    fn fingerprint(&self) -> Option<u64> {
        self.0.fingerprint()
    }

    fn peek(&mut self, choice: Choice, so_far: &Trace) -> Option<Peeked> {
        self.0.peek(choice, so_far)
    }
}

impl Forward for Run {
    fn run_forward(&mut self, choices: &mut ForwardChoices, trace: &mut Trace) {
        self.0.run_forward(choices, trace);
    }
}
