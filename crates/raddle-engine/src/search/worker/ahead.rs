//! Peeking: finding out which state a choice leads to before the step is taken.
//!
//! Most steps lead to a state that was visited before. If the program can tell beforehand, and the strategy says which alternative it
//! would take next at the same point, such steps are skipped without a snapshot, a step or a restart. Each is counted as if it had been an
//! execution of its own. Peeking changes nothing but the time that a search takes.

use super::walk::Chosen;
use super::{Due, Worker};
use crate::strategy::Sibling;
use crate::system::{Peeked, System};

/// The state that a choice leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// It is unknown until the step is taken.
    Hidden,
    /// A new state. It counts as visited from now on.
    New(u64),
    /// A visited state, but the strategy wants the execution to go there.
    Known,
    /// A visited state, so many steps further; the execution is over.
    Over(usize),
}

/// How many alternatives are skipped at one point before the worker does other things.
const MOST_IN_A_ROW: u32 = 64;

impl Worker<'_> {
    /// Peeks at the state that the choice leads to, and skips alternatives that lead to visited states. Also returns how many alternatives
    /// were begun here.
    pub(super) fn look_ahead<S: System>(&mut self, system: &mut S, chosen: &mut Chosen) -> (Ahead, u32) {
        let mut begun = 1;
        loop {
            let peeked = system.snapshots().and_then(|snapshots| snapshots.peek(chosen.choice, &self.trace));
            let Some(Peeked { state, steps }) = peeked else {
                return (Ahead::Hidden, begun);
            };
            if self.visit_state(Some(state)) {
                return (Ahead::New(state), begun);
            }
            if begun >= MOST_IN_A_ROW || !self.may_pass_by() {
                return (Ahead::Known, begun);
            }
            let sibling = self.strategy.get().states().map_or(Sibling::Unknown, |states| states.next_sibling());
            match sibling {
                Sibling::Unknown => return (Ahead::Known, begun),
                Sibling::None => return (Ahead::Over(steps), begun),
                Sibling::Instead { choice, returns } => {
                    self.returns = returns;
                    assert!(choice.0 < chosen.alternatives, "raddle bug: {choice:?} of {}", chosen.alternatives);
                    chosen.choice = choice;
                    begun += 1;
                    self.count(&system.caveats(), self.trace.len() + steps);
                    self.tally.pruned += 1;
                    self.done += 1;
                    self.allowed -= 1;
                }
            }
        }
    }

    /// Whether an execution can end without anything to do before the next.
    fn may_pass_by(&self) -> bool {
        self.due == Due::All && self.allowed > 1
    }
}
