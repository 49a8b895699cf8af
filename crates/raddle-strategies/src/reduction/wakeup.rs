//! Wakeup trees: what is still to be run beyond a node, as sequences that share their beginnings (JACM 2017, section 6).
//!
//! An [`Item`] is an event as a sleep set or a tree keeps it: the task alone would not do, for what it does, in which way and to
//! what, decides what it commutes with. A [`Branch`] keeps a run of items without a fork in one piece, so the depth of the tree
//! is the number of its forks.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::kept::Kept;
use raddle_engine::ids::TaskId;
use raddle_engine::order::events::{Events, Label, Mask, Touch, dependent, merge};
use raddle_engine::trace::Role;

/// What an item touches: few things, kept without memory of their own.
pub(super) type Touches = SmallVec<[Touch; 3]>;

/// An event that has been or is to be run.
#[derive(Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Item {
    pub task: TaskId,
    pub label: Label,
    /// What it touches; `None` if that is not known yet, and then it may be anything.
    pub touches: Option<Touches>,
    /// In a sleep set: whether what it leads to is known to be done.
    pub open: Open,
}

/// Whether what an item in a sleep set leads to is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Open {
    /// It is.
    #[default]
    No,
    /// Another worker is at it.
    Yes,
    /// Another worker was at it when something was planned that would not have been otherwise, and whoever runs that must
    /// not take it to be done.
    Still,
    /// It fails, or does with some value, so what the others would have done after it was not run.
    Failed,
}

impl Clone for Item {
    fn clone(&self) -> Self {
        // As one piece of memory: a clone of the list goes through it one by one.
        let touches = self.touches.as_deref().map(Touches::from_slice);
        Self { task: self.task, label: self.label, touches, open: self.open }
    }
}

impl Item {
    pub fn of(events: &Events, index: usize) -> Self {
        let event = events.get(index);
        let touches = (!events.is_vague(index)).then(|| Touches::from_slice(events.touches(index)));
        Self { task: event.task, label: event.label, touches, open: Open::No }
    }

    /// Whether it is what [`of`](Self::of) makes of an event.
    pub fn is_event(&self, events: &Events, index: usize) -> bool {
        let Self { task, label, touches, open } = self;
        let event = events.get(index);
        (*task, *label, *open) == (event.task, event.label, Open::No)
            && touches.as_deref() == (!events.is_vague(index)).then(|| events.touches(index))
    }

    /// Whether it may do more than to take something from one place.
    pub fn does_more(&self) -> bool {
        let counts = |touch: &&Touch| touch.role != Role::Takes && touch.object.as_message().is_none();
        self.touches.as_ref().is_none_or(|touches| touches.iter().filter(counts).count() > 1)
    }

    fn is_value(&self) -> bool {
        matches!(self.label, Label::Value(_))
    }

    pub fn unknown(task: TaskId, label: Label) -> Self {
        Self { task, label, touches: None, open: Open::No }
    }

    /// The same with all that its values touched.
    pub fn with_values(mut self, values: &[Self]) -> Self {
        let mut touches = self.touches.take().unwrap_or_default().into_vec();
        for touch in values.iter().filter_map(|value| value.touches.as_ref()).flatten() {
            merge(&mut touches, 0, *touch);
        }
        self.touches = Some(touches.into());
        if values.iter().any(|value| value.open == Open::Failed) {
            self.open = Open::Failed;
        }
        self
    }

    /// The same, begun by another worker; that it has failed stays so.
    pub fn begun(self) -> Self {
        let open = if self.open == Open::Failed { Open::Failed } else { Open::Yes };
        Self { open, ..self }
    }

    pub fn is(&self, task: TaskId, label: Label, exact: bool) -> bool {
        self.task == task && (self.label == label || !exact)
    }

    /// Whether the order of this and an event makes no difference.
    pub fn commutes_with(&self, events: &Events, index: usize) -> bool {
        let touches = self.touches.as_deref();
        let meets =
            |mine: &[Touch]| Mask::of(mine).may_conflict(events.mask(index)) && dependent(mine, events.touches(index));
        self.task != events.get(index).task && touches.is_some_and(|mine| !meets(mine))
    }

    /// Whether that holds for each event of a sequence.
    fn commutes_with_all(&self, events: &Events, sequence: &[u32]) -> bool {
        let Some(mine) = self.touches.as_deref() else { return sequence.is_empty() };
        let mask = Mask::of(mine);
        sequence.iter().all(|&event| {
            let event = event as usize;
            let meets = mask.may_conflict(events.mask(event)) && dependent(mine, events.touches(event));
            self.task != events.get(event).task && !meets && !events.is_vague(event)
        })
    }
}

/// Items to be run one after another, and then one of several ways to go on; none means: as you like.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<FlatBranch>", into = "Vec<FlatBranch>")]
pub(crate) struct Branch {
    pub path: VecDeque<Kept>,
    pub beyond: Vec<Branch>,
}

