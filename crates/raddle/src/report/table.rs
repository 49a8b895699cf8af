//! Rows side by side: one column per task, or, where that would be too wide, one list.

use std::collections::BTreeMap;

use raddle_engine::ids::TaskId;

use super::names::Names;
use super::paint::{Paint, Tone};
use super::story::Row;
use super::verdict::number;

/// Wider than this, columns would wrap on most terminals.
const WIDEST: usize = 120;

/// Rows of a long table that are shown: the first ones and the last ones.
const FIRST_ROWS: usize = 8;
const LAST_ROWS: usize = 24;

/// What is left out of a table, if anything is.
pub(crate) fn rows_left_out(rows: usize) -> usize {
    // A handful more is better shown than announced.
    if rows > FIRST_ROWS + LAST_ROWS + 8 { rows - FIRST_ROWS - LAST_ROWS } else { 0 }
}

/// How much of a table is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    EndsOnly,
}

/// The table's lines.
pub(crate) fn lay_out(rows: &[Row], names: &Names, extent: Extent, paint: Paint) -> Vec<String> {
    let left_out = if extent == Extent::Whole { 0 } else { rows_left_out(rows.len()) };
    let (head, tail) = if left_out > 0 { rows.split_at(FIRST_ROWS) } else { (rows, &[][..]) };
    let tail = tail.get(left_out..).unwrap_or_default();
    let shown: Vec<&Row> = head.iter().chain(tail).collect();

    let columns = Columns::new(&shown, names);
    let mut lines = vec![columns.heading(paint)];
    lines.extend(head.iter().map(|row| columns.line(row, paint)));
    if left_out > 0 {
        lines.push(paint.paint(Tone::Quiet, &format!("⋮ {} rows left out", number(left_out as u64))));
        lines.extend(tail.iter().map(|row| columns.line(row, paint)));
    }
    lines
}

/// Where things go.
struct Columns {
    /// By task: its place among the columns.
    places: BTreeMap<TaskId, usize>,
    titles: Vec<String>,
    widths: Vec<usize>,
    /// Tasks as words in a first column instead of columns of their own.
    list: bool,
}

const GAP: &str = "  ";

fn width(text: &str) -> usize {
    text.chars().count()
}

impl Columns {
    fn new(rows: &[&Row], names: &Names) -> Self {
        let mut places: BTreeMap<TaskId, usize> = rows.iter().map(|row| (row.task, 0)).collect();
        let titles: Vec<String> = places.keys().map(|task| names.task(*task)).collect();
        for (place, column) in places.values_mut().enumerate() {
            *column = place;
        }
        let mut widths: Vec<usize> = titles.iter().map(|title| width(title)).collect();
        for row in rows {
            let column = &mut widths[places[&row.task]];
            *column = width(&row.text).max(*column);
        }
        let site = rows.iter().map(|row| width(&row.site)).max().unwrap_or(0);
        let wide = widths.iter().map(|w| w + GAP.len()).sum::<usize>() + site > WIDEST;
        if wide {
            let who = titles.iter().map(|title| width(title)).max().unwrap_or(0);
            let what = rows.iter().map(|row| width(&row.text)).max().unwrap_or(0);
            widths = vec![who, what];
        }
        Self { places, titles, widths, list: wide }
    }

    fn heading(&self, paint: Paint) -> String {
        if self.list {
            return paint.paint(Tone::Heading, &format!("{:<1$}{GAP}step", "task", self.widths[0]));
        }
        let cells = self.titles.iter().zip(&self.widths).map(|(title, width)| format!("{title:<width$}"));
        paint.paint(Tone::Heading, cells.collect::<Vec<_>>().join(GAP).trim_end())
    }

    fn line(&self, row: &Row, paint: Paint) -> String {
        let pad = |text: &str, to: usize| " ".repeat(to.saturating_sub(width(text)));
        let mut line = String::new();
        if self.list {
            let who = &self.titles[self.places[&row.task]];
            line.push_str(&format!("{who}{}{GAP}{}", pad(who, self.widths[0]), paint.paint(row.tone, &row.text)));
            line.push_str(&pad(&row.text, self.widths[1]));
        } else {
            let place = self.places[&row.task];
            for (column, width) in self.widths.iter().enumerate() {
                let gap = if column == 0 { "" } else { GAP };
                line.push_str(gap);
                if column == place {
                    line.push_str(&paint.paint(row.tone, &row.text));
                    line.push_str(&pad(&row.text, *width));
                } else {
                    line.push_str(&" ".repeat(*width));
                }
            }
        }
        if !row.site.is_empty() {
            line.push_str(GAP);
            line.push_str(&paint.paint(Tone::Quiet, &row.site));
        }
        line.trim_end().to_owned()
    }
}
