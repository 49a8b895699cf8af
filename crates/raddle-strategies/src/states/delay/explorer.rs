//! What decides in which order tasks go on, as long as nobody deviates.

use raddle_engine::ids::TaskId;

/// A deterministic scheduler that can be told to deviate. An order that takes n deviations is found in stratum n, so a good explorer
/// is one for which the orders that are worth looking at take few.
///
/// The search keeps copies of it along its way, so it is cloned often: small is fast.
///
/// ```
/// use raddle_engine::ids::TaskId;
/// use raddle_engine::strategy::delay::{DelayingExplorer, Event};
///
/// /// The task that was created last goes first.
/// #[derive(Clone, Default)]
/// struct YoungestFirst {
///     passed_by: Vec<TaskId>,
///     chosen: Option<TaskId>,
/// }
///
/// impl DelayingExplorer for YoungestFirst {
///     fn next(&mut self, ready: &[TaskId]) -> TaskId {
///         let waits = |task: &&TaskId| !self.passed_by.contains(task);
///         let next = *ready.iter().rev().find(waits).unwrap_or(&ready[0]);
///         self.chosen = Some(next);
///         next
///     }
///
///     fn step(&mut self, _: &Event) {
///         self.passed_by.clear();
///     }
///
///     fn delay(&mut self) {
///         self.passed_by.extend(self.chosen);
///     }
/// }
/// ```
pub trait DelayingExplorer {
    /// Who goes on, of the tasks that can, which are given in order of creation; never none. Called at each point, and again
    /// after each [`delay`](Self::delay) there. The answer must be one of `ready`, and only depend on what it has been told.
    fn next(&mut self, ready: &[TaskId]) -> TaskId;

    /// Something has happened. Called for each event between two points, in order.
    fn step(&mut self, event: &Event);

    /// Somebody else is to go on than it just said. Repeated at one point, this must bring every task that is ready to
    /// [`next`](Self::next): the search says so if it does not.
    fn delay(&mut self);
}

/// What a delaying explorer hears of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A task has taken a step.
    Stepped(TaskId),
    /// A task was created. Those that exist before the first step are not told of.
    Created(TaskId),
    /// A task has ended.
    Finished(TaskId),
    /// A task can go on that could not before.
    Woken(TaskId),
    /// A message was sent to a task.
    Sent(TaskId),
    /// The program has said this, by a hint.
    Hint(u64),
}
