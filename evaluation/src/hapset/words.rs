//! The tables, for the terminal and for the page.

use super::contenders::{CONTENDERS, place};
use super::published::SAMPLERS;
use super::{Arguments, Cell, Row, Suite};
use crate::grid::{Grid, grouped, rounded};
use crate::page::Section;

/// For the terminal.
pub fn text(rows: &[Row]) -> String {
    let tables = [Suite::Paper, Suite::Grown, Suite::Sctbench].map(|suite| grid(rows, suite).text());
    format!("{}\n\n{}\n\n{}", tables.join("\n\n"), samplers(rows).text(), claims(rows).join("\n"))
}

/// For the page.
pub fn section(rows: &[Row], arguments: &Arguments) -> Section {
    let Arguments { seeds, most, seconds, .. } = arguments;
    let claims = claims(rows).iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n");
    let text = format!(
        "## Learned ordering constraints, and samplers (Wang, Said, Gupta 2011; SCTBench)\n\n\
         Written by `cargo run --release -p evaluation -- hapset --out docs`. The programs are `programs/src/hapset/` and \
         `programs/src/sctbench/`, on threads, by one worker. The figures are executions until the bug shows, those included that a \
         reduction prunes; the median of {seeds} seeds where there are seeds. `–`: not found by most seeds in {} executions or {seconds} \
         seconds of the clock; `over`: the strategy has nothing left to do and has not found it. The guided searches begin with \
         nothing learned.\n\n\
         ### The subjects of the paper\n\n{}\n\n### With more threads\n\n{}\n\n### SCTBench\n\n{}\n\n\
         ### Samplers beside what their own artifacts report\n\n\
         Mean executions to the first bug over {seeds} trials, of those that found it (how many of them, if not all); then what is \
         published.\n\n{}\n\n### What comes of it\n\n{claims}\n",
        grouped(*most),
        grid(rows, Suite::Paper).markdown(),
        grid(rows, Suite::Grown).markdown(),
        grid(rows, Suite::Sctbench).markdown(),
        samplers(rows).markdown(),
    );
    Section { name: "hapset", text, pictures: Vec::new() }
}

fn grid(rows: &[Row], suite: Suite) -> Grid {
    let mut header = vec!["program"];
    header.extend(CONTENDERS.iter().map(|contender| contender.name));
    let mut grid = Grid::new(&header);
    for row in rows.iter().filter(|row| row.suite == suite) {
        let cells = std::iter::once(row.label.clone()).chain(row.cells.iter().map(figure));
        grid.row(cells.collect());
    }
    grid
}

fn figure(cell: &Cell) -> String {
    match cell.median() {
        Some(trial) if trial.kind.is_some() => grouped(trial.executions),
        Some(trial) if trial.over => "over".to_owned(),
        _ => "–".to_owned(),
    }
}

/// The samplers' means beside those that are published.
fn samplers(rows: &[Row]) -> Grid {
    let mut grid =
        Grid::new(&["program", "surw", "published", "pct", "published", "pos", "published", "random", "published"]);
    for published in &SAMPLERS {
        let Some(row) = rows.iter().find(|row| row.suite == Suite::Sctbench && row.label == published.program) else {
            continue;
        };
        let mut cells = vec![row.label.clone()];
        let theirs =
            [("surw", published.surw), ("pct", published.pct), ("pos", published.pos), ("random", published.random)];
        for (name, published) in theirs {
            let cell = &row.cells[place(name)];
            cells.push(match (cell.found(), cell.trials.len()) {
                (0, tried) => format!("0/{tried}"),
                (found, tried) if found == tried => rounded(cell.mean()),
                (found, tried) => format!("{} ({found}/{tried})", rounded(cell.mean())),
            });
            cells.push(published.to_owned());
        }
        grid.row(cells);
    }
    grid
}

/// Executions until the bug was found by most seeds.
fn found(row: &Row, name: &str) -> Option<u64> {
    row.cells[place(name)].median().filter(|trial| trial.kind.is_some()).map(|trial| trial.executions)
}

/// What the tables say, in words.
fn claims(rows: &[Row]) -> Vec<String> {
    let of = |suite| rows.iter().filter(move |row| row.suite == suite).collect::<Vec<_>>();
    let mut lines = Vec::new();
    for (suite, words) in [(Suite::Paper, "the paper's subjects"), (Suite::Sctbench, "SCTBench")] {
        let rows = of(suite);
        if rows.is_empty() {
            continue;
        }
        let counts = CONTENDERS.iter().map(|contender| {
            let found = rows.iter().filter(|row| found(row, contender.name).is_some()).count();
            let name = if contender.name.len() == 1 {
                format!("preemption {}", contender.name)
            } else {
                contender.name.to_owned()
            };
            format!("{name} {found}")
        });
        lines.push(format!("Bugs found, of {} of {words}: {}.", rows.len(), counts.collect::<Vec<_>>().join(", ")));
        lines.extend(["dpor", "dpor-classic", "2"].map(|other| fewer(&rows, other)));
    }
    let grown = of(Suite::Grown);
    for program in super::GROWN {
        let own: Vec<_> = grown.iter().filter(|row| row.label.starts_with(program)).collect();
        let series = |name| {
            own.iter().map(|row| found(row, name).map_or("–".to_owned(), grouped)).collect::<Vec<_>>().join(", ")
        };
        if !own.is_empty() {
            lines.push(format!(
                "{program} with more threads: hapset {}; dpor {}; preemption 2 {}. The paper: guided runs hardly grow.",
                series("hapset"),
                series("dpor"),
                series("2")
            ));
        }
    }
    lines
}

/// How often the guided search needs fewer executions than another, and how many times fewer.
fn fewer(rows: &[&Row], other: &str) -> String {
    let both: Vec<(u64, u64)> = rows.iter().filter_map(|row| found(row, "hapset").zip(found(row, other))).collect();
    let alone = rows.iter().filter(|row| found(row, "hapset").is_some() && found(row, other).is_none()).count();
    let missed = rows.iter().filter(|row| found(row, "hapset").is_none() && found(row, other).is_some()).count();
    let logs: f64 = both.iter().map(|(own, theirs)| (*theirs as f64 / *own as f64).ln()).sum();
    let mean = (logs / both.len().max(1) as f64).exp();
    let less = both.iter().filter(|(own, theirs)| own < theirs).count();
    let name = if other.len() == 1 { format!("preemption {other}") } else { other.to_owned() };
    format!(
        "hapset against {name}: of {} found by both, fewer executions in {less}, {} × on (geometric) average; {alone} found by hapset \
         alone, {missed} by {name} alone.",
        both.len(),
        rounded(mean)
    )
}
