//! Tables, for the terminal and for pages.

pub use raddle_engine::thousands::thousands as grouped;

/// A table: its first column is of names, the others are of figures.
pub struct Grid {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table without rows.
    pub fn new(header: &[&str]) -> Self {
        Self { header: header.iter().map(|&cell| cell.to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row, which must be as wide as the header.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.header.len(), "raddle bug: a row of another width: {cells:?}");
        self.rows.push(cells);
    }

    /// In columns of equal width.
    pub fn text(&self) -> String {
        let all = || std::iter::once(&self.header).chain(&self.rows);
        let width = |column: usize| all().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let line = |row: &Vec<String>| {
            let cells = row.iter().enumerate().map(|(column, cell)| {
                let width = width(column);
                if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        all().map(line).collect::<Vec<_>>().join("\n")
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let line = |row: &Vec<String>| format!("| {} |", row.join(" | "));
        let rule = format!("|---|{}", "---:|".repeat(self.header.len() - 1));
        let head = [line(&self.header), rule];
        head.into_iter().chain(self.rows.iter().map(line)).collect::<Vec<_>>().join("\n")
    }
}

/// A positive number to about three digits.
pub fn rounded(number: f64) -> String {
    match number {
        _ if number >= 100.0 => grouped(number.round() as u64),
        _ if number >= 10.0 => format!("{number:.1}"),
        _ if number >= 0.1 => format!("{number:.2}"),
        _ => format!("{number:.2e}"),
    }
}

/// A time to about three digits.
pub fn duration(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 1.0 => format!("{} s", rounded(seconds)),
        _ if seconds >= 1e-3 => format!("{} ms", rounded(seconds * 1e3)),
        _ => format!("{} µs", rounded(seconds * 1e6)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([0, 999, 1_000, 3_159_870].map(grouped), ["0", "999", "1,000", "3,159,870"]);
        assert_eq!([1_234.5, 45.67, 0.5, 0.001_23].map(rounded), ["1,235", "45.7", "0.50", "1.23e-3"]);
        assert_eq!([42.0, 0.0421, 0.000_035].map(duration), ["42.0 s", "42.1 ms", "35.0 µs"]);
    }

    #[test]
    fn columns_line_up() {
        let mut grid = Grid::new(&["program", "n"]);
        grid.row(vec!["a".to_owned(), "12".to_owned()]);
        grid.row(vec!["long name".to_owned(), "3".to_owned()]);
        assert_eq!(grid.text(), "program     n\na          12\nlong name   3");
        assert_eq!(grid.markdown(), "| program | n |\n|---|---:|\n| a | 12 |\n| long name | 3 |");
    }
}
