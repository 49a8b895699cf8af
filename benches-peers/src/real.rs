//! Code of the size and shape that people test: channels, locks and containers with cells, wakers, and guards that unlock in
//! destructors.
//!
//! The text is in `real/text`. It is compiled once for each library, against the types that the library's own file names
//! (`on_raddle`, `on_loom`, `on_shuttle`). `Arc` is that of std everywhere: a `Waker` is made of one, and to loom the clones and drops
//! of its own would be steps.
//!
//! Orderings are those that such code has, and not always `SeqCst`. Loom explores what they allow. Raddle and shuttle run
//! atomics sequentially consistent; Raddle uses the orderings to decide whether accesses to a cell race.

pub mod on_loom;
#[cfg(feature = "raddle")]
pub mod on_raddle;
pub mod on_shuttle;

use std::fmt;

/// A piece of code and its test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// A bounded channel of several senders and one receiver, both of which wait with wakers.
    Channel,
    /// Request and reply by channels for one value, and a receiver that is closed while the value is sent.
    Oneshot,
    /// A notification for one waiter, which a waiter that gives up has to pass on.
    Notify,
    /// A semaphore whose waiters queue, as a lock for one writer or several readers.
    Semaphore,
    /// A work-stealing deque: one owner, two thieves.
    Deque,
    /// A slab in shards: values are read through guards while others remove and insert.
    Slab,
}

impl Code {
    pub const ALL: [Code; 6] = [Code::Channel, Code::Oneshot, Code::Notify, Code::Semaphore, Code::Deque, Code::Slab];

    /// The code of this name.
    pub fn named(name: &str) -> Option<Code> {
        Code::ALL.into_iter().find(|code| code.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Code::Channel => "channel",
            Code::Oneshot => "oneshot",
            Code::Notify => "notify",
            Code::Semaphore => "semaphore",
            Code::Deque => "deque",
            Code::Slab => "slab",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::Explore;
    use std::panic::{self, AssertUnwindSafe};

    /// Searches with loom, with a bound of two preemptions; says whether it failed.
    struct Loom;

    impl Explore for Loom {
        type Seen = bool;
        fn explore<F: Fn() + Send + Sync + 'static>(self, body: F) -> bool {
            let mut model = loom::model::Builder::new();
            model.preemption_bound = Some(2);
            model.max_branches = 10_000;
            panic::catch_unwind(AssertUnwindSafe(|| model.check(body))).is_err()
        }
    }

    #[test]
    fn loom_finds_every_bug() {
        for code in Code::ALL {
            assert!(on_loom::drivers::hand_to::<_, true>(code, Loom), "the bug in {code} was not found");
        }
    }

    #[test]
    fn loom_finds_nothing_in_the_right_code() {
        for code in Code::ALL {
            assert!(!on_loom::drivers::hand_to::<_, false>(code, Loom), "{code} fails");
        }
    }

    /// Searches with a strategy of Raddle.
    #[cfg(feature = "raddle")]
    struct Raddle(&'static str);

    #[cfg(feature = "raddle")]
    impl Explore for Raddle {
        type Seen = raddle::Report;
        fn explore<F: Fn() + Send + Sync + 'static>(self, body: F) -> raddle::Report {
            let time = std::time::Duration::from_secs(3600);
            let explorer = raddle::Explorer::new().strategy(self.0).workers(1);
            explorer.executions(10_000_000).time(time).save_schedules(false).run(body)
        }
    }

    #[cfg(feature = "raddle")]
    #[test]
    fn raddle_finds_every_bug() {
        for (code, strategy) in Code::ALL.into_iter().flat_map(|code| [(code, "dpor"), (code, "preemption:2")]) {
            let report = on_raddle::drivers::hand_to::<_, true>(code, Raddle(strategy));
            assert!(report.failed(), "{strategy} has not found the bug in {code}: {report}");
        }
    }

    #[cfg(feature = "raddle")]
    #[test]
    fn raddle_covers_the_right_code_and_finds_nothing() {
        for code in Code::ALL {
            let report = on_raddle::drivers::hand_to::<_, false>(code, Raddle("dpor"));
            assert!(!report.failed(), "{code}: {report}");
            assert!(report.verified(), "{code}: {report}");
        }
    }
}
