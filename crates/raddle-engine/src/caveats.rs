//! What limits the conclusions that can be drawn from an execution, and how often each limit applied in a search.
//!
//! A [`System`](crate::system::System) reports the [`Caveats`] of one execution. The worker adds them up in [`CaveatCounts`],
//! which is part of what was done ([`Tally`](crate::board::Tally)) and of the search's [`Report`](crate::search::Report).
//! A new caveat is one field in each of the two structs and one line in `CaveatCounts::count` and `CaveatCounts::add`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::outcome::Waiting;
use crate::trace::Site;

/// What one execution did that limits what it proves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caveats {
    /// The system assumed without proof that a loop spins, or made a task wait that had run for very long. Orders may be missing.
    pub guessed_spin: bool,
    /// The execution used an operation for which partial-order reduction is not proved to lose nothing.
    pub reduction_unproven: bool,
    /// The program drew random numbers. Which task draws which number depends on the order of the draws, so two orders that reduction
    /// assumes to be equivalent may differ.
    pub drew_random: bool,
    /// The program used atomic orderings weaker than `SeqCst`. Only sequentially consistent executions are searched.
    pub weak_orderings: bool,
    /// As the settings say, waits did not time out while another action was enabled.
    pub late_timeouts: bool,
    /// The program made hash maps or sets of `std`, whose order of iteration differs each time. Only some executions are repeated to detect
    /// this, among them the first.
    pub std_hash_maps: bool,
    /// Places of loops that were assumed to spin until something they read changes, after very many rounds without a change.
    pub assumed_spins: Vec<Site>,
    /// Threads that still waited when no action was enabled any more, which the settings allow.
    pub left_waiting: Vec<Waiting>,
}

/// In how many executions of a search each caveat applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CaveatCounts {
    /// Executions with [`Caveats::guessed_spin`].
    pub guessed_spin: u64,
    /// Executions with [`Caveats::reduction_unproven`].
    pub reduction_unproven: u64,
    /// Executions with [`Caveats::drew_random`].
    pub drew_random: u64,
    /// Executions with [`Caveats::weak_orderings`].
    pub weak_orderings: u64,
    /// Executions with [`Caveats::late_timeouts`].
    pub late_timeouts: u64,
    /// Executions with [`Caveats::std_hash_maps`].
    pub std_hash_maps: u64,
    /// All of [`Caveats::assumed_spins`], as `file:line:column`.
    pub assumed_spins: BTreeSet<String>,
    /// All of [`Caveats::left_waiting`]: what they do, and where.
    pub left_waiting: BTreeSet<(String, String)>,
    /// Executions that came to a point with two or more alternatives. The worker counts them, as it sees every point.
    pub concurrent: u64,
}

impl CaveatCounts {
    /// Adds one execution. The worker calls this at the end of each.
    pub(crate) fn count(&mut self, caveats: &Caveats, concurrent: bool) {
        self.guessed_spin += u64::from(caveats.guessed_spin);
        self.reduction_unproven += u64::from(caveats.reduction_unproven);
        self.drew_random += u64::from(caveats.drew_random);
        self.weak_orderings += u64::from(caveats.weak_orderings);
        self.late_timeouts += u64::from(caveats.late_timeouts);
        self.std_hash_maps += u64::from(caveats.std_hash_maps);
        self.concurrent += u64::from(concurrent);
        for site in &caveats.assumed_spins {
            self.assumed_spins.insert(site.to_string());
        }
        for Waiting { op, site, .. } in &caveats.left_waiting {
            self.left_waiting.insert((op.verb.to_owned(), site.to_string()));
        }
    }

    /// Adds what another worker counted.
    pub(crate) fn add(&mut self, other: &Self) {
        self.guessed_spin += other.guessed_spin;
        self.reduction_unproven += other.reduction_unproven;
        self.drew_random += other.drew_random;
        self.weak_orderings += other.weak_orderings;
        self.late_timeouts += other.late_timeouts;
        self.std_hash_maps += other.std_hash_maps;
        self.concurrent += other.concurrent;
        self.assumed_spins.extend(other.assumed_spins.iter().cloned());
        self.left_waiting.extend(other.left_waiting.iter().cloned());
    }

    /// The largest of the counts. Used to check data from a file.
    pub(crate) fn largest(&self) -> u64 {
        let Self { guessed_spin, reduction_unproven, drew_random, weak_orderings, .. } = *self;
        let Self { late_timeouts, std_hash_maps, concurrent, .. } = *self;
        let counts = [guessed_spin, reduction_unproven, drew_random, weak_orderings, late_timeouts, std_hash_maps];
        counts.into_iter().fold(concurrent, u64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_caveat_is_counted_and_added() {
        let all = Caveats {
            guessed_spin: true,
            reduction_unproven: true,
            drew_random: true,
            weak_orderings: true,
            late_timeouts: true,
            std_hash_maps: true,
            assumed_spins: vec![std::panic::Location::caller()],
            left_waiting: Vec::new(),
        };
        let mut counts = CaveatCounts::default();
        counts.count(&all, true);
        let mut sum = counts.clone();
        sum.add(&counts);
        let of = |n| CaveatCounts {
            guessed_spin: n,
            reduction_unproven: n,
            drew_random: n,
            weak_orderings: n,
            late_timeouts: n,
            std_hash_maps: n,
            concurrent: n,
            assumed_spins: all.assumed_spins.iter().map(ToString::to_string).collect(),
            left_waiting: BTreeSet::new(),
        };
        assert_eq!((counts, sum), (of(1), of(2)));
    }
}
