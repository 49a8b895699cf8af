//! The text about the results, for the terminal and for the page.
//!
//! Counts and estimates are the same in every run, so the page has fixed sentences about them. The sentences about speed are computed from
//! measurements.

use programs::eta::Eta;

use super::Results;
use super::estimates::Of;
use super::table::{self, Row};
use super::{published::Name, unique};
use crate::grid::rounded;
use crate::page::Section;

/// The aim: so many times the speed of the paper.
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
        parts.extend([format!("#### {title}"), picture(&title, study.subject.slug), study.grid().markdown()]);
        parts.push(remark(study.subject.program, study.subject.of).to_owned());
        pictures.push((study.subject.slug.to_owned(), study.plot().svg()));
    }
    parts.extend([UNIQUE.to_owned(), unique::grid(&results.races).markdown()]);
    for race in &results.races {
        parts.push(picture(&race.title(), race.slug));
        pictures.push((race.slug.to_owned(), race.plot().svg()));
    }
    parts.push(AFTER_UNIQUE.to_owned());
    Section { name: "eta", text: parts.join("\n\n"), pictures }
}

/// What a study shows.
fn remark(program: Eta, of: Of) -> &'static str {
    match (program, of) {
        (Eta::Phils(_), _) => PHILS,
        (_, Of::Orders) => STORE,
        (_, Of::Traces) => REDUCED,
    }
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

Written by `cargo run --release -p evaluation -- eta --out docs` (six minutes of CPU time). The programs are \
`programs/src/eta/`, run as models by one worker. CPU time is that of the process (the crate `cpu-time`), for a \
whole search, set-up included; of searches below a second it is the lowest of five. A count that is not the \
published one makes the command fail.

### Counts and speed";

const TABLE: &str = "\
`a + b`: a executions ran to their end, b were pruned. The paper's reduction runs 9 to 33,000 times as \
many executions as there are traces; its figures come out if a message counts as dependent on every later one as \
soon as its handler sends anything. Both of ours run each trace of these programs once. Persistent sets \
(`dpor-classic`) give executions up, optimal reduction (`dpor`) gives none up. The paper ran a part of Phils(3) \
without reduction; its speed is that of this part.";

const ESTIMATES: &str = "\
### How large is the search?

Two rules look at a search while it runs. *Recursive* is Eta's: what was not visited is like what was, from the \
leaves up. *Weighted backtrack* divides the executions so far by the probability with which a random walk would have \
taken one of them. *Probes* are random walks beside the search, by Knuth's rule with weights of our own \
(`strategy/probe.rs`): what users of Raddle see once a search is long. In the plots, 1 is the truth, and both axes \
are logarithmic. The tables show the same figures; their last column says from which execution on the estimate stays \
within a factor of two, as far as was looked (in steps of 8 %).";

const STORE: &str = "\
Depth-first, the recursive rule jumps between a half and twice the truth and leans to too much until most is done. \
In random order it is within about a tenth after a hundred executions, at the price of a tree in memory. Weighted \
backtrack is made for depth-first order and steadier there; in random order it is wrong, since likely branches are \
drawn first and stand for few.";

const PHILS: &str = "\
Here depth-first order misleads: both rules take the corner they have seen for the whole, and the recursive one is \
off by up to five times, and by more than two until two fifths are done. The paper saw a factor of two at most on \
this program; that does not hold for our order of branches. In random order the rule is within a fifth after a \
thousand executions, which is what the paper says, but the tree takes 0.7 GB. Probes are as good and take no memory.";

const REDUCED: &str = "\
Raddle's reductions have depth-first order only, so there is no random order to compare with. What is to be run is \
found out on the way, and estimates are poor. `dpor-classic` plans children that end in pruned executions, and \
seems up to two hundred times as large as it is, to the very end. `dpor` finds children late and seems too small at \
first. Weighted backtrack counts branches that grow while it looks, and is not exact even at the end. Probes count \
traces from whole executions; they are the best of these from the start, but lean to too little here, since few \
walks stand for many traces.";

const UNIQUE: &str = "\
### Unique executions over time

`random` may run an execution again, `exhaustive` never does. Executions are told apart by a hash of their \
decisions; keeping these is part of the time of both.";

const AFTER_UNIQUE: &str = "\
Up to about a tenth of all executions the two are equally good, as in the paper. From then on `random` repeats \
itself: when `exhaustive` is done it has seen no more than about half. For all of Store(1,1,1,3) it runs sixty times \
the executions there are (the paper: 154 times the time), and after twenty times those of Store(2,2,2,3) some are \
still missing.";
