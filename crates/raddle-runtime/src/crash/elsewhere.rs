//! Systems without our signal handlers: there is no report if the process ends or hangs in the middle of an execution.

use std::sync::Arc;

use raddle_engine::ids::TaskId;
use raddle_engine::system::Variant;
use raddle_engine::trace::Trace;

use super::words::{LastWords, Patience};
use crate::model::ModelState;

/// Does nothing.
pub struct Attending(());

/// Does nothing.
#[must_use]
pub fn attend(_: Arc<LastWords>, _: Patience) -> Attending {
    Attending(())
}

pub(crate) struct RunningMark(());

pub(crate) fn inside(_: Option<&Trace>) -> RunningMark {
    RunningMark(())
}

pub(crate) fn inside_model(_: &ModelState, _: Option<&Trace>, _: Option<(TaskId, Option<Variant>)>) -> RunningMark {
    RunningMark(())
}

pub(crate) fn away() -> RunningMark {
    RunningMark(())
}

pub(crate) fn note_step() {}

pub(crate) fn handles(_: TaskId) {}
