//! Fences: they order memory accesses around atomic operations.

use raddle_engine::ids::ObjectId;
use raddle_engine::trace::{Class, Effect, Operation, Site};
use std::sync::atomic;

use super::Ordering;
use super::step::{note_ordering, update_order};
use crate::coroutine::current;
use crate::execution::{Ask, here};
use crate::uncontrolled;

static FENCE: Operation = Operation { verb: "fence", class: Class::Fence };

/// Orders the operations before it with those after it, as [`std::sync::atomic::fence`].
///
/// Atomic operations are sequentially consistent in any case. A fence matters for race detection: it decides which accesses to a
/// [cell](crate::cell) happen before later ones. No other task can observe when a fence happens, so it needs no decision.
///
/// # Panics
///
/// If `order` is `Relaxed`.
#[track_caller]
pub fn fence(order: Ordering) {
    let site: Site = here();
    assert!(order != Ordering::Relaxed, "a fence cannot be Relaxed: use Acquire, Release, AcqRel or SeqCst");
    let inside = current::with(|execution| {
        note_ordering(execution, order);
        let ask = Ask::new(&FENCE, ObjectId::NONE, Effect::Read, site);
        execution.step_unseen(Ask { ordered: update_order(order), ..ask }, |_| ());
    });
    if inside.is_none() {
        uncontrolled::note("fence", None);
        atomic::fence(order);
    }
}

/// Keeps the compiler from moving memory accesses across it, as [`std::sync::atomic::compiler_fence`]. It orders nothing between threads, so
/// it is no step.
///
/// # Panics
///
/// If `order` is `Relaxed`.
#[track_caller]
pub fn compiler_fence(order: Ordering) {
    assert!(order != Ordering::Relaxed, "a compiler fence cannot be Relaxed: use Acquire, Release, AcqRel or SeqCst");
    atomic::compiler_fence(order);
}
