//! A model as the engine sees it.
//!
//! | step | accesses |
//! |---|---|
//! | receive | changes the mailbox; changes and takes the message |
//! | send | changes and gives the message; offers it where receives choose, else changes the tail of the mailbox |
//! | create | changes the roster, which numbers the actors |
//! | announce | changes the monitor |
//! | fault | changes what is left of the budget; a message that might have been faulty reads it |

use std::rc::Rc;

use raddle_engine::caveats::Caveats;
use raddle_engine::forward::ForwardChoices;
use raddle_engine::ids::{ObjectId, StepIx, TaskId};
use raddle_engine::outcome::{ObjectInfo, Participants, TaskInfo, Waiting};
use raddle_engine::schedule::TaskName;
use raddle_engine::system::{Action, Choice, Peeked, Pending, Point, Variant};
use raddle_engine::trace::{Access, Class, Effect, Operation, Ordered, Role, Site, Step, Trace, Word};

use crate::actor::{Delivery, Faults, Roster, combine, mix};
use crate::crash;
use crate::model::apply::Stop;
use crate::model::monitors::ModelMonitor;
use crate::model::scratch::Scratch;
use crate::model::slot::{ActorInfo, Body, Mail, Slot};
use crate::model::tell::{self, ModelStory};
use crate::model::{Code, FirstStep};

pub(super) static RECEIVE: Operation = Operation { verb: "receive", class: Class::Receive };
pub(super) static CRASH: Operation = Operation { verb: "crash", class: Class::Receive };

pub(super) const ROSTER: ObjectId = ObjectId::new(0);
pub(super) const FAULTS: ObjectId = ObjectId::new(1);
pub(super) const FIRST_MONITOR: usize = 2;

/// The state of a model. A copy shares what neither of the two has changed since.
#[derive(Clone)]
pub(crate) struct ModelState {
    pub(super) code: Rc<Code>,
    pub(super) actors: Vec<Rc<Slot>>,
    pub(super) infos: Rc<Vec<ActorInfo>>,
    pub(super) roster: Rc<Roster>,
    pub(super) monitors: Vec<Rc<Box<dyn ModelMonitor>>>,
    pub(super) faults: Faults,
    pub(super) dead_letters: u32,
    pub(super) unhandled: u32,
    /// The sum of the hashes of actors and mailboxes. [`fingerprint`](Self::fingerprint) adds the rest.
    pub(super) digest: u64,
    pub(super) actions: Vec<Action>,
    pub(super) stop: Stop,
    /// The source location of the present operation.
    pub(super) here: Site,
    /// The texts for the report, if this execution is run for one.
    pub(super) story: Option<Box<ModelStory>>,
    /// Memory for the effects of handlers; empty between steps.
    pub(super) scratch: Scratch,
    /// The enabled actions are known.
    pub(super) enabled_known: bool,
    /// An actor could have crashed, a timer of one could have gone off, or a message was delayed in order of arrival.
    pub(super) reduction_unproven: bool,
    /// An actor has stopped.
    pub(super) stopped: bool,
    /// Hashes and names are out of date after an untraced run.
    pub(super) unhashed: bool,
}

fn share<T>(theirs: &mut Rc<T>, own: &Rc<T>) {
    if !Rc::ptr_eq(theirs, own) {
        theirs.clone_from(own);
    }
}

pub(super) fn task(index: usize) -> TaskId {
    TaskId::next_of(index + 1)
}

pub(super) fn index(task: TaskId) -> usize {
    task.index() - 1
}

impl ModelState {
    pub(super) fn new(code: Code) -> Self {
        Self {
            here: code.site,
            story: None,
            code: Rc::new(code),
            actors: Vec::new(),
            infos: Rc::default(),
            roster: Rc::default(),
            monitors: Vec::new(),
            faults: Faults::default(),
            dead_letters: 0,
            unhandled: 0,
            digest: 0,
            actions: Vec::new(),
            stop: Stop::Actions,
            scratch: Scratch::default(),
            enabled_known: false,
            reduction_unproven: false,
            stopped: false,
            unhashed: false,
        }
    }

    /// Adds the sends of the setup to the trace.
    pub(super) fn take_first_steps(&mut self, trace: &mut Trace) {
        let code = Rc::clone(&self.code);
        for &FirstStep { step, message, to, number } in &code.first_steps {
            trace.push(step);
            trace.touch(message);
            if self.tells() {
                self.tell_first(to, number, trace);
            }
        }
    }

