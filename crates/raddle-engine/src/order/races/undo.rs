//! How the detection of data races goes back to an earlier step.
//!
//! Two executions of one search mostly begin with the same steps. What these steps published and learned is kept: each step logs what it
//! replaces, and going back restores it, the latest first. Fences, messages and atomics that are also plain memory are not logged. With
//! one of these, detection starts anew.

use super::{Accessed, Cell, Races};
use crate::order::clocks::Clocks;

/// What steps have replaced, oldest first.
#[derive(Debug, Default)]
pub(super) struct Undo {
    changes: Vec<Change>,
    /// The old clocks of [`Change::Clock`].
    numbers: Vec<u32>,
}

/// One thing that a step has replaced.
#[derive(Debug)]
enum Change {
    /// A step begins.
    Begins,
    /// The task has counted its step.
    Counted(usize),
    /// The clock of a task or an object, with so many numbers.
    Clock { table: Table, place: usize, width: usize },
    /// The accesses to a cell, before it was written.
    Cell(usize, Cell),
    /// A read of a cell, or `None` if it was added: where in the list of its reads.
    Read { cell: usize, place: usize, was: Option<(Accessed, u32)> },
    /// How an object had been accessed.
    AccessedAs(usize, (bool, bool)),
}

/// A table of clocks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Table {
    Tasks,
    Objects,
}

impl Undo {
    pub(super) fn clear(&mut self) {
        self.changes.clear();
        self.numbers.clear();
    }

    pub(super) fn begins(&mut self) {
        self.changes.push(Change::Begins);
    }

    pub(super) fn counted(&mut self, task: usize) {
        self.changes.push(Change::Counted(task));
    }

    /// A clock is about to be replaced.
    #[inline]
    pub(super) fn clock(&mut self, table: Table, place: usize, clock: &[u32]) {
        self.numbers.extend_from_slice(clock);
        self.changes.push(Change::Clock { table, place, width: clock.len() });
    }

    pub(super) fn cell(&mut self, index: usize, was: Cell) {
        self.changes.push(Change::Cell(index, was));
    }

    pub(super) fn read(&mut self, cell: usize, (place, was): (usize, Option<(Accessed, u32)>)) {
        self.changes.push(Change::Read { cell, place, was });
    }

    pub(super) fn accessed_as(&mut self, object: usize, was: (bool, bool)) {
        self.changes.push(Change::AccessedAs(object, was));
    }
}

impl Races {
    /// Goes back to the first `steps` steps, or to the start if what came after them was not logged.
    pub(super) fn go_back(&mut self, steps: usize) {
        if self.fences.is_some() || !self.mixed.is_empty() || !self.messages.is_empty() {
            return self.clear();
        }
        while self.followed > steps {
            self.undo_step();
            self.followed -= 1;
        }
    }

    fn undo_step(&mut self) {
        loop {
            match self.undo.changes.pop().expect("raddle bug: a step that was not logged is undone") {
                Change::Begins => return,
                Change::Counted(task) => self.tasks.at(task)[task] -= 1,
                Change::Clock { table, place, width } => {
                    let clocks: &mut Clocks = match table {
                        Table::Tasks => &mut self.tasks,
                        Table::Objects => &mut self.objects,
                    };
                    let from = self.undo.numbers.len() - width;
                    clocks.replace(place, &self.undo.numbers[from..]);
                    self.undo.numbers.truncate(from);
                }
                Change::Cell(index, was) => self.cells[index] = was,
                Change::Read { cell, place, was } => {
                    let reads = &mut self.cells[cell].reads;
                    match was {
                        Some(was) => reads[place] = was,
                        None => reads.truncate(place),
                    }
                }
                Change::AccessedAs(object, was) => self.accessed_as[object] = was,
            }
        }
    }
}
