//! Nodes of the search tree that several subtrees share, where a guided search takes turns between subtrees.
//!
//! When a subtree is suspended, it publishes its path down to the first node with unexplored children and continues below that node. The
//! search takes the unexplored children from here, those nearest to the root first.
//!
//! A race in one subtree may need a plan at an ancestor. The plan is sent here and inserted as in a depth-first search, so it
//! is dropped if the node covers it.
//!
//! The first event of a child is added to the explored events of the node once the child was run or, if the event asks for a value, once
//! all its values were. Until then no other child of the node is taken, and plans for the node are held back.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::item::Item;
use super::path::Node;
use super::plan::Plan;
use super::share::{Levels, PublishedLevel, Subtree};

/// Shared nodes, each with a place in a table.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SharedTree {
    nodes: Vec<Option<SharedNode>>,
    free: Vec<usize>,
    /// Nodes with an unexplored child that can be taken, by depth and place.
    open: BTreeSet<(usize, usize)>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SharedNode {
    node: Node,
    parent: Option<usize>,
    depth: usize,
    /// The choice at the parent that leads here, and its rank.
    entered_by: (u32, u32),
    /// The sum of the ranks above.
    cost: u32,
    /// The number of children that are not done: shared nodes and subtrees.
    unfinished_children: usize,
    /// The first event of the latest child was not added yet.
    awaits_first_event: bool,
    /// That event, if it asked for a value and the child is shared.
    asking_event: Option<Item>,
    held_plans: Vec<Plan>,
}

impl SharedNode {
    fn set_first_event(&mut self, item: Item) {
        self.node.sleep.push(item);
        self.release_plans();
    }

    /// Inserts the plans that were held back.
    fn release_plans(&mut self) {
        self.awaits_first_event = false;
        for plan in std::mem::take(&mut self.held_plans) {
            plan.enter(&mut self.node);
        }
    }

    /// True if an unexplored child can be taken.
    fn is_open(&self) -> bool {
        !self.awaits_first_event && !self.node.backtrack.is_empty()
    }

    fn has_option(&self, taken: u32) -> bool {
        (taken as usize) < self.node.options.len()
    }
}

impl SharedTree {
    /// Adds the published levels of a subtree whose parent was `parent`. Returns its new parent.
    pub(crate) fn add_levels(&mut self, parent: Option<usize>, levels: Levels) -> Option<usize> {
        let mut parent = parent;
        let mut entered_by = levels.entered_by;
        if let (Some(place), Some(item)) = (parent, levels.above) {
            self.get_mut(place).asking_event = Some(item);
        }
        for PublishedLevel { mut node, item, asks } in levels.nodes {
            let above = parent.map(|place| self.get(place));
            let (depth, cost) = above.map_or((0, 0), |above| (above.depth + 1, above.cost + entered_by.1));
            let next = (node.taken, node.rank);
            let asking_event = if asks {
                Some(item)
            } else {
                node.sleep.push(item);
                None
            };
            let shared = SharedNode {
                node,
                parent,
                depth,
                entered_by,
                cost,
                unfinished_children: 1,
                awaits_first_event: asks,
                asking_event,
                held_plans: Vec::new(),
            };
            let place = self.put(shared);
            self.refresh(place);
            parent = Some(place);
            entered_by = next;
        }
        parent
    }

    /// Takes the unexplored child that is nearest to the root.
    pub(crate) fn take(&mut self) -> Option<(usize, Subtree)> {
        while let Some((_, place)) = self.open.pop_first() {
            let shared = self.get_mut(place);
            if shared.node.take_next(true) {
                shared.unfinished_children += 1;
                shared.awaits_first_event = true;
                let path = self.path(place);
                let ancestors = path.len();
                return Some((
                    place,
                    Subtree { path, ancestors, first_event_unknown: true, forced_choices: Vec::new() },
                ));
            }
            self.close_if_done(place);
        }
        None
    }

    /// Sets the first event of the latest child at `place`.
    pub(crate) fn set_first_event(&mut self, place: usize, item: Item) {
        self.get_mut(place).set_first_event(item);
        self.refresh(place);
    }

    /// Adds a plan of a subtree under `place`, for its ancestor at `depth`.
    pub(crate) fn plan(&mut self, place: usize, depth: usize, plan: Plan) {
        let mut at = place;
        while self.get(at).depth > depth {
            at = self.get(at).parent.expect("raddle bug: a node below the root without a parent");
        }
        let shared = self.get_mut(at);
        if shared.awaits_first_event {
            shared.held_plans.push(plan);
        } else {
            plan.enter(&mut shared.node);
            self.refresh(at);
        }
    }