    pub(super) fn delivery(&self) -> Delivery {
        self.code.rules.delivery
    }

    pub(super) fn monitor(&self, monitor: usize) -> ObjectId {
        ObjectId::next_of(FIRST_MONITOR + monitor)
    }

    pub(super) fn head(&self, actor: usize) -> ObjectId {
        ObjectId::next_of(FIRST_MONITOR + self.monitors.len() + 2 * actor)
    }

    pub(super) fn tail(&self, actor: usize) -> ObjectId {
        ObjectId::next_of(self.head(actor).index() + 1)
    }

    pub(super) fn change_body<R>(&mut self, actor: usize, change: impl FnOnce(&mut Body) -> R) -> R {
        let body = &mut self.code.spare_slots.own(actor, &mut self.actors[actor]).body;
        let without = self.digest.wrapping_sub(body.digest);
        let result = change(body);
        body.refresh();
        self.digest = without.wrapping_add(body.digest);
        result
    }

    pub(super) fn change_mail<R>(&mut self, actor: usize, change: impl FnOnce(&mut Mail) -> R) -> R {
        let mail = &mut self.code.spare_slots.own(actor, &mut self.actors[actor]).mail;
        let without = self.digest.wrapping_sub(mail.digest);
        let result = change(mail);
        self.digest = without.wrapping_add(mail.digest);
        result
    }

    /// Adds a step that needed no decision.
    pub(super) fn note(&self, trace: &mut Trace, task: TaskId, op: &'static Operation, access: Access) {
        trace.push(self.account(task, Variant::Ready, op, access, 0));
    }

    pub(super) fn account(
        &self,
        task: TaskId,
        variant: Variant,
        op: &'static Operation,
        access: Access,
        alternatives: u32,
    ) -> Step {
        Step::new((task, variant), op, access, self.here, alternatives)
    }

    /// The task that continues by this choice, and by which alternative. A crash report in the middle of the step needs it.
    fn chosen(&self, choice: Choice) -> Option<(TaskId, Option<Variant>)> {
        match &self.stop {
            Stop::Actions => {
                let Action { task, variant, .. } = self.actions[choice.index()];
                Some((task, (self.actions.len() > 1).then_some(variant)))
            }
            Stop::Draw { actor, .. } | Stop::Fate { actor, .. } => Some((task(*actor), None)),
            Stop::End(_) => None,
        }
    }

    /// Continues after a decision other than the next receive.
    fn go_on(&mut self, choice: Choice, trace: &mut Trace) {
        match std::mem::replace(&mut self.stop, Stop::Actions) {
            Stop::Draw { actor, payload, draws, choices, site } => {
                self.here = site;
                self.draw(actor, payload, draws, (choice, choices), trace);
            }
            Stop::Fate { actor, fates, send, rest } => self.suffer(actor, &fates, send, rest, choice, trace),
            Stop::Actions | Stop::End(_) => panic!("raddle bug: an execution that has ended was to go on"),
        }
    }

