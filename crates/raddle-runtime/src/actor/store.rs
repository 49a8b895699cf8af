//! The contents of messages until they are received: one store per type of message, shared by all mailboxes of an execution.
//!
//! The slot that became free last is used first, since its memory is likely still in the cache. Destructors of user
//! messages may perform operations, so a store drops nothing: each message is taken out, or leaked on purpose.

use std::any::{Any, TypeId};
use std::mem;

/// The index of a message in its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreSlot(pub(crate) u32);

/// The index of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreId(u16);

/// The messages of one type.
pub(crate) struct Store<M> {
    slots: Vec<Option<M>>,
    free: Vec<StoreSlot>,
}

impl<M> Store<M> {
    fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    /// Stores a message and returns its slot.
    #[inline]
    pub(crate) fn put(&mut self, msg: M) -> StoreSlot {
        self.put_from(&mut Some(msg))
    }

    /// Stores a message that is taken out of `msg`, so that a large one is moved only once.
    #[inline]
    pub(crate) fn put_from(&mut self, msg: &mut Option<M>) -> StoreSlot {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => self.add_slot(),
        };
        let before = mem::replace(&mut self.slots[slot.0 as usize], msg.take());
        debug_assert!(before.is_none(), "raddle bug: a message is put on another");
        mem::forget(before);
        slot
    }

    #[cold]
    fn add_slot(&mut self) -> StoreSlot {
        let slot = u32::try_from(self.slots.len()).expect("raddle bug: more than 2^32 messages");
        self.slots.push(None);
        StoreSlot(slot)
    }

    /// Takes out the message in this slot.
    #[inline]
    pub(crate) fn take(&mut self, slot: StoreSlot) -> M {
        self.free.push(slot);
        self.slots[slot.0 as usize].take().expect("raddle bug: a message without contents")
    }
}

/// A store of any type of message.
trait AnyStore: Any + Send {
    fn is_empty(&self) -> bool;
}

impl<M: Send + 'static> AnyStore for Store<M> {
    fn is_empty(&self) -> bool {
        self.free.len() == self.slots.len()
    }
}

/// All stores. Empty ones are reused by the next execution.
#[derive(Default)]
pub(crate) struct Stores {
    stores: Vec<(TypeId, Box<dyn AnyStore>)>,
}

impl Stores {
    /// The store for messages of this type; adds one if there is none.
    pub(crate) fn for_type<M: Send + 'static>(&mut self) -> StoreId {
        let is_known = |store: &(TypeId, Box<dyn AnyStore>)| store.0 == TypeId::of::<M>();
        let known = self.stores.iter().position(is_known).unwrap_or_else(|| {
            self.stores.push((TypeId::of::<M>(), Box::new(Store::<M>::new())));
            self.stores.len() - 1
        });
        StoreId(u16::try_from(known).expect("raddle bug: more than 2^16 types of messages"))
    }

    /// The store with this index.
    #[inline]
    pub(crate) fn get<M: Send + 'static>(&mut self, store: StoreId) -> &mut Store<M> {
        let store: &mut dyn Any = &mut *self.stores[store.0 as usize].1;
        store.downcast_mut().expect("raddle bug: messages of another type")
    }

    /// Forgets all messages. Stores that still hold some are leaked with them.
    pub(crate) fn clear(&mut self) {
        for store in self.stores.extract_if(.., |store| !store.1.is_empty()) {
            mem::forget(store);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use raddle_engine::rng::Rng;

    use super::*;

    #[test]
    fn what_is_taken_out_is_what_was_put_there() {
        for seed in 0..50 {
            let mut rng = Rng::new(seed);
            let (mut store, mut plain) = (Store::new(), Vec::new());
            for n in 0..300 {
                if plain.is_empty() || rng.below(2) == 0 {
                    let msg = format!("message {n}");
                    let slot = store.put(msg.clone());
                    assert!(plain.iter().all(|&(other, _)| other != slot), "seed {seed}: {slot:?} is given out twice");
                    plain.push((slot, msg));
                } else {
                    let (slot, msg) = plain.swap_remove(rng.below(plain.len() as u32) as usize);
                    assert_eq!(store.take(slot), msg, "seed {seed}");
                }
                assert_eq!(store.is_empty(), plain.is_empty(), "seed {seed}");
                assert!(store.slots.len() <= 1 + n, "seed {seed}");
            }
        }
    }

    #[test]
    fn the_latest_place_that_is_free_is_taken_first() {
        let mut store = Store::new();
        let slots = ["a", "b", "c"].map(|msg| store.put(msg));
        store.take(slots[2]);
        store.take(slots[0]);
        assert_eq!(["d", "e"].map(|msg| store.put(msg)), [slots[0], slots[2]]);
        assert_eq!(store.slots.len(), 3);
    }

    #[test]
    fn each_type_has_a_store_and_empty_ones_stay() {
        let mut stores = Stores::default();
        let (words, numbers) = (stores.for_type::<String>(), stores.for_type::<u64>());
        assert_ne!(words, numbers);
        let word = stores.get::<String>(words).put("a".to_owned());
        let number = stores.get::<u64>(numbers).put(7);
        assert_eq!((stores.for_type::<u64>(), stores.for_type::<String>()), (numbers, words));
        assert_eq!((stores.get::<String>(words).take(word), stores.get::<u64>(numbers).take(number)), ("a".into(), 7));
        stores.get::<u64>(numbers).put(8);
        stores.clear();
        assert_eq!(stores.stores.len(), 1);
        let anew = stores.for_type::<u64>();
        assert!(stores.get::<u64>(anew).is_empty());
    }

    #[test]
    fn nothing_is_dropped_that_is_left() {
        /// A message that must not be dropped here.
        struct Kept(#[expect(dead_code, reason = "it is there to be dropped")] Arc<()>);
        let life = Arc::new(());
        let mut stores = Stores::default();
        let kept = stores.for_type::<Kept>();
        stores.get(kept).put(Kept(life.clone()));
        stores.clear();
        drop(stores);
        assert_eq!(Arc::strong_count(&life), 2);
    }
}
