//! The order in which tasks run as long as there is no delay.

use raddle_engine::ids::TaskId;

/// A deterministic scheduler that can be asked to deviate. An execution with n deviations is run in stratum n. So an explorer is good if the
/// interesting executions need few deviations from its order.
///
/// The search clones the explorer at each point, so it should be small.
///
/// ```
/// use raddle_engine::ids::TaskId;
/// use raddle_strategies::states::delay::{DelayingExplorer, Event};
///
/// /// The task that was created last goes first.
/// #[derive(Clone, Default)]
/// struct YoungestFirst {
///     skipped: Vec<TaskId>,
///     chosen: Option<TaskId>,
/// }
///
/// impl DelayingExplorer for YoungestFirst {
///     fn next(&mut self, ready: &[TaskId]) -> TaskId {
///         let waits = |task: &&TaskId| !self.skipped.contains(task);
///         let next = *ready.iter().rev().find(waits).unwrap_or(&ready[0]);
///         self.chosen = Some(next);
///         next
///     }
///
///     fn step(&mut self, _: &Event) {
///         self.skipped.clear();
///     }
///
///     fn delay(&mut self) {
///         self.skipped.extend(self.chosen);
///     }
/// }
/// ```
pub trait DelayingExplorer {
    /// Returns the task to run, one of `ready`: the enabled tasks, in order of creation, never none. The search calls this at each point, and
    /// again after each [`delay`](Self::delay) there. The answer may depend only on earlier calls.
    fn next(&mut self, ready: &[TaskId]) -> TaskId;

    /// Reports an event. The search calls this for each event between two points, in order.
    fn step(&mut self, event: &Event);

    /// Asks for another task than the one that [`next`](Self::next) has just returned. Repeated calls at one point must make `next` return every
    /// enabled task. Otherwise the search panics with an explanation.
    fn delay(&mut self);
}

/// An event that the search reports to a delaying explorer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A task has taken a step.
    Stepped(TaskId),
    /// A task was created. Tasks that exist before the first step are not reported.
    Created(TaskId),
    /// A task has ended.
    Finished(TaskId),
    /// A task became enabled.
    Woken(TaskId),
    /// A message was sent to a task.
    Sent(TaskId),
    /// The program has given this hint.
    Hint(u64),
}
