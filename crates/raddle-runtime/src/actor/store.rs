//! Where messages lie until they are received: one store for each type of message, shared by all mailboxes of an execution.
//!
//! The place that became free last is taken first, so that the memory in use stays what was in use a moment ago. Destructors of
//! messages may take operations, so nothing is dropped here: what is put in is taken out, or left for ever.

use std::any::{Any, TypeId};
use std::mem;

/// Where a message lies in its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(pub(crate) u32);

/// Which store it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreId(u16);

/// The messages of one type.
pub(crate) struct Store<M> {
    places: Vec<Option<M>>,
    free: Vec<Place>,
}

impl<M> Store<M> {
    fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }

    /// Puts a message in; says where it lies.
    #[inline]
    pub(crate) fn put(&mut self, msg: M) -> Place {
        self.put_from(&mut Some(msg))
    }

    /// The same for a message that is there. Large ones are moved no more often than that.
    #[inline]
    pub(crate) fn put_from(&mut self, msg: &mut Option<M>) -> Place {
        let place = match self.free.pop() {
            Some(place) => place,
            None => self.add_place(),
        };
        let before = mem::replace(&mut self.places[place.0 as usize], msg.take());
        debug_assert!(before.is_none(), "raddle bug: a message is put on another");
        mem::forget(before);
        place
    }

    #[cold]
    fn add_place(&mut self) -> Place {
        let place = u32::try_from(self.places.len()).expect("raddle bug: more than 2^32 messages");
        self.places.push(None);
        Place(place)
    }

    /// Takes out the message that lies there.
    #[inline]
    pub(crate) fn take(&mut self, place: Place) -> M {
        self.free.push(place);
        self.places[place.0 as usize].take().expect("raddle bug: a letter without contents")
    }
}

/// A store, whatever it is for.
trait Shelf: Any + Send {
    fn is_empty(&self) -> bool;
}

impl<M: Send + 'static> Shelf for Store<M> {
    fn is_empty(&self) -> bool {
        self.free.len() == self.places.len()
    }
}

/// All stores, of which the empty ones stay for the next execution.
#[derive(Default)]
pub(crate) struct Stores {
    shelves: Vec<(TypeId, Box<dyn Shelf>)>,
}

impl Stores {
    /// Which store is for messages of this type.
    pub(crate) fn for_type<M: Send + 'static>(&mut self) -> StoreId {
        let is_known = |shelf: &(TypeId, Box<dyn Shelf>)| shelf.0 == TypeId::of::<M>();
        let known = self.shelves.iter().position(is_known).unwrap_or_else(|| {
            self.shelves.push((TypeId::of::<M>(), Box::new(Store::<M>::new())));
            self.shelves.len() - 1
        });
        StoreId(u16::try_from(known).expect("raddle bug: more than 2^16 types of messages"))
    }

    /// That store.
    #[inline]
    pub(crate) fn get<M: Send + 'static>(&mut self, store: StoreId) -> &mut Store<M> {
        let shelf: &mut dyn Any = &mut *self.shelves[store.0 as usize].1;
        shelf.downcast_mut().expect("raddle bug: messages of another type")
    }

    /// No message is known any more. Stores in which there are some are left with them.
    pub(crate) fn clear(&mut self) {
        for shelf in self.shelves.extract_if(.., |shelf| !shelf.1.is_empty()) {
            mem::forget(shelf);
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
                    let place = store.put(msg.clone());
                    assert!(
                        plain.iter().all(|&(other, _)| other != place),
                        "seed {seed}: {place:?} is given out twice"
                    );
                    plain.push((place, msg));
                } else {
                    let (place, msg) = plain.swap_remove(rng.below(plain.len() as u32) as usize);
                    assert_eq!(store.take(place), msg, "seed {seed}");
                }
                assert_eq!(store.is_empty(), plain.is_empty(), "seed {seed}");
                assert!(store.places.len() <= 1 + n, "seed {seed}");
            }
        }
    }

    #[test]
    fn the_latest_place_that_is_free_is_taken_first() {
        let mut store = Store::new();
        let places = ["a", "b", "c"].map(|msg| store.put(msg));
        store.take(places[2]);
        store.take(places[0]);
        assert_eq!(["d", "e"].map(|msg| store.put(msg)), [places[0], places[2]]);
        assert_eq!(store.places.len(), 3);
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
        assert_eq!(stores.shelves.len(), 1);
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
