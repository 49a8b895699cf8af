//! Runs a function once, as [`std::sync::Once`].

pub(super) mod gate;

use std::fmt;
use std::sync;

use raddle_engine::trace::{Class, Effect, Operation, Ordered, Role, Site};

use self::gate::{AfterPanic, COMPLETE, Entered, NEW, POISONED, STAGE};
use crate::execution::{Ask, Kind, ObjectRef, Tag, here, word_as_number};

static CALL_ONCE: Operation = Operation { verb: "call_once", class: Class::Acquire };
static IS_COMPLETED: Operation = Operation { verb: "is_completed", class: Class::Read };
static WAIT: Operation = Operation { verb: "wait", class: Class::Wait };

static ONCE: Kind = Kind { noun: "Once", show: word_as_number };

/// Runs a function once, as [`std::sync::Once`]. In a `static` it runs the function once in every execution, unless the function has run
/// outside of any execution before.
pub struct Once {
    tag: Tag,
    inner: sync::Once,
}

/// What the function is told about the [`Once`], as [`std::sync::OnceState`].
pub struct OnceState {
    poisoned: bool,
}

impl OnceState {
    /// Whether an earlier function has panicked.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.poisoned
    }
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState").field("poisoned", &self.poisoned).finish()
    }
}

impl Once {
    /// Makes a `Once` whose function has not run yet.
    #[expect(clippy::new_without_default, reason = "as in std")]
    #[track_caller]
    #[must_use]
    pub const fn new() -> Self {
        Self { tag: Tag::new(), inner: sync::Once::new() }
    }

    #[track_caller]
    fn with<R>(&self, body: impl FnOnce(ObjectRef<'_>) -> R) -> Option<R> {
        self.tag.with(&ONCE, |_| if self.inner.is_completed() { COMPLETE } else { NEW }, body)
    }

    /// Calls `f` if no function has run yet. If another thread is running one, waits until it is done.
    ///
    /// # Panics
    ///
    /// If an earlier function has panicked.
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, f: F) {
        let mut f = Some(f);
        let call = |_: &OnceState| f.take().expect("raddle bug: the function of a Once is called twice")();
        self.call(AfterPanic::Refuse, call, here());
    }

    /// Calls `f` if no function has run yet without a panic. If another thread is running one, waits until it is done.
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, f: F) {
        self.call(AfterPanic::Retry, f, here());
    }

    #[track_caller]
    fn call(&self, after_panic: AfterPanic, f: impl FnOnce(&OnceState), site: Site) {
        let mut f = Some(f);
        let mut call =
            |poisoned| f.take().expect("raddle bug: the function of a Once is called twice")(&OnceState { poisoned });
        let refused = self.with(|place| match gate::enter(place, &CALL_ONCE, after_panic, site) {
            Entered::Done => false,
            Entered::Poisoned => true,
            Entered::First(initializer) => {
                call(initializer.poisoned);
                initializer.complete(|_| ());
                false
            }
        });
        match refused {
            Some(refused) => assert!(!refused, "a function that this Once was to call has panicked before"),
            None if after_panic == AfterPanic::Refuse => self.inner.call_once(|| call(false)),
            None => self.inner.call_once_force(|state| call(state.is_poisoned())),
        }
    }

    /// Whether a function has run without a panic.
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        let site = here();
        self.with(|place| gate::look(place, &IS_COMPLETED, site)).unwrap_or_else(|| self.inner.is_completed())
    }

    /// Waits until a function has run.
    ///
    /// # Panics
    ///
    /// If it has panicked.
    #[track_caller]
    pub fn wait(&self) {
        let site = here();
        match self.with(|place| wait(place, |word, _| word & STAGE == COMPLETE || word & STAGE == POISONED, site)) {
            Some(stage) => assert!(stage == COMPLETE, "a function that this Once was to call has panicked"),
            None => self.inner.wait(),
        }
    }

    /// Waits until a function has run without a panic.
    #[track_caller]
    pub fn wait_force(&self) {
        let site = here();
        if self.with(|place| wait(place, |word, _| word & STAGE == COMPLETE, site)).is_none() {
            self.inner.wait_force();
        }
    }
}

/// Waits until `ready` returns true for the word. Returns the stage then.
pub(super) fn wait(place: ObjectRef<'_>, ready: fn(u64, u64) -> bool, site: Site) -> u64 {
    if gate::is_complete(place) {
        gate::look_at_complete(place, &WAIT, Role::Takes, site);
        return COMPLETE;
    }
    let ask = Ask::new(&WAIT, place.object, Effect::Read, site);
    let ask = Ask { role: Role::Takes, ordered: Ordered::ACQUIRE, ready: Some(ready), ..ask };
    place.execution.step(ask, |moment| *moment.word() & STAGE)
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}
