//! Who touched an object last: what an event is immediately dependent on.
//!
//! Of each other task, the latest event on the same object counts, if it came after this task's own latest one there: what lay
//! before that was before that one already. So in `alloc; use, use again; free`, the second use has nothing before it, and
//! only an order that has the `free` between the two gives it something.

use smallvec::SmallVec;

use super::statement::StatementId;
use crate::ids::TaskId;
use crate::order::events::{Events, Touch};
use crate::trace::{Class, Effect, Role};

/// The latest events on each object of one execution.
#[derive(Debug, Default)]
pub(super) struct Lookback {
    /// By object; oldest first.
    touched: Vec<SmallVec<[Latest; 4]>>,
    /// Which of those have anything in them.
    used: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Latest {
    task: TaskId,
    statement: StatementId,
    effect: Effect,
}

/// Whether what the event does to that object counts. Giving back what was taken does not: that it came before the next one who
/// takes says nothing that the taking does not say.
fn counts(class: Class, touch: &Touch) -> bool {
    let gives_back = touch.role == Role::Gives && !matches!(class, Class::Send | Class::Notify | Class::Finish);
    class != Class::Release && !gives_back && !touch.is_birth()
}

impl Lookback {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.used.drain(..).for_each(|slot| self.touched[slot].clear());
    }

    /// Takes in event `index`, which is by `statement`; calls `found` with each statement that it is immediately dependent on.
    pub(super) fn take(
        &mut self,
        events: &Events,
        index: usize,
        statement: StatementId,
        mut found: impl FnMut(StatementId),
    ) {
        let event = events.get(index);
        for touch in events.touches(index).iter().filter(|touch| counts(event.class, touch)) {
            let slot = touch.slot();
            if self.touched.len() <= slot {
                self.touched.resize_with(slot + 1, SmallVec::new);
            }
            let latest = &mut self.touched[slot];
            if latest.is_empty() {
                self.used.push(slot);
            }
            let own = latest.iter().rposition(|it| it.task == event.task);
            for it in &latest[own.map_or(0, |own| own + 1)..] {
                if touch.effect == Effect::Change || it.effect == Effect::Change {
                    found(it.statement);
                }
            }
            if let Some(own) = own {
                latest.remove(own);
            }
            latest.push(Latest { task: event.task, statement, effect: touch.effect });
        }
    }
}
