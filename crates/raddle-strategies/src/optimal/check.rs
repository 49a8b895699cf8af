//! Whether a piece is what it was meant to be, once its schedule has been run.
//!
//! The execution that handed out the piece has not seen its head in this place. If the head touches other objects here, the trace may be one
//! that another piece leads to. Then this piece is redundant.

use super::piece::Mark;
use super::{Mistake, Optimal};

impl Optimal {
    /// False if the piece is redundant.
    pub(super) fn check(&mut self) -> bool {
        self.checked = true;
        let Some(last) = self.last_head().filter(|_| !self.piece.schedule.is_empty()) else { return true };
        let Some(info) = self.run.entries[last].mark.head().cloned() else { return true };
        let head = self.run.group(last).start;
        let start = self.run.schedule_start(head);
        let happens = |earlier: usize, later: usize| self.run.before.ordered(&self.run.events, earlier, later);
        // A value comes along with the step that asked for it.
        let steps = (start..head).filter(|&member| self.run.group(member).start == member && !self.run.is_look(member));
        if !steps.into_iter().all(|member| happens(member, head)) {
            return false;
        }
        let Some(undone) = info.undone else {
            // Another alternative of a step that other schedules were put before: they must still be needed there.
            let others = self.run.heads_put_before(start, self.run.entries[head].task);
            return others.iter().all(|&other| happens(other, head));
        };
        let after = self.run.group(last).end;
        let after = after + self.run.entries[after..].iter().take_while(|entry| entry.mark == Mark::Look).count();
        let is_undone = |at: &usize| self.run.entries.get(*at).is_some_and(|entry| entry.task == undone);
        if Some(after).filter(is_undone).is_some_and(|at| at < self.run.before.len() && !happens(head, at)) {
            return false;
        }
        if self.makes(Mistake::IgnoresNames) {
            return true;
        }
        let name = |event: usize| self.run.names.of(self.run.entries[event].task);
        let others = self.run.heads_put_before(start, undone);
        !others.iter().take_while(|&&other| !happens(other, head)).any(|&other| name(other) > name(head))
    }
}