    /// Records that a subtree under `place` is done. `first_event_unknown` if it never ran its first event.
    pub(crate) fn finish(&mut self, place: usize, first_event_unknown: bool) {
        let shared = self.get_mut(place);
        shared.unfinished_children -= 1;
        if first_event_unknown {
            shared.release_plans();
        }
        self.close_if_done(place);
    }

    /// True if there is a node at `place`.
    fn has(&self, place: usize) -> bool {
        self.nodes.get(place).is_some_and(Option::is_some)
    }

    /// True if the tree can come from a search. The file may be damaged or edited. `pieces` are the subtrees with their parents.
    pub(crate) fn is_sound(&self, pieces: &[(usize, &Subtree)]) -> bool {
        let free = self.free.iter().collect::<BTreeSet<_>>();
        let all_free =
            free.len() == self.free.len() && (0..self.nodes.len()).all(|at| free.contains(&at) != self.has(at));
        let nodes = || (0..self.nodes.len()).filter_map(|at| Some((at, self.nodes[at].as_ref()?)));
        let hangs = |place: usize, piece: &Subtree| {
            let shared = self.nodes.get(place).and_then(Option::as_ref);
            shared.is_some_and(|shared| {
                shared.depth.checked_add(1) == Some(piece.ancestors()) && shared.has_option(piece.taken())
            })
        };
        let mut below = vec![0_usize; self.nodes.len()];
        let parents = nodes().filter_map(|(_, shared)| shared.parent);
        for place in pieces.iter().map(|(place, _)| *place).chain(parents) {
            match below.get_mut(place) {
                Some(below) => *below += 1,
                None => return false,
            }
        }
        all_free
            && pieces.iter().all(|&(place, piece)| hangs(place, piece))
            && nodes().all(|(at, shared)| self.fits(shared) && shared.unfinished_children == below[at])
            && self.open == nodes().filter(|(_, it)| it.is_open()).map(|(at, it)| (it.depth, at)).collect()
    }

    /// True if a node is consistent in itself and with its parent.
    fn fits(&self, shared: &SharedNode) -> bool {
        let hangs = match shared.parent.map(|parent| self.nodes.get(parent).and_then(Option::as_ref)) {
            Some(Some(above)) => {
                above.depth.checked_add(1) == Some(shared.depth)
                    && above.has_option(shared.entered_by.0)
                    && above.cost.checked_add(shared.entered_by.1) == Some(shared.cost)
            }
            Some(None) => false,
            None => shared.depth == 0 && shared.cost == 0,
        };
        hangs && shared.node.is_sound()
    }

    fn path(&self, place: usize) -> Vec<Node> {
        let mut path = vec![self.get(place).node.clone()];
        let (mut entered_by, mut above) = (self.get(place).entered_by, self.get(place).parent);
        while let Some(place) = above {
            let shared = self.get(place);
            path.push(Node { taken: entered_by.0, rank: entered_by.1, ..shared.node.clone() });
            (entered_by, above) = (shared.entered_by, shared.parent);
        }
        path.reverse();
        path
    }

    fn close_if_done(&mut self, place: usize) {
        let mut at = Some(place);
        while let Some(place) = at {
            let shared = self.get(place);
            if shared.unfinished_children > 0 || !shared.node.backtrack.is_empty() {
                return self.refresh(place);
            }
            at = shared.parent;
            // Other children of the parent may be done while the one that asks for values is not.
            let gave_values = shared.node.gives_value();
            self.nodes[place] = None;
            self.free.push(place);
            if let Some(parent) = at {
                let parent = self.get_mut(parent);
                if gave_values && let Some(asking_event) = parent.asking_event.take() {
                    parent.set_first_event(asking_event);
                }
                parent.unfinished_children -= 1;
            }
        }
    }

    fn refresh(&mut self, place: usize) {
        let shared = self.get(place);
        let key = (shared.depth, place);
        if shared.is_open() {
            self.open.insert(key);
        } else {
            self.open.remove(&key);
        }
    }

    fn put(&mut self, shared: SharedNode) -> usize {
        match self.free.pop() {
            Some(place) => {
                self.nodes[place] = Some(shared);
                place
            }
            None => {
                self.nodes.push(Some(shared));
                self.nodes.len() - 1
            }
        }
    }

    fn get(&self, place: usize) -> &SharedNode {
        self.nodes[place].as_ref().expect("raddle bug: a shared node was closed too early")
    }

    fn get_mut(&mut self, place: usize) -> &mut SharedNode {
        self.nodes[place].as_mut().expect("raddle bug: a shared node was closed too early")
    }
}
