//! The parsers, each with texts that it can read.

use std::path::Path;

use raddle_engine::example::Counters;
use raddle_engine::schedule::Schedule;
use raddle_engine::search::{Limits, Search};
use raddle_engine::strategy::Sharing;
use raddle_litmus::{Litmus, Program};
use raddle_strategies::names::{Name, Options};

use crate::regressions::Regressions;
use crate::saved_search::{self, Owner, SavedSearch};
use crate::settings::{SettingSource, Settings, TABLE};
use crate::strategy::{Hapset, Strategy};
use crate::sync::mpsc;
use crate::{Explorer, learned, schedules, thread};

/// One parser.
pub(super) struct Parser {
    pub(super) name: &'static str,
    /// Texts that are right.
    pub(super) examples: Vec<String>,
    /// Whether a text is right.
    pub(super) read: Box<dyn FnMut(&str) -> bool>,
}

/// All of them.
pub(super) fn parsers() -> Vec<Parser> {
    vec![schedule(), regressions(), what_is_left(), learned_sets(), receives(), litmus(), settings()]
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn schedule() -> Parser {
    let examples = texts(&["v1:", "v1/7:main,1x3,2,=1,=1,2t,2sx2,1.1", "v1:maint,1m3x2,2.1m0", "v1:12.3.4x99999999,1"]);
    let read = |text: &str| {
        let schedule = text.parse::<Schedule>();
        schedule.is_ok_and(|schedule| {
            assert_eq!(schedule.to_string().parse().as_ref(), Ok(&schedule), "a round trip");
            true
        })
    };
    Parser { name: "a schedule", examples, read: Box::new(read) }
}

fn regressions() -> Parser {
    let examples = texts(&[
        "",
        "# what this is\n\n# panic in main: no\n# really\nv1:1,2\nv1:2\n",
        "v1:main,1x3,2,=1\n\n\n# other\nv1/7:1.1\n",
    ]);
    let read = |text: &str| {
        Regressions::parse(text).is_ok_and(|regressions| {
            assert!(Regressions::parse(&regressions.text()).is_ok(), "a round trip");
            true
        })
    };
    Parser { name: "a regressions file", examples, read: Box::new(read) }
}

fn strategy(name: &str) -> Option<Box<dyn Strategy>> {
    Name::parse(name)?.make(&Options { seed: 1, ..Options::default() })
}

fn owner(strategy: &str) -> Owner<'_> {
    Owner { test: "fuzzed", strategy, settings: "none", facts: &[] }
}

/// What is left of a search by each strategy that can be stopped and taken up again: its name and, on the next line, what is written.
///
/// A sum guards the file against changes, so it is made again after each.
fn what_is_left() -> Parser {
    let example = |name: &str| {
        let mut strategy = strategy(name)?;
        if matches!(strategy.sharing(), Sharing::Alone) {
            return None;
        }
        let limits = Limits { executions: Some(17), ..Limits::default() };
        let search = Search::new(&mut *strategy, &limits, 1);
        let mut worker = search.worker(&mut *strategy);
        let _ = worker.work(&mut Counters::new(&[3, 3, 2]));
        let (_, remains) = search.leave(vec![worker]);
        let remains = serde_json::to_string(&remains).expect("what is left can be written");
        Some(format!("{name}\n{remains}"))
    };
    let names = Name::forms().map(|form| form.replace("DEPTH", "3").replace("BOUND", "2"));
    let examples = names.filter_map(|name| example(&name)).collect();
    let read = |text: &str| {
        let Some((name, remains)) = text.split_once('\n') else { return false };
        let Some(mut strategy) = strategy(name) else { return false };
        // As it is, in place of the whole file.
        let _ = saved_search::understood(remains, &owner(name), &mut *strategy);
        let written = saved_search::written(&owner(name), remains).expect("a head can be written");
        matches!(saved_search::understood(&written, &owner(name), &mut *strategy), Ok(SavedSearch::Remains(..)))
    };
    Parser { name: "a resume file", examples, read: Box::new(read) }
}

