//! How many bugs each strategy has found after so many executions.

use super::Row;
use super::contenders::CONTENDERS;
use crate::plot::{Axis, Kind, Line, Plot};

/// Beside the page.
pub const NAME: &str = "delay-found";
/// Above the picture.
pub const TITLE: &str = "Bugs found after so many executions";

/// By contender: colour, and whether the line is dashed. Each explorer has a colour; samplers have dashed lines.
const LOOKS: [(&str, usize, bool); 10] = [
    ("RS", 4, false),
    ("IRS", 4, true),
    ("PCT", 3, true),
    ("PB", 3, false),
    ("SS RR", 0, true),
    ("SS RTC", 1, true),
    ("SS PRR", 2, true),
    ("SES RR", 0, false),
    ("SES RTC", 1, false),
    ("SES PRR", 2, false),
];

/// The plot; `most` is where it ends.
pub fn plot(rows: &[Row], most: u64) -> Plot {
    let bugs: Vec<&Row> = rows.iter().filter(|row| row.program.failure.is_some()).collect();
    let end = most as f64;
    let lines = LOOKS.iter().filter_map(|(name, colour, dashed)| {
        let at = CONTENDERS.iter().position(|contender| contender.name == *name)?;
        let mut found: Vec<f64> =
            bugs.iter().filter_map(|row| row.found(at)).map(|after| (after as f64).min(end)).collect();
        found.sort_by(f64::total_cmp);
        let mut points = vec![(1.0, 0.0)];
        for (bug, after) in found.iter().enumerate() {
            points.extend([(*after, bug as f64), (*after, bug as f64 + 1.0)]);
        }
        points.push((end, found.len() as f64));
        Some(Line { label: (*name).to_owned(), dashed: *dashed, colour: *colour, points })
    });
    Plot {
        title: TITLE.to_owned(),
        x: Axis::new("executions, pruned ones included", Kind::Log, 1.0, end.max(10.0)),
        y: Axis::new("bugs", Kind::Linear, 0.0, (bugs.len() as f64).max(1.0)),
        level: None,
        lines: lines.collect(),
    }
}
