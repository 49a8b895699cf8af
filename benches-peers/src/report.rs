//! Prints the comparisons as they come: a table to read, or JSON lines to keep.

use crate::experiment::{Comparison, Metric};
use crate::library::{Missing, RADDLE_STRATEGY};
use crate::measure::Figure;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Table,
    Json,
}

/// What has been printed so far, and what is still to be said at the end.
pub struct Report {
    form: Form,
    /// What the last header was for.
    columns: &'static [&'static str],
    /// Why figures are missing, each reason once, with the programs it holds for.
    reasons: Vec<(String, Vec<String>)>,
}

impl Report {
    /// Prints what comes before the first comparison.
    pub fn begin(form: Form) -> Self {
        if form == Form::Table {
            println!(
                "Beside its peers Raddle runs with the strategy `{RADDLE_STRATEGY}`, one worker, where no other is named.\n\
                 A ratio (×) compares with the first column; above 1 means that the first column is better."
            );
        }
        Report { form, columns: &[], reasons: Vec::new() }
    }

    /// Prints one comparison.
    pub fn show(&mut self, comparison: &Comparison) {
        match self.form {
            Form::Table => {
                if self.columns != comparison.columns {
                    self.columns = comparison.columns;
                    println!("\n{}", header(comparison.columns));
                }
                println!("{}", table_row(comparison));
            }
            Form::Json => json_lines(comparison).iter().for_each(|line| println!("{line}")),
        }
        for missing in comparison.figures.iter().filter_map(|figure| figure.as_ref().err()) {
            self.note(missing, &comparison.program);
        }
    }

    fn note(&mut self, missing: &Missing, program: &str) {
        let reason = &missing.reason;
        match self.reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, programs)) if programs.iter().any(|known| known == program) => {}
            Some((_, programs)) => programs.push(program.to_owned()),
            None => self.reasons.push((reason.clone(), vec![program.to_owned()])),
        }
    }

    /// Prints why figures are missing. JSON lines have no place for it, so there it goes to stderr.
    pub fn end(self) {
        if self.form == Form::Table && !self.reasons.is_empty() {
            println!();
        }
        for (reason, programs) in &self.reasons {
            let note = format!("{reason} ({})", first_few(programs));
            match self.form {
                Form::Table => println!("{note}"),
                Form::Json => eprintln!("{note}"),
            }
        }
    }
}

/// Names enough to see what is meant; a library that is not built misses every program.
fn first_few(programs: &[String]) -> String {
    const FEW: usize = 4;
    match programs {
        few if few.len() <= FEW => few.join(", "),
        many => format!("{} and {} more", many[..FEW].join(", "), many.len() - FEW),
    }
}

fn table_line(program: &str, metric: &str, figures: &[String], ratios: &[String]) -> String {
    let mut line = format!("{program:<20} {metric:<22}");
    figures.iter().for_each(|figure| line += &format!(" {figure:>14}"));
    ratios.iter().for_each(|ratio| line += &format!(" {ratio:>13}"));
    line
}

fn header(columns: &[&str]) -> String {
    let figures: Vec<String> = columns.iter().map(|&column| column.to_owned()).collect();
    let ratios: Vec<String> = columns.iter().skip(1).map(|column| format!("× {column}")).collect();
    table_line("program", "metric", &figures, &ratios)
}

fn table_row(comparison: &Comparison) -> String {
    let ratio = |peer: &Figure| match ratio(comparison, peer) {
        Some(ratio) => short(ratio),
        None => "-".to_owned(),
    };
    let figures: Vec<String> = comparison.figures.iter().map(|figure| cell(comparison.metric, figure)).collect();
    let ratios: Vec<String> = comparison.figures.iter().skip(1).map(ratio).collect();
    table_line(&comparison.program, comparison.metric.name(), &figures, &ratios)
}

fn cell(metric: Metric, figure: &Figure) -> String {
    match figure {
        Ok(value) => readable(metric, *value),
        Err(missing) => missing.label.clone().into_owned(),
    }
}

