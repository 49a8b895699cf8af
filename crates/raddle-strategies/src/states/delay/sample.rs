//! Stratified sampling with a delaying explorer (Desai, Qadeer and Seshia, 2015): the execution without a deviation from the explorer's
//! order, then samples of executions with one deviation, with two, and so on without end.
//!
//! **A sample** of n delays is a series of executions: one without a delay, one with a delay at some point of it, one with a second delay
//! at or after that point, and so on. Each point is drawn uniformly among those where one more delay is possible: the point of the
//! latest delay, if it has alternatives left, and those after it. So every execution with n delays can be drawn, in exactly one way.
//! The intermediate executions are samples of the lower strata. The execution without a delay is the same for all samples and is run
//! once.
//!
//! **The guarantee.** The length of an execution is the number of its points with more than one alternative. If no execution is longer than
//! L, one sample draws any given execution with n delays with probability at least 1/L^n. [`Summarize::guarantee`] reports the resulting
//! probabilities.
//!
//! **By number.** A number stands for a sample, so all executions of the sample have the same number. A sample depends on the seed and its
//! number alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use raddle_engine::facts::Fact;
use raddle_engine::piece::Checkpoint;
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{
    After, ByNumber, Capabilities, Claim, Decision, Needs, Next, Run, Sharing, Start, Strategy, Summarize, Unit,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

use super::DelayingExplorer;
use super::draw::{Pick, SampleDraw};
use super::strata::Strata;
use crate::format;
use crate::samplers::pct::Longest;

/// Draws executions with few deviations from an explorer's order.
#[derive(Debug)]
pub struct DelaySample<E> {
    initial: E,
    seed: u64,
    strata: Strata,
    /// The current or next sample.
    number: u64,
    /// How many executions of it were begun.
    begun: u32,
    draw: SampleDraw<E>,
    /// The execution without a delay, after it was run.
    undelayed: Option<UndelayedRun<E>>,
    /// The same while it is run; `None` in other executions.
    recording: Option<UndelayedRun<E>>,
    /// Shared by all workers: the largest number of points with an alternative in an execution.
    longest: Arc<AtomicU32>,
}

/// The execution without a delay.
#[derive(Clone, Debug)]
struct UndelayedRun<E> {
    path: Vec<Choice>,
    open: Vec<Pick<E>>,
}

/// Few enough that strata with several delays are reached soon.
const STRATA: Strata = Strata { first: 10, factor: 2 };

impl<E: DelayingExplorer + Clone + Send + 'static> DelaySample<E> {
    /// The samples of `seed`: 10·2ⁿ with n delays.
    #[must_use]
    pub fn new(explorer: E, seed: u64) -> Self {
        Self {
            initial: explorer.clone(),
            seed,
            strata: STRATA,
            number: 0,
            begun: 0,
            draw: SampleDraw::new(explorer),
            undelayed: None,
            recording: None,
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

    /// Begins a sample with delays. Returns false if no delay is possible.
    fn begin_sample(&mut self, undelayed: &UndelayedRun<E>) -> bool {
        if undelayed.open.is_empty() {
            return false;
        }
        let delays = self.strata.place(self.number).delays;
        let rng = Rng::new(mix(self.seed, self.number));
        self.draw.begin_at_one_of(&undelayed.open, &undelayed.path, delays, rng);
        self.begun = 0;
        true
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> Strategy for DelaySample<E> {
    fn needs(&self) -> Needs {
        Needs { revisits: true, every_point: true, ..Needs::sampler("delay-sample") }
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        match self.undelayed.take() {
            Some(undelayed) if self.number > 0 => {
                let runs = self.draw.begin_next() || self.begin_sample(&undelayed);
                self.undelayed = Some(undelayed);
                self.recording = None;
                if !runs {
                    // No point has an alternative: there is only one execution, and it was run.
                    return Next::Done(Claim::Exhausted);
                }
                self.begun += 1;
                prefix.extend_from_slice(self.draw.path());
            }
            _ => {
                self.draw.without_delay();
                self.begun = 0;
                self.recording = Some(UndelayedRun { path: Vec::new(), open: Vec::new() });
            }
        }
        Next::Run(Start { probe: self.is_probe(), ..Start::with_seed(self.seed) })
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        let choice = self.draw.choose(at, so_far);
        if let Some(undelayed) = &mut self.recording {
            undelayed.path.push(choice);
            undelayed.open.extend(self.draw.open_here());
        }
        Decision::take(choice, Some(self.draw.picked_here()))
    }

    fn end(&mut self, _: &Run<'_>) -> After {
        self.longest.fetch_max(self.draw.points(), Relaxed);
        let unfinished = self.is_probe() || self.draw.has_next();
        self.number += u64::from(!unfinished);
        if self.recording.is_some() {
            self.undelayed = self.recording.take();
        }
        if unfinished { After::SameNumber } else { After::Next }
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> DelaySample<E> {
    /// A worker without the execution without a delay runs it first, uncounted, whatever its numbers are.
    fn is_probe(&self) -> bool {
        self.recording.is_some() && self.number > 0
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
        let undelayed = self.undelayed.clone();
        let longest = Arc::clone(&self.longest);
        Box::new(Self { undelayed, longest, strata: self.strata, ..Self::new(self.initial.clone(), self.seed) })
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
