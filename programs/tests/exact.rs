//! What is known of the small programs, held against the search.

use programs::EXACT;
use raddle::Explorer;

/// A fixed seed makes this a test and not a lottery; five standard deviations make it indifferent to which seed.
#[test]
fn a_random_walk_finds_each_bug_with_its_exact_chance() {
    for known in EXACT {
        let walks = 60_000;
        let explorer =
            Explorer::new().strategy("random").seed(11).executions(walks).keep_going(true).regressions(false);
        let report = explorer.run(known.body);
        let mean = known.chance * walks as f64;
        let deviation = (mean * (1.0 - known.chance)).sqrt();
        // Four of the chances are given to three digits only.
        let rounding = walks as f64 * 0.000_05;
        let hits = report.failing() as f64;
        assert!((hits - mean).abs() < 5.0 * deviation + rounding, "{}: {hits} of {walks}, expected {mean}", known.name);
    }
}

#[test]
fn exhaustive_search_finds_each_bug() {
    for known in EXACT {
        let report = Explorer::new().strategy("exhaustive").regressions(false).run(known.body);
        assert!(report.failed(), "{}: {}", known.name, report.verdict_line());
    }
}
