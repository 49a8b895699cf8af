//! A point on the path, with its alternatives in the order in which the explorer reaches them.

use raddle_engine::ids::TaskId;
use raddle_engine::system::Point;
use smallvec::SmallVec;

use super::DelayingExplorer;

/// How many fruitless delays in a row are allowed, beyond two rounds over all alternatives, before an explorer is considered unsound.
const EXTRA_DELAYS: usize = 16;

/// A point on the path.
#[derive(Clone, Debug)]
pub(super) struct DelayLevel<E> {
    /// The explorer after the delays that led to the current alternative.
    pub explorer: E,
    /// The number of steps before the point.
    pub steps: usize,
    /// The number of delays on the path, including those here.
    pub total: u32,
    /// How many alternatives come before the current one. Each costs a delay.
    pub rank: u32,
    /// This worker is to run the other alternatives.
    pub own: bool,
    /// By alternative: its task. Empty at a data choice.
    tasks: SmallVec<[TaskId; 16]>,
    /// The distinct enabled tasks at the latest point with tasks. Empty if they are equal to `tasks`, which is the common case.
    distinct: Vec<TaskId>,
    alternatives: u32,
    choice: u32,
    /// By alternative, a bit: whether it was run or is the current one. Not used at a data choice.
    tried: SmallVec<[u64; 1]>,
}

impl<E: DelayingExplorer> DelayLevel<E> {
    /// The level of a point. Its current alternative is the explorer's choice.
    #[inline]
    pub fn new(at: &Point<'_>, mut explorer: E, steps: usize, before: Option<&Self>) -> Self {
        let (mut tasks, mut distinct) = (SmallVec::<[TaskId; 16]>::new(), Vec::new());
        if let Point::Actions(actions) = at {
            tasks.extend(actions.iter().map(|action| action.task));
            if tasks.windows(2).any(|pair| pair[0] == pair[1]) {
                distinct.extend_from_slice(&tasks);
                distinct.dedup();
            }
        } else if let Some(before) = before {
            distinct.extend_from_slice(before.ready());
        }
        let first = match tasks.len() {
            0 | 1 => 0,
            _ if distinct.is_empty() => ask(&mut explorer, &tasks).1,
            _ => first_of(&tasks, ask(&mut explorer, &distinct).0),
        };
        let total = before.map_or(0, |before| before.total);
        let tried = match tasks.len() {
            0 => SmallVec::new(),
            1..=64 => SmallVec::from_buf([0]),
            more => SmallVec::from_elem(0, more.div_ceil(64)),
        };
        let alternatives = at.alternatives();
        let mut level =
            Self { explorer, steps, total, rank: 0, own: true, tasks, distinct, alternatives, choice: first, tried };
        level.mark_tried(first);
        level
    }

    fn mark_tried(&mut self, choice: u32) {
        self.choice = choice;
        if let Some(bits) = self.tried.get_mut(choice as usize / 64) {
            *bits |= 1 << (choice % 64);
        }
    }

    fn was_tried(&self, choice: u32) -> bool {
        self.tried[choice as usize / 64] >> (choice % 64) & 1 == 1
    }

    /// The current alternative.
    pub fn choice(&self) -> u32 {
        self.choice
    }

    /// True if there is an alternative after the current one.
    pub fn has_more(&self) -> bool {
        self.rank + 1 < self.alternatives
    }

    /// The enabled tasks, here or, at a data choice, at the latest point with tasks.
    #[inline]
    pub fn ready(&self) -> &[TaskId] {
        if self.distinct.is_empty() { &self.tasks } else { &self.distinct }
    }

    /// Moves to the next alternative. There must be one.
    pub fn delay(&mut self) {
        debug_assert!(self.has_more());
        let next = if self.tasks.is_empty() { self.choice() + 1 } else { self.delay_explorer() };
        self.mark_tried(next);
        self.rank += 1;
        self.total += 1;
    }

    /// The first alternative of a task that was not tried.
    fn first_untried(&self, task: TaskId) -> Option<u32> {
        for (word, bits) in self.tried.iter().enumerate() {
            let tasks = &self.tasks[64 * word..];
            let mut left = !bits;
            if tasks.len() < 64 {
                left &= (1 << tasks.len()) - 1;
            }
            while left != 0 {
                let at = left.trailing_zeros();
                if tasks[at as usize] == task {
                    return Some(place(64 * word) + at);
                }
                left &= left - 1;
            }
        }
        None
    }

    /// Delays until the explorer returns an untried alternative: another task or, after a round, another alternative of the same task.
    fn delay_explorer(&mut self) -> u32 {
        for _ in 0..2 * self.tasks.len() + EXTRA_DELAYS {
            self.explorer.delay();
            if self.distinct.is_empty() {
                let (_, at) = ask(&mut self.explorer, &self.tasks);
                if !self.was_tried(at) {
                    return at;
                }
            } else {
                let (task, _) = ask(&mut self.explorer, &self.distinct);
                if let Some(at) = self.first_untried(task) {
                    return at;
                }
            }
        }
        let missing: Vec<_> =
            (0..self.tasks.len()).filter(|at| !self.was_tried(place(*at))).map(|at| self.tasks[at]).collect();
        panic!(
            "raddle: the delaying explorer is not sound: after step {}, the tasks {:?} are enabled, but repeated calls of `delay` \
             do not make `next` return {missing:?}; `delay` must pass over each chosen task until all were chosen",
            self.steps, self.tasks
        )
    }
}

/// The task that the explorer returns, and its index among the enabled ones.
#[inline]
fn ask<E: DelayingExplorer>(explorer: &mut E, ready: &[TaskId]) -> (TaskId, u32) {
    let next = explorer.next(ready);
    let Some(at) = ready.iter().position(|task| *task == next) else {
        panic!(
            "raddle: the delaying explorer chose {next:?}, which is not enabled; `next` must return one of {ready:?}"
        )
    };
    (next, place(at))
}

#[inline]
fn first_of(tasks: &[TaskId], task: TaskId) -> u32 {
    place(tasks.iter().position(|other| *other == task).expect("the explorer was asked for one of them"))
}

#[inline]
fn place(at: usize) -> u32 {
    u32::try_from(at).expect("raddle bug: more than 2^32 actions")
}
