//! A reduction whose time is over while it looks for what follows from an execution stops there, and claims nothing.

use std::time::Instant;

use raddle_engine::search::{Ended, Limits, search};
use raddle_engine::strategy::{After, Capabilities, Decision, Needs, Next, Run, Strategy};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;
use raddle_runtime::actor::{Actor, Address, Context, Delivery};
use raddle_runtime::model::Model;
use raddle_strategies::optimal::Optimal;
use raddle_strategies::reduction::Dpor;

/// Tells its strategy at the end of the second execution that the time is over.
struct Late<'s> {
    inner: &'s mut dyn Strategy,
    ended: u32,
}

impl Strategy for Late<'_> {
    fn needs(&self) -> Needs {
        self.inner.needs()
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        self.inner.begin(prefix)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.inner.choose(at, so_far)
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.ended += 1;
        let deadline = (self.ended == 2).then(Instant::now);
        let after = self.inner.end(&Run { deadline, ..*run });
        assert_eq!(after == After::OutOfTime, self.ended == 2);
        after
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        self.inner.capabilities()
    }
}

/// Receives, and does nothing else.
#[derive(Clone, Hash)]
struct Reads;

impl Actor for Reads {
    type Msg = u64;

    fn handle(&mut self, _: u64, _: &mut Context<'_, u64>) {}
}

/// Sends on what it receives.
#[derive(Clone, Hash)]
struct Sends(Address<u64>);

impl Actor for Sends {
    type Msg = u64;

    fn handle(&mut self, n: u64, context: &mut Context<'_, u64>) {
        context.send(&self.0, n);
    }
}

/// Three senders with eight messages each, which one actor receives in any order that keeps those of one sender in theirs.
fn many_receives(delivery: Delivery) -> Model {
    Model::new(move |m| {
        m.delivery(delivery);
        let reads = m.spawn(Reads);
        for _ in 0..3 {
            let sends = m.spawn(Sends(reads.clone()));
            (0..8).for_each(|n| m.send(&sends, n));
        }
    })
}

#[test]
fn a_reduction_stops_when_the_time_is_over() {
    for delivery in [Delivery::PerSender, Delivery::Causal] {
        let strategies: [Box<dyn Strategy>; 3] =
            [Box::new(Optimal::new()), Box::new(Dpor::source()), Box::new(Dpor::classic())];
        for mut inner in strategies {
            let mut strategy = Late { inner: &mut *inner, ended: 0 };
            let limits = Limits { executions: Some(10), repeats: false, ..Limits::default() };
            let report = search(&mut many_receives(delivery), &mut strategy, &limits);
            assert_eq!((report.executions, report.pruned), (2, 0), "{delivery:?}");
            assert_eq!(report.ended, Ended::BudgetSpent, "{delivery:?}");
        }
    }
}
