//! The explorers of the paper.

use smallvec::SmallVec;

use super::{DelayingExplorer, Event};
use crate::ids::TaskId;
use crate::rng::Rng;

/// Tasks in order of creation; the next one has its turn when one cannot go on. Delayed, a task goes to the end of the row.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    row: SmallVec<[TaskId; 12]>,
    /// Those in the row.
    known: Few,
}

/// Which of the first tasks there are, a bit for each, so that a list of them need not be searched.
#[derive(Clone, Copy, Debug, Default)]
struct Few(u64);

impl Few {
    fn of(tasks: &[TaskId]) -> Self {
        tasks.iter().fold(Self::default(), |few, task| few.and(*task))
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
    fn add(&mut self, task: TaskId, at: usize) {
        self.known = self.known.and(task);
        self.row.insert(at, task);
    }

    fn has(&self, task: TaskId) -> bool {
        self.known.has(task, &self.row)
    }

    fn send_back(&mut self) {
        if !self.row.is_empty() {
            self.row.rotate_left(1);
        }
    }
}

impl DelayingExplorer for RoundRobin {
    fn next(&mut self, ready: &[TaskId]) -> TaskId {
        for task in ready {
            if !self.has(*task) {
                self.add(*task, self.row.len());
            }
        }
        let few = Few::of(ready);
        let first = self.row.iter().position(|task| few.has(*task, ready)).expect("all that are ready are in the row");
        if first > 0 {
            self.row.rotate_left(first);
        }
        self.row[0]
    }

    fn step(&mut self, event: &Event) {
        match event {
            Event::Created(task) if !self.has(*task) => self.add(*task, self.row.len()),
            Event::Finished(task) => {
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
