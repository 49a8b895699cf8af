//! The paper's claims, and whether they hold here. The text is computed from the data.

use std::cmp::Ordering::{Equal, Greater, Less};

use super::contenders::{CHAIN, CONTENDERS, Kind, OWN_SAMPLES, OWN_SEARCH, place};
use super::{Row, Trial};
use crate::grid::grouped;

/// One line for each claim.
pub fn lines(rows: &[Row]) -> Vec<String> {
    let bugs: Vec<&Row> = rows.iter().filter(|row| row.program.failure.is_some()).collect();
    if bugs.is_empty() {
        return Vec::new();
    }
    [by_a_tenth(&bugs), nobody_everywhere(&bugs), few_delays(&bugs), own_explorer(&bugs)]
        .into_iter()
        .flatten()
        .collect()
}

/// The indices of the contenders of a kind that are not made for one program.
fn of(kind: Kind) -> impl Iterator<Item = usize> {
    (0..CONTENDERS.len()).filter(move |at| CONTENDERS[*at].kind == kind && CONTENDERS[*at].only.is_empty())
}

/// The fewest executions that any of these needed.
fn fewest(row: &Row, of: impl Iterator<Item = usize>) -> Option<u64> {
    of.filter_map(|at| row.found(at)).min()
}

/// Whether `own` executions are at most a tenth of what `rival` needed, or has run if it found nothing.
fn is_a_tenth(row: &Row, own: Option<u64>, rival: usize) -> bool {
    let spent = row.median(rival).map_or(0, |trial| trial.executions);
    own.is_some_and(|own| own.saturating_mul(10) <= spent)
}

fn by_a_tenth(bugs: &[&Row]) -> Vec<String> {
    let count = |kind: Kind, rival: &str| {
        let rival = place(rival);
        let tenth = bugs.iter().filter(|row| is_a_tenth(row, fewest(row, of(kind)), rival)).count();
        let more = bugs.iter().filter(|row| match (fewest(row, of(kind)), row.found(rival)) {
            (Some(own), Some(other)) => other < own,
            (own, other) => own.is_none() && other.is_some(),
        });
        (tenth, more.count())
    };
    let (samples, samples_lost) = count(Kind::DelaySamples, "PCT");
    let (searches, searches_lost) = count(Kind::DelaySearches, "PB");
    let both = bugs.iter().filter(|row| {
        let own = fewest(row, of(Kind::DelaySamples).chain(of(Kind::DelaySearches)));
        ["PCT", "PB"].iter().all(|rival| is_a_tenth(row, own, place(rival)))
    });
    let both = both.count();
    let all = bugs.len();
    let most = |count: usize| if 2 * count > all { "holds" } else { "does not hold" };
    vec![
        format!(
            "*Some delaying explorer beats PCT and PB by an order of magnitude on most bugs*: {}. The best delaying explorer needs a tenth or less \
             of the executions of both on {both} of {all} bugs.",
            most(both)
        ),
        format!(
            "Sampler against sampler: the best of SS needs a tenth or less of PCT on {samples} of {all}, and more than PCT on {samples_lost}. \
             Search against search: the best of SES needs a tenth or less of PB on {searches} of {all}, and more than PB on {searches_lost}."
        ),
    ]
}

/// All contenders that have found something, ordered by executions.
fn nobody_everywhere(bugs: &[&Row]) -> Vec<String> {
    let told = |kind: Kind| {
        let ahead = of(kind).map(|at| {
            let first = |row: &&&Row| row.found(at).is_some() && row.found(at) == fewest(row, of(kind));
            let far = |row: &&&Row| is_a_tenth(row, fewest(row, of(kind)), at);
            (CONTENDERS[at].name, bugs.iter().filter(first).count(), bugs.iter().filter(far).count())
        });
        ahead.collect::<Vec<_>>()
    };
    let (samples, searches) = (told(Kind::DelaySamples), told(Kind::DelaySearches));
    let everywhere = samples.iter().chain(&searches).any(|(_, first, _)| *first == bugs.len());
    let list = |all: &[(&str, usize, usize)]| {
        let words = all
            .iter()
            .map(|(name, first, far)| format!("{name} is the best on {first}, ten times the best or worse on {far}"));
        words.collect::<Vec<_>>().join("; ")
    };
    vec![format!(
        "*No explorer wins everywhere*: {}. {}. {}.",
        if everywhere { "does not hold" } else { "holds" },
        list(&samples),
        list(&searches)
    )]
}

