//! How the search moves to the next execution, and the explorer's state at a point.

use raddle_engine::ids::{StepIx, TaskId};
use raddle_engine::strategy::BacktrackTo;
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::{Class, Note, Trace};

use super::frontier::{DelayFrontier, FrontierEntry};
use super::level::DelayLevel;
use super::{Delay, DelayingExplorer, Event};

impl<E: DelayingExplorer + Clone + Send + 'static> Delay<E> {
    /// Prepares the next execution of this piece. Returns false if nothing is left.
    pub(super) fn advance(&mut self) -> bool {
        self.path_ready = self.backtrack() || self.next_entry();
        self.path_ready
    }

    /// Takes the next alternative of the deepest level that has one within the bound, and defers what is deeper.
    fn backtrack(&mut self) -> bool {
        let bound = self.bound();
        let open = |level: &DelayLevel<E>| level.own && level.has_more() && level.total < bound;
        let at = (self.fixed..self.levels.len()).rev().find(|&at| open(&self.levels[at]));
        let from = at.map_or(self.fixed, |at| at + 1);
        if from < self.levels.len() {
            self.defer_from(from);
        }
        self.levels.truncate(from);
        if let (Some(_), Some(level)) = (at, self.levels.last_mut()) {
            level.delay();
        }
        at.is_some()
    }

    /// Takes the next entry. Keeps the levels that its path shares with the latest one.
    fn next_entry(&mut self) -> bool {
        while let Some(entry) = self.remaining.take() {
            self.fixed = entry.path.len();
            let known = self.levels.iter().zip(&entry.path).take_while(|(level, choice)| level.choice() == **choice);
            self.levels.truncate(known.count());
            if entry.total > self.bound() {
                // The entry was returned with the rest of a piece, but belongs to a later stratum.
                self.defer_entry(&entry);
                continue;
            }
            self.replaying = Some(entry);
            return true;
        }
        false
    }

    fn defer_entry(&mut self, entry: &FrontierEntry) {
        if self.stratum >= self.last_stratum() {
            self.dropped_some = true;
            return;
        }
        let mut block = DelayFrontier::default();
        block.add_entry(entry);
        self.deferred_bytes += block.bytes();
        self.deferred.push(block);
    }

    /// The explorer at the current point, after level `latest` or after the start.
    pub(super) fn explorer_here(first: &E, latest: Option<&DelayLevel<E>>, at: &Point<'_>, so_far: &Trace) -> E {
        let (mut explorer, steps) = match latest {
            Some(level) => (level.explorer.clone(), level.steps),
            None => (first.clone(), 0),
        };
        let mut notes = so_far.notes_from(StepIx::next_of(steps)).iter().peekable();
        for (index, step) in (steps..).zip(&so_far.steps()[steps..]) {
            match (step.op.class, step.found) {
                (Class::Spawn, Some(child)) => explorer.step(&Event::Created(TaskId::next_of(child.0 as usize))),
                (Class::Finish, _) => explorer.step(&Event::Finished(step.task)),
                _ if step.alternatives > 0 => explorer.step(&Event::Stepped(step.task)),
                _ => {}
            }
            while let Some((_, note)) = notes.next_if(|note| note.0.index() <= index) {
                match note {
                    Note::Sent(to) => explorer.step(&Event::Sent(*to)),
                    Note::Hint(value) => explorer.step(&Event::Hint(*value)),
                    Note::Context(_) | Note::Contents(_) => {}
                }
            }
        }
        // No task has waited before the first point with tasks.
        let level = latest.filter(|level| !level.ready().is_empty());
        if let (Point::Actions(actions), Some(level)) = (at, level) {
            // Both lists are in order of creation.
            let (mut latest, mut waited) = (None, level.ready().iter().peekable());
            for action in *actions {
                while waited.next_if(|task| **task < action.task).is_some() {}
                let new = latest.replace(action.task) != Some(action.task);
                if new && waited.peek() != Some(&&action.task) {
                    explorer.step(&Event::Woken(action.task));
                }
            }
        }
        explorer
    }
    /// Prepares the next execution, if it branches off the latest one. Returns where and by which choice.
    pub(super) fn backtrack_to(&mut self) -> Option<BacktrackTo> {
        if self.path_ready || !self.backtrack() {
            return None;
        }
        let depth = self.levels.len() - 1;
        if depth >= self.latest_len {
            self.path_ready = true;
            return None;
        }
        Some(BacktrackTo { depth, choice: Choice(self.levels[depth].choice()) })
    }

    /// Says whether a later execution branches off at the latest point, if that is known. It does not if all delays are used: then nothing
    /// more is run there in this stratum.
    pub(super) fn returns_here(&self) -> Option<bool> {
        let spent = self.levels.last().is_some_and(|level| level.total >= self.bound());
        (spent && self.replaying.is_none()).then_some(false)
    }
}
