//! Follows saved schedules of receives, which may have been generated for an older version of the program; one execution each.

use std::collections::{HashMap, VecDeque};

use raddle_engine::coverage::{Name, Recorded, Scheduled, short};
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{After, Claim, Decision, Goal, Needs, Next, Run, Strategy};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

use super::force::Forced;

/// Runs given schedules. After its schedule, an execution continues at random.
pub struct Following {
    left: VecDeque<Vec<Scheduled>>,
    forced: Forced,
    followed: Vec<Followed>,
    rng: Rng,
}

/// The result of a saved schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// How many of its receives happened in its order.
    pub receives: usize,
    /// How many receives it has.
    pub of: usize,
    /// The first receive that did not happen.
    pub missed: Option<String>,
    /// How many of its pairs nevertheless happened in its order.
    pub pairs: u64,
    /// How many pairs it has.
    pub of_pairs: u64,
}

impl Following {
    /// Runs each of these once, in their order.
    #[must_use]
    pub fn new(schedules: Vec<Vec<Scheduled>>) -> Self {
        Self { left: schedules.into(), forced: Forced::default(), followed: Vec::new(), rng: Rng::new(0) }
    }

    /// The results of the schedules that were run, in their order.
    #[must_use]
    pub fn followed(&self) -> &[Followed] {
        &self.followed
    }

    /// The result of the latest schedule.
    fn result(&self, recorded: &Recorded) -> Followed {
        let expected = self.forced.expected();
        let at: HashMap<Name, usize> = recorded.events.iter().enumerate().map(|(at, event)| (event.name, at)).collect();
        let mut of_receiver: HashMap<u64, Vec<Option<usize>>> = HashMap::new();
        for receive in expected {
            of_receiver.entry(receive.name.receiver).or_default().push(at.get(&receive.name).copied());
        }
        let (mut pairs, mut of_pairs) = (0, 0);
        for own in of_receiver.values() {
            for (first, second) in (0..own.len()).flat_map(|j| (0..j).map(move |i| (own[i], own[j]))) {
                of_pairs += 1;
                pairs += u64::from(first.is_some() && first < second);
            }
        }
        let missed = self.forced.missed().map(|missed| short(&missed.label).to_owned());
        Followed { receives: self.forced.followed(), of: expected.len(), missed, pairs, of_pairs }
    }
}

impl Strategy for Following {
    fn needs(&self) -> Needs {
        Needs { goal: Goal::Select, receives: true, ..Needs::sampler("receive-order") }
    }

    fn begin(&mut self, _: &mut Vec<Choice>) -> Next {
        let Some(schedule) = self.left.pop_front() else { return Next::Done(Claim::Selective) };
        let seed = mix(0, self.followed.len() as u64);
        self.rng = Rng::new(seed);
        self.forced = Forced::new(schedule);
        Next::run(seed)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        let forced = self.forced.choose(at, so_far);
        Decision::Take(forced.unwrap_or_else(|| Choice(self.rng.below(at.alternatives()))))
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.forced.follow(run.trace);
        self.followed.push(self.result(&Recorded::of(run.trace)));
        After::Next
    }
}
