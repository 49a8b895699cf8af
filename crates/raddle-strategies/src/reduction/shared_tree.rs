//! Nodes of the search tree that several subtrees share, where a search takes turns between subtrees.
//!
//! When a subtree gives its turn away, it publishes its path down to the first node with unexplored children and continues below that
//! node. The unexplored children are taken from here, those nearest to the root first. A race found in one subtree may point to a node
//! above it: the plan comes here and goes through the same insertion as it would in a depth-first search, so it is dropped where it leads
//! to what is run already. A child has to sleep what was begun before it, done or not, and nothing that was begun later: each trace
//! then belongs to exactly one child, whenever it is run.
//!
//! What sleeps is maybe still being run, so a plan is dropped because of it only if it surely belongs to it.
//!
//! What the first event of a child touches is known once it has been run, or, if it asks for a value, once all its values have. Until then
//! no other child of its node is taken, and plans for the node are held back, for what sleeps there decides about both.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::path::Node;
use super::plan::Plan;
use super::share::{Level, Levels, Subtree};
use super::wakeup::{Item, Open};

/// Shared nodes, each with its place in a table.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SharedTree {
    nodes: Vec<Option<Shared>>,
    free: Vec<usize>,
    /// Where something can be handed out, by depth and place.
    open: BTreeSet<(usize, usize)>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Shared {
    node: Node,
    parent: Option<usize>,
    depth: usize,
    /// What is run at the parent to come here, and its rank there.
    via: (u32, u32),
    /// The sum of the ranks above.
    cost: u32,
    /// Children that are not done: shared nodes and pieces.
    below: usize,
    /// What the latest child's first event touches is not known yet.
    waits: bool,
    /// That event, without what its values touch, where it asked for one and the child is shared.
    asked: Option<Item>,
    held: Vec<Plan>,
}

impl Shared {
    fn know(&mut self, item: Item) {
        self.node.sleep.push(item.begun());
        self.go_on();
    }

    /// Nothing has to be waited for any more.
    fn go_on(&mut self) {
        self.waits = false;
        for plan in std::mem::take(&mut self.held) {
            plan.enter(&mut self.node);
        }
    }

    /// Something can be handed out.
    fn is_open(&self) -> bool {
        !self.waits && !self.node.tree.is_empty()
    }

    fn leads_by(&self, taken: u32) -> bool {
        (taken as usize) < self.node.options.len()
    }

    fn child_is_done(&mut self, taken: u32) {
        self.below -= 1;
        let (task, label) = self.node.options[taken as usize];
        let begun = &mut self.node.sleep[self.node.asleep..];
        if let Some(item) = begun.iter_mut().find(|item| item.is(task, label, true) && item.open == Open::Yes) {
            item.open = Open::No;
        }
    }
}

impl SharedTree {
    /// Takes in levels above a piece that hung under `parent`; it hangs under the answer from now on, by what was taken there.
    pub(crate) fn grow(&mut self, parent: Option<usize>, levels: Levels) -> (Option<usize>, u32) {
        let mut parent = parent;
        let mut via = levels.via;
        if let (Some(place), Some(item)) = (parent, levels.above) {
            self.get_mut(place).asked = Some(item);
        }
        for Level { mut node, item, asks } in levels.nodes {
            let above = parent.map(|place| self.get(place));
            let (depth, cost) = above.map_or((0, 0), |above| (above.depth + 1, above.cost + via.1));
            let next = (node.taken, node.rank);
            let asked = asks.then(|| item.clone());
            if !asks {
                node.sleep.push(item.begun());
            }
            let shared = Shared { node, parent, depth, via, cost, below: 1, waits: asks, asked, held: Vec::new() };
            let place = self.put(shared);
            self.refresh(place);
            parent = Some(place);
            via = next;
        }
        (parent, via.0)
    }

    /// Hands out what is left nearest to the root.
    pub(crate) fn take(&mut self) -> Option<(usize, Subtree)> {
        while let Some((_, place)) = self.open.pop_first() {
            let shared = self.get_mut(place);
            if let Some(beyond) = shared.node.take_next(true) {
                shared.below += 1;
                shared.waits = true;
                let mut path = self.path(place);
                let node = path.last_mut().expect("raddle bug: a shared node without a path");
                node.rely_on_nothing_unless_done();
                return Some((place, Subtree { frozen: path.len(), path, beyond, fresh: true, script: Vec::new() }));
            }
            self.close_if_done(place);
        }
        None
    }

