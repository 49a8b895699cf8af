//! The phases of a search by learned orderings, and how one follows another.

use raddle_engine::outcome::Outcome;
use raddle_engine::strategy::{Claim, Next, Run, Strategy};
use raddle_engine::system::Choice;

use super::checkpoint::Round;
use super::{Hapset, Phase};
use crate::optimal::Optimal;
use crate::reduction::Subtree;

impl Hapset {
    /// Begins an execution of a skipped alternative or of the complete search, in turn.
    pub(super) fn begin_rest(&mut self, prefix: &mut Vec<Choice>) -> Next {
        if self.phase != Phase::Rarest {
            self.phase = Phase::Rarest;
            loop {
                if self.rarest_begun
                    && let run @ Next::Run { .. } = self.guided.begin(prefix)
                {
                    return run;
                }
                let next = self.pool.lock().take_rarest();
                self.rarest_begun = next.is_some();
                let Some(next) = next else { break };
                self.guided.place_subtree(next);
            }
        }
        self.phase = Phase::Rest;
        self.rest.as_mut().map_or(Next::Done(Claim::Selective), |rest| rest.begin(prefix))
    }

    /// Learns from an execution that another search than the guided one has run.
    pub(super) fn learn_from(&mut self, run: &Run<'_>) {
        if matches!(run.outcome, Some(Outcome::Completed)) {
            self.events.clear();
            self.events.follow(run.trace);
            let guide = self.guided.guide_mut().expect("raddle bug: the guided search has lost its guide");
            guide.learn_from_other(run.trace, &self.events);
        }
    }

    /// Begins an execution of the next subtree of the guided search. If none is left, begins the next round.
    pub(super) fn begin_guided(&mut self, prefix: &mut Vec<Choice>) -> Next {
        while self.phase == Phase::Guided {
            if self.turns.is_running() {
                if let run @ Next::Run(_) = self.guided.begin(prefix) {
                    return run;
                }
                self.turns.suspend_current(&mut self.guided);
            }
            match self.turns.take() {
                Some(subtree) => self.guided.place_subtree(subtree),
                None => self.begin_next_round(),
            }
        }
        self.begin_rest(prefix)
    }

    /// Begins the next round, after the guided search has run all its subtrees.
    fn begin_next_round(&mut self) {
        self.commit();
        let (round, backtrack) = {
            let mut pool = self.pool.lock();
            (pool.begin_next_round(), pool.backtrack)
        };
        self.guide_mut().backtrack = backtrack;
        match round {
            Round::Guided(path) => self.turns.begin(Subtree::along(path)),
            Round::Rest => {
                self.phase = Phase::Rest;
                self.rest = Some(Optimal::new());
            }
            Round::Nothing => self.phase = Phase::Over,
        }
    }

    /// Commits what was learned to the pool.
    pub(super) fn commit(&mut self) {
        self.guide_mut().commit();
        self.pool.lock().walks = self.walks;
    }

    /// True if the current subtree is suspended after each execution, so that others have their turn.
    pub(super) fn takes_turns(&self) -> bool {
        self.phase == Phase::Guided && !self.deepest_first
    }
}
