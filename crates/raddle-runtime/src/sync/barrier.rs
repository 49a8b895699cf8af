//! A barrier, as [`std::sync::Barrier`].

use std::fmt;
use std::sync;

use raddle_engine::ids::ObjectId;
use raddle_engine::trace::{Class, Effect, Operation, Ordered, Role, Site};

use crate::execution::{Ask, Kind, ObjectRef, Tag, here, word_as_number};

static ARRIVE: Operation = Operation { verb: "arrive", class: Class::Update };
static WAIT: Operation = Operation { verb: "wait for the others", class: Class::Acquire };

static BARRIER: Kind = Kind { noun: "Barrier", show: word_as_number };

/// The word of a barrier: the low bits count the threads that have arrived, the bits above name its latest opening.
const ARRIVED: u64 = (1 << 32) - 1;
/// The name of an opening is the number of an object of its own. Threads that waited for the opening depend on that object, and not on
/// those who arrive for the next one.
const OPENING: u32 = 32;

/// Lets threads go on once a number of them has arrived, as [`std::sync::Barrier`].
pub struct Barrier {
    tag: Tag,
    threads: usize,
    inner: sync::Barrier,
}

/// Whether a thread is the leader of those that met at a [`Barrier`], as [`std::sync::BarrierWaitResult`].
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether this thread is the leader. One of the threads that met is. In an execution it is the last to arrive.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.0).finish()
    }
}

impl Barrier {
    /// Makes a barrier that opens for every `n` threads.
    #[track_caller]
    #[must_use]
    pub const fn new(n: usize) -> Self {
        Self { tag: Tag::new(), threads: n, inner: sync::Barrier::new(n) }
    }

    /// Waits until `n` threads have called this.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let site = here();
        match self.tag.with(&BARRIER, |_| 0, |place| self.wait_inside(place, site)) {
            Some(leads) => BarrierWaitResult(leads),
            None => BarrierWaitResult(self.inner.wait().is_leader()),
        }
    }

    fn wait_inside(&self, place: ObjectRef<'_>, site: Site) -> bool {
        let opens_after = place.step(&ARRIVE, Effect::Change, Ordered::BOTH, site, |moment| {
            let opened = *moment.word() & !ARRIVED;
            let arrived = (*moment.word() & ARRIVED) + 1;
            if arrived < self.threads as u64 {
                *moment.word() = opened | arrived;
                return Some(opened);
            }
            let opening = moment.state.next_message();
            moment.state.also_touch(opening, Effect::Change, Role::Gives, Ordered::RELEASE);
            *moment.word() = u64::from(opening.number()) << OPENING;
            moment.state.unsettled = true;
            None
        });
        let Some(opened) = opens_after else { return true };
        // Once the barrier has opened, no other task can observe when this one goes on.
        let ready: fn(u64, u64) -> bool = |word, opened| word & !ARRIVED != opened;
        let ask = Ask::new(&WAIT, place.object, Effect::Read, site);
        let ask =
            Ask { role: Role::Alone, ordered: Ordered::ACQUIRE, ready: Some(ready), key: opened, unseen: true, ..ask };
        place.execution.step(ask, |moment| {
            let opening = ObjectId::new((*moment.word() >> OPENING) as u32);
            moment.state.also_touch(opening, Effect::Read, Role::Takes, Ordered::ACQUIRE);
        });
        false
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
