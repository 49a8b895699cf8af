//! The verdict in one line, always with a number.

use super::{Origin, Report, Verdict, account};

/// A number with its thousands apart.
pub(crate) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn orders(n: u64) -> String {
    format!("{} {}", number(n), if n == 1 { "order" } else { "orders" })
}

/// The line.
pub(crate) fn line(report: &Report) -> String {
    let Report { label, executions, failing, .. } = report;
    match (report.verdict, &report.failed) {
        (Verdict::Failed, Some(failed)) => {
            let what = account::headline(&failed.failure, &report.names(&failed.record));
            match failed.origin {
                Origin::Replay => format!("FAILED in 1 order (replay): {what}"),
                Origin::Regression => format!("FAILED after {} (a kept schedule): {what}", orders(failed.after)),
                Origin::Search if *failing > 1 => {
                    let first = number(failed.after);
                    format!(
                        "FAILED in {} of {}, first in number {first}: {what}",
                        number(*failing),
                        orders(*executions)
                    )
                }
                Origin::Search => format!("FAILED after {}: {what}", orders(failed.after)),
            }
        }
        (Verdict::Failed, None) => format!("FAILED after {}", orders(*executions)),
        (Verdict::Verified, _) if *executions == 1 => "verified: the 1 order there is".to_owned(),
        (Verdict::Verified, _) => format!("verified: all {}", orders(*executions)),
        (Verdict::NoFailure, _) => format!("no failure in {} ({label})", orders(*executions)),
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(10_000), "10,000");
        assert_eq!(number(1_234_567), "1,234,567");
    }
}
