//! The table, for the terminal and for the page.

use super::{Arguments, CONTENDERS, Cell, Row, Trial};
use crate::grid::{Grid, grouped};
use crate::page::Section;

/// For the terminal.
pub fn text(rows: &[Row]) -> String {
    format!("{}\n\n{}", grid(rows).text(), summary(rows).join("\n"))
}

/// For the page.
pub fn section(rows: &[Row], arguments: &Arguments) -> Section {
    let Arguments { seeds, most, seconds, .. } = arguments;
    let summary: Vec<String> = summary(rows).iter().map(|line| format!("- {line}")).collect();
    let text = format!(
        "## Delaying explorers (seed 001)\n\n\
         Written by `cargo run --release -p evaluation -- delay --out docs`. The programs are `programs/src/delay/`, run as models by one \
         worker; the bugs are of the kinds of the paper's table, but all but one of them are our own, since the paper does not describe \
         them, and the sizes of some were set after looking at how soon they are found. Executions until the bug shows, those included that a \
         strategy gives up itself, and for `delay` the states; the median of {seeds} seeds where there are seeds; `–` if it was not found in \
         {} executions or {seconds} seconds.\n\n{}\n\n{}\n",
        grouped(*most),
        grid(rows).markdown(),
        summary.join("\n")
    );
    Section { name: "delay", text, pictures: Vec::new() }
}

fn grid(rows: &[Row]) -> Grid {
    let mut header = vec!["program"];
    header.extend(CONTENDERS.iter().map(|contender| contender.name));
    let mut grid = Grid::new(&header);
    for row in rows {
        let mut cells = vec![row.program.label.to_owned()];
        cells.extend(row.cells.iter().map(|cell| figure(cell, row.program.failure.is_some())));
        grid.row(cells);
    }
    grid
}

fn figure(cell: &Cell, fails: bool) -> String {
    let Some(Trial { executions, states, kind, remark, whole }) = cell.median() else { return String::new() };
    let states = if *states > 0 { format!(" ({} states)", grouped(*states)) } else { String::new() };
    match kind {
        Some(_) => {
            let delays = remark.as_deref().and_then(|remark| remark.strip_prefix("found with ")).unwrap_or_default();
            let delays = if delays.is_empty() { String::new() } else { format!(", {delays}") };
            format!("{}{states}{delays}", grouped(*executions))
        }
        None if *whole => format!("verified{states}"),
        None if fails => "–".to_owned(),
        None => format!("no failure in {}{states}", grouped(*executions)),
    }
}

/// What the paper claims, as it comes out here.
fn summary(rows: &[Row]) -> Vec<String> {
    let bugs: Vec<&Row> = rows.iter().filter(|row| row.program.failure.is_some()).collect();
    let mut lines = Vec::new();
    for (at, contender) in CONTENDERS.iter().enumerate() {
        let found = bugs.iter().filter(|row| found(row, at).is_some()).count();
        let tried = bugs.iter().filter(|row| !row.cells[at].trials.is_empty()).count();
        let first = bugs.iter().filter(|row| best(row) == Some(at)).count();
        lines.push(format!("{}: {found} of {tried} bugs, the first to find {first}", contender.name));
    }
    let is_delay = |at: &usize| CONTENDERS[*at].name.starts_with("delay");
    let sooner = bugs.iter().filter(|row| {
        let cost = |at: usize| found(row, at);
        let of = |delay: bool, sampled: bool| {
            let rival = |at: &usize| !sampled || matches!(CONTENDERS[*at].name, "pct:3" | "preemption");
            (0..CONTENDERS.len()).filter(|at| is_delay(at) == delay && rival(at)).filter_map(cost).min()
        };
        match (of(true, false), of(false, true)) {
            (Some(own), Some(other)) => own * 10 <= other,
            (Some(_), None) => true,
            _ => false,
        }
    });
    lines.push(format!(
        "a delaying explorer needs a tenth or less of the executions of pct and preemption bounding on {} of {} bugs (the paper: on most)",
        sooner.count(),
        bugs.len()
    ));
    lines
}

/// Who needed the fewest executions.
fn best(row: &Row) -> Option<usize> {
    (0..row.cells.len()).filter(|at| found(row, *at).is_some()).min_by_key(|at| found(row, *at))
}

/// Executions until the bug was found, if it was.
fn found(row: &Row, at: usize) -> Option<u64> {
    row.cells[at].median().filter(|trial| trial.kind.is_some()).map(|trial| trial.executions)
}