    fn take(&mut self, choice: Choice, trace: &mut Trace) {
        let action = self.actions[choice.index()];
        let actor = index(action.task);
        self.here = self.code.site;
        let alternatives = u32::try_from(self.actions.len()).expect("raddle bug: more than 2^32 actions");
        let own = access(self.head(actor), Effect::Change, Role::Plain);
        let step = self.account(action.task, action.variant, action.op, own, alternatives);
        let number = match action.variant {
            Variant::Message(number) => Some(number),
            Variant::Ready => None,
            _ => {
                trace.push(step);
                crash::handles(action.task);
                return self.crash(actor, trace);
            }
        };
        let (delivery, tail) = (self.delivery(), self.tail(actor));
        // The handler runs before the state changes, so that its actor changes only once.
        let ran = match self.scratch.peeked.take() {
            Some((peeked, ran)) if peeked == choice => ran,
            _ => {
                let (info, Slot { body, mail }) = (&self.infos[actor], &*self.actors[actor]);
                self.scratch.run_handler(&self.code, &self.roster, info, body, mail.look(number), Vec::new())
            }
        };
        let Slot { body, mail } = self.code.spare_slots.own(actor, &mut self.actors[actor]);
        let without = self.digest.wrapping_sub(mail.digest).wrapping_sub(body.digest);
        let tells = self.story.is_some();
        let timer = tells && number.is_some_and(|number| mail.queue.get(Some(number)).is_none());
        let (envelope, payload) = mail.take(delivery, number);
        body.clock.read(&envelope, delivery);
        trace.push(Step { found: Some(Word(envelope.name)), ..step });
        crash::handles(action.task);
        trace.touch(access(envelope.object(), Effect::Change, Role::Takes));
        if delivery == Delivery::Arrival && self.code.rules.faults.delay > 0 {
            // The message may have been delayed, or have overtaken a delayed one. Then a send that comes first makes a difference.
            trace.touch(access(tail, Effect::Read, Role::Plain));
        }
        let told = tells.then(|| (envelope.clone(), payload.clone()));
        trace.receive(envelope.receipt(StepIx::next_of(trace.len() - 1), body.clock.name));
        let wants = ran.handling.wants;
        let ran = if wants.is_none() { Ok(body.set(ran)) } else { Err(ran) };
        if delivery == Delivery::Causal {
            body.refresh();
        }
        self.digest = without.wrapping_add(mail.digest).wrapping_add(body.digest);
        if let Some(told) = told {
            self.tell_received(actor, &told, timer, trace);
        }
        match ran {
            Ok(mut handled) => {
                handled.handling.reuse(payload.into_cell());
                self.follow(actor, handled, trace);
            }
            Err(ran) => self.ask(actor, payload, ran),
        }
    }

    /// The fingerprint of the state, if this is that of the actors and mailboxes, and this that of where it is paused.
    #[inline]
    pub(super) fn state_with(&self, actors: u64, stop: u64) -> u64 {
        const NONE: u64 = mix(0, 0);
        let Faults { drop, duplicate, delay, crash } = self.faults;
        let faults = if self.code.plain {
            NONE
        } else {
            mix(u64::from(drop) << 32 | u64::from(duplicate), u64::from(delay) << 32 | u64::from(crash))
        };
        let monitors = self.monitors.iter().fold(faults, |hash, monitor| mix(hash, monitor.digest()));
        combine(actors ^ monitors, stop)
    }

    fn name(&self, task: TaskId) -> Vec<u32> {
        if task == TaskId::MAIN {
            return Vec::new();
        }
        let info = &self.infos[index(task)];
        let mut path = self.name(info.parent);
        path.push(info.ordinal);
        path
    }
}

pub(super) fn access(object: ObjectId, effect: Effect, role: Role) -> Access {
    Access { object, effect, role, ordered: Ordered::RELAXED }
}