fn ratio(comparison: &Comparison, peer: &Figure) -> Option<f64> {
    match (&comparison.figures[0], peer) {
        (Ok(first), Ok(peer)) => comparison.metric.ratio(*first, *peer),
        _ => None,
    }
}

/// A figure as it stands in the table.
pub fn readable(metric: Metric, value: f64) -> String {
    if metric.counts() { grouped(value) } else { short(value) }
}

/// About three digits that count, and thousands apart: more would be noise.
fn short(value: f64) -> String {
    match value.abs() {
        size if size < 10.0 => format!("{value:.2}"),
        size if size < 100.0 => format!("{value:.1}"),
        _ => grouped(value),
    }
}

/// A whole number, thousands apart.
fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).expect("digits are ASCII")).collect();
    format!("{}{}", if value < 0.0 { "-" } else { "" }, groups.join(","))
}

/// One object for each peer. Names are plain ASCII, so Rust's quoting of them is JSON's.
fn json_lines(comparison: &Comparison) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or("null".to_owned(), |value| value.to_string());
    let first = &comparison.figures[0];
    let name = if comparison.columns[0] == "raddle" { RADDLE_STRATEGY } else { comparison.columns[0] };
    let peers = comparison.figures.iter().zip(comparison.columns).skip(1);
    peers
        .map(|(peer, peer_name)| {
            format!(
                r#"{{"program":{:?},"metric":{:?},"raddle":{:?},"peer":{:?},"value":{},"peer_value":{},"ratio":{}}}"#,
                comparison.program,
                comparison.metric.name(),
                name,
                peer_name,
                number(first.as_ref().ok().copied()),
                number(peer.as_ref().ok().copied()),
                number(ratio(comparison, peer)),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(metric: Metric, raddle: f64) -> Comparison {
        let loom = Err(Missing::cannot_run("loom: too many threads".to_owned()));
        let columns = &["raddle", "shuttle", "loom"];
        Comparison { program: "locked".to_owned(), metric, columns, figures: vec![Ok(raddle), Ok(100.0), loom] }
    }

    #[test]
    fn json_has_a_line_for_each_peer_and_null_where_there_is_no_figure() {
        assert_eq!(
            json_lines(&comparison(Metric::ExecutionsPerSecond, 250.0)),
            [
                r#"{"program":"locked","metric":"executions_per_second","raddle":"random","peer":"shuttle","value":250,"peer_value":100,"ratio":2.5}"#,
                r#"{"program":"locked","metric":"executions_per_second","raddle":"random","peer":"loom","value":250,"peer_value":null,"ratio":null}"#,
            ]
        );
    }

    #[test]
    fn a_ratio_above_one_is_better_whichever_way_the_metric_points() {
        for (metric, raddle, expected) in [
            (Metric::ExecutionsPerSecond, 200.0, Some(2.0)),
            (Metric::NsPerExecution, 50.0, Some(2.0)),
            (Metric::NsPerStep, 200.0, Some(0.5)),
            (Metric::Linearity, 100.0, Some(1.0)),
            (Metric::GrowthKib, 4.0, None),
        ] {
            let comparison = comparison(metric, raddle);
            assert_eq!(ratio(&comparison, &comparison.figures[1]), expected, "{metric:?}");
        }
    }

    #[test]
    fn numbers_are_short_and_grouped() {
        for (value, expected) in [
            (0.0, "0.00"),
            (2.468, "2.47"),
            (29.04, "29.0"),
            (999.6, "1,000"),
            (1_512_345.6, "1,512,346"),
            (-1234.0, "-1,234"),
        ] {
            assert_eq!(short(value), expected);
        }
    }

    #[test]
    fn the_table_says_what_cannot_run() {
        let row = table_row(&comparison(Metric::NsPerStep, 25.0));
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(words, ["locked", "ns_per_step", "25.0", "100", "cannot", "run", "4.00", "-"]);
    }
}
