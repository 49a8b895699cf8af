//! The progress of a search, in one line.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use raddle_engine::search::{Learning, Progress};
use raddle_runtime::output::unredirected;

use super::{Report, verdict};
use crate::environment::Environment;
use crate::settings::SettingError;

/// Shows the progress of a search while it runs.
pub(crate) struct ProgressLine {
    /// The test that the search belongs to; several may be running.
    test: String,
    /// One line that is overwritten, instead of many.
    in_place: bool,
}

impl ProgressLine {
    /// `None` if progress is not shown: standard error is no terminal, and the environment does not ask for it.
    pub(crate) fn new(test: &str, environment: &Environment) -> Result<Option<Self>, SettingError> {
        let in_place = io::stderr().is_terminal();
        let wanted = environment.progress(in_place)?;
        Ok(wanted.then(|| Self { test: test.to_owned(), in_place }))
    }

    /// Not by `eprintln`, whose output the harness holds back until the test is over. A closed stream is no failure.
    pub(crate) fn tell(&self, progress: &Progress) {
        // A worker calls this, and the output of workers is redirected.
        let _ = unredirected(|| io::stderr().write_all(self.shown(progress).as_bytes()));
    }

    /// Clears the line, before other output.
    pub(crate) fn finish(&self) {
        if self.in_place {
            let _ = io::stderr().write_all(CLEAR.as_bytes());
        }
    }

    /// Prints the verdict so far of a search that was interrupted. The process is about to end, and the harness would not show it.
    pub(crate) fn last_words(test: &str, note: Option<&String>, report: &Report) {
        let note = note.map(|note| format!("; {note}")).unwrap_or_default();
        let text = report.for_terminal(&io::stderr());
        let name = named(test);
        let _ = io::stderr().write_all(format!("\nraddle: {name}told to end{note}\n{text}\n").as_bytes());
    }

    fn shown(&self, progress: &Progress) -> String {
        let name = named(&self.test);
        let (before, after) = if self.in_place { (CLEAR, "") } else { ("", "\n") };
        format!("{before}raddle: {name}{}{after}", line(progress))
    }
}

/// The name of the test, as a prefix. A search that `Explorer` runs may have none.
fn named(test: &str) -> String {
    if test.is_empty() { String::new() } else { format!("{test}: ") }
}

/// Moves to the beginning of the line and clears it.
const CLEAR: &str = "\r\x1b[2K";

/// The line: `12,400 of ≈ 2.1e6 ± 12 % orders (0.6 %), about 3 min left`.
pub(crate) fn line(progress: &Progress) -> String {
    let mut parts = vec![verdict::share(progress.executions, progress.estimate)];
    if progress.failing > 0 {
        parts.push(format!("{} failing", verdict::number(progress.failing)));
    }
    parts.extend(progress.learning.map(learning));
    parts.extend(progress.left.map(|left| format!("about {} left", about(left))));
    parts.join(", ")
}

/// What was learned, and how fast: `41 orderings known, 2 new in the latest 100`.
fn learning(Learning { known, new, executions }: Learning) -> String {
    let orderings = if known == 1 { "ordering" } else { "orderings" };
    let number = verdict::number;
    format!("{} {orderings} known, {} new in the latest {}", number(known), number(new), number(executions))
}

/// A duration, rounded.
fn about(time: Duration) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 60.0 * MINUTE;
    const DAY: f64 = 24.0 * HOUR;
    const YEAR: f64 = 365.0 * DAY;
    let seconds = time.as_secs_f64();
    let whole = |unit: f64| (seconds / unit).round();
    match seconds {
        s if s < 1.5 * MINUTE => format!("{} s", whole(1.0).max(1.0)),
        s if s < 1.5 * HOUR => format!("{} min", whole(MINUTE)),
        s if s < 2.0 * DAY => format!("{} h", whole(HOUR)),
        s if s < YEAR => format!("{} days", whole(DAY)),
        s if s < 1_000.0 * YEAR => format!("{} years", verdict::number((s / YEAR).ceil() as u64)),
        _ => format!("{:.0e} years", seconds / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use raddle_engine::estimate::Estimate;
    use raddle_engine::search::Counts;

    use super::*;

    fn told(executions: u64, failing: u64, estimate: Option<Estimate>) -> String {
        let counts = Counts { executions, failing, pruned: 0 };
        line(&Progress::new(counts, estimate, Duration::from_secs(2)))
    }

    #[test]
    fn the_line_shows_what_is_known() {
        let estimate = |orders, error| Some(Estimate { orders, error });
        assert_eq!(
            told(12_400, 0, estimate(2.1e6, Some(0.12))),
            "12,400 of ≈ 2.1e6 ± 12 % orders (0.6 %), about 6 min left"
        );
        assert_eq!(
            told(12_400, 3, estimate(20_000.0, None)),
            "12,400 of ≈ 20,000 orders (62.0 %), 3 failing, about 1 s left"
        );
        assert_eq!(told(12_400, 0, None), "12,400 orders");
        assert_eq!(told(1, 1, None), "1 order, 1 failing");
    }

    #[test]
    fn how_fast_orderings_are_learned() {
        let counts = Counts { executions: 1_240, ..Counts::default() };
        let learning = Some(Learning { known: 1_041, new: 2, executions: 100 });
        let progress = Progress { learning, ..Progress::of_samples(counts, None, Duration::from_secs(2)) };
        assert_eq!(line(&progress), "1,240 orders, 1,041 orderings known, 2 new in the latest 100");
    }

    #[test]
    fn one_line_is_overwritten_or_many_are_printed() {
        let progress = Progress::new(Counts { executions: 7, ..Counts::default() }, None, Duration::from_secs(2));
        let shown = |test: &str, in_place| ProgressLine { test: test.to_owned(), in_place }.shown(&progress);
        assert_eq!(shown("bank::transfer", false), "raddle: bank::transfer: 7 orders\n");
        assert_eq!(shown("", true), "\r\x1b[2Kraddle: 7 orders");
    }

    #[test]
    fn times() {
        let said = |seconds| about(Duration::from_secs_f64(seconds));
        let shown = [0.2, 59.4, 89.0, 95.0, 3_600.0, 6_000.0, 200_000.0, 4e7, 3.2e11];
        let words = ["1 s", "59 s", "89 s", "2 min", "60 min", "2 h", "2 days", "2 years", "1e4 years"];
        assert_eq!(shown.map(said), words);
    }
}
