//! What can happen next in a model, and whether what must hold does.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::{Failure, Outcome};
use raddle_engine::system::{Action, Variant};
use raddle_engine::trace::{Effect, Role};

use crate::actor::Delivery;
use crate::model::apply::Stop;
use crate::model::step::{CRASH, FIRST_MONITOR, RECEIVE, Run, task};
use crate::model::{Check, View};
use crate::panics::{self, Panicked};

impl Run {
    /// Finds out what can happen next.
    pub(super) fn reach_point(&mut self) {
        if matches!(self.stop, Stop::Draw { .. } | Stop::Fate { .. } | Stop::End(_)) {
            return;
        }
        if let Some(outcome) = self.check(&self.code.always) {
            self.stop = Stop::End(outcome);
            return;
        }
        self.list_actions();
        // Nobody has to crash.
        if self.actions.iter().all(|action| action.variant == Variant::Spurious) {
            let late = self.monitors.iter().find_map(|monitor| Some((monitor.name(), monitor.at_quiet().err()?)));
            let late = late.map(|(monitor, message)| {
                Failure::Violation { task: TaskId::MAIN, monitor: monitor.to_owned(), message }.into()
            });
            let outcome = late.or_else(|| self.check(&self.code.finally));
            self.stop = Stop::End(outcome.unwrap_or(Outcome::Completed));
        }
    }

    fn check(&self, checks: &[Check]) -> Option<Outcome> {
        checks.iter().find_map(|check| {
            let Panicked { message, place } = panics::catch(|| check(&View(self))).err()?;
            Some(Failure::Panic { task: TaskId::MAIN, message, place }.into())
        })
    }

    fn list_actions(&mut self) {
        self.actions.clear();
        let delivery = self.delivery();
        for (actor, slot) in self.actors.iter().enumerate() {
            if slot.body.actor.is_none() {
                continue;
            }
            let object = ObjectId::next_of(FIRST_MONITOR + self.monitors.len() + 2 * actor);
            let (task, site) = (task(actor), self.code.site);
            let act =
                |variant, op| Action { task, variant, op, object, effect: Effect::Change, role: Role::Plain, site };
            let queue = &slot.mail.queue;
            if delivery == Delivery::Arrival {
                self.actions.extend((!queue.is_empty()).then(|| act(Variant::Ready, &RECEIVE)));
            } else {
                let letters = || queue.iter().map(|mail| &mail.0);
                let can = letters().enumerate().filter(|(at, letter)| delivery.lets(letters(), *at, letter));
                self.actions.extend(can.map(|(_, letter)| act(Variant::Message(letter.number), &RECEIVE)));
            }
            self.odd |= !slot.mail.timers.is_empty() || (self.faults.crash > 0 && slot.card.may_crash);
            let timers = slot.mail.timers.iter().map(|timer| act(Variant::Message(timer.1.number), &RECEIVE));
            self.actions.extend(timers);
            if self.faults.crash > 0 && slot.card.may_crash {
                self.actions.push(act(Variant::Spurious, &CRASH));
            }
        }
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
