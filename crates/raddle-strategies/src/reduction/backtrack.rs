//! How the search moves to the next execution: it backtracks along the path, and keeps the events that stay the same.

use raddle_engine::order::events::merge;
use raddle_engine::trace::Trace;

use super::item::Item;
use super::path::Node;
use super::{Dpor, RaceGuide};

impl<G: RaceGuide> Dpor<G> {
    /// The first event that differs from the previous execution. A step that asks for a value counts as different if the value differs.
    pub(super) fn changed(&self) -> usize {
        let is_value = |at: &usize| self.nodes.get(*at).is_some_and(Node::gives_value);
        (0..=self.first_new).rev().find(|at| *at == 0 || !is_value(at)).unwrap_or(0)
    }

    /// Discards all events but the first `len`, which are the same as in the previous execution.
    pub(super) fn retain_events(&mut self, len: usize) {
        self.unchanged = len;
        if len == 0 {
            self.events.clear();
        }
        self.events.truncate(len);
        self.before.truncate(len);
    }

    /// Reads the new events of the trace.
    pub(super) fn follow(&mut self, trace: &Trace) {
        // A program that Raddle does not control completely may have taken fewer steps than in the previous execution.
        if trace.len() < self.events.followed() {
            self.retain_events(0);
        }
        self.events.follow(trace);
    }

    /// Backtracks to the deepest node with an unexplored alternative, and takes that alternative.
    pub(super) fn advance(&mut self) -> bool {
        let exact = self.exact();
        self.nodes.truncate(self.events.len());
        while self.nodes.len() > self.ancestors {
            let done = self.nodes.len() - 1;
            let open = !self.nodes[done].backtrack.is_empty();
            if open || self.nodes[done].gives_value() {
                let item = self.nodes[done].explored_item(&self.events, done);
                self.note_value(done, &item);
                self.nodes[done].sleep.push(item);
            }
            if open && self.too_far(done) {
                self.hit_bound = true;
            } else if open && self.nodes[done].take_next(exact) {
                return true;
            }
            self.spare.extend(self.nodes.pop());
        }
        false
    }

    /// True if one more alternative at node `at` would exceed the bound.
    fn too_far(&self, at: usize) -> bool {
        let Some(bound) = self.bound else { return false };
        let above: u32 = self.nodes[..at].iter().map(|node| node.rank).sum();
        above + self.nodes[at].run_before() > bound
    }

    /// Adds the objects that a value's step touched to those of the step that asked for the value.
    fn note_value(&mut self, index: usize, item: &Item) {
        if self.nodes[index].gives_value()
            && let (Some(touches), Some(asker)) = (&item.touches, index.checked_sub(1))
        {
            touches.iter().for_each(|&touch| merge(&mut self.nodes[asker].value_touches, 0, touch));
        }
    }
}
