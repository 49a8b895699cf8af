//! Items that many plans share, each in memory once.
//!
//! If every task races with every other, then halfway through a search there are about half as many plans as executions. The optimal
//! algorithm needs them all. Most of their items are equal.

use std::ops::Deref;
use std::sync::Arc;

use raddle_engine::order::events::{Events, Touch};
use raddle_engine::rng::mix;
use serde::{Deserialize, Serialize};

use super::item::Item;

/// An item that several plans may share.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Item", into = "Item")]
pub(crate) struct Interned(Arc<Item>);

impl Deref for Interned {
    type Target = Item;

    fn deref(&self) -> &Item {
        &self.0
    }
}

impl From<Item> for Interned {
    fn from(item: Item) -> Self {
        Self(Arc::new(item))
    }
}

impl From<Interned> for Item {
    fn from(interned: Interned) -> Self {
        Arc::unwrap_or_clone(interned.0)
    }
}

/// The most recent items: a direct-mapped cache, indexed by a hash of the item.
#[derive(Debug, Default)]
pub(super) struct Interner(Vec<Option<Interned>>);

/// The size of the cache.
const CACHE_SIZE: usize = 1024;

impl Interner {
    /// The item of an event.
    pub fn of(&mut self, events: &Events, index: usize) -> Interned {
        if self.0.is_empty() {
            self.0.resize(CACHE_SIZE, None);
        }
        let event = events.get(index);
        let who = mix(u64::from(event.task.number()), event.label.code());
        let fold =
            |hash: u64, touch: &Touch| (hash ^ u64::from(touch.object.number())).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = events.touches(index).iter().fold(who, fold);
        let place = &mut self.0[(hash >> 48) as usize % CACHE_SIZE];
        match place {
            Some(interned) if interned.is_event(events, index) => interned.clone(),
            _ => place.insert(Item::of(events, index).into()).clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use raddle_engine::ids::{ObjectId, TaskId};
    use raddle_engine::order::events::{Event, Label};
    use raddle_engine::system::Variant;
    use raddle_engine::trace::{Class, Effect, Role};

    use super::*;

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
        let mut items = Interner::default();
        for &at in &all {
            assert_eq!(*items.of(&events, at), Item::of(&events, at));
        }
        let (first, again) = (items.of(&events, all[300]), items.of(&events, all[600]));
        assert!(Arc::ptr_eq(&first.0, &again.0));
        assert_ne!(items.of(&events, all[0]), items.of(&events, read));
    }
}
