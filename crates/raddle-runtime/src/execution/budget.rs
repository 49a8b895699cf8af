//! Ends for no reason: waits that return though nobody woke them, exchanges that fail though they could succeed.
//!
//! Whether a wait ends so is decided where it begins, as a choice among two values; it then returns at once. Nothing is lost by
//! that: one who wakes later for no reason has merely been slow since, and one who was notified meanwhile woke for a reason. So
//! whether a paused task can go on depends on what it waits for and never on what others could do, a deadlock is what it always
//! is, and reduction sees a value like any other.
//!
//! How many such ends an execution may have is an object: who looks whether any is left reads it, and each of them changes it.

use raddle_engine::ids::ObjectId;
use raddle_engine::system::Variant;
use raddle_engine::trace::{Access, Class, Effect, Operation, Ordered, Role, Site};

use super::{Ask, Execution, Kind, Moment, Progress, word_as_number};

/// The budget is the second object of every execution; its word counts what is left.
pub(crate) const BUDGET: ObjectId = ObjectId::new(1);

pub(super) static BUDGET_KIND: Kind = Kind { noun: "ends for no reason that are left", show: word_as_number };

static LOOK: Operation = Operation { verb: "begin to wait", class: Class::Wait };
static WAKES: Operation = Operation { verb: "wake for no reason?", class: Class::Choice };

impl Moment<'_> {
    /// Looks whether anything may still end for no reason.
    pub(crate) fn may_end_for_no_reason(&mut self) -> bool {
        if self.state.settings.spurious == 0 {
            return false;
        }
        self.touch(budget(Effect::Read));
        self.state.objects[BUDGET.index()].word > 0
    }

    /// Something ends for no reason, and so it makes sense to look again though nothing has changed.
    pub(crate) fn end_for_no_reason(&mut self) {
        self.touch(budget(Effect::Change));
        self.state.objects[BUDGET.index()].word -= 1;
        self.progress(Progress::Neutral);
        self.state.spin().changed();
    }
}

impl Execution {
    /// The same for a wait that begins without a step of its own.
    pub(crate) fn look_at_budget(&self, site: Site) -> bool {
        if self.state.borrow().settings.spurious == 0 {
            return false;
        }
        self.look(Ask::new(&LOOK, BUDGET, Effect::Read, site), |moment| {
            moment.progress(Progress::Neutral);
            *moment.word() > 0
        })
    }

    /// Whether a wait that the current task is about to begin ends for no reason, as the strategy decides if it
    /// [`may`](Moment::may_end_for_no_reason).
    pub(crate) fn wakes_for_no_reason(&self, may: bool, wait: &Ask) -> bool {
        let wakes = may && self.choose(2, wait.site, &WAKES) == 1;
        if wakes {
            let end = Ask { effect: Effect::Read, ordered: Ordered::RELAXED, deadline: None, ..*wait };
            self.state.borrow_mut().record(&end, Variant::Spurious, |moment| moment.end_for_no_reason());
        }
        wakes
    }
}

fn budget(effect: Effect) -> Access {
    Access { object: BUDGET, effect, role: Role::Plain, ordered: Ordered::RELAXED }
}
