//! The subtrees of the guided search, and the order in which they are run.
//!
//! The search suspends its subtree after each execution. It publishes the nodes of the subtree that are nearest to the root in a
//! [tree](SharedTree) that all subtrees share, and puts the rest of the subtree into a queue. Of eight executions, seven take the
//! unexplored alternative that is nearest to the root; one continues the subtree of the latest execution, because small changes of an
//! execution find many bugs.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::guide::Guide;
use crate::format::Format;
use crate::reduction::{Dpor, PlansForAncestors, SharedTree, Subtree};

/// One of so many executions continues the deepest subtree.
const DEEPEST_EVERY: u64 = 8;

/// An upper bound on the steps in all waiting subtrees together, because each subtree holds its own path in memory. Above the bound,
/// the search starts no new subtree near the root while others wait.
const MAX_WAITING_STEPS: u64 = 1 << 18;

/// The waiting subtrees, and the nodes above them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Turns {
    tree: SharedTree,
    waiting: VecDeque<Waiting>,
    /// The number of executions so far, and the number of steps of the longest.
    executions: u64,
    longest: u64,
    /// The current subtree. It is put back into the queue before the value is serialized.
    #[serde(skip)]
    current: Option<Current>,
}

/// A waiting subtree.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Waiting {
    subtree: Subtree,
    /// The node of the shared tree that is its parent.
    parent: Option<usize>,
}

/// The position of the current subtree in the shared tree.
#[derive(Clone, Debug)]
struct Current {
    parent: Option<usize>,
    /// The shared tree does not know yet the first event of the subtree.
    first_event_unknown: bool,
}

impl Turns {
    /// Adds the first subtree.
    pub(super) fn begin(&mut self, subtree: Subtree) {
        self.waiting.push_back(Waiting { subtree, parent: None });
    }

    /// Counts an execution of so many steps.
    pub(super) fn count(&mut self, steps: usize) {
        self.executions += 1;
        self.longest = self.longest.max(steps as u64);
    }

    /// True if a subtree is being run.
    pub(super) fn is_running(&self) -> bool {
        self.current.is_some()
    }

    /// Takes the next subtree; `None` if nothing is left.
    pub(super) fn take(&mut self) -> Option<Subtree> {
        let room = self.longest.saturating_mul(self.waiting.len() as u64) < MAX_WAITING_STEPS;
        let nearest_first = room && is_turn_of_nearest(self.executions);
        let near = if nearest_first { self.take_nearest() } else { None };
        let next = near.or_else(|| self.waiting.pop_front()).or_else(|| self.take_nearest())?;
        let Waiting { subtree, parent } = next;
        self.current = Some(Current { parent, first_event_unknown: subtree.first_event_unknown() });
        Some(subtree)
    }

    fn take_nearest(&mut self) -> Option<Waiting> {
        let (place, subtree) = self.tree.take()?;
        Some(Waiting { subtree, parent: Some(place) })
    }

    /// Suspends the current subtree.
    pub(super) fn suspend_current(&mut self, search: &mut Dpor<Guide>) {
        self.take_plans(search.take_plans());
        let levels = search.give_levels();
        let rest = search.leave_rest();
        if rest.is_none() {
            self.take_plans(search.take_plans());
        }
        let Some(Current { parent, first_event_unknown }) = self.current.take() else { return };
        let (parent, first_event_unknown) = match levels {
            None => (parent, first_event_unknown),
            Some(levels) => (self.tree.add_levels(parent, levels), false),
        };
        match (rest, parent) {
            (Some(subtree), _) => self.put_back(Waiting { subtree, parent }),
            (None, Some(place)) => self.tree.finish(place, first_event_unknown),
            (None, None) => {}
        }
    }

    /// Puts the current subtree back unchanged; the search continues it later.
    pub(super) fn put_current_back(&mut self, search: &mut Dpor<Guide>) {
        let Some(Current { parent, .. }) = self.current.take() else { return };
        if let Some(subtree) = search.rest_of_subtree() {
            self.waiting.push_front(Waiting { subtree, parent });
        }
    }

    /// A subtree that was started near the root waits behind all that were started before it.
    fn put_back(&mut self, waiting: Waiting) {
        if is_turn_of_nearest(self.executions.saturating_sub(1)) {
            self.waiting.push_back(waiting);
        } else {
            self.waiting.push_front(waiting);
        }
    }

    fn take_plans(&mut self, plans: PlansForAncestors) {
        let Some(current) = &mut self.current else { return };
        let Some(parent) = current.parent else { return };
        if let Some(item) = plans.first_event {
            current.first_event_unknown = false;
            self.tree.set_first_event(parent, item);
        }
        for (depth, plan) in plans.plans {
            self.tree.plan(parent, depth, plan);
        }
    }

    /// True if the value can come from a search. The file may be damaged or edited.
    pub(super) fn is_sound(&self) -> bool {
        let hanging = self.waiting.iter().filter_map(|waiting| Some((waiting.parent?, &waiting.subtree)));
        let apart = self.waiting.iter().filter(|waiting| waiting.parent.is_none());
        self.waiting.iter().all(|waiting| waiting.subtree.is_sound())
            && apart.clone().all(|waiting| waiting.subtree.ancestors() == 0)
            && self.tree.is_sound(&hanging.collect::<Vec<_>>())
    }
}

/// True if, after so many executions, the alternative nearest to the root is next. The second execution of all is a deepest one: it
/// changes little of the first.
fn is_turn_of_nearest(executions: u64) -> bool {
    executions > 0 && executions % DEEPEST_EVERY != 1
}
