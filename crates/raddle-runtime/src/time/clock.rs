//! The virtual clock: an object whose word counts nanoseconds.

use std::time::Duration;

use raddle_engine::ids::ObjectId;
use raddle_engine::trace::{Class, Effect, Operation, Site, Word};

use crate::coroutine::current;
use crate::execution::{Ask, Execution, Kind, Progress};

static BEGIN: Operation = Operation { verb: "begin a timed wait", class: Class::Time };
static LOOK: Operation = Operation { verb: "read the clock", class: Class::Time };

/// The clock is the first object of every execution. Its word counts nanoseconds from the start.
pub(crate) const CLOCK: ObjectId = ObjectId::new(0);

pub(crate) static CLOCK_KIND: Kind = Kind { noun: "clock", show };

fn show(Word(nanos): Word) -> String {
    format!("{:?}", Duration::from_nanos(nanos))
}

/// The time `duration` after `now`, or the largest time if that overflows.
pub(crate) fn after(now: u64, duration: Duration) -> u64 {
    now.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

/// Begins a wait of this length. Returns its deadline. The step records the length, for reports.
pub(crate) fn begin_timed_wait(execution: &Execution, length: Duration, site: Site) -> u64 {
    execution.look(Ask::new(&BEGIN, CLOCK, Effect::Read, site), |moment| {
        moment.progress(Progress::Neutral);
        moment.left(after(0, length));
        after(moment.state.now(), length)
    })
}

/// Reads the clock. Returns the number of the execution and the nanoseconds since its start; `None` outside of any.
pub(super) fn read(site: Site) -> Option<(u64, u64)> {
    current::with(|execution| {
        execution.step(Ask::new(&LOOK, CLOCK, Effect::Read, site), |moment| {
            let now = moment.state.now();
            moment.found(now);
            (moment.state.number, now)
        })
    })
}
