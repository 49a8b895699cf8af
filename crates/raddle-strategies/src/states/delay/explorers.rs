//! The explorers of Desai, Qadeer and Seshia (2015).

use raddle_engine::ids::TaskId;
use raddle_engine::rng::Rng;
use smallvec::SmallVec;

use super::{DelayingExplorer, Event};

/// Runs tasks in order of creation, each until it blocks. A delay moves the task to the end of the queue.
#[derive(Debug, Default)]
pub struct RoundRobin {
    /// A ring buffer that begins at `head`.
    queue: SmallVec<[TaskId; 12]>,
    head: usize,
    /// The set of tasks in the queue.
    known: TaskBits,
}

/// Copies the queue as whole words, because the search copies it at every point.
impl Clone for RoundRobin {
    fn clone(&self) -> Self {
        Self { queue: SmallVec::from_slice(&self.queue), head: self.head, known: self.known }
    }
}

/// A set of tasks as bits, for the first 64 tasks. It avoids searching a list.
#[derive(Clone, Copy, Debug, Default)]
struct TaskBits(u64);

impl TaskBits {
    fn of(tasks: &[TaskId]) -> Self {
        tasks.iter().fold(Self::default(), |bits, task| bits.and(*task))
    }

    /// True if all tasks of `list` (in order of creation), whose bits these are, are in `other`.
    fn is_within(self, other: Self, list: &[TaskId]) -> bool {
        self.0 & !other.0 == 0 && list.last().is_none_or(|last| last.number() < u64::BITS)
    }

    fn and(self, task: TaskId) -> Self {
        Self(self.0 | 1_u64.checked_shl(task.number()).unwrap_or(0))
    }

    /// True if a task is in `list`, whose bits these are.
    fn has(self, task: TaskId, list: &[TaskId]) -> bool {
        match self.0.checked_shr(task.number()) {
            Some(bits) => bits & 1 == 1,
            None => list.contains(&task),
        }
    }
}

impl RoundRobin {
    /// Inserts a task into the queue.
    fn add(&mut self, task: TaskId, at: usize) {
        self.known = self.known.and(task);
        self.queue.rotate_left(self.head);
        self.head = 0;
        self.queue.insert(at, task);
    }

    fn has(&self, task: TaskId) -> bool {
        self.known.has(task, &self.queue)
    }

    fn rotate(&mut self) {
        self.head = if self.head + 1 < self.queue.len() { self.head + 1 } else { 0 };
    }
}

impl DelayingExplorer for RoundRobin {
    fn next(&mut self, ready: &[TaskId]) -> TaskId {
        let bits = TaskBits::of(ready);
        if !bits.is_within(self.known, ready) {
            for task in ready {
                if !self.has(*task) {
                    self.add(*task, self.queue.len());
                }
            }
        }
        let (queue, mut head) = (self.queue.as_slice(), self.head);
        for _ in 0..queue.len() {
            let first = queue[head];
            if bits.has(first, ready) {
                self.head = head;
                return first;
            }
            head = if head + 1 < queue.len() { head + 1 } else { 0 };
        }
        unreachable!("raddle bug: of all that are ready, none is in the queue")
    }

    fn step(&mut self, event: &Event) {
        match event {
            Event::Created(task) if !self.has(*task) => self.add(*task, self.queue.len()),
            Event::Finished(task) => {
                self.queue.rotate_left(self.head);
                self.head = 0;
                self.queue.retain(|other| other != task);
                self.known = TaskBits::of(&self.queue);
            }
            _ => {}
        }
    }

    fn delay(&mut self) {
        self.rotate();
    }
}

/// Follows causality: the task that was created, woken or sent a message last runs first. A delay moves a task to the end.
#[derive(Clone, Debug, Default)]
pub struct RunToCompletion {
    /// The last one runs first.
    stack: Vec<TaskId>,
    chosen: Option<TaskId>,
}

impl RunToCompletion {
    fn push(&mut self, task: TaskId) {
        self.stack.retain(|other| *other != task);
        self.stack.push(task);
    }
}

impl DelayingExplorer for RunToCompletion {
    fn next(&mut self, ready: &[TaskId]) -> TaskId {
        let unknown: Vec<_> = ready.iter().filter(|task| !self.stack.contains(task)).copied().collect();
        self.stack.splice(0..0, unknown.into_iter().rev());
        let next =
            self.stack.iter().rev().find(|task| ready.contains(task)).expect("all that are ready are in the stack");
        self.chosen = Some(*next);
        *next
    }

    fn step(&mut self, event: &Event) {
        match event {
            Event::Created(task) | Event::Woken(task) | Event::Sent(task) => self.push(*task),
            Event::Finished(task) => self.stack.retain(|other| other != task),
            _ => {}
        }
    }

    fn delay(&mut self) {
        if let Some(chosen) = self.chosen {
            self.stack.retain(|other| *other != chosen);
            self.stack.insert(0, chosen);
        }
    }
}

/// As [`RoundRobin`], but a new task is inserted at a random place of the queue.
#[derive(Clone, Debug)]
pub struct ProbabilisticRoundRobin {
    queue: RoundRobin,
    rng: Rng,
}

impl ProbabilisticRoundRobin {
    /// The same seed gives the same places.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { queue: RoundRobin::default(), rng: Rng::new(seed) }
    }

    fn insert_at_random(&mut self, task: TaskId) {
        if !self.queue.has(task) {
            let places = u32::try_from(self.queue.queue.len() + 1).expect("raddle bug: more than 2^32 tasks");
            self.queue.add(task, self.rng.below(places) as usize);
        }
    }
}

impl DelayingExplorer for ProbabilisticRoundRobin {
    fn next(&mut self, ready: &[TaskId]) -> TaskId {
        ready.iter().for_each(|task| self.insert_at_random(*task));
        self.queue.next(ready)
    }

    fn step(&mut self, event: &Event) {
        match event {
            Event::Created(task) => self.insert_at_random(*task),
            other => self.queue.step(other),
        }
    }

    fn delay(&mut self) {
        self.queue.delay();
    }
}
