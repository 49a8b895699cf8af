//! The command line: as typed → what to run, how long, and in which form to print it.

use crate::apart::Order;
use crate::experiment::Experiment;
use crate::measure::Effort;
use crate::report::Form;
use crate::states;

pub const USAGE: &str = "\
Runs the same programs on Raddle, shuttle, loom and traceforge and prints how many times better Raddle is.

usage: benches-peers [--json] [--quick] [--filter SUBSTR]
       benches-peers --search SEARCHER PROGRAM [WORKERS [EXECUTIONS [MS_AT_MOST [MS_AT_LEAST]]]]
       benches-peers --states SEARCHER PROTOCOL

  --json            one JSON object per line and peer: program, metric, raddle, peer, value,
                    peer_value, ratio; null where there is no figure (the reason goes to stderr)
  --quick           shorter measurements and fewer of them: for a look, not for a record
  --filter SUBSTR   only the experiments whose name contains SUBSTR
  --search …        one search of all orders of one program in this process, and what came of it: for
                    callgrind and perf. Searchers: dpor, exhaustive, preemption:2, random, the same with bare- in
                    front, loom, loom:2, shuttle-dfs, shuttle-random, traceforge
  --states …        one search of all states of one protocol (2pc-5, paxos-11, ping-pong-60). Searchers: raddle-dfs,
                    raddle-strata, stateright-dfs, stateright-bfs
  --help            this text

Every figure is the lowest of several measurements of process CPU time, after a warm-up.
A ratio above 1 means that Raddle is better.";

/// What the command line asks for.
#[derive(Debug)]
pub enum Request {
    Help,
    Run(Options),
    Search(Order),
    States(states::Order),
}

/// A run, with everything resolved: nothing later asks what was typed.
#[derive(Debug)]
pub struct Options {
    pub form: Form,
    pub effort: Effort,
    pub experiments: Vec<Experiment>,
}

/// Reads the arguments (without the program's own name). The error is a sentence for the user.
pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Request, String> {
    let mut form = Form::Table;
    let mut effort = Effort::FULL;
    let mut filter: Option<String> = None;
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--help" | "-h" => return Ok(Request::Help),
            "--search" => {
                let words: Vec<String> = arguments.collect();
                return Ok(Request::Search(Order::parse(&words)?));
            }
            "--states" => {
                let words: Vec<String> = arguments.collect();
                return Ok(Request::States(states::Order::parse(&words)?));
            }
            "--json" => form = Form::Json,
            "--quick" => effort = Effort::QUICK,
            "--filter" => {
                let Some(wanted) = arguments.next() else {
                    return Err("--filter needs a part of an experiment's name after it".to_owned());
                };
                set_filter(&mut filter, wanted)?;
            }
            other => match other.strip_prefix("--filter=") {
                Some(wanted) => set_filter(&mut filter, wanted.to_owned())?,
                None => return Err(format!("unknown argument `{other}`")),
            },
        }
    }
    let experiments = matching(filter.as_deref().unwrap_or(""))?;
    Ok(Request::Run(Options { form, effort, experiments }))
}

fn set_filter(filter: &mut Option<String>, wanted: String) -> Result<(), String> {
    match filter.replace(wanted) {
        None => Ok(()),
        Some(earlier) => Err(format!("--filter may be given once; `{earlier}` was already given")),
    }
}

fn matching(filter: &str) -> Result<Vec<Experiment>, String> {
    let chosen: Vec<Experiment> =
        Experiment::all().into_iter().filter(|experiment| experiment.name().contains(filter)).collect();
    if chosen.is_empty() {
        let names: Vec<String> = Experiment::all().iter().map(Experiment::name).collect();
        return Err(format!("no experiment's name contains `{filter}`; there are: {}", names.join(", ")));
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(words: &[&str]) -> Result<Request, String> {
        parse(words.iter().map(|word| word.to_string()))
    }

    fn options(words: &[&str]) -> Options {
        match parse_words(words) {
            Ok(Request::Run(options)) => options,
            other => panic!("{words:?} should ask for a run, but gave {other:?}"),
        }
    }

    #[test]
    fn nothing_typed_runs_everything_as_a_table() {
        let options = options(&[]);
        assert_eq!(options.form, Form::Table);
        assert_eq!(options.effort, Effort::FULL);
        assert_eq!(options.experiments, Experiment::all());
    }

    #[test]
    fn both_spellings_of_the_filter_choose_the_same() {
        let apart = options(&["--json", "--quick", "--filter", "spawn"]);
        let joined = options(&["--filter=spawn"]);
        assert_eq!(apart.form, Form::Json);
        assert_eq!(apart.effort, Effort::QUICK);
        assert_eq!(apart.experiments, joined.experiments);
        assert_eq!(apart.experiments.len(), 4);
    }

    #[test]
    fn a_search_needs_to_be_told_who_and_what() {
        assert!(matches!(parse_words(&["--search", "dpor", "readers-3"]), Ok(Request::Search(_))));
        for (words, expected) in [
            (&["--search", "dpor"][..], "--search needs"),
            (&["--search", "dfs", "readers-3"][..], "`dfs`"),
            (&["--search", "dpor", "writers-3"][..], "`writers-3`"),
            (&["--search", "dpor", "readers-3", "two"][..], "`two`"),
        ] {
            let mistake = parse_words(words).expect_err("this command line has a mistake");
            assert!(mistake.contains(expected), "{words:?} gave: {mistake}");
        }
    }

    #[test]
    fn mistakes_name_what_was_typed() {
        for (words, expected) in [
            (&["--jsn"][..], "`--jsn`"),
            (&["--filter"][..], "--filter needs"),
            (&["--filter", "a", "--filter", "b"][..], "`a`"),
            (&["--filter", "nowhere"][..], "`nowhere`; there are: memory"),
        ] {
            let mistake = parse_words(words).expect_err("this command line has a mistake");
            assert!(mistake.contains(expected), "{words:?} gave: {mistake}");
        }
    }
}
