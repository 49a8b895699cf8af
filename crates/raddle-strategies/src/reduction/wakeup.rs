//! Wakeup trees: the sequences that are still to be run at a node, with shared prefixes (Abdulla et al., JACM 2017, section 6).
//!
//! A [`Branch`] stores a run of items without a fork in one list, so the depth of the tree is the number of its forks.

use std::collections::VecDeque;

use raddle_engine::ids::TaskId;
use raddle_engine::order::events::{Events, Label};
use serde::{Deserialize, Serialize};

use super::interned::Interned;
use super::item::Item;

/// Items to be run one after another, and then one of the children. Without children, the execution continues freely.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<FlatBranch>", into = "Vec<FlatBranch>")]
pub(crate) struct Branch {
    pub path: VecDeque<Interned>,
    pub children: Vec<Branch>,
}

/// The serialized form of a branch: without its children, which follow it, each with its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct FlatBranch {
    path: VecDeque<Interned>,
    children: u32,
}

/// The largest depth of a branch that is read. Functions walk the tree by recursion, and the file may be damaged or edited.
const MAX_LEVELS: usize = 1_000;

impl From<Branch> for Vec<FlatBranch> {
    fn from(branch: Branch) -> Self {
        let mut flat = Self::new();
        let mut open = vec![branch];
        while let Some(Branch { path, children }) = open.pop() {
            let number = u32::try_from(children.len()).expect("raddle bug: more than 2^32 branches");
            flat.push(FlatBranch { path, children: number });
            open.extend(children.into_iter().rev());
        }
        flat
    }
}

impl TryFrom<Vec<FlatBranch>> for Branch {
    type Error = &'static str;

    fn try_from(flat: Vec<FlatBranch>) -> Result<Self, Self::Error> {
        // Branches whose children are not complete, from the root downwards.
        let mut open: Vec<(Self, u32)> = Vec::new();
        let mut flat = flat.into_iter();
        while let Some(FlatBranch { path, children }) = flat.next() {
            if open.len() >= MAX_LEVELS {
                return Err("a wakeup tree with too many levels");
            }
            open.push((Self { path, children: Vec::new() }, children));
            while let Some((branch, _)) = open.pop_if(|(_, missing)| *missing == 0) {
                match open.last_mut() {
                    Some((above, missing)) => {
                        above.children.push(branch);
                        *missing -= 1;
                    }
                    None if flat.len() == 0 => return Ok(branch),
                    None => return Err("a wakeup tree with more than one root"),
                }
            }
        }
        Err("a wakeup tree that is cut off")
    }
}

impl Branch {
    /// Removes the first item, and returns it with the branches that follow it.
    pub fn enter(mut self) -> (Interned, Vec<Branch>) {
        let first = self.path.pop_front().expect("raddle bug: a branch without items");
        if self.path.is_empty() { (first, self.children) } else { (first, vec![self]) }
    }

    /// True if the branch can come from a search. The file may be damaged or edited.
    pub fn is_sound(&self) -> bool {
        !self.path.is_empty() && self.children.iter().all(Self::is_sound)
    }

    pub fn leaf(item: Item) -> Self {
        Self { path: VecDeque::from([item.into()]), children: Vec::new() }
    }

    fn sequence(sequence: &[u32], item: &mut dyn FnMut(u32) -> Interned) -> Self {
        Self { path: sequence.iter().map(|&event| item(event)).collect(), children: Vec::new() }
    }
}

/// Whether an item is a weak initial of a sequence: whether the sequence, or an equivalent continuation of it, can begin with the item.
pub(super) enum WeakInitial {
    No,
    /// Yes: the item is this event of the sequence.
    Event(usize),
    /// Yes: the sequence does not contain the item, and commutes with it.
    Independent,
}

/// The first event of the race, if the reversing sequence contains no event of its task. It comes after the sequence. Another alternative
/// of the same task leads to other traces.
pub(super) type RaceFirst = Option<(TaskId, Label)>;

/// Checks whether `item` is a weak initial of `sequence`, which is followed by `race_first`.
pub(super) fn weak_initial(
    events: &Events,
    sequence: &[u32],
    item: &Item,
    race_first: RaceFirst,
    exact: bool,
) -> WeakInitial {
    let own = sequence.iter().position(|&event| events.get(event as usize).task == item.task);
    match own {
        Some(at) => {
            let event = events.get(sequence[at] as usize);
            if item.is(event.task, event.label, exact) && !depends_on_earlier(events, sequence, at) {
                WeakInitial::Event(at)
            } else {
                WeakInitial::No
            }
        }
        None if race_first.is_some_and(|(task, label)| item.task == task && item.label != label)
            && item.does_more_than_receive() =>
        {
            WeakInitial::No
        }
        None => {
            if item.commutes_with_all(events, sequence) {
                WeakInitial::Independent
            } else {
                WeakInitial::No
            }
        }
    }
}

/// True if some event of the sequence has to come before the event at `at`.
fn depends_on_earlier(events: &Events, sequence: &[u32], at: usize) -> bool {
    let waits_for = |own: u32| sequence[..at].iter().any(|&earlier| events.dependent(earlier as usize, own as usize));
    at > 0 && with_its_values(events, sequence, at).any(waits_for)
}

/// The event at `at` of a sequence, and the values it asks for. Nothing comes between them.
fn with_its_values<'a>(events: &'a Events, sequence: &'a [u32], at: usize) -> impl Iterator<Item = u32> + 'a {
    let task = events.get(sequence[at] as usize).task;
    let own = sequence[at + 1..].iter().copied().filter(move |&event| events.get(event as usize).task == task);
    let values = own.take_while(|&event| matches!(events.get(event as usize).label, Label::Value(_)));
    std::iter::once(sequence[at]).chain(values)
}

