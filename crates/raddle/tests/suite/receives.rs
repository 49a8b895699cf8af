//! Orders of receives: what the report says of them, and schedules that are kept.

use std::path::PathBuf;

use raddle::Explorer;
use raddle::actor::{Actor, Address, Context, System};
use raddle::coverage::Criterion;
use raddle::sync::mpsc;
use raddle::thread;

/// Stores results until it is flushed.
#[derive(Default)]
struct Writer {
    results: Option<Vec<u32>>,
    tolerant: bool,
}

enum ToWriter {
    Write(u32),
    Flush(Address<Done>),
}

impl Actor for Writer {
    type Msg = ToWriter;

    fn label(msg: &ToWriter) -> &'static str {
        match msg {
            ToWriter::Write(_) => "Write",
            ToWriter::Flush(_) => "Flush",
        }
    }

    fn handle(&mut self, msg: ToWriter, ctx: &mut Context<'_, ToWriter>) {
        match msg {
            ToWriter::Write(result) => self.results.as_mut().expect("results are there").push(result),
            ToWriter::Flush(terminator) => {
                self.results = self.tolerant.then(Vec::new);
                ctx.send(&terminator, Done::Flushed);
            }
        }
    }
}

enum Done {
    Action,
    Flushed,
}

struct Terminator {
    left: u32,
    writer: Address<ToWriter>,
}

impl Actor for Terminator {
    type Msg = Done;

    fn label(msg: &Done) -> &'static str {
        match msg {
            Done::Action => "ActionDone",
            Done::Flushed => "Flushed",
        }
    }

    fn handle(&mut self, msg: Done, ctx: &mut Context<'_, Done>) {
        if let Done::Action = msg {
            self.left -= 1;
            if self.left == 0 {
                ctx.send(&self.writer, ToWriter::Flush(ctx.me()));
            }
        }
    }
}

struct Action {
    name: u32,
    terminator: Address<Done>,
    writer: Address<ToWriter>,
}

struct Execute;

impl Actor for Action {
    type Msg = Execute;

    fn handle(&mut self, _: Execute, ctx: &mut Context<'_, Execute>) {
        ctx.send(&self.writer, ToWriter::Write(self.name));
        ctx.send(&self.terminator, Done::Action);
    }
}

/// The program of the paper's first listing; `tolerant` writers take results at any time.
fn load_test(actions: u32, tolerant: bool) {
    let system = System::new();
    let writer = system.spawn(Writer { results: Some(Vec::new()), tolerant });
    let terminator = system.spawn(Terminator { left: actions, writer: writer.clone() });
    for name in 0..actions {
        let action = system.spawn(Action { name, terminator: terminator.clone(), writer: writer.clone() });
        action.send(Execute);
    }
    system.run_until_quiet();
}

fn explorer() -> Explorer {
    Explorer::new().strategy("receive-order").seed(1).workers(1)
}

#[test]
fn a_write_after_the_flush_is_found_at_once() {
    for seed in 0..20 {
        let report = explorer().seed(seed).run(|| load_test(8, false));
        assert!(report.failed() && report.executions() <= 5, "seed {seed}: {report}");
    }
}

#[test]
fn the_report_shows_covered_and_impossible_goals() {
    let report = explorer().run(|| load_test(3, true));
    insta::assert_snapshot!(report.to_string());
}

#[test]
fn coverage_can_be_asked_for_under_any_strategy() {
    let with = |strategy: &str| {
        let explorer = Explorer::new().strategy(strategy).executions(200).coverage(true).workers(2);
        let report = explorer.run(|| load_test(3, true));
        report.coverage().map(|coverage| (coverage.executions(), coverage.achieved(Criterion::Pairs).pairs))
    };
    for strategy in ["random", "pct", "dpor", "exhaustive"] {
        let (executions, pairs) = with(strategy).unwrap();
        assert!(executions > 0 && pairs > 0, "{strategy}: {pairs} pairs in {executions}");
    }
    assert!(Explorer::new().executions(10).run(|| load_test(3, true)).coverage().is_none());
}

#[test]
fn receives_from_channels_count() {
    let report = explorer().run(|| {
        let (sender, receiver) = mpsc::channel();
        let threads: Vec<_> = (0..3)
            .map(|n| {
                let sender = sender.clone();
                thread::spawn(move || (0..2).for_each(|m| sender.send(10 * n + m).unwrap()))
            })
            .collect();
        drop(sender);
        let got: Vec<i32> = receiver.iter().collect();
        assert!(got != [20, 21, 10, 11, 0, 1], "the last thread came first");
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert!(report.failed(), "{report}");
    let report = explorer().run(|| {
        let (sender, receiver) = mpsc::channel();
        let threads: Vec<_> = (0..3)
            .map(|n| {
                let sender = sender.clone();
                thread::spawn(move || sender.send(n).unwrap())
            })
            .collect();
        drop(sender);
        assert_eq!(receiver.iter().count(), 3);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    let coverage = report.coverage().unwrap();
    assert_eq!(
        (coverage.achieved(Criterion::Pairs).goals, coverage.achieved(Criterion::Pairs).pairs),
        (6, 3),
        "{report}"
    );
    assert_eq!(coverage.achieved(Criterion::Consecutive).goals, 6);
}

/// A directory of its own for each test.
fn directory(test: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("raddle-receives-{}-{test}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    dir
}

fn named(dir: &std::path::Path, test: &str) -> Explorer {
    explorer().name(format!("suite::{test}")).set("out", &dir.to_string_lossy())
}

#[test]
fn schedules_are_kept_and_followed_again() {
    let dir = directory("kept");
    let report = named(&dir, "kept").save_schedules(true).run(|| load_test(3, true));
    assert!(report.to_string().contains("generated schedules are saved in"), "{report}");
    let kept = std::fs::read_dir(dir.join("suite-kept.receives")).unwrap().count();
    assert!(kept > 2, "{kept}");
    // Under another strategy.
    let report = named(&dir, "kept").strategy("round-robin").run(|| load_test(3, true));
    assert!(report.to_string().contains(&format!("followed {kept} of {kept} schedules")), "{report}");
    // Somebody else is there as well, who comes last: the others are called what they were.
    let report = named(&dir, "kept").strategy("round-robin").run(|| {
        load_test(3, true);
        load_test(1, true);
    });
    assert!(report.to_string().contains(&format!("followed {kept} of {kept} schedules")), "{report}");
    // An actor less: what is left of the schedules is told.
    let report = named(&dir, "kept").strategy("round-robin").run(|| load_test(2, true));
    let said = report.to_string();
    assert!(
        said.contains("can no longer be followed") && said.contains("pairs came in its order all the same"),
        "{said}"
    );
    std::fs::write(dir.join("suite-kept.receives").join("0001.jsonl"), "{\"raddle_receives\":").unwrap();
    let report = named(&dir, "kept").strategy("round-robin").run(|| load_test(3, true));
    let said = report.to_string();
    assert!(said.contains("a saved schedule is ignored: line 1 of"), "{said}");
    assert!(said.contains(&format!("followed {} of {} schedules", kept - 1, kept - 1)), "{said}");
    // On the program with the bug, a saved schedule finds it before the search begins.
    let report = named(&dir, "kept").strategy("round-robin").run(|| load_test(3, false));
    assert!(report.verdict_line().starts_with("FAILED after 1 order"), "{report}");
    std::fs::remove_dir_all(&dir).unwrap();
}
