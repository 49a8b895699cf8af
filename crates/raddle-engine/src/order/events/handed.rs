//! Touches that are handed on to the next event of a task.

use super::touch::Touch;
use crate::ids::TaskId;

/// By task: what its next event touches before anything else. Every change can be taken back.
#[derive(Debug, Default)]
pub(super) struct HandedOn {
    tasks: Vec<Handed>,
    undo: Vec<Undo>,
    /// Touches that were handed on and have become part of an event, as they were.
    used: Vec<Touch>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Handed {
    pub touches: Vec<Touch>,
    /// The latest event, plus one, in which the task was let go on by another.
    pub apart: usize,
    /// The event, plus one, in which the task was created.
    pub born: usize,
}

/// One change to what is handed on to a task.
#[derive(Clone, Copy, Debug)]
struct Undo {
    /// How many events there were, that in which it happened included.
    events: usize,
    task: TaskId,
    change: Change,
}

#[derive(Clone, Copy, Debug)]
enum Change {
    /// A touch was added.
    Added,
    /// The touch at this place was another.
    Merged(usize, Touch),
    /// So many touches became part of an event.
    Used(usize),
}

impl HandedOn {
    pub fn clear(&mut self) {
        for handed in &mut self.tasks {
            handed.touches.clear();
            (handed.apart, handed.born) = (0, 0);
        }
        self.undo.clear();
        self.used.clear();
    }

    /// Takes back what happened after the first `len` events.
    pub fn truncate(&mut self, len: usize) {
        while let Some(undo) = self.undo.pop_if(|undo| undo.events > len) {
            self.take_back(undo);
        }
        for handed in &mut self.tasks {
            if handed.apart > len {
                handed.apart = 0;
            }
            if handed.born > len {
                handed.born = 0;
            }
        }
    }

    fn take_back(&mut self, Undo { task, change, .. }: Undo) {
        let touches = &mut self.tasks[task.index()].touches;
        match change {
            Change::Added => _ = touches.pop(),
            Change::Merged(at, touch) => touches[at] = touch,
            Change::Used(count) => touches.extend(self.used.drain(self.used.len() - count..)),
        }
    }

    /// What would be handed on to the next event of `task`.
    pub fn to(&self, task: TaskId) -> &[Touch] {
        self.tasks.get(task.index()).map_or(&[], |handed| &handed.touches)
    }

    #[inline]
    pub fn of(&mut self, task: TaskId) -> &mut Handed {
        if self.tasks.len() <= task.index() {
            self.tasks.resize_with(task.index() + 1, Handed::default);
        }
        &mut self.tasks[task.index()]
    }

    /// Hands a touch on to the next event of `task`. There are `events` events so far.
    pub fn hand(&mut self, events: usize, task: TaskId, touch: Touch) {
        let touches = &mut self.of(task).touches;
        let change = match touches.iter().position(|other| other.object == touch.object) {
            Some(at) => {
                let before = touches[at];
                touches[at].merge(touch);
                Change::Merged(at, before)
            }
            None => {
                touches.push(touch);
                Change::Added
            }
        };
        self.undo.push(Undo { events, task, change });
    }

    /// Moves what was handed on to `task` to the touches of its event, which is the `events`-th.
    #[inline]
    pub fn move_to(&mut self, events: usize, task: TaskId, touches: &mut Vec<Touch>) {
        self.of(task);
        let handed = &mut self.tasks[task.index()].touches;
        if !handed.is_empty() {
            self.undo.push(Undo { events, task, change: Change::Used(handed.len()) });
            touches.extend_from_slice(handed);
            self.used.append(handed);
        }
    }

    #[cfg(test)]
    pub fn changes_after(&self, len: usize) -> usize {
        self.undo.iter().filter(|undo| undo.events > len).count()
    }
}
