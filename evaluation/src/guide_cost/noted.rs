//! A program that records a hash of its choices.

use std::cell::Cell;
use std::rc::Rc;

use raddle_engine::caveats::Caveats;
use raddle_engine::system::{Choice, Describe, Point, Program, System};
use raddle_engine::trace::Trace;

/// A program, and a hash of all choices in all its executions, in order.
pub struct Noted<P> {
    program: P,
    choices: Rc<Cell<u64>>,
}

impl<P> Noted<P> {
    /// Continues from an earlier hash.
    pub fn new(program: P, choices: u64) -> Self {
        Self { program, choices: Rc::new(Cell::new(choices)) }
    }

    /// The hash of all choices so far.
    pub fn choices(&self) -> u64 {
        self.choices.get()
    }
}

fn note(choices: &Cell<u64>, more: u64) {
    choices.set((choices.get() ^ more).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
}

/// One execution of it.
pub struct Execution<S> {
    system: S,
    choices: Rc<Cell<u64>>,
}

impl<P: Program> Program for Noted<P> {
    type System = Execution<P::System>;

    fn start(&mut self, seed: u64, trace: &mut Trace) -> Self::System {
        note(&self.choices, u64::MAX);
        Execution { system: self.program.start(seed, trace), choices: self.choices.clone() }
    }

    fn sound(&self) -> bool {
        self.program.sound()
    }
}

impl<S: System> System for Execution<S> {
    fn point(&self) -> Point<'_> {
        self.system.point()
    }

    fn step(&mut self, choice: Choice, trace: &mut Trace) {
        note(&self.choices, u64::from(choice.0) + 1);
        self.system.advance(choice, trace);
    }

    fn caveats(&self) -> Caveats {
        self.system.caveats()
    }

    fn describe(&self) -> &dyn Describe {
        self.system.describe()
    }
}