fn learned_sets() -> Parser {
    let statement = |line: u32, verb: &str| {
        format!(r#"{{"statement":{{"file":"src/a.rs","line":{line},"column":5,"verb":"{verb}"}},"missed":1}}"#)
    };
    let both = format!("{},{}", statement(3, "store"), statement(9, "load"));
    let examples = vec![
        r#"{"statements":[],"orderings":[]}"#.to_owned(),
        format!(r#"{{"statements":[{both}],"orderings":[[0,1,4],[1,0,2]]}}"#),
    ];
    let read = |text: &str| {
        let memory = Hapset::new();
        let _ = learned::understood(text.as_bytes(), "fuzzed", &memory);
        let written = learned::written("fuzzed", 0, text).expect("a head can be written");
        learned::understood(written.as_bytes(), "fuzzed", &memory).is_ok()
    };
    Parser { name: "a file of learned sets", examples, read: Box::new(read) }
}

/// Generated schedules of receives, as a search writes them.
fn receives() -> Parser {
    let dir = std::env::temp_dir().join(format!("raddle-fuzzed-receives-{}", std::process::id()));
    let two_senders = || {
        let (sender, receiver) = mpsc::channel();
        let send = |n: u32| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(n).expect("the receiver waits"))
        };
        let senders = [1, 2].map(send);
        assert_eq!((0..2).map(|_| receiver.recv().expect("there are two")).sum::<u32>(), 3);
        senders.into_iter().for_each(|sender| sender.join().expect("it sent"));
    };
    let explorer = Explorer::new().name("fuzzed").strategy("receive-order").executions(20).regressions(false);
    let _ = explorer.set("out", &dir.to_string_lossy()).save_schedules(true).run(two_senders);
    let files = std::fs::read_dir(dir.join("fuzzed.receives")).into_iter().flatten().flatten();
    let examples = files.map(|file| std::fs::read_to_string(file.path()).expect("it was just written")).collect();
    let _ = std::fs::remove_dir_all(&dir);
    let read = |text: &str| schedules::parse(Path::new("x"), text).is_ok();
    Parser { name: "a schedule of receives", examples, read: Box::new(read) }
}

fn litmus() -> Parser {
    let examples = texts(&[
        "//! traces: 2\nshared x = 0; thread a { store(x, 1); } thread b { r = load(x); assert r >= 0; }",
        "shared a[3] = -1; mutex m, n[2]; thread t(i in 1..=3) { lock(n[i % 2]); b = (load(a[i - 1]) + 2) * 3; unlock(n[i % 2]); }",
        "channel c: per-sender, d[2]: causal; thread s { send(c, choose(3)); } thread r { while recv(c) != 0 { } }",
        "shared x; thread t { if load(x) == 1 && !cas(x, 0, 1) { } else if 1 { y = -(1 - 2); } } final { assert load(x) < 2; }",
    ]);
    let right = |text: &str| Litmus::parse(text).ok().filter(|litmus| Program::new(litmus, "x").is_ok());
    let read = move |text: &str| {
        right(text).is_some_and(|litmus| {
            let shown = litmus.to_string();
            assert!(Litmus::parse(&shown).is_ok() || shown.len() > 1 << 20, "a round trip");
            true
        })
    };
    Parser { name: "a litmus program", examples, read: Box::new(read) }
}

/// `name=value`, as in code and as in the environment.
fn settings() -> Parser {
    let mut examples = texts(&[
        "executions=1_000",
        "time=1.5 m",
        "time=500ms",
        "seed=18446744073709551615",
        "workers=4",
        "deviations=3",
        "resume=true",
        "context=64",
        "steps=100000",
        "replay=v1:1,2",
        "out=",
        "stack_size=65536",
    ]);
    let names = Name::forms().map(|form| form.replace("DEPTH", "3").replace("BOUND", "2"));
    examples.extend(names.map(|name| format!("strategy={name}")));
    let read = |text: &str| {
        let Some((name, value)) = text.split_once('=') else { return false };
        let row = TABLE.iter().find(|setting| setting.name == name);
        let by_environment = row.map(|row| Settings::default().apply(row, value, SettingSource::Environment));
        let by_code = Settings::default().set(name, value);
        for error in by_code.as_ref().err().into_iter().chain(by_environment.as_ref().and_then(|it| it.as_ref().err()))
        {
            assert!(!error.to_string().is_empty());
        }
        by_code.is_ok() && by_environment.is_some_and(|it| it.is_ok())
    };
    Parser { name: "a setting", examples, read: Box::new(read) }
}