impl Branch {
    /// True if the values that the item at `at` asks for commute with a sequence that contains none of them.
    fn values_commute(&self, at: usize, events: &Events, sequence: &[u32]) -> bool {
        let task = self.path[at].task;
        let is_own = |item: &&Interned| item.is_value() && item.task == task;
        let own = self.path.iter().skip(at + 1).take_while(is_own);
        let to_the_end = own.clone().count() == self.path.len() - at - 1;
        let firsts =
            self.children.iter().filter(|_| to_the_end).filter_map(|branch| branch.path.front()).filter(is_own);
        let commutes = |item: &Interned| item.commutes_with_all(events, sequence);
        own.chain(firsts).all(commutes)
    }
}

/// True if the sequence contains an event of the task.
fn has_task(events: &Events, sequence: &[u32], task: TaskId) -> bool {
    sequence.iter().any(|&event| events.get(event as usize).task == task)
}

/// What the comparison of a sequence with a wakeup tree depends on.
#[derive(Clone, Copy)]
pub(super) struct MatchRules<'a> {
    pub race_first: RaceFirst,
    pub exact: bool,
    /// Whether an item that is run before the planned sequence is still asleep after these events.
    pub stays_asleep: &'a dyn Fn(&[u32]) -> bool,
}

impl MatchRules<'_> {
    /// True if an execution that continues freely after these events of a sequence can reach the rest of the sequence. It cannot if some item
    /// stays asleep that only the rest wakes. This happens if a planned event turned out to be another one, or was planned for another value.
    fn free_run_reaches_rest(&self, events: &[u32]) -> bool {
        !(self.stays_asleep)(events)
    }
}

/// True if the branches contain a sequence equivalent to `sequence`, from its event `from` on. Reorders `sequence`.
pub(super) fn contains_equivalent(
    events: &Events,
    branches: &[Branch],
    sequence: &mut [u32],
    from: usize,
    rules: MatchRules<'_>,
) -> bool {
    for branch in branches {
        let (at, used) = match_prefix(events, branch, &mut sequence[from..], rules.race_first, rules.exact);
        let used = from + used;
        if used == sequence.len() {
            return true;
        }
        if at > 0 {
            let whole = at == branch.path.len();
            if branch.children.is_empty() {
                return whole && rules.free_run_reaches_rest(&sequence[..used]);
            }
            return whole && contains_equivalent(events, &branch.children, sequence, used, rules);
        }
    }
    false
}

/// Matches the items of a branch with the beginning of a sequence. Returns how many items match, and how many of them are events of the
/// sequence; these are moved to its front.
fn match_prefix(
    events: &Events,
    branch: &Branch,
    sequence: &mut [u32],
    race_first: RaceFirst,
    exact: bool,
) -> (usize, usize) {
    let mut used = 0;
    for (at, item) in branch.path.iter().enumerate() {
        let rest = &mut sequence[used..];
        match weak_initial(events, rest, item, race_first, exact) {
            // The step that asked for this value is part of the sequence, so one of its values must come next.
            WeakInitial::No if item.is_value() && !has_task(events, rest, item.task) => {}
            WeakInitial::No => return (at, used),
            WeakInitial::Event(place) => {
                if place > 0 {
                    rest[..=place].rotate_right(1);
                }
                used += 1;
            }
            WeakInitial::Independent if branch.values_commute(at, events, rest) => {}
            WeakInitial::Independent => return (at, used),
        }
        if used == sequence.len() {
            return (at + 1, used);
        }
    }
    (branch.path.len(), used)
}

/// Inserts `sequence`, from its event `from` on, unless the branches contain an equivalent one. Returns whether it was inserted. `item`
/// gives the item of each event. Reorders `sequence`.
pub(super) fn insert(
    events: &Events,
    branches: &mut Vec<Branch>,
    sequence: &mut [u32],
    from: usize,
    rules: MatchRules<'_>,
    item: &mut dyn FnMut(u32) -> Interned,
) -> bool {
    for branch in branches.iter_mut() {
        let (at, used) = match_prefix(events, branch, &mut sequence[from..], rules.race_first, rules.exact);
        let used = from + used;
        if used == sequence.len() {
            return false;
        }
        if at == 0 {
            continue;
        }
        if at == branch.path.len() {
            let leads = branch.children.is_empty() && rules.free_run_reaches_rest(&sequence[..used]);
            return !leads && insert(events, &mut branch.children, sequence, used, rules, item);
        }
        let rest = &mut sequence[used..];
        let path = branch.path.split_off(at);
        branch.path.shrink_to_fit();
        let children = std::mem::take(&mut branch.children);
        move_value_to_front(events, rest);
        branch.children = vec![Branch { path, children }, Branch::sequence(rest, item)];
        return true;
    }
    let rest = &mut sequence[from..];
    move_value_to_front(events, rest);
    branches.push(Branch::sequence(rest, item));
    true
}

/// Moves a value to the front, if the first event of its task in this sequence is a value. A task that has asked for a value gets it before
/// any other event.
fn move_value_to_front(events: &Events, sequence: &mut [u32]) {
    let is_first = |at: usize| {
        let task = events.get(sequence[at] as usize).task;
        sequence[..at].iter().all(|&earlier| events.get(earlier as usize).task != task)
    };
    let is_value = |at: &usize| matches!(events.get(sequence[*at] as usize).label, Label::Value(_)) && is_first(*at);
    if let Some(at) = (0..sequence.len()).find(is_value) {
        sequence[..=at].rotate_right(1);
    }
}
