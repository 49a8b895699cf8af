//! Generated programs by seed, and the settings of long runs.

use std::ops::Range;

use crate::reached::Body;

/// A number from the environment, for a run without a time limit.
pub fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The seeds of a long run: COUNT of them, starting with FROM.
pub fn seeds(from: u64, count: u64) -> Range<u64> {
    let from = number("FROM", from);
    from..from + number("COUNT", count)
}

/// Generates the program of each seed, as text and as a function, and calls `check` with it. `check` returns whether the program was small
/// enough to be checked, and what is wrong. Returns how many were checked. Fails with the shortest program that is wrong.
pub fn check_all(
    seeds: Range<u64>,
    generate: impl Fn(u64) -> (String, Body),
    check: impl Fn(&Body) -> (bool, Option<String>),
) -> u64 {
    let (mut checked, mut wrong) = (0, Vec::new());
    for seed in seeds {
        let (text, body) = generate(seed);
        let (done, fault) = check(&body);
        checked += u64::from(done);
        wrong.extend(fault.map(|fault| (text.len(), format!("{seed}: {fault}\n{text}"))));
    }
    wrong.sort_unstable();
    assert!(wrong.is_empty(), "{} of {checked} wrong; the shortest: {}", wrong.len(), wrong[0].1);
    checked
}
