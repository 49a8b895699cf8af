//! Items that many plans have in common, each in memory once.
//!
//! There are about half as many plans as executions when a search is in the middle of its way, if every task is in a race with every
//! other: the optimal algorithm cannot do without. Most of their items are equal.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::wakeup::Item;
use raddle_engine::order::events::{Events, Touch};
use raddle_engine::rng::mix;

/// An item that may be part of several plans.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Item", into = "Item")]
pub(crate) struct Kept(Arc<Item>);

impl Deref for Kept {
    type Target = Item;

    fn deref(&self) -> &Item {
        &self.0
    }
}

impl From<Item> for Kept {
    fn from(item: Item) -> Self {
        Self(Arc::new(item))
    }
}

impl From<Kept> for Item {
    fn from(kept: Kept) -> Self {
        Arc::unwrap_or_clone(kept.0)
    }
}

/// The latest items, each at a place that follows from what it is: one that comes to the place of another takes it.
#[derive(Debug, Default)]
pub(super) struct Items(Vec<Option<Kept>>);

/// How many places there are.
const PLACES: usize = 1024;

impl Items {
    /// An event as an item.
    pub fn of(&mut self, events: &Events, index: usize) -> Kept {
        if self.0.is_empty() {
            self.0.resize(PLACES, None);
        }
        let event = events.get(index);
        let who = mix(u64::from(event.task.number()), event.label.code());
        let fold =
            |hash: u64, touch: &Touch| (hash ^ u64::from(touch.object.number())).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = events.touches(index).iter().fold(who, fold);
        let place = &mut self.0[(hash >> 48) as usize % PLACES];
        match place {
            Some(kept) if kept.is_event(events, index) => kept.clone(),
            _ => place.insert(Item::of(events, index).into()).clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_engine::ids::{ObjectId, TaskId};
    use raddle_engine::order::events::{Event, Label};
    use raddle_engine::system::Variant;
    use raddle_engine::trace::{Class, Effect, Role};

    #[test]
    fn equal_items_are_one_and_others_are_not() {
        let mut events = Events::default();
        let mut add = |task: u32, object: u32, effect: Effect| {
            let label = Label::Way(Variant::Ready);
            let event = Event::pending(TaskId::new(task), label, Class::Write, ObjectId::new(object));
            events.suppose(event, [Touch { object: ObjectId::new(object), effect, role: Role::Plain }])
        };
        let all: Vec<usize> = (0..3000).map(|at| add(at % 50, at % 60, Effect::Change)).collect();
        let read = add(0, 0, Effect::Read);
        let mut items = Items::default();
        for &at in &all {
            assert_eq!(*items.of(&events, at), Item::of(&events, at));
        }
        let (first, again) = (items.of(&events, all[300]), items.of(&events, all[600]));
        assert!(Arc::ptr_eq(&first.0, &again.0));
        assert_ne!(items.of(&events, all[0]), items.of(&events, read));
    }
}
