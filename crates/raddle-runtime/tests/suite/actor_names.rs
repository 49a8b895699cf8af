//! Names of receives, and monitors: what searches and programs know about the messages of actors.

use std::sync::Arc as StdArc;
use std::sync::Mutex as StdMutex;

use raddle_engine::outcome::Failure;
use raddle_engine::search::Limits;
use raddle_engine::strategy::{After, Decision, Needs, Next, Run, Start, Strategy};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::{Receipt, Trace};
use raddle_runtime::actor::{Monitor, System};
use raddle_runtime::threads::Settings;
use raddle_strategies::optimal::Optimal;
use raddle_strategies::samplers::random::Random;

use crate::explore::{fails, run_with};

use crate::actor::{Do, Worker};

/// Numbers must be announced in order, without gaps.
#[derive(Default)]
struct InOrder(u32);

impl Monitor for InOrder {
    type Event = u32;

    fn observe(&mut self, n: &u32) -> Result<(), String> {
        if *n < self.0 {
            return Err(format!("{n} after {}", self.0));
        }
        self.0 = *n;
        Ok(())
    }

    fn at_quiet(&self) -> Result<(), String> {
        if self.0 == 2 { Ok(()) } else { Err("2 never came".to_owned()) }
    }
}

#[test]
fn a_violated_monitor_is_a_failure() {
    let run = |last: u32| {
        move || {
            let system = System::new().monitor(InOrder::default());
            for n in 1..=last {
                system.spawn(Worker::default()).send(Do::Announce(n));
            }
            system.run_until_quiet();
        }
    };
    assert!(matches!(fails(run(2)), Failure::Violation { message, .. } if message == "1 after 2"));
    assert!(matches!(fails(run(1)), Failure::Violation { message, .. } if message == "2 never came"));
    // Reduction runs both orders, although the actors are otherwise independent.
    let limits = Limits { keep_going: true, ..Limits::default() };
    let report = run_with(&Settings::default(), &mut Optimal::new(), limits, run(2));
    assert_eq!((report.executions, report.failing), (2, 1));
}

/// Stores the receipts of the last execution.
struct Receipts(Random, StdArc<StdMutex<Vec<Receipt>>>);

impl Strategy for Receipts {
    fn needs(&self) -> Needs {
        Needs::sampler("receipts")
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        match self.0.begin(prefix) {
            Next::Run(start) => Next::Run(Start { steps: true, ..start }),
            done => done,
        }
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.0.choose(at, so_far)
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        *self.1.lock().unwrap() = run.trace.receipts().to_vec();
        self.0.end(run)
    }
}

#[test]
fn receives_have_the_same_names_in_every_order() {
    let receipts = |seed: u64| {
        let kept = StdArc::default();
        let mut strategy = Receipts(Random::new(seed), StdArc::clone(&kept));
        let limits = Limits { executions: Some(1), ..Limits::default() };
        run_with(&Settings::default(), &mut strategy, limits, || {
            let system = System::new();
            let [a, b, c] = [0; 3].map(|_| system.spawn(Worker::default()));
            a.send(Do::Forward(c.clone(), 1));
            b.send(Do::Forward(c.clone(), 2));
            b.send(Do::Create(3));
            c.send(Do::Ask(a));
            system.run_until_quiet();
        });
        let mut kept: Vec<Receipt> = kept.lock().unwrap().clone();
        assert_eq!(kept.len(), 9, "{kept:?}");
        assert_eq!(kept.iter().filter(|receipt| receipt.reply).count(), 1);
        assert_eq!(kept.iter().filter(|receipt| receipt.changed).count(), 1);
        assert_eq!(kept.iter().filter(|receipt| receipt.label == "Note").count(), 3);
        kept.retain(|receipt| !receipt.reply);
        let mut names: Vec<_> = kept.iter().map(|it| (it.sender, it.receiver, it.message)).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 8, "every receive has a name of its own");
        names
    };
    let first = receipts(0);
    (1..20).for_each(|seed| assert_eq!(receipts(seed), first));
}
