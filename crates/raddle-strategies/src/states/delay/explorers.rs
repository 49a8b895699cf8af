//! The explorers of the paper.

use smallvec::SmallVec;

use super::{DelayingExplorer, Event};
use raddle_engine::ids::TaskId;
use raddle_engine::rng::Rng;

/// Tasks in order of creation; the next one has its turn when one cannot go on. Delayed, a task goes to the end of the row.
#[derive(Debug, Default)]
pub struct RoundRobin {
    /// The row, beginning at `head` and going round.
    row: SmallVec<[TaskId; 12]>,
    head: usize,
    /// Those in the row.
    known: Few,
}

/// As whole words: a row is copied at every point.
impl Clone for RoundRobin {
    fn clone(&self) -> Self {
        Self { row: SmallVec::from_slice(&self.row), head: self.head, known: self.known }
    }
}

/// Which of the first tasks there are, a bit for each, so that a list of them need not be searched.
#[derive(Clone, Copy, Debug, Default)]
struct Few(u64);

impl Few {
    fn of(tasks: &[TaskId]) -> Self {
        tasks.iter().fold(Self::default(), |few, task| few.and(*task))
    }

    /// Whether all of a list in order of creation, for which this stands, are in the list that `other` stands for.
    fn is_within(self, other: Self, list: &[TaskId]) -> bool {
        self.0 & !other.0 == 0 && list.last().is_none_or(|last| last.number() < u64::BITS)
    }

    fn and(self, task: TaskId) -> Self {
        Self(self.0 | 1_u64.checked_shl(task.number()).unwrap_or(0))
    }

    /// Whether a task is in the list that this stands for.
    fn has(self, task: TaskId, list: &[TaskId]) -> bool {
        match self.0.checked_shr(task.number()) {
            Some(bits) => bits & 1 == 1,
            None => list.contains(&task),
        }
    }
}

impl RoundRobin {
    /// Puts a task at a place of the row.
    fn add(&mut self, task: TaskId, at: usize) {
        self.known = self.known.and(task);
        self.row.rotate_left(self.head);
        self.head = 0;
        self.row.insert(at, task);
    }

    fn has(&self, task: TaskId) -> bool {
        self.known.has(task, &self.row)
    }

    fn send_back(&mut self) {
        self.head = if self.head + 1 < self.row.len() { self.head + 1 } else { 0 };
    }
}

impl DelayingExplorer for RoundRobin {
    fn next(&mut self, ready: &[TaskId]) -> TaskId {
        let few = Few::of(ready);
        if !few.is_within(self.known, ready) {
            for task in ready {
                if !self.has(*task) {
                    self.add(*task, self.row.len());
                }
            }
        }
        let (row, mut head) = (self.row.as_slice(), self.head);
        for _ in 0..row.len() {
            let first = row[head];
            if few.has(first, ready) {
                self.head = head;
                return first;
            }
            head = if head + 1 < row.len() { head + 1 } else { 0 };
        }
        unreachable!("raddle bug: of all that are ready, none is in the row")
    }

    fn step(&mut self, event: &Event) {
        match event {
            Event::Created(task) if !self.has(*task) => self.add(*task, self.row.len()),
            Event::Finished(task) => {
                self.row.rotate_left(self.head);
                self.head = 0;
                self.row.retain(|other| other != task);
                self.known = Few::of(&self.row);
            }
            _ => {}
        }
    }

    fn delay(&mut self) {
        self.send_back();
    }
}

/// Follows what leads to what: whoever was created, woken or sent something last goes first. Delayed, a task goes last.
#[derive(Clone, Debug, Default)]
pub struct RunToCompletion {
    /// The last one goes first.
    pile: Vec<TaskId>,
    chosen: Option<TaskId>,
}

impl RunToCompletion {
    fn put_on_top(&mut self, task: TaskId) {
        self.pile.retain(|other| *other != task);
        self.pile.push(task);
    }
}

impl DelayingExplorer for RunToCompletion {
    fn next(&mut self, ready: &[TaskId]) -> TaskId {
        let unknown: Vec<_> = ready.iter().filter(|task| !self.pile.contains(task)).copied().collect();
        self.pile.splice(0..0, unknown.into_iter().rev());
        let next =
            self.pile.iter().rev().find(|task| ready.contains(task)).expect("all that are ready are in the pile");
        self.chosen = Some(*next);
        *next
    }

    fn step(&mut self, event: &Event) {
        match event {
            Event::Created(task) | Event::Woken(task) | Event::Sent(task) => self.put_on_top(*task),
            Event::Finished(task) => self.pile.retain(|other| other != task),
            _ => {}
        }
    }

    fn delay(&mut self) {
        if let Some(chosen) = self.chosen {
            self.pile.retain(|other| *other != chosen);
            self.pile.insert(0, chosen);
        }
    }
}

/// As [`RoundRobin`], but a new task has its place in the row by chance.
#[derive(Clone, Debug)]
pub struct ProbabilisticRoundRobin {
    row: RoundRobin,
    rng: Rng,
}

impl ProbabilisticRoundRobin {
    /// The same seed, the same places.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { row: RoundRobin::default(), rng: Rng::new(seed) }
    }

    fn put_anywhere(&mut self, task: TaskId) {
        if !self.row.has(task) {
            let places = u32::try_from(self.row.row.len() + 1).expect("raddle bug: more than 2^32 tasks");
            self.row.add(task, self.rng.below(places) as usize);
        }
    }
}

impl DelayingExplorer for ProbabilisticRoundRobin {
    fn next(&mut self, ready: &[TaskId]) -> TaskId {
        ready.iter().for_each(|task| self.put_anywhere(*task));
        self.row.next(ready)
    }

    fn step(&mut self, event: &Event) {
        match event {
            Event::Created(task) => self.put_anywhere(*task),
            other => self.row.step(other),
        }
    }

    fn delay(&mut self) {
        self.row.delay();
    }
}
