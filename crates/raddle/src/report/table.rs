//! Lays out rows in columns: one column per task or, if that is too wide, one list.

use std::collections::BTreeMap;

use raddle_engine::ids::TaskId;
use unicode_width::UnicodeWidthStr;

use super::names::Names;
use super::paint::{Paint, Tone};
use super::story::Row;
use super::verdict::number;

/// Wider tables would wrap on most terminals.
const WIDEST: usize = 120;

/// How many rows of a long table are shown: at the beginning and at the end.
const FIRST_ROWS: usize = 8;
const LAST_ROWS: usize = 24;

/// The rows that are not shown, if there are any.
pub(crate) fn rows_left_out(rows: usize) -> usize {
    // A few more rows are shown rather than announced.
    if rows > FIRST_ROWS + LAST_ROWS + 8 { rows - FIRST_ROWS - LAST_ROWS } else { 0 }
}

/// How much of a table to show.
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

/// The layout.
struct Columns {
    /// By task: the index of its column.
    places: BTreeMap<TaskId, usize>,
    titles: Vec<String>,
    widths: Vec<usize>,
    /// Tasks are named in a first column instead of having columns of their own.
    list: bool,
}

const GAP: &str = "  ";

/// The width of a text on a terminal: some characters take two columns, and some none.
fn width(text: &str) -> usize {
    text.width()
}

/// The spaces that extend the text to this width.
fn pad(text: &str, to: usize) -> String {
    " ".repeat(to.saturating_sub(width(text)))
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
            return paint.paint(Tone::Heading, &format!("task{}{GAP}step", pad("task", self.widths[0])));
        }
        let cells = self.titles.iter().zip(&self.widths).map(|(title, width)| format!("{title}{}", pad(title, *width)));
        paint.paint(Tone::Heading, cells.collect::<Vec<_>>().join(GAP).trim_end())
    }

    fn line(&self, row: &Row, paint: Paint) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_where_characters_are_wide() {
        let row = |task, text: &str| Row { task, text: text.to_owned(), site: "a.rs:1".to_owned(), tone: Tone::Plain };
        let [first, second] = [0, 1].map(TaskId::next_of);
        let rows = [row(first, "受信 名前"), row(second, "é"), row(second, "send")];
        let titles = vec!["main".to_owned(), "銀行".to_owned()];
        let columns = Columns { places: [(first, 0), (second, 1)].into(), titles, widths: vec![9, 4], list: false };
        let lines: Vec<_> = rows.iter().map(|row| columns.line(row, Paint { on: false })).collect();
        assert_eq!(lines, ["受信 名前        a.rs:1", "           é     a.rs:1", "           send  a.rs:1"]);
        assert_eq!(columns.heading(Paint { on: false }), "main       銀行");
        let widest = rows.iter().map(|row| width(&row.text)).max();
        assert_eq!(widest, Some(9));
    }
}
