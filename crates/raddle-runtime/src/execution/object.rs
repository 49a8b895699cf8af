//! What tasks share, and how a value of the user's finds its place among the objects of the running execution.
//!
//! The state of an object lives in the execution and not in the value, so that a `static` starts every execution afresh and
//! tests may run in parallel. The value carries a [`Tag`] that remembers its place in the execution that used it last.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

use raddle_engine::ids::ObjectId;
use raddle_engine::outcome::Failure;
use raddle_engine::trace::{Access, Effect, Operation, Ordered, Role, Site, Word};

use crate::coroutine::current;
use crate::execution::{Ask, Execution, Moment, State};
use crate::uncontrolled;

/// A kind of object.
pub(crate) struct Kind {
    /// What it is called in reports: "Mutex".
    pub(crate) noun: &'static str,
    /// How its values are written.
    pub(crate) show: fn(Word) -> String,
}

impl Object {
    /// Where a lock lies that somebody holds; a lock of `std` inside it is held as well.
    pub(crate) fn held_at(&self) -> Option<u64> {
        let held = match self.kind.noun {
            "Mutex" => self.word & 1 != 0,
            "RwLock" => self.word & !2 != 0,
            _ => false,
        };
        held.then_some(self.address as u64)
    }
}

/// For kinds whose values are plain numbers.
pub(crate) fn word_as_number(word: Word) -> String {
    word.0.to_string()
}

/// An object of the running execution.
pub(crate) struct Object {
    pub(crate) kind: &'static Kind,
    pub(crate) made: Option<Site>,
    /// Its state as far as others wait for it; what it means is up to the primitive.
    pub(crate) word: u64,
    /// Counts the changes, so that one who spins knows whether to look again.
    pub(crate) version: u32,
    /// How many tasks ask for something that depends on its word.
    pub(crate) waiting: u32,
    /// How many of them need no decision.
    pub(crate) waiting_unseen: u32,
    /// Whether somebody who spins has watched it in this execution.
    pub(crate) watched: bool,
    /// Where the value lies, for values whose tag another execution has overwritten.
    address: usize,
}

impl Object {
    /// One that belongs to no value of the user's.
    pub(crate) fn of_the_runtime(kind: &'static Kind, word: u64) -> Self {
        Self { kind, made: None, word, version: 0, waiting: 0, waiting_unseen: 0, watched: false, address: 0 }
    }
}

/// Remembers a value's place among the objects of the execution that used it last. Zero if there was none.
pub(crate) struct Tag {
    place: AtomicU64,
    made: Site,
}

/// Bits of a tag that hold the object's index; the others hold the execution's number.
const INDEX_BITS: u32 = 24;

impl Tag {
    /// The tag of a value made by the caller.
    #[track_caller]
    pub(crate) const fn new() -> Self {
        Self { place: AtomicU64::new(0), made: Location::caller() }
    }

    /// Calls `body` with the value's place in the running execution; `None` outside of any. A value that the execution
    /// meets for the first time starts with the word that `first` gives, which is told whether the value was used by an
    /// earlier execution.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn with<R>(
        &self,
        kind: &'static Kind,
        first: impl FnOnce(Met) -> u64,
        body: impl FnOnce(Place<'_>) -> R,
    ) -> Option<R> {
        let inside = current::with(|execution| {
            let object = self.object(&mut execution.state.borrow_mut(), kind, first);
            body(Place { execution, object })
        });
        if inside.is_none() {
            uncontrolled::note(kind.noun, Some(self.made));
        }
        inside
    }

    #[inline(always)]
    fn object(&self, state: &mut State, kind: &'static Kind, first: impl FnOnce(Met) -> u64) -> ObjectId {
        let place = self.place.load(Ordering::Relaxed);
        if place >> INDEX_BITS == state.number {
            return ObjectId::new((place & ((1 << INDEX_BITS) - 1)) as u32);
        }
        self.register(state, kind, place, first)
    }

    #[cold]
    fn register(&self, state: &mut State, kind: &'static Kind, place: u64, first: impl FnOnce(Met) -> u64) -> ObjectId {
        let address = std::ptr::from_ref(self).addr();
        // A tag of another execution's may hide that we have met: both may be running, on different OS threads.
        let known = if place == 0 { None } else { state.objects.iter().rposition(|o| o.address == address) };
        let index = known.unwrap_or_else(|| {
            let met = if place == 0 { Met::Never } else { Met::InEarlierExecution };
            let word = first(met);
            state.objects.push(Object {
                kind,
                made: Some(self.made),
                word,
                version: 0,
                waiting: 0,
                waiting_unseen: 0,
                watched: false,
                address,
            });
            state.objects.len() - 1
        });
        assert!(index < 1 << INDEX_BITS, "raddle: more than {} objects in one execution", 1 << INDEX_BITS);
        self.place.store(state.number << INDEX_BITS | index as u64, Ordering::Relaxed);
        ObjectId::next_of(index)
    }

    /// Where the value was made.
    pub(crate) fn made(&self) -> Site {
        self.made
    }

    /// Forgets the place, as if the value had never been used: for `&mut` access, which nobody else can notice.
    pub(crate) fn forget(&mut self) {
        *self.place.get_mut() = 0;
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "made at {}", self.made)
    }
}

/// Whether a value has been used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    /// By no execution.
    Never,
    /// It outlives executions: a `static`, or something captured from outside.
    InEarlierExecution,
}

/// A value's place in the running execution.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) execution: &'a Execution,
    pub(crate) object: ObjectId,
}

impl Place<'_> {
    /// A step on this object that can always be taken.
    #[inline(always)]
    pub(crate) fn step<R>(
        &self,
        op: &'static Operation,
        effect: Effect,
        ordered: Ordered,
        site: Site,
        act: impl FnOnce(&mut Moment<'_>) -> R,
    ) -> R {
        self.execution.step(Ask { ordered, ..Ask::new(op, self.object, effect, site) }, act)
    }

    /// A step on this object that waits until `ready` says so of the object's word and `key`.
    #[inline(always)]
    pub(crate) fn step_when<R>(
        &self,
        (ready, key): (fn(u64, u64) -> bool, u64),
        op: &'static Operation,
        ordered: Ordered,
        site: Site,
        act: impl FnOnce(&mut Moment<'_>) -> R,
    ) -> R {
        let ask = Ask::new(op, self.object, Effect::Change, site);
        self.execution.step(Ask { role: Role::Takes, ordered, ready: Some(ready), key, ..ask }, act)
    }

    /// Ends the execution as failed: the object carries its contents over from an earlier one.
    pub(crate) fn fail_leaking(&self, site: Site) {
        self.execution.fail(Failure::Leak { object: self.object, site: site.into() });
    }

    /// Ends the execution as failed: somebody who is not part of it holds the lock that was granted here.
    pub(crate) fn fail_held_elsewhere(&self, site: Site) {
        self.execution.fail(Failure::HeldElsewhere { object: self.object, site: site.into() });
    }

    /// The object, as a further access of a step on another one.
    pub(crate) fn access(&self, effect: Effect, ordered: Ordered) -> Access {
        Access { object: self.object, effect, role: Role::Plain, ordered }
    }
}
