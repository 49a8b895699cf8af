//! Peeking: finding out which state a choice leads to before the step is taken.
//!
//! Most steps lead to a state that was visited before. If the program can tell beforehand, and the strategy says which alternative it
//! would take next at the same point, such steps are skipped without a snapshot, a step or a restart. Each is counted as if it had been an
//! execution of its own. Peeking changes nothing but the time that a search takes.

use super::walk::Chosen;
use super::{Due, Worker};
use crate::strategy::Sibling;
use crate::system::{Peeked, System};

/// What lies ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ahead {
    /// That is not known before.
    Hidden,
    /// This state, which nobody has entered before; it counts as entered now.
    New(u64),
    /// A state that is known, and the strategy wants to see the way there.
    Known,
    /// A state that is known, so many steps further on; the execution is over.
    Over(usize),
}

/// How many are passed by at one point before others are looked after.
const MOST_IN_A_ROW: u32 = 64;

impl Worker<'_> {
    /// Looks at where the choice leads, and passes by what leads to known states; says how many alternatives were begun here.
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

    /// Whether an execution can end without anything to be done before the next.
    fn may_pass_by(&self) -> bool {
        self.due == Due::All && self.allowed > 1
    }
}
