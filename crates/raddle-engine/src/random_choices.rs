//! Choices that are drawn uniformly, by a system that runs forward by itself.

use crate::rng::Rng;
use crate::search::Deadline;
use crate::system::Choice;

/// A generator of choices, and the choices that it has drawn. The search lends it to a system that [runs forward by
/// itself](crate::system::Untraced::run_randomly).
#[derive(Debug)]
pub struct RandomChoices {
    rng: Rng,
    drawn: Box<Draws>,
    /// The number of orders, if all walks have as many alternatives at each point as this one.
    product: f64,
    most_steps: usize,
    deadline: Deadline,
}

/// The choices so far. They have an address of their own, which stays the same when this value is moved. The handler of a crash in the
/// middle of an execution finds them there; see [`Trace::drawing`](crate::trace::Trace::drawing).
#[derive(Debug, Default)]
pub struct Draws {
    list: Vec<Drawn>,
}

impl Draws {
    /// All choices, oldest first.
    #[must_use]
    pub fn list(&self) -> &[Drawn] {
        &self.list
    }
}

/// A choice at a point with several alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// The chosen alternative.
    pub choice: Choice,
    /// The number of alternatives.
    pub alternatives: u32,
}

impl Default for RandomChoices {
    fn default() -> Self {
        Self { rng: Rng::new(0), drawn: Box::default(), product: 1.0, most_steps: 0, deadline: Deadline::new(None) }
    }
}

impl RandomChoices {
    /// Begins to draw from `rng`, for an execution of at most `most_steps` steps that has to be over at `deadline`.
    pub(crate) fn begin(&mut self, rng: &Rng, most_steps: usize, deadline: Deadline) {
        self.rng.clone_from(rng);
        self.drawn.list.clear();
        self.product = 1.0;
        self.most_steps = most_steps;
        self.deadline = deadline;
    }

    /// The time at which the execution has to end, and when to read the clock again.
    pub(crate) fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    /// The address of the choices from now on.
    pub(crate) fn draws(&mut self) -> *mut Draws {
        &raw mut *self.drawn
    }

    /// Returns the choices, an estimate of the number of orders, and the generator.
    pub(crate) fn drawn(&self) -> (&[Drawn], f64, &Rng) {
        (&self.drawn.list, self.product, &self.rng)
    }

    /// Whether an execution that has taken so many steps may take another.
    #[inline]
    #[must_use]
    pub fn go_on(&self, steps: usize) -> bool {
        steps < self.most_steps
    }

    /// Draws one of `alternatives`.
    #[inline]
    pub fn draw(&mut self, alternatives: u32) -> Choice {
        if self.deadline.is_over() {
            // The execution ends after this step.
            self.most_steps = 0;
        }
        if alternatives == 1 {
            return Choice(0);
        }
        let choice = Choice(self.rng.below(alternatives));
        self.drawn.list.push(Drawn { choice, alternatives });
        self.product *= f64::from(alternatives);
        choice
    }
}
