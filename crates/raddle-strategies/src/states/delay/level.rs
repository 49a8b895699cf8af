//! A point on the way: what could be done there, in the order in which the explorer comes to it.

use smallvec::SmallVec;

use super::DelayingExplorer;
use raddle_engine::ids::TaskId;
use raddle_engine::system::Point;

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
    /// By alternative: whose it is. None where a value is chosen.
    tasks: SmallVec<[TaskId; 16]>,
    /// Who could go on at the latest point where tasks did, each once; empty if those are `tasks`, as they mostly are.
    each: Vec<TaskId>,
    alternatives: u32,
    choice: u32,
    /// By alternative, a bit: whether it was done or is being done. Not kept where a value is chosen.
    shown: SmallVec<[u64; 1]>,
}

impl<E: DelayingExplorer> Level<E> {
    /// The level of a point; what is done there is what the explorer says.
    #[inline]
    pub fn new(at: &Point<'_>, mut explorer: E, steps: usize, before: Option<&Self>) -> Self {
        let (mut tasks, mut each) = (SmallVec::<[TaskId; 16]>::new(), Vec::new());
        if let Point::Actions(actions) = at {
            tasks.extend(actions.iter().map(|action| action.task));
            if tasks.windows(2).any(|pair| pair[0] == pair[1]) {
                each.extend_from_slice(&tasks);
                each.dedup();
            }
        } else if let Some(before) = before {
            each.extend_from_slice(before.ready());
        }
        let first = match tasks.len() {
            0 | 1 => 0,
            _ if each.is_empty() => ask(&mut explorer, &tasks).1,
            _ => first_of(&tasks, ask(&mut explorer, &each).0),
        };
        let total = before.map_or(0, |before| before.total);
        let shown = match tasks.len() {
            0 => SmallVec::new(),
            1..=64 => SmallVec::from_buf([0]),
            more => SmallVec::from_elem(0, more.div_ceil(64)),
        };
        let alternatives = at.alternatives();
        let mut level =
            Self { explorer, steps, total, rank: 0, own: true, tasks, each, alternatives, choice: first, shown };
        level.show(first);
        level
    }

    fn show(&mut self, choice: u32) {
        self.choice = choice;
        if let Some(bits) = self.shown.get_mut(choice as usize / 64) {
            *bits |= 1 << (choice % 64);
        }
    }

    fn was_shown(&self, choice: u32) -> bool {
        self.shown[choice as usize / 64] >> (choice % 64) & 1 == 1
    }

    /// What is being done.
    pub fn choice(&self) -> u32 {
        self.choice
    }

    /// Whether there is something that comes after it.
    pub fn has_more(&self) -> bool {
        self.rank + 1 < self.alternatives
    }

    /// Who could go on, here or, where a value is chosen, before that.
    #[inline]
    pub fn ready(&self) -> &[TaskId] {
        if self.each.is_empty() { &self.tasks } else { &self.each }
    }

    /// Goes on to the next alternative. Call if there is one.
    pub fn delay(&mut self) {
        debug_assert!(self.has_more());
        let next = if self.tasks.is_empty() { self.choice() + 1 } else { self.delay_explorer() };
        self.show(next);
        self.rank += 1;
        self.total += 1;
    }

    /// The first way for a task to go on that was not shown.
    fn first_new(&self, task: TaskId) -> Option<u32> {
        for (word, bits) in self.shown.iter().enumerate() {
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

    /// Delays until the explorer comes to something new: another task, or, having come round, another way for the same one.
    fn delay_explorer(&mut self) -> u32 {
        for _ in 0..2 * self.tasks.len() + PATIENCE {
            self.explorer.delay();
            if self.each.is_empty() {
                let (_, at) = ask(&mut self.explorer, &self.tasks);
                if !self.was_shown(at) {
                    return at;
                }
            } else {
                let (task, _) = ask(&mut self.explorer, &self.each);
                if let Some(at) = self.first_new(task) {
                    return at;
                }
            }
        }
        let missing: Vec<_> =
            (0..self.tasks.len()).filter(|at| !self.was_shown(place(*at))).map(|at| self.tasks[at]).collect();
        panic!(
            "raddle: the delaying explorer is not sound: after step {}, of the tasks {:?} that can go on, repeated `delay` \
             does not bring {missing:?} to `next`; see that `delay` passes over who was chosen until everybody was",
            self.steps, self.tasks
        )
    }
}

/// Whom the explorer wants to go on, and where that is among all who can.
#[inline]
fn ask<E: DelayingExplorer>(explorer: &mut E, ready: &[TaskId]) -> (TaskId, u32) {
    let next = explorer.next(ready);
    let Some(at) = ready.iter().position(|task| *task == next) else {
        panic!("raddle: the delaying explorer wants {next:?} to go on, which cannot; `next` must give one of {ready:?}")
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
