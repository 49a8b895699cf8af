//! The stratum of each sample, and the guarantee that a number of samples gives.
//!
//! The execution without delays is run once. Then come `c1·c2` samples with one delay, `c1·c2²` with two, and so on. The
//! intermediate executions of a sample are samples of the lower strata, so these keep growing.

use raddle_engine::facts::Fact;

use super::hybrid::ENTRIES_PER_SAMPLE;

/// The number of samples of each stratum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strata {
    /// The paper's c1.
    pub first: u64,
    /// The paper's c2.
    pub factor: u64,
}

/// The position of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The number of its delays.
    pub delays: u32,
    /// The number of the first sample with so many delays.
    pub from: u64,
    /// The largest possible number of executions of the samples before it.
    pub before: u64,
}

impl Strata {
    fn size(self, delays: u32) -> u64 {
        if delays == 0 { 1 } else { self.first.saturating_mul(self.factor.saturating_pow(delays)) }
    }

    /// The position of the sample with this number.
    pub fn place(self, number: u64) -> Place {
        let (mut delays, mut from, mut before) = (0, 0_u64, 0_u64);
        loop {
            let (size, each) = (self.size(delays), u64::from(delays.max(1)));
            if number - from < size {
                return Place { delays, from, before: before.saturating_add((number - from).saturating_mul(each)) };
            }
            before = before.saturating_add(size.saturating_mul(each));
            from += size;
            delays += 1;
        }
    }

    /// A lower bound on the probability that an execution with so many delays was drawn at least once by the first `drawn` samples, if no
    /// execution has more than `longest` points with an alternative.
    fn chance(self, delays: u32, drawn: u64, longest: u32) -> f64 {
        let from: u64 = (0..delays).map(|delays| self.size(delays)).fold(0, u64::saturating_add);
        let once = f64::from(longest.max(1)).powf(-f64::from(delays));
        let draws = drawn.saturating_sub(from);
        // 1 - (1 - once)^draws, without cancellation.
        if draws == 0 { 0.0 } else { -(draws as f64 * (-once).ln_1p()).exp_m1() }
    }

    /// The guarantee for the complete strata.
    pub fn guarantee(self, drawn: u64, longest: u32) -> Option<Fact> {
        let chances = (1..self.place(drawn).delays).map(|delays| (delays, self.chance(delays, drawn, longest)));
        reported(chances, longest, false)
    }
}

/// The guarantee for [samples](super::DelayHybrid) that begin at the frontier of a search, after so many complete rounds. Their delays are
/// counted in addition to those of their entries.
pub(super) fn guarantee_beyond(rounds: u32, longest: u32) -> Option<Fact> {
    let chances = (0..rounds).map(|delays| (delays, chance_beyond(delays, rounds, longest)));
    reported(chances, longest, true)
}

/// A lower bound on the probability that an execution with so many delays more than its entry was drawn in one of so many rounds.
fn chance_beyond(delays: u32, rounds: u32, longest: u32) -> f64 {
    // The number of samples per entry with at least so many delays.
    let samples = (f64::from(rounds).exp2() - f64::from(delays).exp2()) / f64::from(ENTRIES_PER_SAMPLE);
    let once = f64::from(longest.max(1)).powf(-f64::from(delays));
    -(-samples * once).exp_m1()
}

fn reported(chances: impl Iterator<Item = (u32, f64)>, points: u32, beyond_search: bool) -> Option<Fact> {
    let listed = |(place, (_, chance)): &(usize, (u32, f64))| *place == 0 || *chance >= MIN_REPORTED;
    let chances: Vec<_> = chances.enumerate().take_while(listed).map(|(_, chance)| chance).collect();
    (!chances.is_empty() && points > 0).then_some(Fact::Drawn { chances, beyond_search, points })
}

/// Smaller probabilities are not reported, after the first.
const MIN_REPORTED: f64 = 0.000_1;

#[cfg(test)]
mod tests {
    use super::*;

    const STRATA: Strata = Strata { first: 10, factor: 2 };

    #[test]
    fn samples_are_numbered_stratum_by_stratum() {
        let place = |number| {
            let Place { delays, from, before } = STRATA.place(number);
            (delays, from, before)
        };
        assert_eq!([place(0), place(1), place(20)], [(0, 0, 0), (1, 1, 1), (1, 1, 20)]);
        assert_eq!([place(21), place(60), place(61)], [(2, 21, 21), (2, 21, 99), (3, 61, 101)]);
        assert!(STRATA.place(u64::MAX).delays < 64);
    }

    #[test]
    fn the_chance_is_that_of_independent_draws() {
        // Of 61 samples, 60 have a first delay and 40 a second.
        let by_hand = |once: f64, draws| 1.0 - (1.0 - once).powi(draws);
        assert!((STRATA.chance(1, 61, 5) - by_hand(0.2, 60)).abs() < 1e-12);
        assert!((STRATA.chance(2, 61, 5) - by_hand(0.04, 40)).abs() < 1e-12);
        assert!((STRATA.chance(2, 30, 5) - by_hand(0.04, 9)).abs() < 1e-12);
        assert!((STRATA.chance(3, 30, 5)).abs() < 1e-12 && (STRATA.chance(0, 1, 5) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn beyond_a_search_the_chance_is_no_more_than_that_of_the_samples() {
        // 640 entries: rounds of 10, 20, 40 and 80 samples. Those from the second round on have one more delay each.
        let by_hand = |once: f64, draws| 1.0 - (1.0 - once / 640.0).powi(draws);
        for (delays, draws) in [(0, 150), (1, 140), (2, 120), (3, 80)] {
            let (chance, exact) = (chance_beyond(delays, 4, 5), by_hand(0.2_f64.powi(delays as i32), draws));
            assert!(chance <= exact && chance > 0.99 * exact, "{delays}: {chance}, {exact}");
        }
    }

    #[test]
    fn only_complete_strata_are_reported() {
        assert_eq!(STRATA.guarantee(0, 5), None);
        assert_eq!(STRATA.guarantee(20, 5), None);
        let Some(Fact::Drawn { chances, points: 5, .. }) = STRATA.guarantee(61, 5) else { panic!("nothing is told") };
        assert_eq!(chances.iter().map(|(delays, _)| *delays).collect::<Vec<_>>(), [1, 2]);
    }
}
