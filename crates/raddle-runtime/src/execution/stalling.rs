//! Which tasks have to wait because they [spin](super::spin), or because they have taken too many steps in a row.

use raddle_engine::ids::TaskId;
use raddle_engine::trace::{Class, Site};

use crate::execution::spin::MOST_ROUNDS;
use crate::execution::state::State;
use crate::execution::{Ask, RunsOn, Spot};

/// How many steps a task may take in a row while another task is enabled. No real scheduler lets a task run for longer, and a loop that
/// waits for another task would never end.
const MOST_IN_A_ROW: u32 = 10_000;

/// A yield counts as so many of these steps, if the task has changed an object since its yield before.
const YIELD_WEIGHT: u32 = 200;

/// After so many rounds, [`RunsOn::AllLoops`] lets a task run on alone.
const ROUNDS_OF_A_LOOP: u32 = 16;

impl State {
    /// Ends the stall of `task`, if it is stalled.
    pub(super) fn go_on(&mut self, task: TaskId) {
        self.stalled -= u32::from(self.spins[task.index()].go_on());
    }

    /// Decides whether the current task stalls. It is about to look, for the `rounds`th time in a row, at an unchanged object.
    pub(super) fn judge_spinning(&mut self, site: Site, rounds: u32) {
        if !self.spins_at(site, rounds) {
            return;
        }
        let spin = &mut self.spins[self.current.index()];
        spin.stall_until_change();
        self.stalled += 1;
        for watched in spin.watched() {
            self.objects[watched.index()].watched = true;
        }
    }

    /// Decides whether the current task, which is about to yield, stalls.
    pub(super) fn judge_yielding(&mut self, site: Site) {
        let others = self.turns_of_others(self.current);
        if let Some(rounds) = self.spins[self.current.index()].yields_again(site, others)
            && self.spins_at(site, rounds)
        {
            self.spins[self.current.index()].stall_until_step(others);
            self.stalled += 1;
        }
    }

    /// How often tasks other than `task` were chosen.
    pub(super) fn turns_of_others(&self, task: TaskId) -> u64 {
        self.turns - self.tasks[task.index()].turns
    }

    /// Whether the current task runs on without a decision: it is about to ask for an operation in a loop that it [runs alone](RunsOn).
    #[cold]
    pub(super) fn runs_on(&mut self, ask: &Ask) -> bool {
        let index = self.current.index();
        let runs_on = match ask.op.class {
            Class::Yield => return self.spins[index].runs_on,
            Class::Read | Class::Update | Class::Receive if ask.ready.is_none() && ask.object.is_some() => {
                let version = self.objects[ask.object.index()].version;
                let rounds = self.spins[index].looks_again(ask.object, version, ask.site);
                rounds.is_some_and(|rounds| rounds < MOST_ROUNDS && self.runs_alone_at(ask.site, rounds))
            }
            _ => false,
        };
        self.spins[index].runs_on = runs_on;
        runs_on
    }

    /// Whether the current task goes on alone in a loop that has gone so many rounds.
    fn runs_alone_at(&mut self, site: Site, rounds: u32) -> bool {
        let few = self.settings.facts.runs_on == RunsOn::AllLoops && rounds >= ROUNDS_OF_A_LOOP;
        few || self.is_known_to_spin(site)
    }

    fn is_known_to_spin(&mut self, site: Site) -> bool {
        match self.known_loops.iter().find(|known| std::ptr::eq(known.0, site)) {
            Some(known) => known.1,
            None => {
                let spins = self.settings.facts.spins.contains(&Spot::from(site));
                self.known_loops.push((site, spins));
                spins
            }
        }
    }

    /// Whether we assume that a loop spins which has gone so many rounds at `site`.
    fn spins_at(&mut self, site: Site, rounds: u32) -> bool {
        let known = self.is_known_to_spin(site);
        let places = if known { &mut self.caveats.assumed_spins } else { &mut self.new_spins };
        let spins = known || rounds >= MOST_ROUNDS;
        if spins && !places.iter().any(|place| std::ptr::eq(*place, site)) {
            places.push(site);
        }
        spins
    }

    /// Counts how many steps `task` has taken in a row while another task was enabled. After too many it rests: another task goes first.
    #[inline]
    pub(super) fn note_turn(&mut self, task: TaskId, class: Class) {
        if self.streak.0 != task || self.resting.is_some() {
            self.streak = (task, 0);
            self.stale |= self.resting.take().is_some();
        }
        let yields = class == Class::Yield && self.spins[task.index()].changes_as_it_yields();
        self.streak.1 += if yields { YIELD_WEIGHT } else { 1 };
        if self.streak.1 > MOST_IN_A_ROW {
            self.resting = Some(task);
            self.stale = true;
            self.caveats.guessed_spin = true;
        }
    }
}