/// The methods of [`Run`](super::run::Run) as a system, and of its capabilities.
impl ModelState {
    pub(super) fn point(&self) -> Point<'_> {
        match &self.stop {
            Stop::Actions => Point::Actions(&self.actions),
            &Stop::Draw { actor, choices, site, .. } => Point::Data { task: task(actor), choices, site },
            Stop::Fate { actor, fates, send: (_, site), .. } => {
                let choices = u32::try_from(fates.len()).expect("there are four fates");
                Point::Data { task: task(*actor), choices, site }
            }
            Stop::End(outcome) => Point::End(outcome),
        }
    }

    pub(super) fn step(&mut self, choice: Choice, trace: &mut Trace) {
        let _inside = crash::inside_model(self, Some(trace), self.chosen(choice));
        if matches!(self.stop, Stop::Actions) {
            self.take(choice, trace);
        } else {
            self.go_on(choice, trace);
        }
        self.enabled_known = false;
        // Checks may look at these counts, which are not part of the fingerprint.
        if self.dead_letters > 0 || self.unhandled > 0 {
            self.compute_enabled();
        }
    }

    pub(super) fn compute_enabled(&mut self) {
        if !self.enabled_known {
            let _inside = crash::inside_model(self, None, None);
            self.enabled_known = true;
            self.reach_point();
        }
    }

    pub(super) fn caveats(&self) -> Caveats {
        // Reduction runs one order of independent steps, but a check of what must always hold may fail in the middle of
        // another order.
        Caveats { reduction_unproven: self.reduction_unproven || !self.code.always.is_empty(), ..Caveats::default() }
    }

    pub(super) fn task_name(&self, task: TaskId) -> TaskName {
        TaskName(self.name(task))
    }

    pub(super) fn participants(&self) -> Participants {
        let main = TaskInfo { name: TaskName::default(), label: Some("model".to_owned()), finished: true };
        let actors = self.actors.iter().enumerate().map(|(actor, slot)| TaskInfo {
            name: self.task_name(task(actor)),
            label: Some(tell::label(self.infos[actor].who, self.infos[actor].external)),
            finished: slot.body.actor.is_none(),
        });
        let info = |noun| ObjectInfo { noun, made: None, show: |word| format!("{:08x}", word.0) };
        let monitors = self.monitors.iter().map(|monitor| info(monitor.name()));
        let mailboxes = self.actors.iter().flat_map(|_| ["mailbox", "end of mailbox"]).map(info);
        Participants {
            tasks: std::iter::once(main).chain(actors).collect(),
            objects: ["roster", "faults"].map(info).into_iter().chain(monitors).chain(mailboxes).collect(),
            remarks: self.remarks(),
        }
    }

    pub(super) fn unfinished(&self, _: &Trace) -> Vec<Waiting> {
        let busy = self.waiting().filter(|(_, ready)| *ready).map(|(action, _)| action);
        let waits = |a: Action| Waiting { task: a.task, op: a.op, object: a.object, site: a.site, held_by: Vec::new() };
        busy.map(waits).collect()
    }

    pub(super) fn pending(&self) -> Vec<Pending> {
        self.waiting().map(|(action, ready)| Pending { action, ready, clock: ObjectId::NONE, context: None }).collect()
    }

    pub(super) fn fork_onto(&self, other: &mut Self) {
        // Parts that both share stay as they are: to compare pointers costs less than to count references.
        share(&mut other.code, &self.code);
        share(&mut other.roster, &self.roster);
        share(&mut other.infos, &self.infos);
        other.actions.clear();
        other.actions.extend_from_slice(&self.actions);
        other.actors.truncate(self.actors.len());
        for (actor, (theirs, own)) in other.actors.iter_mut().zip(&self.actors).enumerate() {
            if !Rc::ptr_eq(theirs, own) {
                self.code.spare_slots.keep(actor, std::mem::replace(theirs, Rc::clone(own)));
            }
        }
        let (shared, all) = (other.actors.len(), self.actors.len());
        other.actors.extend_from_slice(&self.actors[shared..all]);
        if !self.monitors.is_empty() {
            other.monitors.clone_from(&self.monitors);
        }
        if !matches!((&other.stop, &self.stop), (Stop::Actions, Stop::Actions)) {
            other.stop.clone_from(&self.stop);
        }
        other.scratch.discard();
        let Self {
            faults, dead_letters, unhandled, digest, enabled_known, reduction_unproven, stopped, unhashed, ..
        } = *self;
        (other.faults, other.dead_letters, other.unhandled) = (faults, dead_letters, unhandled);
        (other.digest, other.enabled_known, other.reduction_unproven, other.stopped) =
            (digest, enabled_known, reduction_unproven, stopped);
        other.unhashed = unhashed;
    }

    pub(super) fn fingerprint(&self) -> Option<u64> {
        let stop = match &self.stop {
            Stop::Draw { actor, payload, draws, .. } => {
                draws.iter().fold(mix(*actor as u64 + 1, payload.digest), |hash, draw| mix(hash, u64::from(*draw)))
            }
            // The remaining effects are not part of any actor.
            Stop::Fate { actor, send, rest, .. } => {
                let mut left = std::iter::once(send).chain(rest);
                left.try_fold(mix(*actor as u64, 1), |hash, (effect, _)| Some(mix(hash, effect.digest()?)))?
            }
            Stop::Actions | Stop::End(_) => 0,
        };
        if self.unhashed { None } else { Some(self.state_with(self.digest, stop)) }
    }

    pub(super) fn peek(&mut self, choice: Choice, so_far: &Trace) -> Option<Peeked> {
        let _inside = crash::inside_model(self, Some(so_far), self.chosen(choice));
        self.peek_receive(choice)
    }

    pub(super) fn run_forward(&mut self, choices: &mut ForwardChoices, trace: &mut Trace) {
        let _inside = crash::inside_model(self, Some(trace), None);
        self.run_untraced(choices, trace);
    }
}
