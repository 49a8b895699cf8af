//! Round robin: each task takes one step in turn. One execution.
//!
//! Waits end by a timeout or a spurious wakeup only if nothing else is enabled. An actor receives the enabled message that was sent
//! first. Data choices get their first value.

use raddle_engine::ids::TaskId;
use raddle_engine::strategy::{After, Claim, Decision, Needs, Next, Run, Start, Strategy};
use raddle_engine::system::{Action, Choice, Point, Variant};
use raddle_engine::trace::Trace;

/// The deterministic order in which each task takes one step in turn.
#[derive(Debug, Default)]
pub struct RoundRobin {
    last: Option<TaskId>,
    done: bool,
}

impl RoundRobin {
    /// A search of one execution.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Strategy for RoundRobin {
    fn needs(&self) -> Needs {
        Needs::sampler("round-robin")
    }

    fn begin(&mut self, _: &mut Vec<Choice>) -> Next {
        self.last = None;
        if self.done {
            return Next::Done(Claim::Sampled);
        }
        Next::Run(Start { steps: false, ..Start::with_seed(0) })
    }

    fn choose(&mut self, at: &Point<'_>, _: &Trace) -> Decision {
        let Point::Actions(actions) = at else {
            return Decision::Take(Choice(0));
        };
        let last = self.last;
        // Messages are listed in the order of sending, and the first of equals is taken.
        let kind = |a: &Action| if let Variant::Message(_) = a.variant { Variant::Ready } else { a.variant };
        let rank = |(_, a): &(usize, &Action)| (kind(a) != Variant::Ready, Some(a.task) <= last, a.task, kind(a));
        let (index, action) = actions.iter().enumerate().min_by_key(rank).expect("raddle bug: a point without actions");
        self.last = Some(action.task);
        Decision::Take(Choice(u32::try_from(index).expect("raddle bug: more than 2^32 actions")))
    }

    fn end(&mut self, _: &Run<'_>) -> After {
        self.done = true;
        After::Next
    }
}
