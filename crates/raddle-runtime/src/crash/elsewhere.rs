//! Where there are no handlers of signals: nothing is told when the process ends or hangs in the middle of an execution.

use std::fmt::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use raddle_engine::ids::TaskId;
use raddle_engine::system::Variant;
use raddle_engine::trace::Trace;

use crate::model::Scene;

/// What is said about a test when the process ends in the middle of one of its executions.
#[derive(Debug, Default)]
pub struct LastWords {
    /// The path of the test; empty if it has none.
    pub test: String,
    /// What comes before and after a schedule in the command that replays it.
    pub replay: (String, String),
    /// Where the schedule is to be kept.
    pub regressions: Option<RegressionFile>,
}

/// A file of regressions.
#[derive(Debug)]
pub struct RegressionFile(());

impl RegressionFile {
    /// None: nobody writes it.
    #[must_use]
    pub fn new(_: &Path, _: String, _: String) -> Option<Self> {
        None
    }
}

/// How long a program may go without a step.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// After so long it is told; `None` for never.
    pub tell: Option<Duration>,
    /// After so long the process ends; `None` for never.
    pub end: Option<Duration>,
}

/// A worker that is attended to.
pub struct Attending(());

/// Does nothing.
#[must_use]
pub fn attend(_: Arc<LastWords>, _: Patience) -> Attending {
    Attending(())
}

pub(crate) struct Inside(());

pub(crate) fn inside(_: Option<&Trace>) -> Inside {
    Inside(())
}

pub(crate) fn inside_model(_: &Scene, _: Option<&Trace>, _: Option<(TaskId, Option<Variant>)>) -> Inside {
    Inside(())
}

pub(crate) fn handles(_: TaskId) {}

pub(crate) trait Participants {
    fn origin(&self, task: TaskId) -> Option<(TaskId, u32)>;
    fn write_label(&self, task: TaskId, to: &mut dyn Write) -> Result<bool, fmt::Error>;
    fn seed(&self) -> u64;

    /// The seed of its hash keys, if it has made any.
    fn hash_seed(&self) -> Option<u64> {
        None
    }
    fn facts(&self) -> Option<&crate::execution::Facts> {
        None
    }
}
