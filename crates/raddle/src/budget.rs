//! How the budget of a test is divided among its searches.
//!
//! One test may need several searches: the default tries to prove the test with `dpor` before it samples, and a search begins again when it
//! has learned something about the program. All of them share the time of the test. `executions` limits the samplers, and the systematic
//! start separately: what is sampled must not depend on how far the start came.

use std::time::{Duration, Instant};

use raddle_engine::search::Limits;

/// The limits of a test, and when its first search began.
pub(crate) struct Budget {
    limits: Limits,
    began: Instant,
}

impl Budget {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { limits: limits.clone(), began: Instant::now() }
    }

    /// For a search that is limited by nothing else.
    pub(crate) fn left(&self) -> Limits {
        left(&self.limits, self.began.elapsed())
    }

    /// For the systematic start, after it has run so many executions; `None` if it has no more.
    pub(crate) fn left_for_start(&self, executions: u64) -> Option<Limits> {
        left_for_start(&self.limits, self.began.elapsed(), executions)
    }
}

/// However much time is spent, a search gets this part of it: something must be run.
const LEAST_PART: u32 = 10;

fn left(limits: &Limits, spent: Duration) -> Limits {
    let time = limits.time.map(|time| time.saturating_sub(spent).max(time / LEAST_PART));
    Limits { time, ..limits.clone() }
}

/// The start gets half of the time, so that enough is left to sample in.
fn left_for_start(limits: &Limits, spent: Duration, executions: u64) -> Option<Limits> {
    let time = limits.time.map(|time| (time / 2).saturating_sub(spent));
    let executions = limits.executions.map(|most| most.saturating_sub(executions));
    let some = executions != Some(0) && time != Some(Duration::ZERO);
    some.then(|| Limits { time, executions, ..limits.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(time: Option<u64>, executions: Option<u64>) -> Limits {
        Limits { time: time.map(Duration::from_millis), executions, ..Limits::default() }
    }

    #[test]
    fn what_is_spent_is_not_given_again() {
        let time = |spent| left(&limits(Some(300), Some(7)), Duration::from_millis(spent)).time;
        assert_eq!(time(0), Some(Duration::from_millis(300)));
        assert_eq!(time(140), Some(Duration::from_millis(160)));
        // At least a tenth, however late it is.
        assert_eq!(time(290), Some(Duration::from_millis(30)));
        assert_eq!(time(9_000), Some(Duration::from_millis(30)));
    }

    #[test]
    fn time_takes_nothing_from_the_executions_of_the_samplers() {
        let hour = Duration::from_secs(3_600);
        let limits = left(&limits(None, Some(7)), hour);
        assert_eq!((limits.time, limits.executions), (None, Some(7)));
    }

    #[test]
    fn the_start_gets_half_of_the_time_and_no_more_executions_than_there_are() {
        let start = |spent, executions| {
            let limits = left_for_start(&limits(Some(300), Some(7)), Duration::from_millis(spent), executions)?;
            Some((limits.time?.as_millis(), limits.executions?))
        };
        assert_eq!(start(0, 0), Some((150, 7)));
        assert_eq!(start(100, 5), Some((50, 2)));
        assert_eq!(start(150, 5), None);
        assert_eq!(start(100, 7), None);
        let free = left_for_start(&limits(None, None), Duration::from_secs(3_600), 1_000_000).expect("no limits");
        assert_eq!((free.time, free.executions), (None, None));
    }
}
