//! The progress of a search, and how often it is reported.

use std::time::Duration;

use crate::estimate::Estimate;

/// The progress of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Executions that ran to their end, failing ones included, probes not.
    pub executions: u64,
    /// Pruned executions: nothing new could follow.
    pub pruned: u64,
    /// Executions that failed.
    pub failing: u64,
    /// An estimate of the number of orders, if there is one.
    pub estimate: Option<Estimate>,
    /// The part of them that was seen, from 0 to 1.
    pub covered: Option<f64>,
    /// How long the search has run.
    pub elapsed: Duration,
    /// The expected time to the end, at the same speed.
    pub left: Option<Duration>,
    /// What the strategy has learned, if it learns.
    pub learning: Option<Learning>,
}

/// How much was learned about the program, and how fast more is learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learning {
    /// Known orderings.
    pub known: u64,
    /// How many of them were new in the latest executions.
    pub new: u64,
    /// The number of these executions: a hundred, or all if there are fewer.
    pub executions: u64,
}

/// Counts of a search that is running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// See [`Progress::executions`].
    pub executions: u64,
    /// See [`Progress::pruned`].
    pub pruned: u64,
    /// See [`Progress::failing`].
    pub failing: u64,
}

impl Progress {
    /// For a search that runs each order once.
    #[must_use]
    pub fn new(counts: Counts, estimate: Option<Estimate>, elapsed: Duration) -> Self {
        let Counts { executions, pruned, failing } = counts;
        let covered = estimate.and_then(|estimate| covered(executions, estimate));
        let left = covered.and_then(|covered| left(covered, elapsed));
        Self { executions, pruned, failing, estimate, covered, elapsed, left, learning: None }
    }

    /// For a sampler, which may run orders more than once and has no end of its own.
    #[must_use]
    pub fn of_samples(counts: Counts, estimate: Option<Estimate>, elapsed: Duration) -> Self {
        Self { covered: None, left: None, ..Self::new(counts, estimate, elapsed) }
    }
}

/// The part of all orders that was seen; `None` if their number is unknown.
#[must_use]
pub fn covered(executions: u64, estimate: Estimate) -> Option<f64> {
    let usable = estimate.orders.is_finite() && estimate.orders >= 1.0;
    usable.then(|| (executions as f64 / estimate.orders).min(1.0))
}

/// How long the rest takes if `covered` took `elapsed`. `None` if nothing is covered, or if the time cannot be represented.
#[must_use]
pub fn left(covered: f64, elapsed: Duration) -> Option<Duration> {
    Duration::try_from_secs_f64(elapsed.as_secs_f64() * (1.0 - covered) / covered).ok()
}

/// When to report progress: not in the first two seconds, in which most searches end, and then at most twice a second.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    next: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { next: Self::FIRST }
    }
}

impl Pace {
    const FIRST: Duration = Duration::from_secs(2);
    const BETWEEN: Duration = Duration::from_millis(500);

    /// Whether it is time, `elapsed` after the search began. Then it is not again for a while.
    pub fn is_due(&mut self, elapsed: Duration) -> bool {
        let due = elapsed >= self.next;
        if due {
            self.next = elapsed + Self::BETWEEN;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECONDS: fn(u64) -> Duration = Duration::from_secs;

    fn after(executions: u64, orders: f64) -> Progress {
        let counts = Counts { executions, ..Counts::default() };
        Progress::new(counts, Some(Estimate { orders, error: None }), SECONDS(10))
    }

    #[test]
    fn the_expected_time_is_proportional_to_the_rest() {
        let progress = after(250, 1_000.0);
        assert_eq!((progress.covered, progress.left), (Some(0.25), Some(SECONDS(30))));
        assert_eq!(after(1_000, 1_000.0).left, Some(Duration::ZERO));
        assert_eq!(after(2_000, 1_000.0).covered, Some(1.0));
    }

    #[test]
    fn unknown_numbers_are_not_reported() {
        assert_eq!((after(0, 1_000.0).covered, after(0, 1_000.0).left), (Some(0.0), None));
        assert_eq!(after(1, 1e300).left, None);
        assert_eq!(after(1, f64::INFINITY).covered, None);
        let counts = Counts { executions: 5, ..Counts::default() };
        assert_eq!(Progress::new(counts, None, SECONDS(1)).covered, None);
        let sampled = Progress::of_samples(counts, Some(Estimate { orders: 10.0, error: None }), SECONDS(1));
        assert_eq!((sampled.covered, sampled.left, sampled.executions), (None, None, 5));
    }

    #[test]
    fn progress_is_reported_at_most_twice_a_second() {
        let mut pace = Pace::default();
        let told = (0..10_000).filter(|&ms| pace.is_due(Duration::from_millis(ms))).collect::<Vec<_>>();
        assert_eq!((told[0], told[1], told.len()), (2_000, 2_500, 16));
        // After a long time without a call, missed reports are not made up for.
        assert!(pace.is_due(SECONDS(60)) && !pace.is_due(SECONDS(60) + Duration::from_millis(499)));
    }
}
