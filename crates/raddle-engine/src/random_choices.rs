//! Choices that are drawn uniformly, by a system that runs forward by itself.

use crate::rng::Rng;
use crate::search::Deadline;
use crate::system::Choice;

/// Where choices are drawn from, and which were drawn. The search lends this to a system that
/// [runs forward by itself](crate::system::Untraced::run_randomly).
#[derive(Debug)]
pub struct RandomChoices {
    rng: Rng,
    drawn: Box<Draws>,
    /// How many orders there are, if all walks are as wide as this one at each of its points.
    product: f64,
    most_steps: usize,
    deadline: Deadline,
}

/// What was drawn so far. It has an address of its own, which stays the same when the choices are moved: the handler of a crash in the
/// middle of an execution finds it there; see [`Trace::drawing`](crate::trace::Trace::drawing).
#[derive(Debug, Default)]
pub struct Draws {
    list: Vec<Drawn>,
}

impl Draws {
    /// All of them, oldest first.
    #[must_use]
    pub fn list(&self) -> &[Drawn] {
        &self.list
    }
}

/// What was drawn at a point with several alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Which of them.
    pub choice: Choice,
    /// How many there were.
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

    /// The time at which the execution has to be over, and when to look at the clock again.
    pub(crate) fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    /// Where to find what is drawn from now on.
    pub(crate) fn draws(&mut self) -> *mut Draws {
        &raw mut *self.drawn
    }

    /// What was drawn; how many orders that tells of; and where to draw from next.
    pub(crate) fn drawn(&self) -> (&[Drawn], f64, &Rng) {
        (&self.drawn.list, self.product, &self.rng)
    }

    /// Whether an execution that has taken so many steps may take another.
    #[inline]
    #[must_use]
    pub fn go_on(&self, steps: usize) -> bool {
        steps < self.most_steps
    }

    /// Draws one of so many.
    #[inline]
    pub fn draw(&mut self, alternatives: u32) -> Choice {
        if self.deadline.is_over() {
            // After this step nobody goes on.
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
