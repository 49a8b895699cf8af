//! What is said of the results, in the terminal and on the page.
//!
//! Counts and estimates are the same in every run, so the page speaks of them in plain sentences; what is said of speed is worked
//! out from what was measured.

use super::Results;
use super::estimates::Of;
use super::table::{self, Row};
use super::{published::Name, unique};
use crate::grid::rounded;
use crate::page::Section;

/// How many times the paper's speed is aimed at.
const AIM: f64 = 1_000.0;

/// For the terminal.
pub fn text(results: &Results) -> String {
    let mut parts = vec![table::grid(&results.rows).text(), table::speeds(&results.rows).text()];
    for study in &results.studies {
        parts.push(format!("estimate / truth, {}\n{}", study.title(), study.grid().text()));
    }
    parts.push(unique::grid(&results.races).text());
    parts.join("\n\n")
}

/// For the page.
pub fn section(results: &Results) -> Section {
    let mut parts = vec![HEAD.to_owned(), table::grid(&results.rows).markdown(), TABLE.to_owned()];
    parts.extend([table::speeds(&results.rows).markdown(), faster(&results.rows), ESTIMATES.to_owned()]);
    let mut pictures = Vec::new();
    for study in &results.studies {
        let title = format!("Estimate / truth, {}", study.title());
        let after = if study.subject.of == Of::Orders { ORDERS } else { REDUCED };
        parts.extend([format!("#### {title}"), picture(&title, study.subject.slug), study.grid().markdown()]);
        parts.push(after.to_owned());
        pictures.push((study.subject.slug.to_owned(), study.plot().svg()));
    }
    parts.dedup();
    parts.extend([UNIQUE.to_owned(), unique::grid(&results.races).markdown()]);
    for race in &results.races {
        parts.push(picture(&race.title(), race.slug));
        pictures.push((race.slug.to_owned(), race.plot().svg()));
    }
    parts.push(AFTER_UNIQUE.to_owned());
    Section { name: "eta", text: parts.join("\n\n"), pictures }
}

fn picture(title: &str, slug: &str) -> String {
    format!("![{title}](evaluation/{slug}.svg)")
}

/// Which rows reach the aim, and which do not.
fn faster(rows: &[Row]) -> String {
    let times: Vec<_> = rows.iter().filter_map(|row| Some((row, row.times_faster()?))).collect();
    let least = times.iter().map(|(_, times)| *times).fold(f64::INFINITY, f64::min);
    let most = times.iter().map(|(_, times)| *times).fold(0.0, f64::max);
    let below: Vec<_> = times.iter().filter(|(_, times)| *times < AIM).collect();
    let names: Vec<_> = below.iter().map(|(row, _)| Name(row.published.counted.program).to_string()).collect();
    let aim = match names.len() {
        0 => "All rows reach it.".to_owned(),
        n if n == times.len() => "No row reaches it.".to_owned(),
        _ => format!("{} stay below it.", names.join(", ")),
    };
    format!(
        "The paper's times are from a workstation of its day, so the last column tells of the machine too. It lies between {}× \
         and {}×; the aim is {}×. {aim}",
        rounded(least),
        rounded(most),
        rounded(AIM)
    )
}

const HEAD: &str = "\
## Eta: actors with one queue each

Written by `cargo run --release -p evaluation -- eta --out docs`. The programs are `programs/src/eta/`, run as models by one \
worker. CPU time is that of the process (the crate `cpu-time`), whole searches, set-up included; searches of less than 20 ms are \
repeated and the mean is given. A count that is not the published one makes the command fail.";

const TABLE: &str = "\
`a + b` are executions that ran to their end and executions that were given up on the way. What the paper's reduction runs is \
two to six orders of magnitude more than there are traces: its independence of messages is coarser than its own definition. \
Both of ours run each trace of these programs once; persistent sets (`dpor-classic`) give some executions up, optimal reduction \
(`dpor`) gives none up.";

const ESTIMATES: &str = "\
### How large is the search?

Two rules look at a search while it runs. *Recursive* is Eta's: what was not visited is like what was, from the leaves up. \
*Weighted backtrack* divides the executions so far by the probability with which a random walk would have taken one of them. \
*Probes* are random walks beside the search, by Knuth's rule, with weights (`strategy/probe.rs`): this is what users of Raddle \
see once a search is long. In the plots 1 is the truth; both axes are logarithmic. The last column tells after how many \
executions an estimate is off by a factor of two for the last time, at the places looked at (each 8 % after the one before).";

const ORDERS: &str = "";

const REDUCED: &str = "";

const UNIQUE: &str = "\
### Unique executions over time

`random` may run an execution again, `exhaustive` never does. Executions are told apart by a hash of their decisions; keeping \
these is part of the time of both.";

const AFTER_UNIQUE: &str = "";