    /// The first event of the latest child at `place` is known.
    pub(crate) fn know(&mut self, place: usize, item: Item) {
        self.get_mut(place).know(item);
        self.refresh(place);
    }

    /// A piece under `place` has found something that is to be run at `depth` above it.
    pub(crate) fn plan(&mut self, place: usize, depth: usize, plan: Plan) {
        let mut at = place;
        while self.get(at).depth > depth {
            at = self.get(at).parent.expect("raddle bug: a node below the root without a parent");
        }
        let shared = self.get_mut(at);
        if shared.waits {
            shared.held.push(plan);
        } else {
            plan.enter(&mut shared.node);
            self.refresh(at);
        }
    }

    /// A piece under `place` is done, to which `taken` led there; `untold` if it never came to that event.
    pub(crate) fn finish(&mut self, place: usize, taken: u32, untold: bool) {
        let shared = self.get_mut(place);
        shared.child_is_done(taken);
        if untold {
            shared.go_on();
        }
        self.close_if_done(place);
    }

    /// Whether there is a node at `place`.
    fn has(&self, place: usize) -> bool {
        self.nodes.get(place).is_some_and(Option::is_some)
    }

    /// Whether it can have come from a search: a file may say anything. `pieces` are those that hang under a place of it.
    pub(crate) fn is_sound(&self, pieces: &[(usize, &Subtree)]) -> bool {
        let free = self.free.iter().collect::<BTreeSet<_>>();
        let all_free =
            free.len() == self.free.len() && (0..self.nodes.len()).all(|at| free.contains(&at) != self.has(at));
        let nodes = || (0..self.nodes.len()).filter_map(|at| Some((at, self.nodes[at].as_ref()?)));
        let hangs = |place: usize, piece: &Subtree| {
            let shared = self.nodes.get(place).and_then(Option::as_ref);
            shared.is_some_and(|shared| {
                shared.depth.checked_add(1) == Some(piece.frozen()) && shared.leads_by(piece.taken())
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
            && nodes().all(|(at, shared)| self.fits(shared) && shared.below == below[at])
            && self.open == nodes().filter(|(_, it)| it.is_open()).map(|(at, it)| (it.depth, at)).collect()
    }

    /// Whether a node is right in itself and for what is above it.
    fn fits(&self, shared: &Shared) -> bool {
        let hangs = match shared.parent.map(|parent| self.nodes.get(parent).and_then(Option::as_ref)) {
            Some(Some(above)) => {
                above.depth.checked_add(1) == Some(shared.depth)
                    && above.leads_by(shared.via.0)
                    && above.cost.checked_add(shared.via.1) == Some(shared.cost)
            }
            Some(None) => false,
            None => shared.depth == 0 && shared.cost == 0,
        };
        hangs && shared.node.is_sound()
    }

    fn path(&self, place: usize) -> Vec<Node> {
        let mut path = vec![self.get(place).node.clone()];
        let (mut via, mut above) = (self.get(place).via, self.get(place).parent);
        while let Some(place) = above {
            let shared = self.get(place);
            path.push(Node { taken: via.0, rank: via.1, ..shared.node.clone() });
            (via, above) = (shared.via, shared.parent);
        }
        path.reverse();
        path
    }

    fn close_if_done(&mut self, place: usize) {
        let mut at = Some(place);
        while let Some(place) = at {
            let shared = self.get(place);
            if shared.below > 0 || !shared.node.tree.is_empty() {
                return self.refresh(place);
            }
            at = shared.parent;
            let taken = shared.via.0;
            // Other children of the parent may be done while the one that asks is not.
            let values = shared.node.gives_value().then(|| shared.node.sleep[shared.node.asleep..].to_vec());
            self.nodes[place] = None;
            self.free.push(place);
            if let Some(parent) = at {
                let parent = self.get_mut(parent);
                if let Some(values) = values
                    && let Some(asked) = parent.asked.take()
                {
                    parent.know(asked.with_values(&values));
                }
                parent.child_is_done(taken);
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

    fn put(&mut self, shared: Shared) -> usize {
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

    fn get(&self, place: usize) -> &Shared {
        self.nodes[place].as_ref().expect("raddle bug: a shared node was closed too early")
    }

    fn get_mut(&mut self, place: usize) -> &mut Shared {
        self.nodes[place].as_mut().expect("raddle bug: a shared node was closed too early")
    }
}
