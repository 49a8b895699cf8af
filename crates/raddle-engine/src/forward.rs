//! Choices for a system that runs forward by itself: drawn uniformly, or those of an earlier execution.

use crate::rng::Rng;
use crate::search::Deadline;
use crate::system::Choice;

/// Where the choices come from, and the choices so far. The search lends it to a system that [runs forward by
/// itself](crate::system::Forward::run_forward).
#[derive(Debug)]
pub struct ForwardChoices {
    source: Source,
    taken: Box<Taken>,
    /// The number of orders, if all walks have as many alternatives at each point as this one.
    product: f64,
    /// The number of steps before the next choice.
    steps: usize,
    most_steps: usize,
    deadline: Deadline,
}

/// Where choices come from.
#[derive(Debug)]
enum Source {
    /// A generator.
    Uniform(Rng),
    /// A list. The system stops at the first point after it.
    Given {
        choices: Vec<Choice>,
        next: usize,
        /// The list has a choice for every point, also for those with one alternative.
        every_point: bool,
    },
}

/// The choices so far. They have an address of their own, which stays the same when this value is moved. The handler of a crash in the
/// middle of an execution finds them there; see [`Trace::drawing`](crate::trace::Trace::drawing).
#[derive(Debug, Default)]
pub struct Taken {
    list: Vec<TakenChoice>,
}

impl Taken {
    /// All choices, oldest first.
    #[must_use]
    pub fn list(&self) -> &[TakenChoice] {
        &self.list
    }
}

/// A choice at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenChoice {
    /// The chosen alternative.
    pub choice: Choice,
    /// The number of alternatives.
    pub alternatives: u32,
    /// The number of steps before it.
    pub steps: usize,
}

impl Default for ForwardChoices {
    fn default() -> Self {
        Self {
            source: Source::Uniform(Rng::new(0)),
            taken: Box::default(),
            product: 1.0,
            steps: 0,
            most_steps: 0,
            deadline: Deadline::new(None),
        }
    }
}

impl ForwardChoices {
    /// Begins to draw from `rng`, for an execution of at most `most_steps` steps that has to be over at `deadline`.
    pub(crate) fn begin_uniform(&mut self, rng: &Rng, most_steps: usize, deadline: Deadline) {
        match &mut self.source {
            Source::Uniform(own) => own.clone_from(rng),
            given => *given = Source::Uniform(rng.clone()),
        }
        self.begin(most_steps, deadline);
    }

    /// Begins to take these choices. If `every_point` is false, points with one alternative take none.
    pub(crate) fn begin_given(&mut self, given: &[Choice], every_point: bool, most_steps: usize, deadline: Deadline) {
        let mut choices = match &mut self.source {
            Source::Given { choices, .. } => std::mem::take(choices),
            Source::Uniform(_) => Vec::new(),
        };
        choices.clear();
        choices.extend_from_slice(given);
        let most_steps = if choices.is_empty() { 0 } else { most_steps };
        self.source = Source::Given { choices, next: 0, every_point };
        self.begin(most_steps, deadline);
    }

    fn begin(&mut self, most_steps: usize, deadline: Deadline) {
        self.taken.list.clear();
        self.product = 1.0;
        self.most_steps = most_steps;
        self.deadline = deadline;
    }

    /// The time at which the execution has to end, and when to read the clock again.
    pub(crate) fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    /// The address of the choices from now on.
    pub(crate) fn address(&mut self) -> *mut Taken {
        &raw mut *self.taken
    }

    /// The choices so far, oldest first.
    pub(crate) fn taken(&self) -> &[TakenChoice] {
        &self.taken.list
    }

    /// An estimate of the number of orders, and the generator; `None` if the choices were given.
    pub(crate) fn drawn(&self) -> Option<(f64, &Rng)> {
        match &self.source {
            Source::Uniform(rng) => Some((self.product, rng)),
            Source::Given { .. } => None,
        }
    }

    /// Whether an execution that has taken so many steps may take another. Called before each [choice](Self::draw).
    #[inline]
    pub fn go_on(&mut self, steps: usize) -> bool {
        self.steps = steps;
        steps < self.most_steps
    }

    /// Chooses one of `alternatives`.
    #[inline]
    pub fn draw(&mut self, alternatives: u32) -> Choice {
        if self.deadline.is_over() {
            // The execution ends after this step.
            self.most_steps = 0;
        }
        let choice = match &mut self.source {
            Source::Uniform(_) if alternatives == 1 => return Choice(0),
            Source::Uniform(rng) => {
                self.product *= f64::from(alternatives);
                Choice(rng.below(alternatives))
            }
            Source::Given { every_point: false, .. } if alternatives == 1 => return Choice(0),
            Source::Given { choices, next, .. } => {
                let choice = choices[*next];
                *next += 1;
                if *next == choices.len() {
                    self.most_steps = 0;
                }
                if choice.0 < alternatives {
                    choice
                } else {
                    // The program does not do what it did before. The search sees that in the list of what was taken.
                    self.most_steps = 0;
                    Choice(0)
                }
            }
        };
        self.taken.list.push(TakenChoice { choice, alternatives, steps: self.steps });
        choice
    }
}
