//! Stratified sampling by a delaying explorer (Desai, Qadeer, Seshia; ALGORITHMS.md §3): what takes no deviation from what the
//! explorer would do, then samples of what takes one, of what takes two, and so on without end.
//!
//! **A sample** of n delays is a sequence of executions: one without a delay, one that has a delay at a point of it, one that has a
//! second delay at a point of that from there on, and so on. Each time the point is drawn uniformly among those where one delay
//! more is possible: the one of the latest delay, if anything is left there, and those after it. So every order with n
//! delays can be drawn, in exactly one way. The executions on the way are samples of the strata below. The one without a delay is the same
//! for all samples and is run once.
//!
//! **The guarantee.** The length of an execution is the number of its points with more than one alternative. If none is longer than
//! L, any execution with n delays is drawn by one sample with probability at least 1/L^n. How far that has come is
//! [told](Strategy::guarantee) from what was run.
//!
//! **By number.** A number stands for a sample, so all its executions have the same. It depends on the seed and its number alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::DelayingExplorer;
use super::draw::{Draw, Pick};
use super::strata::Strata;
use raddle_engine::piece::Checkpoint;

use crate::format;
use crate::samplers::pct::Longest;
use raddle_engine::facts::Fact;
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{
    After, ByNumber, Capabilities, Claim, Decision, Needs, Next, Run, Sharing, Start, Strategy, Summarize, Unit,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

/// Samples of few deviations from what an explorer does.
#[derive(Debug)]
pub struct DelaySample<E> {
    first: E,
    seed: u64,
    strata: Strata,
    /// The sample that is being drawn, or comes next.
    number: u64,
    /// Executions of it that were begun.
    begun: u32,
    draw: Draw<E>,
    /// What takes no delay, once it was run.
    plain: Option<Plain<E>>,
    /// The same while it is run; `None` when something else is.
    making: Option<Plain<E>>,
    /// Of all workers: the most points with an alternative in an execution.
    longest: Arc<AtomicU32>,
}

/// The execution without a delay.
#[derive(Clone, Debug)]
struct Plain<E> {
    way: Vec<Choice>,
    open: Vec<Pick<E>>,
}

/// Few enough that strata of several delays are soon reached.
const STRATA: Strata = Strata { first: 10, factor: 2 };

impl<E: DelayingExplorer + Clone + Send + 'static> DelaySample<E> {
    /// The samples that belong to `seed`: 10·2ⁿ with n delays.
    #[must_use]
    pub fn new(explorer: E, seed: u64) -> Self {
        Self {
            first: explorer.clone(),
            seed,
            strata: STRATA,
            number: 0,
            begun: 0,
            draw: Draw::new(explorer),
            plain: None,
            making: None,
            longest: Arc::default(),
        }
    }

    /// Draws `first`·`factor`ⁿ samples with n delays.
    ///
    /// # Panics
    ///
    /// If `first` is 0 or `factor` is less than 2: deeper strata are larger.
    #[must_use]
    pub fn with_samples(self, first: u32, factor: u32) -> Self {
        assert!(
            first > 0 && factor > 1,
            "raddle: {first}·{factor}ⁿ samples with n delays are too few; the first number must be at least 1, the second at least 2"
        );
        Self { strata: Strata { first: first.into(), factor: factor.into() }, ..self }
    }

    /// Begins a sample that has delays; false if there are none to be had.
    fn begin_sample(&mut self, plain: &Plain<E>) -> bool {
        if plain.open.is_empty() {
            return false;
        }
        let delays = self.strata.place(self.number).delays;
        let rng = Rng::new(mix(self.seed, self.number));
        self.draw.begin_at_one_of(&plain.open, &plain.way, delays, rng);
        self.begun = 0;
        true
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> Strategy for DelaySample<E> {
    fn needs(&self) -> Needs {
        Needs { revisits: true, every_point: true, ..Needs::sampler("delay-sample") }
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        match self.plain.take() {
            Some(plain) if self.number > 0 => {
                let runs = self.draw.go_on() || self.begin_sample(&plain);
                self.plain = Some(plain);
                self.making = None;
                if !runs {
                    // Nowhere is there anything else to do: there is one order, and it was run.
                    return Next::Done(Claim::Exhausted);
                }
                self.begun += 1;
                prefix.extend_from_slice(self.draw.way());
            }
            _ => {
                self.draw.without_delay();
                self.begun = 0;
                self.making = Some(Plain { way: Vec::new(), open: Vec::new() });
            }
        }
        Next::Run(Start { probe: self.is_probe(), ..Start::with_seed(self.seed) })
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        let choice = self.draw.choose(at, so_far);
        if let Some(plain) = &mut self.making {
            plain.way.push(choice);
            plain.open.extend(self.draw.open_here());
        }
        Decision::take(choice, Some(self.draw.picked_here()))
    }

    fn end(&mut self, _: &Run<'_>) -> After {
        self.longest.fetch_max(self.draw.points(), Relaxed);
        let unfinished = self.is_probe() || self.draw.goes_on();
        self.number += u64::from(!unfinished);
        if self.making.is_some() {
            self.plain = self.making.take();
        }
        if unfinished { After::SameNumber } else { After::Next }
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> DelaySample<E> {
    /// A worker that has not run what takes no delay runs it first, whatever its numbers.
    fn is_probe(&self) -> bool {
        self.making.is_some() && self.number > 0
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> Capabilities for DelaySample<E> {
    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByNumber(self)
    }

    fn summary(&mut self) -> Option<&dyn Summarize> {
        Some(self)
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> Summarize for DelaySample<E> {
    fn guarantee(&self, drawn: u64) -> Option<Fact> {
        self.strata.guarantee(drawn, self.longest.load(Relaxed))
    }

    fn about_failure(&self) -> Option<Fact> {
        Some(Fact::FoundWith(self.draw.delays(), Unit::Delay))
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> ByNumber for DelaySample<E> {
    fn uncounted(&self) -> Option<Vec<u64>> {
        None
    }

    fn jump(&mut self, number: u64) {
        self.number = number;
        self.draw.without_delay();
    }

    fn copy(&mut self) -> Box<dyn Strategy> {
        let plain = self.plain.clone();
        let longest = Arc::clone(&self.longest);
        Box::new(Self { plain, longest, strata: self.strata, ..Self::new(self.first.clone(), self.seed) })
    }

    fn checkpoint(&mut self) -> Checkpoint {
        format::checkpoint(&Longest(self.longest.load(Relaxed)))
    }

    fn restore(&mut self, checkpoint: &Checkpoint, _: u64) -> bool {
        let restored = format::read_checkpoint(checkpoint);
        restored.map(|Longest(points)| self.longest.fetch_max(points, Relaxed)).is_some()
    }

    fn executions(&self, number: u64) -> u64 {
        self.strata.place(number).before.saturating_add(u64::from(self.begun.max(1)))
    }
}
