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
    /// A bounded channel: a sender that has to wait for room and a receiver that has to wait for messages, both with wakers.
    Channel,
    /// The same channel with two senders: the largest of these searches.
    Senders,
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
    pub const ALL: [Code; 7] =
        [Code::Channel, Code::Senders, Code::Oneshot, Code::Notify, Code::Semaphore, Code::Deque, Code::Slab];

    /// The code of this name.
    pub fn named(name: &str) -> Option<Code> {
        Code::ALL.into_iter().find(|code| code.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Code::Channel => "channel",
            Code::Senders => "senders",
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

#[cfg(all(test, feature = "raddle"))]
mod tests {
    use super::*;
    use crate::programs::Explore;
    use std::time::Duration;

    /// Searches with a strategy of Raddle.
    struct Search(&'static str);

    impl Explore for Search {
        type Seen = raddle::Report;
        fn explore<F: Fn() + Send + Sync + 'static>(self, body: F) -> raddle::Report {
            let explorer = raddle::Explorer::new().strategy(self.0).workers(1).save_schedules(false);
            explorer.executions(EXECUTIONS_AT_MOST).time(Duration::from_secs(3600)).run(body)
        }
    }

    const EXECUTIONS_AT_MOST: u64 = 1_000_000;

    #[test]
    #[cfg_attr(debug_assertions, ignore = "slow without optimisation: run with `--release`")]
    fn raddle_finds_every_bug() {
        for code in Code::ALL {
            for strategy in ["dpor", "preemption:2"] {
                let report = on_raddle::drivers::hand_to::<_, true>(code, Search(strategy));
                assert!(report.failed(), "{strategy} has not found the bug in {code}: {report}");
            }
        }
    }

    #[test]
    #[cfg_attr(debug_assertions, ignore = "slow without optimisation: run with `--release`")]
    fn raddle_finds_nothing_in_the_right_code() {
        for code in Code::ALL {
            let report = on_raddle::drivers::hand_to::<_, false>(code, Search("preemption:2"));
            assert!(!report.failed(), "{code}: {report}");
            assert!(report.executions() < EXECUTIONS_AT_MOST, "{code} was not covered: {report}");
        }
    }

    #[test]
    #[cfg_attr(debug_assertions, ignore = "slow without optimisation: run with `--release`")]
    fn reduction_covers_the_right_code() {
        for code in Code::ALL.into_iter().filter(|&code| code != Code::Senders) {
            let report = on_raddle::drivers::hand_to::<_, false>(code, Search("dpor"));
            assert!(report.verified(), "{code}: {report}");
        }
    }
}
