//! Records the accesses to a cell, for race detection.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use raddle_engine::trace::{Class, Effect, Operation, Ordered, Site};

use crate::execution::{Ask, Kind, Met, Progress, Tag};

static READ: Operation = Operation { verb: "read", class: Class::Cell };
static WRITE: Operation = Operation { verb: "write", class: Class::Cell };

/// Records the accesses to one cell.
#[derive(Debug)]
pub(super) struct AccessTracker {
    tag: Tag,
    /// True if an execution has changed the contents. They must not reach the next execution.
    changed_inside: AtomicBool,
}

impl AccessTracker {
    #[track_caller]
    pub(super) const fn new() -> Self {
        Self { tag: Tag::new(), changed_inside: AtomicBool::new(false) }
    }

    #[track_caller]
    pub(super) fn read(&self, kind: &'static Kind, site: Site) {
        self.note(kind, &READ, Effect::Read, site);
    }

    #[track_caller]
    pub(super) fn write(&self, kind: &'static Kind, site: Site) {
        if self.note(kind, &WRITE, Effect::Change, site) {
            self.changed_inside.store(true, Ordering::Relaxed);
        }
    }

    /// Records that a pointer is handed out through which the cell may be written. For race detection this is a write.
    #[track_caller]
    pub(super) fn lend(&self, kind: &'static Kind, site: Site) {
        self.note(kind, &WRITE, Effect::Change, site);
    }

    /// Records an access. Returns false outside of any execution.
    #[track_caller]
    fn note(&self, kind: &'static Kind, op: &'static Operation, effect: Effect, site: Site) -> bool {
        let leaks = Cell::new(false);
        let first = |met| {
            leaks.set(met == Met::InEarlierExecution && self.changed_inside.load(Ordering::Relaxed));
            0
        };
        let inside = self.tag.with(kind, first, |place| {
            if leaks.get() {
                place.fail_leaking(site);
            }
            let ask = Ask { ordered: Ordered::RELAXED, ..Ask::new(op, place.object, effect, site) };
            // Another task may read the cell only after it has synchronised with this one. The synchronising step is the change for spin
            // detection.
            place.execution.step_unseen(ask, |moment| moment.progress(Progress::Neutral));
        });
        inside.is_some()
    }
}
