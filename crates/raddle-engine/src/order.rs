//! Happens-before: who could have known what when something happened.
//!
//! [`Races`] finds accesses to plain memory that nothing orders. It follows a trace only from the moment somebody asks, so an
//! execution without cells pays nothing for it.

use crate::ids::{StepIx, TaskId};
use crate::outcome::{Accessed, Failure};
use crate::trace::{Class, Effect, Step, Trace};

/// How many steps of each task are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(Vec<u32>);

impl Clock {
    /// How many steps of `task` are known.
    #[must_use]
    pub fn of(&self, task: TaskId) -> u32 {
        self.0.get(task.index()).copied().unwrap_or(0)
    }

    /// One more step of `task` is known.
    pub fn tick(&mut self, task: TaskId) {
        if self.0.len() <= task.index() {
            self.0.resize(task.index() + 1, 0);
        }
        self.0[task.index()] += 1;
    }

    /// Whatever `other` knows is known.
    pub fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }
}

/// Finds data races by happens-before: task order, and what synchronisation published and learnt.
#[derive(Debug, Default)]
pub struct Races {
    followed: usize,
    tasks: Vec<Clock>,
    /// What was published through each object.
    objects: Vec<Clock>,
    cells: Vec<Cell>,
}

/// The accesses to a cell that a later one may race with.
#[derive(Clone, Debug, Default)]
struct Cell {
    write: Option<(Accessed, u32)>,
    /// The latest read of each task since that write.
    reads: Vec<(Accessed, u32)>,
}

impl Races {
    /// Takes in the steps that are new in `trace` and returns the first race among them.
    pub fn follow(&mut self, trace: &Trace) -> Option<Failure> {
        while self.followed < trace.len() {
            let index = StepIx::next_of(self.followed);
            let step = &trace.steps()[self.followed];
            self.followed += 1;
            if let Some(race) = self.take(index, step, trace) {
                return Some(race);
            }
        }
        None
    }

    fn take(&mut self, index: StepIx, step: &Step, trace: &Trace) -> Option<Failure> {
        let task = step.task;
        grow(&mut self.tasks, task.index());
        self.tasks[task.index()].tick(task);
        if step.op.class == Class::Cell {
            return self.touch_cell(index, step);
        }
        if let (Class::Spawn, Some(child)) = (step.op.class, step.found) {
            let born = self.tasks[task.index()].clone();
            let child = child.0 as usize;
            grow(&mut self.tasks, child);
            self.tasks[child].join(&born);
        }
        for access in trace.accesses(index) {
            grow(&mut self.objects, access.object.index());
            let clock = &mut self.tasks[task.index()];
            let published = &mut self.objects[access.object.index()];
            if access.ordered.acquire {
                clock.join(published);
            }
            if access.ordered.reset {
                published.0.clear();
            }
            if access.ordered.release {
                published.join(clock);
            }
        }
        None
    }

    fn touch_cell(&mut self, index: StepIx, step: &Step) -> Option<Failure> {
        let Step { task, access, site, .. } = *step;
        grow(&mut self.cells, access.object.index());
        let clock = &self.tasks[task.index()];
        let wrote = access.effect == Effect::Change;
        let now = Accessed { task, wrote, site, step: index };
        let cell = &mut self.cells[access.object.index()];
        let unordered = |(earlier, at): &&(Accessed, u32)| earlier.task != task && clock.of(earlier.task) < *at;
        let rival = cell.write.iter().find(unordered);
        let rival = if wrote { rival.or_else(|| cell.reads.iter().find(unordered)) } else { rival };
        if let Some(&(first, _)) = rival {
            return Some(Failure::DataRace { object: access.object, first, second: now });
        }
        let at = clock.of(task);
        if wrote {
            cell.write = Some((now, at));
            cell.reads.clear();
        } else {
            match cell.reads.iter_mut().find(|(read, _)| read.task == task) {
                Some(read) => *read = (now, at),
                None => cell.reads.push((now, at)),
            }
        }
        None
    }
}

fn grow<T: Default + Clone>(table: &mut Vec<T>, index: usize) {
    if table.len() <= index {
        table.resize(index + 1, T::default());
    }
}
