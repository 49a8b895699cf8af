//! The objects that tasks share, and how a value of the program (a mutex, an atomic) finds its object in the running execution.
//!
//! The state of an object lives in the execution and not in the value. So a `static` starts every execution in its initial state, and
//! tests may run in parallel. The value has a [`Tag`] that remembers which object it is in the execution that used it last.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

use raddle_engine::ids::ObjectId;
use raddle_engine::outcome::Failure;
use raddle_engine::trace::{Access, Effect, Operation, Ordered, Role, Site, Word};

use crate::coroutine::current;
use crate::execution::{Ask, Execution, Moment, State};
use crate::sync::lock;
use crate::uncontrolled;

/// A kind of object.
pub(crate) struct Kind {
    /// What it is called in reports: "Mutex".
    pub(crate) noun: &'static str,
    /// How reports write the values of its word.
    pub(crate) show: fn(Word) -> String,
}

impl Object {
    /// The address of a lock that a task holds. The task then holds the lock of `std` inside it as well.
    pub(crate) fn held_at(&self) -> Option<u64> {
        let held = matches!(self.kind.noun, "Mutex" | "RwLock") && lock::is_held(self.word);
        held.then_some(self.address as u64)
    }
}

/// [`Kind::show`] for kinds whose values are plain numbers.
pub(crate) fn word_as_number(word: Word) -> String {
    word.0.to_string()
}

/// An object of the running execution.
pub(crate) struct Object {
    pub(crate) kind: &'static Kind,
    pub(crate) made: Option<Site>,
    /// The state that other tasks can wait for. Each primitive defines what it means.
    pub(crate) word: u64,
    /// Counts the changes, so that spin detection knows whether a second look finds the same.
    pub(crate) version: u32,
    /// How many tasks ask for an operation that is enabled or not depending on the word.
    pub(crate) waiting: u32,
    /// How many of these operations are invisible.
    pub(crate) waiting_unseen: u32,
    /// True if a spinning task waits for a change of this object, or did so earlier in this execution.
    pub(crate) watched: bool,
    /// The address of the value's tag. It identifies the value if another execution has overwritten the tag.
    address: usize,
}

impl Object {
    /// An object that belongs to no value of the program.
    pub(crate) fn of_the_runtime(kind: &'static Kind, word: u64) -> Self {
        Self { kind, made: None, word, version: 0, waiting: 0, waiting_unseen: 0, watched: false, address: 0 }
    }
}

/// Remembers which object a value is in the execution that used it last.
pub(crate) struct Tag {
    /// The number of the execution and the index of the object; 0 if no execution has used the value.
    place: AtomicU64,
    made: Site,
}

/// Bits of a tag that hold the object's index; the others hold the execution's number.
const INDEX_BITS: u32 = 24;

/// Set in the tag of a value that no execution has used, but a thread without a worker while a search was running. The other bits are the number of
/// that use.
const OUTSIDE: u64 = 1 << 63;

impl Tag {
    /// The tag of a value that the caller makes.
    #[track_caller]
    pub(crate) const fn new() -> Self {
        Self { place: AtomicU64::new(0), made: Location::caller() }
    }

    /// Calls `body` with the value's place in the running execution; `None` outside of any. If the execution uses the value for the
    /// first time, `first` returns the word to start with. `first` is told whether an earlier execution has used the value.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn with<R>(
        &self,
        kind: &'static Kind,
        first: impl FnOnce(Met) -> u64,
        body: impl FnOnce(ObjectRef<'_>) -> R,
    ) -> Option<R> {
        let inside = current::with(|execution| {
            let object = self.object(&mut execution.state.borrow_mut(), kind, first);
            body(ObjectRef { execution, object })
        });
        if inside.is_none() {
            self.used_outside(kind);
        }
        inside
    }

    #[cold]
    #[track_caller]
    fn used_outside(&self, kind: &'static Kind) {
        uncontrolled::note(kind.noun, Some(self.made));
        let place = self.place.load(Ordering::Relaxed);
        let execution = (place != 0 && place & OUTSIDE == 0).then_some(place >> INDEX_BITS);
        let address = std::ptr::from_ref(self).addr();
        if let Some(number) = uncontrolled::note_outside(kind.noun, self.made, address, execution) {
            // If an execution has used it in the meantime, its place stays.
            let _ = self.place.compare_exchange(place, OUTSIDE | number, Ordering::Relaxed, Ordering::Relaxed);
        }
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
        if place & OUTSIDE != 0 && place & !OUTSIDE > state.outside_uses {
            uncontrolled::note_used_meanwhile(kind.noun, self.made, address);
        }
        let place = if place & OUTSIDE == 0 { place } else { 0 };
        // Another execution, on another OS thread, may have overwritten the tag since this execution first used the value.
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

    /// Forgets the object, as if no execution had used the value. For access by `&mut`: no other task can observe it.
    pub(crate) fn forget(&mut self) {
        *self.place.get_mut() = 0;
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "made at {}", self.made)
    }
}

/// Whether an execution has used a value before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    /// No execution has.
    Never,
    /// An earlier execution has. The value outlives executions: a `static`, or a value that the test's closure has captured.
    InEarlierExecution,
}

/// A value's place in the running execution.
#[derive(Clone, Copy)]
pub(crate) struct ObjectRef<'a> {
    pub(crate) execution: &'a Execution,
    pub(crate) object: ObjectId,
}

impl ObjectRef<'_> {
    /// Takes a step on this object that is always enabled.
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

    /// Takes a step on this object that is enabled when `ready` returns true for the object's word and `key`.
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

    /// Ends the execution with a failure: the value has contents from an earlier execution.
    pub(crate) fn fail_leaking(&self, site: Site) {
        self.execution.fail(Failure::Leak { object: self.object, site: site.into() });
    }

    /// Ends the execution with a failure: code outside this execution holds the lock that the engine has granted here.
    pub(crate) fn fail_held_elsewhere(&self, site: Site) {
        self.execution.fail(Failure::HeldElsewhere { object: self.object, site: site.into() });
    }

    /// An access to this object, to be recorded in a step on another object.
    pub(crate) fn access(&self, effect: Effect, ordered: Ordered) -> Access {
        Access { object: self.object, effect, role: Role::Plain, ordered }
    }
}
