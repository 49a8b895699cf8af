//! The tables, for the terminal and for the page.

use super::contenders::CONTENDERS;
use super::{Arguments, Row, Trial, claims, picture};
use crate::grid::{Grid, duration, grouped};
use crate::page::Section;

/// For the terminal.
pub fn text(rows: &[Row]) -> String {
    let grids = [true, false].map(|samples| grid(rows, samples).text());
    format!("{}\n\n{}\n{}", grids.join("\n\n"), totals(rows).join("\n"), claims::lines(rows).join("\n"))
}

/// For the page; `spent` is the time that it took, in seconds of the clock and of CPU time.
pub fn section(rows: &[Row], arguments: &Arguments, spent: (f64, f64)) -> Section {
    let Arguments { seeds, most, seconds, states, .. } = arguments;
    let list = |lines: Vec<String>| lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n");
    let limit = most.saturating_mul(10);
    let text = format!(
        "## Delaying explorers (Desai, Qadeer, Seshia 2015)\n\n\
         Written by `cargo run --release -p evaluation -- delay --out docs`. The programs are `programs/src/delay/`, run as models by one \
         worker; the bugs are of the kinds of the paper's table, but all but one of them are our own, since the paper does not describe \
         them, and the sizes of some were set after looking at how soon they are found.\n\n\
         Who takes part, by the paper's names: random walks (RS), the same cut at a growing depth (IRS), PCT of depth 3, \
         stratified sampling (SS, `delay-sample`) and stratified exhaustive search (SES, `delay`) with round robin (RR), run to completion \
         (RTC) and probabilistic round robin (PRR), and iterative preemption bounding (PB, `preemption`). The figures are executions until the \
         bug shows, the median of {seeds} seeds where there are seeds. `–`: not found by most seeds in {} executions (searches: {}) or \
         {seconds} seconds of the clock, with at most {} states in memory. The whole run took {} of the clock and {} of CPU time.\n\n\
         ### Samplers\n\n{}\n\n### Searches\n\n\
         Most executions of a search are pruned after a step or two, at a state that was seen. In brackets: the states, and the delays \
         of the execution that failed. PB tells what it has entered by the order of events, not by states.\n\n{}\n\n\
         ![{title}](evaluation/{name}.svg)\n\n{}\n\n### The paper's claims\n\n{}\n",
        grouped(*most),
        grouped(limit),
        grouped(*states as u64),
        duration(spent.0),
        duration(spent.1),
        grid(rows, true).markdown(),
        grid(rows, false).markdown(),
        list(totals(rows)),
        list(claims::lines(rows)),
        title = picture::TITLE,
        name = picture::NAME,
    );
    let pictures = vec![(picture::NAME.to_owned(), picture::plot(rows, limit).svg())];
    Section { name: "delay", text, pictures }
}

/// The table of the samplers, or of the searches.
fn grid(rows: &[Row], samples: bool) -> Grid {
    let places: Vec<usize> = (0..CONTENDERS.len()).filter(|at| CONTENDERS[*at].kind.samples() == samples).collect();
    let mut header = vec!["program"];
    header.extend(places.iter().map(|at| CONTENDERS[*at].name));
    let mut grid = Grid::new(&header);
    for row in rows {
        let mut cells = vec![row.program.label.to_owned()];
        cells.extend(places.iter().map(|at| figure(row.median(*at), row.program.failure.is_some(), !samples)));
        grid.row(cells);
    }
    grid
}

fn figure(trial: Option<&Trial>, fails: bool, more: bool) -> String {
    let Some(Trial { executions, states, kind, delays, whole, .. }) = trial else { return String::new() };
    let mut notes = Vec::new();
    if *states > 0 {
        notes.push(format!("{} states", grouped(*states)));
    }
    notes.extend(
        delays
            .filter(|_| kind.is_some() && more)
            .map(|delays| format!("{delays} delay{}", if delays == 1 { "" } else { "s" })),
    );
    let notes = if notes.is_empty() || !more { String::new() } else { format!(" ({})", notes.join(", ")) };
    match kind {
        Some(_) => format!("{}{notes}", grouped(*executions)),
        None if *whole => format!("verified{notes}"),
        None if fails => "–".to_owned(),
        None => format!("none in {}{notes}", grouped(*executions)),
    }
}

/// The number of bugs that each has found.
fn totals(rows: &[Row]) -> Vec<String> {
    let bugs: Vec<&Row> = rows.iter().filter(|row| row.program.failure.is_some()).collect();
    let told = CONTENDERS.iter().enumerate().map(|(at, contender)| {
        let found = bugs.iter().filter(|row| row.found(at).is_some()).count();
        let tried = bugs.iter().filter(|row| !row.cells[at].trials.is_empty()).count();
        (contender, format!("{} {found} of {tried}", contender.name))
    });
    let (delaying, others): (Vec<_>, Vec<_>) = told.partition(|(contender, _)| contender.kind.delays());
    let line = |of: Vec<(&_, String)>| of.into_iter().map(|(_, words)| words).collect::<Vec<_>>().join(", ");
    vec![format!("Bugs found: {}; with delaying explorers: {}.", line(others), line(delaying))]
}
