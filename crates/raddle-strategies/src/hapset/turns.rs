//! Subtrees of the guided search that are run in turn.
//!
//! What is new is run in turn, most of it nearest to the root first and some of it deepest first. After each execution, a subtree
//! publishes what is left near the root in a [tree](SharedTree) that all subtrees share, and the rest of it waits. Of eight executions, seven
//! take what is nearest to the root and one goes on where the latest left off: much is found by changing little of what was run last.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::guide::Guide;
use crate::format::Format;
use crate::reduction::{Dpor, PlansForAncestors, SharedTree, Subtree};

/// One execution of so many is the deepest.
const TURNS: u64 = 8;

/// So many steps wait at most, in all subtrees together, before what is nearest to the root loses its turn: each subtree has a path of
/// its own in memory.
const MOST_WAITING: u64 = 1 << 18;

/// What waits for its turn, and what is above it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Turns {
    tree: SharedTree,
    waiting: VecDeque<Waiting>,
    /// Executions so far, and steps of the longest.
    executions: u64,
    longest: u64,
    /// The subtree that is being run. It is put back before anything is written down.
    #[serde(skip)]
    current: Option<Current>,
}

/// A subtree that waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Waiting {
    subtree: Subtree,
    /// The node of the tree that it hangs under.
    under: Option<usize>,
}

/// The subtree that is being run, as the tree knows it.
#[derive(Clone, Debug)]
struct Current {
    under: Option<usize>,
    /// What leads to it from the node above, and whether its first event is not known there.
    taken: u32,
    untold: bool,
}

impl Turns {
    /// Begins anew with this subtree.
    pub(super) fn begin(&mut self, subtree: Subtree) {
        self.waiting.push_back(Waiting { subtree, under: None });
    }

    /// An execution of so many steps has ended.
    pub(super) fn count(&mut self, steps: usize) {
        self.executions += 1;
        self.longest = self.longest.max(steps as u64);
    }

    /// Whether a subtree is being run.
    pub(super) fn is_running(&self) -> bool {
        self.current.is_some()
    }

    /// The subtree whose turn it is; `None` if nothing is left.
    pub(super) fn take(&mut self) -> Option<Subtree> {
        let room = self.longest.saturating_mul(self.waiting.len() as u64) < MOST_WAITING;
        let nearest_first = room && is_turn_of_nearest(self.executions);
        let near = if nearest_first { self.take_nearest() } else { None };
        let next = near.or_else(|| self.waiting.pop_front()).or_else(|| self.take_nearest())?;
        let Waiting { subtree, under } = next;
        self.current = Some(Current { under, taken: subtree.taken(), untold: subtree.is_untold() });
        Some(subtree)
    }

    fn take_nearest(&mut self) -> Option<Waiting> {
        let (place, subtree) = self.tree.take()?;
        Some(Waiting { subtree, under: Some(place) })
    }

    /// The subtree that is being run gives its turn away.
    pub(super) fn give_turn_away(&mut self, search: &mut Dpor<Guide>) {
        self.take_plans(search.take_plans());
        let levels = search.give_levels();
        let rest = search.leave_rest();
        if rest.is_none() {
            self.take_plans(search.take_plans());
        }
        let Some(Current { under, taken, untold }) = self.current.take() else { return };
        let (under, given) = match levels {
            None => (under, None),
            Some(levels) => {
                let (under, taken) = self.tree.grow(under, levels);
                (under, Some(taken))
            }
        };
        match (rest, under) {
            (Some(subtree), _) => self.put_back(Waiting { subtree, under }),
            (None, Some(place)) => self.tree.finish(place, given.unwrap_or(taken), given.is_none() && untold),
            (None, None) => {}
        }
    }

    /// The subtree that is being run is put back as it is: the search goes on with it later.
    pub(super) fn put_current_back(&mut self, search: &mut Dpor<Guide>) {
        let Some(Current { under, .. }) = self.current.take() else { return };
        if let Some(subtree) = search.rest_of_subtree() {
            self.waiting.push_front(Waiting { subtree, under });
        }
    }

    /// What was nearest to the root waits until all that were begun before it are done.
    fn put_back(&mut self, waiting: Waiting) {
        if is_turn_of_nearest(self.executions.saturating_sub(1)) {
            self.waiting.push_back(waiting);
        } else {
            self.waiting.push_front(waiting);
        }
    }

    fn take_plans(&mut self, plans: PlansForAncestors) {
        let Some(current) = &mut self.current else { return };
        let Some(under) = current.under else { return };
        if let Some(item) = plans.first {
            current.untold = false;
            self.tree.know(under, item);
        }
        for (depth, plan) in plans.plans {
            self.tree.plan(under, depth, plan);
        }
    }

    /// Whether it can have come from a search: a file may say anything.
    pub(super) fn is_sound(&self) -> bool {
        let hanging = self.waiting.iter().filter_map(|waiting| Some((waiting.under?, &waiting.subtree)));
        let apart = self.waiting.iter().filter(|waiting| waiting.under.is_none());
        self.waiting.iter().all(|waiting| waiting.subtree.is_sound())
            && apart.clone().all(|waiting| waiting.subtree.frozen() == 0)
            && self.tree.is_sound(&hanging.collect::<Vec<_>>())
    }
}

/// Whether what is nearest to the root has its turn after so many executions. The second of all is the deepest: much is found by
/// changing little of the first.
fn is_turn_of_nearest(executions: u64) -> bool {
    executions > 0 && executions % TURNS != 1
}
