//! The enabled actions of a model, and the checks that must hold after every step.

use std::mem;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::system::{Action, Variant};
use raddle_engine::trace::{Effect, Role};

use crate::actor::Delivery;
use crate::model::apply::Stop;
use crate::model::slot::Mail;
use crate::model::step::{CRASH, FIRST_MONITOR, ModelState, RECEIVE, task};
use crate::model::{Check, View};
use crate::panics::{self, Panicked};

impl ModelState {
    /// Computes the enabled actions.
    pub(super) fn reach_point(&mut self) {
        if matches!(self.stop, Stop::Draw { .. } | Stop::Fate { .. } | Stop::End(_)) {
            return;
        }
        if !self.holds() {
            return;
        }
        self.list_actions();
        // A crash is never forced.
        if self.actions.iter().all(|action| action.variant == Variant::Spurious) {
            let late = self.monitors.iter().find_map(|monitor| Some((monitor.name(), monitor.at_quiet().err()?)));
            let late = late.map(|(monitor, message)| {
                Failure::Violation { task: TaskId::MAIN, monitor: monitor.to_owned(), message }.into()
            });
            let outcome = late.or_else(|| self.check(&self.code.finally));
            self.stop = Stop::End(outcome.unwrap_or(Outcome::Completed));
        }
    }

    /// Runs the checks that must hold after every step. The execution ends if one fails.
    pub(super) fn holds(&mut self) -> bool {
        match self.check(&self.code.always) {
            Some(outcome) => {
                self.stop = Stop::End(outcome);
                false
            }
            None => true,
        }
    }

    fn check(&self, checks: &[Check]) -> Option<Outcome> {
        checks.iter().find_map(|check| {
            let Panicked { message, place } = panics::catch(|| check(&View(self))).err()?;
            Some(Failure::Panic { task: TaskId::MAIN, message, place }.into())
        })
    }

    fn list_actions(&mut self) {
        let (delivery, may_crash) = (self.delivery(), self.faults.crash > 0);
        let mut actions = mem::take(&mut self.actions);
        actions.clear();
        for (actor, slot) in self.actors.iter().enumerate() {
            let Mail { queue, timers, .. } = &slot.mail;
            let crashes = may_crash && self.infos[actor].may_crash;
            if (queue.is_empty() && timers.is_empty() && !crashes) || slot.body.actor.is_none() {
                continue;
            }
            let object = ObjectId::next_of(FIRST_MONITOR + self.monitors.len() + 2 * actor);
            let (task, site) = (task(actor), self.code.site);
            let act =
                |variant, op| Action { task, variant, op, object, effect: Effect::Change, role: Role::Plain, site };
            let receive = |number| act(Variant::Message(number), &RECEIVE);
            if delivery == Delivery::Arrival {
                actions.extend((!queue.is_empty()).then(|| act(Variant::Ready, &RECEIVE)));
            } else {
                queue.each_open(delivery, |number| actions.push(receive(number)));
            }
            if !timers.is_empty() {
                self.reduction_unproven = true;
                actions.extend(timers.iter().map(|timer| receive(timer.1.number)));
            }
            if crashes {
                self.reduction_unproven = true;
                actions.push(act(Variant::Spurious, &CRASH));
            }
        }
        self.actions = actions;
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = (Action, bool)> + '_ {
        self.actors.iter().enumerate().filter(|(_, slot)| slot.body.actor.is_some()).map(|(actor, slot)| {
            let ready = !slot.mail.queue.is_empty() || !slot.mail.timers.is_empty();
            let action = Action {
                task: task(actor),
                variant: Variant::Ready,
                op: &RECEIVE,
                object: self.head(actor),
                effect: Effect::Change,
                role: Role::Plain,
                site: self.code.site,
            };
            (action, ready)
        })
    }
}
