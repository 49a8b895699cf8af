//! Noting the accesses to a cell, for the engine's race detection.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use raddle_engine::trace::{Class, Effect, Operation, Ordered, Site};

use crate::execution::{Ask, Kind, Met, Progress, Tag};

static READ: Operation = Operation { verb: "read", class: Class::Cell };
static WRITE: Operation = Operation { verb: "write", class: Class::Cell };

/// What a cell remembers of the accesses to it.
#[derive(Debug)]
pub(super) struct Watch {
    tag: Tag,
    /// An execution has changed the contents.
    changed_inside: AtomicBool,
}

impl Watch {
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

    /// Lent out to be written perhaps: a write as far as races go.
    #[track_caller]
    pub(super) fn lend(&self, kind: &'static Kind, site: Site) {
        self.note(kind, &WRITE, Effect::Change, site);
    }

    /// Whether this is part of an execution.
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
            // Others see a change only through what orders it, so it is that which wakes those who spin.
            place.execution.step_unseen(ask, |moment| moment.progress(Progress::Neutral));
        });
        inside.is_some()
    }
}
