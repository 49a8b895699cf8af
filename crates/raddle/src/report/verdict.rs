//! The verdict in one line, always with a number.

use raddle_engine::caveats::CaveatCounts;
use raddle_engine::estimate::Estimate;
pub(crate) use raddle_engine::thousands::thousands as number;

use super::{Failed, Origin, Proof, Report, Verdict, account, receives};

/// The verdict of a test in which there was never a decision.
const NOTHING_TO_EXPLORE: &str = "nothing to explore: this test never had two things that could happen next; is the code under \
                                  test built with raddle's types?";

fn orders(n: u64) -> String {
    format!("{} {}", number(n), if n == 1 { "order" } else { "orders" })
}

/// All orders.
fn all(n: u64) -> String {
    if n == 1 { "the 1 order there is".to_owned() } else { format!("all {}", orders(n)) }
}

fn states(n: u64) -> String {
    format!("{} {}", number(n), if n == 1 { "state" } else { "states" })
}

/// All states, and how sure that is: states are identified by hashes of 64 bits.
fn all_states(n: u64) -> String {
    let pairs = n as f64 * (n.saturating_sub(1)) as f64 / 2.0;
    let chance = pairs / 2f64.powi(64);
    let doubt = if chance > 0.0 { format!("; two of them taken for one: chance {chance:.0e}") } else { String::new() };
    if n == 1 { "the 1 state there is".to_owned() } else { format!("all {}{doubt}", states(n)) }
}

/// The line.
pub(crate) fn line(report: &Report) -> String {
    let passed = matches!(report.verdict, Verdict::Verified | Verdict::NoFailure);
    let limits = if passed { limits(&report.caveats) } else { Vec::new() };
    limits.into_iter().fold(verdict(report), |line, limit| format!("{line}; {limit}"))
}

/// What the search assumes, or skips because the settings say so.
fn limits(caveats: &CaveatCounts) -> Vec<String> {
    let mut limits = Vec::new();
    if caveats.weak_orderings > 0 {
        limits.push("sequentially consistent orders only".to_owned());
    }
    if caveats.std_hash_maps > 0 {
        limits.push("the order of std's hash maps is assumed not to matter".to_owned());
    }
    if !caveats.assumed_spins.is_empty() {
        let places: Vec<_> = caveats.assumed_spins.iter().map(String::as_str).collect();
        let (loops, spin) = if places.len() == 1 { ("the loop", "spins") } else { ("the loops", "spin") };
        limits.push(format!("{loops} at {} {spin}, it is assumed, until something changes", places.join(", ")));
    }
    if caveats.late_timeouts > 0 {
        limits.push("timeouts only when nothing else can happen (`timeouts = \"late\"`)".to_owned());
    }
    if !caveats.left_waiting.is_empty() {
        let waits: Vec<_> = caveats.left_waiting.iter().map(|(verb, place)| format!("{verb} at {place}")).collect();
        limits.push(format!("threads were left waiting (`leaked_threads = \"allow\"`): {}", waits.join(", ")));
    }
    limits
}

fn verdict(report: &Report) -> String {
    let Report { label, executions, failing, .. } = report;
    match (report.verdict, &report.failed) {
        (Verdict::Failed, Some(failed)) => {
            let what = account::headline(&failed.failure, &report.names(&failed.record));
            match failed.origin {
                Origin::Replay => format!("FAILED in 1 order (replay): {what}"),
                Origin::Regression => format!("FAILED after {} (a saved schedule): {what}", orders(failed.after)),
                Origin::Search if *failing > 1 => {
                    // If visited states are skipped, there may have been more executions than are counted here.
                    let first = if failed.after > *executions {
                        String::new()
                    } else {
                        format!(", first in number {}", number(failed.after))
                    };
                    let of = orders(*executions);
                    format!("FAILED in {} of {of}{first}{}: {what}", number(*failing), remark(failed))
                }
                Origin::Search => format!("FAILED after {}{}: {what}", orders(failed.after), remark(failed)),
            }
        }
        (Verdict::Failed, None) => format!("FAILED after {}", orders(*executions)),
        (Verdict::Verified, _) if report.states > 0 => format!("verified: {}", all_states(report.states)),
        (Verdict::Verified, _) if report.proof.repeats => {
            let executions = format!("{} execution{}", number(*executions), if *executions == 1 { "" } else { "s" });
            format!(
                "verified: every order is covered, in {executions} (equivalent ones left out, some run more than once)"
            )
        }
        (Verdict::Verified, _) => {
            let others = if report.proof.reduced && *executions > 1 { " (equivalent ones left out)" } else { "" };
            format!("verified: {}{others}", all(*executions))
        }
        (Verdict::NothingToExplore, _) => {
            let failed = if report.must_explore { "FAILED: " } else { "" };
            format!("{failed}{NOTHING_TO_EXPLORE}")
        }
        (Verdict::NoFailure, _) if report.passed.is_some() => format!("no failure in 1 order ({label})"),
        (Verdict::NoFailure, _) => no_failure(report),
    }
}