/// A branch as it is written down, without what is beyond it: the branches beyond follow, each with its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct FlatBranch {
    path: VecDeque<Kept>,
    beyond: u32,
}

/// A branch that was read may have so many levels: whoever walks a tree does so by recursion, and a file may say anything.
const MOST_LEVELS: usize = 1_000;

impl From<Branch> for Vec<FlatBranch> {
    fn from(branch: Branch) -> Self {
        let mut flat = Self::new();
        let mut open = vec![branch];
        while let Some(Branch { path, beyond }) = open.pop() {
            let number = u32::try_from(beyond.len()).expect("raddle bug: more than 2^32 branches");
            flat.push(FlatBranch { path, beyond: number });
            open.extend(beyond.into_iter().rev());
        }
        flat
    }
}

impl TryFrom<Vec<FlatBranch>> for Branch {
    type Error = &'static str;

    fn try_from(flat: Vec<FlatBranch>) -> Result<Self, Self::Error> {
        // Those whose branches beyond are not all there, from the root.
        let mut open: Vec<(Self, u32)> = Vec::new();
        let mut flat = flat.into_iter();
        while let Some(FlatBranch { path, beyond }) = flat.next() {
            if open.len() >= MOST_LEVELS {
                return Err("a wakeup tree with too many levels");
            }
            open.push((Self { path, beyond: Vec::new() }, beyond));
            while let Some((branch, _)) = open.pop_if(|(_, missing)| *missing == 0) {
                match open.last_mut() {
                    Some((above, missing)) => {
                        above.beyond.push(branch);
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
    /// Takes the first item off.
    pub fn enter(mut self) -> (Kept, Vec<Branch>) {
        let first = self.path.pop_front().expect("raddle bug: a branch without items");
        if self.path.is_empty() { (first, self.beyond) } else { (first, vec![self]) }
    }

    /// Whether it can have come from a search: a file may say anything.
    pub fn is_sound(&self) -> bool {
        !self.path.is_empty() && self.beyond.iter().all(Self::is_sound)
    }

    pub fn leaf(item: Item) -> Self {
        Self { path: VecDeque::from([item.into()]), beyond: Vec::new() }
    }

    fn sequence(sequence: &[u32], item: &mut dyn FnMut(u32) -> Kept) -> Self {
        Self { path: sequence.iter().map(|&event| item(event)).collect(), beyond: Vec::new() }
    }
}

/// Whether a sequence, or one that is equivalent once it is continued, can begin with an item.
pub(super) enum Begins {
    No,
    /// With this one of its events.
    With(usize),
    /// It does not have the item and commutes with it.
    Besides,
}

/// What is not to happen first after all: the first event of a race, if the reversing sequence has nothing of its task. Whatever else
/// that task might have done leads elsewhere.
pub(super) type Instead = Option<(TaskId, Label)>;

/// Whether `item` is a weak initial of `sequence`, which comes before `instead`.
pub(super) fn begins(events: &Events, sequence: &[u32], item: &Item, instead: Instead, exact: bool) -> Begins {
    let own = sequence.iter().position(|&event| events.get(event as usize).task == item.task);
    match own {
        Some(at) => {
            let event = events.get(sequence[at] as usize);
            if item.is(event.task, event.label, exact) && !is_held_up(events, sequence, at) {
                Begins::With(at)
            } else {
                Begins::No
            }
        }
        None if instead.is_some_and(|(task, label)| item.task == task && item.label != label) && item.does_more() => {
            Begins::No
        }
        None => {
            if item.commutes_with_all(events, sequence) {
                Begins::Besides
            } else {
                Begins::No
            }
        }
    }
}

/// Whether something in a sequence has to come before the event at `at`.
fn is_held_up(events: &Events, sequence: &[u32], at: usize) -> bool {
    let waits_for = |own: u32| sequence[..at].iter().any(|&earlier| events.dependent(earlier as usize, own as usize));
    at > 0 && at_once(events, sequence, at).any(waits_for)
}

/// The event at `at` of a sequence and the values it asks for: nothing comes between them.
fn at_once<'a>(events: &'a Events, sequence: &'a [u32], at: usize) -> impl Iterator<Item = u32> + 'a {
    let task = events.get(sequence[at] as usize).task;
    let own = sequence[at + 1..].iter().copied().filter(move |&event| events.get(event as usize).task == task);
    let values = own.take_while(|&event| matches!(events.get(event as usize).label, Label::Value(_)));
    std::iter::once(sequence[at]).chain(values)
}

impl Branch {
    /// Whether the values that the item at `at` asks for commute with a sequence that has none of them.
    fn values_commute(&self, at: usize, events: &Events, sequence: &[u32]) -> bool {
        let task = self.path[at].task;
        let is_own = |item: &&Kept| item.is_value() && item.task == task;
        let own = self.path.iter().skip(at + 1).take_while(is_own);
        let to_the_end = own.clone().count() == self.path.len() - at - 1;
        let firsts = self.beyond.iter().filter(|_| to_the_end).filter_map(|branch| branch.path.front()).filter(is_own);
        let commutes = |item: &Kept| item.commutes_with_all(events, sequence);
        own.chain(firsts).all(commutes)
    }
}

/// Whether a sequence has anything of a task.
fn has_task(events: &Events, sequence: &[u32], task: TaskId) -> bool {
    sequence.iter().any(|&event| events.get(event as usize).task == task)
}

/// What decides whether a sequence belongs to what is there.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub instead: Instead,
    pub exact: bool,
    /// Whether something that is run before what is planned sleeps on after these events.
    pub sleeps_on: &'a dyn Fn(&[u32]) -> bool,
}

impl Terms<'_> {
    /// Whether what is run as you like after these events of a sequence comes to the rest of it. Not if something sleeps on that
    /// only the rest wakes: what was planned has turned out to be something else, or was planned for another value.
    fn lead_on(&self, events: &[u32]) -> bool {
        !(self.sleeps_on)(events)
    }
}

/// Whether something that is to be run leads to what `sequence` leads to, from its event `from` on. Changes the order of the
/// sequence.
pub(super) fn leads_there(
    events: &Events,
    branches: &[Branch],
    sequence: &mut [u32],
    from: usize,
    terms: Terms<'_>,
) -> bool {
    for branch in branches {
        let (at, used) = walk_along(events, branch, &mut sequence[from..], terms.instead, terms.exact);
        let used = from + used;
        if used == sequence.len() {
            return true;
        }
        if at > 0 {
            let whole = at == branch.path.len();
            if branch.beyond.is_empty() {
                return whole && terms.lead_on(&sequence[..used]);
            }
            return whole && leads_there(events, &branch.beyond, sequence, used, terms);
        }
    }
    false
}

/// How many items of the branch the sequence can begin with, one after another, and how many of these it has, which come to its
/// front.
fn walk_along(events: &Events, branch: &Branch, sequence: &mut [u32], instead: Instead, exact: bool) -> (usize, usize) {
    let mut used = 0;
    for (at, item) in branch.path.iter().enumerate() {
        let rest = &mut sequence[used..];
        match begins(events, rest, item, instead, exact) {
            // What has asked for a value is part of the sequence, so whichever value it gets has to come next.
            Begins::No if item.is_value() && !has_task(events, rest, item.task) => {}
            Begins::No => return (at, used),
            Begins::With(place) => {
                if place > 0 {
                    rest[..=place].rotate_right(1);
                }
                used += 1;
            }
            Begins::Besides if branch.values_commute(at, events, rest) => {}
            Begins::Besides => return (at, used),
        }
        if used == sequence.len() {
            return (at + 1, used);
        }
    }
    (branch.path.len(), used)
}

/// Adds `sequence` to what is to be run, from its event `from` on, unless something that is there already leads to the same; whether
/// it was added. Its events are kept as what `item` says. Changes the order of the sequence.
pub(super) fn insert(
    events: &Events,
    branches: &mut Vec<Branch>,
    sequence: &mut [u32],
    from: usize,
    terms: Terms<'_>,
    item: &mut dyn FnMut(u32) -> Kept,
) -> bool {
    for branch in branches.iter_mut() {
        let (at, used) = walk_along(events, branch, &mut sequence[from..], terms.instead, terms.exact);
        let used = from + used;
        if used == sequence.len() {
            return false;
        }
        if at == 0 {
            continue;
        }
        if at == branch.path.len() {
            let leads = branch.beyond.is_empty() && terms.lead_on(&sequence[..used]);
            return !leads && insert(events, &mut branch.beyond, sequence, used, terms, item);
        }
        let rest = &mut sequence[used..];
        let path = branch.path.split_off(at);
        branch.path.shrink_to_fit();
        let beyond = std::mem::take(&mut branch.beyond);
        lead_with_value(events, rest);
        branch.beyond = vec![Branch { path, beyond }, Branch::sequence(rest, item)];
        return true;
    }
    let rest = &mut sequence[from..];
    lead_with_value(events, rest);
    branches.push(Branch::sequence(rest, item));
    true
}

/// A task that has asked for a value gets it before anything else happens, so if it is about to in this sequence, that comes
/// first.
fn lead_with_value(events: &Events, sequence: &mut [u32]) {
    let is_first = |at: usize| {
        let task = events.get(sequence[at] as usize).task;
        sequence[..at].iter().all(|&earlier| events.get(earlier as usize).task != task)
    };
    let is_value = |at: &usize| matches!(events.get(sequence[*at] as usize).label, Label::Value(_)) && is_first(*at);
    if let Some(at) = (0..sequence.len()).find(is_value) {
        sequence[..=at].rotate_right(1);
    }
}
