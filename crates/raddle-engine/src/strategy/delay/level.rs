//! A point on the way: what could be done there, in the order in which the explorer comes to it.

use smallvec::SmallVec;

use super::DelayingExplorer;
use crate::ids::TaskId;
use crate::system::Point;

/// Delays in a row that bring nothing new before an explorer is taken to be unsound, beyond what it takes to go round once or twice.
const PATIENCE: usize = 16;

/// A point on the way.
#[derive(Clone, Debug)]
pub(super) struct Level<E> {
    /// As it is after the delays that led to what is being done.
    pub explorer: E,
    /// Steps before it.
    pub steps: usize,
    /// Delays on the way, those here included.
    pub total: u32,
    /// How many alternatives come before what is being done: each costs a delay.
    pub rank: u32,
    /// Others may be done here too, and are for this worker.
    pub own: bool,
    /// Who could go on at the latest point where tasks did, each once.
    ready: SmallVec<[TaskId; 8]>,
    /// By alternative: whose it is. None where a value is chosen.
    tasks: SmallVec<[TaskId; 8]>,
    alternatives: u32,
    /// What was done, in order; the last one is being done.
    shown: SmallVec<[u32; 8]>,
}

impl<E: DelayingExplorer> Level<E> {
    /// The level of a point; what is done there is what the explorer says.
    pub fn new(at: &Point<'_>, mut explorer: E, steps: usize, before: Option<&Self>) -> Self {
        let tasks: SmallVec<[TaskId; 8]> = match at {
            Point::Actions(actions) => actions.iter().map(|action| action.task).collect(),
            _ => SmallVec::new(),
        };
        let ready = match before {
            Some(before) if tasks.is_empty() => before.ready.clone(),
            _ => {
                let mut ready = tasks.clone();
                ready.dedup();
                ready
            }
        };
        let first = if tasks.len() > 1 { first_of(&tasks, ask(&mut explorer, &ready)) } else { 0 };
        let shown = SmallVec::from_slice(&[first]);
        let total = before.map_or(0, |before| before.total);
        Self { explorer, steps, total, rank: 0, own: true, ready, alternatives: at.alternatives(), tasks, shown }
    }

    /// What is being done.
    pub fn choice(&self) -> u32 {
        *self.shown.last().expect("raddle bug: a level where nothing is done")
    }

    /// Whether there is something that comes after it.
    pub fn has_more(&self) -> bool {
        self.shown.len() < self.alternatives as usize
    }

    /// Who could go on, here or, where a value is chosen, before that.
    pub fn ready(&self) -> &[TaskId] {
        &self.ready
    }

    /// Goes on to the next alternative. Call if there is one.
    pub fn delay(&mut self) {
        debug_assert!(self.has_more());
        let next = if self.tasks.is_empty() { self.choice() + 1 } else { self.delay_explorer() };
        self.shown.push(next);
        self.rank += 1;
        self.total += 1;
    }

    /// Delays until the explorer comes to something new: another task, or, having come round, another way for the same one.
    fn delay_explorer(&mut self) -> u32 {
        for _ in 0..2 * self.tasks.len() + PATIENCE {
            self.explorer.delay();
            let task = ask(&mut self.explorer, &self.ready);
            let new = |at: &usize| self.tasks[*at] == task && !self.shown.contains(&place(*at));
            if let Some(at) = (0..self.tasks.len()).find(new) {
                return place(at);
            }
        }
        let missing: Vec<_> =
            (0..self.tasks.len()).filter(|at| !self.shown.contains(&place(*at))).map(|at| self.tasks[at]).collect();
        panic!(
            "raddle: the delaying explorer is not sound: after step {}, of the tasks {:?} that can go on, repeated `delay` \
             does not bring {missing:?} to `next`; see that `delay` passes over who was chosen until everybody was",
            self.steps, self.tasks
        )
    }
}

/// Whom the explorer wants to go on.
fn ask<E: DelayingExplorer>(explorer: &mut E, ready: &[TaskId]) -> TaskId {
    let next = explorer.next(ready);
    assert!(
        ready.contains(&next),
        "raddle: the delaying explorer wants {next:?} to go on, which cannot; `next` must give one of {ready:?}"
    );
    next
}

fn first_of(tasks: &[TaskId], task: TaskId) -> u32 {
    place(tasks.iter().position(|other| *other == task).expect("the explorer was asked for one of them"))
}

fn place(at: usize) -> u32 {
    u32::try_from(at).expect("raddle bug: more than 2^32 actions")
}