fn remark(failed: &Failed) -> String {
    failed.remark.as_ref().map(|remark| format!(" ({remark})")).unwrap_or_default()
}

/// What was run, and what that says about the rest.
fn no_failure(report: &Report) -> String {
    let Report { label, executions, estimate, proof, .. } = report;
    match *proof {
        Proof { bound: Some(bound), whole: true, .. } if report.states > 0 => {
            format!("no failure with {bound} ({})", all_states(report.states))
        }
        Proof { bound: Some(bound), whole: true, reduced, .. } => {
            let others = if reduced && *executions > 1 { ", equivalent ones left out" } else { "" };
            format!("no failure with {bound} ({}{others})", all(*executions))
        }
        _ if *executions == 0 && report.steps > 0 => {
            format!(
                "no execution came to its end in the time there was, and no failure in {} steps ({label})",
                number(report.steps)
            )
        }
        _ if *executions == 0 => format!("nothing was run ({label})"),
        Proof { bound, selected, stopped, .. } => {
            let kind = match () {
                () if selected && stopped => "a selection, stopped early",
                () if selected => "a selection",
                () if stopped => "stopped early",
                () => "a sample",
            };
            let among = bound.map(|bound| format!(", among them all with {bound}")).unwrap_or_default();
            let likely = report.guarantee.as_ref().map(|guarantee| format!("; {guarantee}")).unwrap_or_default();
            let seen = if report.states > 0 { states(report.states) } else { share(*executions, *estimate) };
            let covered = report.coverage.as_ref().and_then(receives::in_short);
            let covered = covered.map(|covered| format!("; {covered}")).unwrap_or_default();
            format!("no failure in {seen} ({kind}: {label}){among}{covered}{likely}")
        }
    }
}

/// The part of all orders that was run, if their number is roughly known. `estimate` is `None` if it is not wanted.
pub(crate) fn share(executions: u64, estimate: Option<Estimate>) -> String {
    let Some(Estimate { orders: all, error }) = estimate else { return orders(executions) };
    if !all.is_finite() {
        return format!("{} of an unknown number of orders", number(executions));
    }
    let told = error.map(|error| (error * 100.0).round()).filter(|percent| *percent > 0.0);
    let wrong_by = told.map(|percent| format!(" ± {percent} %")).unwrap_or_default();
    if all <= executions as f64 && error.is_none() {
        return orders(executions);
    }
    if all <= executions as f64 {
        // Samplers run the same order more than once.
        return format!("{} executions of a program with ≈ {}{wrong_by} orders", number(executions), about(all));
    }
    // A stopped search never covers 100 %, however little is missing.
    let part = (100.0 * executions as f64 / all).min(99.9);
    let part = if part >= 0.1 { format!("{part:.1}") } else { format!("{part:.0e}") };
    format!("{} of ≈ {}{wrong_by} orders ({part} %)", number(executions), about(all))
}

/// A large number, as precisely as it is known.
fn about(n: f64) -> String {
    if n < 1e6 { number(n.round() as u64) } else { format!("{n:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::{Estimate, share};

    #[test]
    fn the_covered_part_is_shown_as_far_as_it_is_known() {
        let of = |orders, error| Some(Estimate { orders, error });
        assert_eq!(share(10_000, None), "10,000 orders");
        assert_eq!(share(10_000, of(2.1e6, Some(0.12))), "10,000 of ≈ 2.1e6 ± 12 % orders (0.5 %)");
        assert_eq!(share(10_000, of(3e12, None)), "10,000 of ≈ 3.0e12 orders (3e-7 %)");
        assert_eq!(share(500, of(2.0, Some(0.0))), "500 executions of a program with ≈ 2 orders");
        assert_eq!(share(10_000, of(10_001.0, None)), "10,000 of ≈ 10,001 orders (99.9 %)");
        assert_eq!(share(10_000, Some(Estimate::UNKNOWN)), "10,000 of an unknown number of orders");
    }
}
