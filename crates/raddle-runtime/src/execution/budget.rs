//! Spurious ends: waits that return although no task woke them, and weak compare-exchanges that fail although they could succeed.
//!
//! The strategy decides where a wait begins, as a choice of one of two values, whether it ends spuriously. Such a wait returns at once. No
//! behaviour is lost: a task that wakes up spuriously later is one that woke up at once and was slow afterwards, and a task that was
//! notified in the meantime did not wake up spuriously. So whether a paused task is enabled depends only on what it waits for, never on
//! what other tasks could do. A deadlock remains a deadlock, and for reduction the choice is one like any other.
//!
//! The settings limit the number of spurious ends in an execution. This budget is an object: a task that checks whether any are left reads
//! it, and each spurious end changes it.

use raddle_engine::ids::ObjectId;
use raddle_engine::system::Variant;
use raddle_engine::trace::{Access, Class, Effect, Operation, Ordered, Role, Site};

use super::{Ask, Execution, Kind, Moment, Progress, word_as_number};

/// The budget is the second object of every execution. Its word is the number of spurious ends that are left.
pub(crate) const BUDGET: ObjectId = ObjectId::new(1);

pub(super) static BUDGET_KIND: Kind = Kind { noun: "ends for no reason that are left", show: word_as_number };

static LOOK: Operation = Operation { verb: "begin to wait", class: Class::Wait };
static WAKES: Operation = Operation { verb: "wake for no reason?", class: Class::Choice };

impl Moment<'_> {
    /// Reads the budget: whether a spurious end is still allowed.
    pub(crate) fn may_end_for_no_reason(&mut self) -> bool {
        if self.state.settings.spurious == 0 {
            return false;
        }
        self.touch(budget(Effect::Read));
        self.state.objects[BUDGET.index()].word > 0
    }

    /// Records a spurious end. After it, looking again at unchanged objects is not spinning.
    pub(crate) fn end_for_no_reason(&mut self) {
        self.touch(budget(Effect::Change));
        self.state.objects[BUDGET.index()].word -= 1;
        self.progress(Progress::Neutral);
        self.state.spin().changed();
    }
}

impl Execution {
    /// Reads the budget for a wait that begins without a step of its own: whether a spurious end is still allowed.
    pub(crate) fn look_at_budget(&self, site: Site) -> bool {
        if self.state.borrow().settings.spurious == 0 {
            return false;
        }
        self.look(Ask::new(&LOOK, BUDGET, Effect::Read, site), |moment| {
            moment.progress(Progress::Neutral);
            *moment.word() > 0
        })
    }

    /// Whether the wait that the current task is about to begin ends spuriously. The strategy decides, if the budget
    /// [allows](Moment::may_end_for_no_reason) it (`may`).
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