fn few_delays(bugs: &[&Row]) -> Vec<String> {
    let [rr, rtc] = ["SES RR", "SES RTC"].map(place);
    let delays = |trial: Option<&Trial>| trial.filter(|trial| trial.kind.is_some()).and_then(|trial| trial.delays);
    let mut both: Vec<(usize, u32, u32)> = bugs
        .iter()
        .filter_map(|row| {
            let decisions = row.median(rtc)?.decisions.max(row.median(rr)?.decisions);
            Some((decisions, delays(row.median(rr))?, delays(row.median(rtc))?))
        })
        .collect();
    if both.is_empty() {
        return vec!["*RTC reaches deep bugs with few delays*: no bug was found by both RR and RTC.".to_owned()];
    }
    both.sort_unstable();
    let deep = &both[both.len() / 2..];
    let middle = |of: &dyn Fn(&(usize, u32, u32)) -> u32| {
        let mut all: Vec<u32> = deep.iter().map(of).collect();
        all.sort_unstable();
        all[all.len() / 2]
    };
    let (by_rr, by_rtc) = (middle(&|bug| bug.1), middle(&|bug| bug.2));
    let count = |order| both.iter().filter(|(_, rr, rtc)| rtc.cmp(rr) == order).count();
    let holds = if by_rtc < by_rr { "holds" } else { "does not hold" };
    vec![format!(
        "*RTC reaches deep bugs with few delays*: {holds}. Of the {} bugs that SES finds with both, RTC needs fewer delays than RR on {}, as many on {}, \
         more on {}. On the deeper half of them (at least {} decisions in the execution that fails) the median is {by_rtc} delays with RTC and \
         {by_rr} with RR; the most are {} and {}.",
        both.len(),
        count(Less),
        count(Equal),
        count(Greater),
        deep[0].0,
        deep.iter().map(|bug| bug.2).max().unwrap_or(0),
        deep.iter().map(|bug| bug.1).max().unwrap_or(0),
    )]
}

/// The gain of the explorer that is made for one program.
fn own_explorer(bugs: &[&Row]) -> Vec<String> {
    let chain: Vec<&&Row> = bugs.iter().filter(|row| row.program.label.starts_with(CHAIN)).collect();
    if chain.is_empty() {
        return Vec::new();
    }
    let told = |own: &str, others: Kind| {
        let at = place(own);
        let found = chain.iter().filter(|row| row.found(at).is_some()).count();
        let fewer = chain
            .iter()
            .filter(|row| row.found(at).is_some_and(|own| fewest(row, of(others)).is_none_or(|other| own < other)));
        let sum = |of: &dyn Fn(&Row) -> Option<u64>| chain.iter().filter_map(|row| of(row)).sum::<u64>();
        let both = |row: &Row| row.found(at).is_some() && row.found(place(with_round_robin(own))).is_some();
        let ours = sum(&|row| row.found(at).filter(|_| both(row)));
        let theirs = sum(&|row| row.found(place(with_round_robin(own))).filter(|_| both(row)));
        format!(
            "{own} finds {found} of {}, with fewer executions than any other explorer on {}; where {} finds the bug too, {} executions \
             against {} in all",
            chain.len(),
            fewer.count(),
            with_round_robin(own),
            grouped(ours),
            grouped(theirs)
        )
    };
    vec![format!(
        "The explorer made for chain replication (failures are kept back until the start is over): {}; {}.",
        told(OWN_SAMPLES, Kind::DelaySamples),
        told(OWN_SEARCH, Kind::DelaySearches)
    )]
}

/// What the custom explorer is based on.
fn with_round_robin(own: &str) -> &'static str {
    if own == OWN_SAMPLES { "SS RR" } else { "SES RR" }
}
