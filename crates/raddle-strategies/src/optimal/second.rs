//! The later step of a race, and the accesses directly before it.

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::order::before::looked_at_held;
use raddle_engine::order::events::{Event, Label, Touch};
use raddle_engine::system::{Pending, Variant};
use raddle_engine::trace::{Access, Class, Effect, Role, Trace};
use smallvec::SmallVec;

use super::execution::Execution;

/// The later step of a race.
#[derive(Clone, Debug)]
pub(super) struct Second {
    pub task: TaskId,
    /// The first event of its group, and the one after the last; both are the number of events if it is pending.
    pub event: usize,
    pub end: usize,
    pub class: Class,
    /// How it went on; `None` if it is pending.
    pub label: Option<Label>,
    /// It is to take another message than it did, and what follows from that is not known.
    pub takes_message: bool,
    /// It needed no decision.
    pub is_look: bool,
    pub touches: SmallVec<[Touch; 4]>,
    /// The objects that it waits for.
    pub waits_for: SmallVec<[ObjectId; 2]>,
    /// The latest event of its task before it.
    pub previous: Option<usize>,
    /// The earlier accesses that are directly before it.
    pub direct: SmallVec<[Direct; 4]>,
    /// It receives, and this object decides which message is first.
    pub queue: Option<ObjectId>,
    /// If it asks for values: what it touches up to the first question, then up to the second, and so on.
    pub parts: Vec<SmallVec<[Touch; 2]>>,
}

/// An access directly before another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direct {
    pub event: usize,
    pub object: ObjectId,
    /// The later step could not have come first: it was let go on by this access, or this access looked at something that was held.
    pub cause: bool,
    /// The later step waits for the object.
    pub waited_for: bool,
}

impl Second {
    /// A step that took place.
    pub fn happened(run: &Execution, event: usize, trace: &Trace) -> Self {
        if run.is_look(event) {
            return Self::looked(run, event);
        }
        let group = run.group(event);
        let parts = if group.len() > 1 {
            group.clone().map(|event| run.own_touches(event, trace)).collect()
        } else {
            Vec::new()
        };
        let Event { task, label, class, object, .. } = *run.events.get(event);
        let mut touches: SmallVec<[Touch; 4]> = run.events.touches(event).into();
        let mut waits_for = SmallVec::new();
        let own = touches.iter().find(|touch| touch.object == object).copied();
        let clock = touches.iter().find(|touch| touch.role == Role::Timed).map(|touch| touch.object);
        match clock {
            // A timeout waits until earlier ones are over. A wait that has a timeout is never blocked otherwise.
            Some(clock) => waits_for.extend((label == Label::Way(Variant::TimedOut)).then_some(clock)),
            None if own.is_some_and(|own| matches!(own.role, Role::Takes | Role::Waits)) => waits_for.push(object),
            None => {}
        }
        if class == Class::Receive && (clock.is_some() || own.is_some_and(|own| own.role == Role::Waits)) {
            // It took the oldest message. In another place, that may be another one, or none.
            let is_message = |touch: &Touch| touch.role == Role::Takes && touch.object != object;
            touches.retain(|touch| !is_message(touch) || touch.is_birth() || touch.effect == Effect::Read);
        }
        let previous = run.before.previous(task, event);
        let mut second = Self {
            task,
            event: group.start,
            end: group.end,
            class,
            label: Some(label),
            takes_message: false,
            is_look: false,
            touches,
            waits_for,
            previous,
            direct: SmallVec::new(),
            queue: queue_of(run, event, trace),
            parts,
        };
        second.find_direct(run);
        second
    }

    /// A look that needed no decision. In another place it is a step of its own.
    pub fn looked(run: &Execution, event: usize) -> Self {
        let Event { task, label, class, object, .. } = *run.events.get(event);
        let mut second = Self {
            task,
            event,
            end: event + 1,
            class,
            label: Some(label),
            takes_message: false,
            is_look: true,
            touches: run.events.touches(event).into(),
            waits_for: std::iter::once(object).filter(|_| class == Class::Acquire).collect(),
            previous: run.before.previous(task, event),
            direct: SmallVec::new(),
            queue: None,
            parts: Vec::new(),
        };
        second.find_direct(run);
        second
    }

    /// A step that is pending at the end.
    pub fn pending(run: &Execution, pending: &Pending) -> Self {
        let action = &pending.action;
        let len = run.events.len();
        let mut touches: SmallVec<[Touch; 4]> = run.events.handed(action.task).into();
        let mut waits_for: SmallVec<[ObjectId; 2]> = SmallVec::new();
        if action.object.is_some() && !action.role.orders_nothing() {
            touches.retain(|touch| touch.object != action.object);
            touches.push(Touch { object: action.object, effect: action.effect, role: action.role });
            waits_for.push(action.object);
        }
        if pending.clock.is_some() && pending.clock != action.object {
            touches.push(Touch { object: pending.clock, effect: Effect::Change, role: Role::Timed });
            waits_for.push(pending.clock);
        }
        let previous = run.before.previous(action.task, len);
        let mut second = Self {
            task: action.task,
            event: len,
            end: len,
            class: action.op.class,
            label: None,
            takes_message: false,
            is_look: false,
            touches,
            waits_for,
            previous,
            direct: SmallVec::new(),
            queue: None,
            parts: Vec::new(),
        };
        second.find_direct(run);
        second
    }

    /// How many of its events are the same in the place of an event that it races with: up to the first part in which they conflict.
    pub fn same_before(&self, run: &Execution, first: usize, waits: bool) -> usize {
        let theirs = run.events.touches(first);
        let conflicts =
            |part: &SmallVec<[Touch; 2]>| part.iter().any(|mine| theirs.iter().any(|it| it.conflicts(*mine)));
        let part = if waits { Some(0) } else { self.parts.iter().position(conflicts) };
        part.map_or(self.end - self.event, |part| part + 1).min(self.end - self.event)
    }

    /// The same receive with another message. What its task does with that message is not known.
    pub fn taking_another(&self, place: ObjectId, label: Option<Label>) -> Self {
        let mut other = Self { label, takes_message: true, ..self.clone() };
        let stays = |touch: &Touch| touch.object == place || touch.role == Role::Takes && touch.effect == Effect::Read;
        other.touches.retain(|touch| stays(touch));
        other.waits_for = std::iter::once(place).collect();
        let touches = &other.touches;
        other.direct.retain(|direct| direct.object != place && touches.iter().any(|it| it.object == direct.object));
        other
    }

    /// True if it conflicts with an event on one object only.
    pub fn meets_once(&self, event: usize) -> bool {
        self.direct.iter().filter(|direct| direct.event == event).count() == 1
    }

    pub fn is_timed(&self) -> bool {
        self.touches.iter().any(|touch| touch.role == Role::Timed)
    }

    fn find_direct(&mut self, run: &Execution) {
        for touch in &self.touches {
            let table = run.before.accesses(touch.slot(), self.event);
            let waited_for = self.waits_for.contains(&touch.object);
            for (at, earlier) in table.iter().enumerate().rev() {
                if touch.effect == Effect::Read && earlier.effect == Effect::Read {
                    continue;
                }
                let may_block = touch.role == Role::Timed || !self.is_timed();
                let cause = may_block && touch.takes() && (earlier.gives() || looked_at_held(&table[..at], *earlier));
                // What a value leads to counts for the step that asked for it.
                let event = run.group(earlier.event()).start;
                let known = |direct: &Direct| (direct.event, direct.object) == (event, touch.object);
                match self.direct.iter_mut().find(|direct| known(direct)) {
                    Some(direct) => direct.cause |= cause,
                    None => self.direct.push(Direct { event, object: touch.object, cause, waited_for }),
                }
                if earlier.effect == Effect::Change {
                    break;
                }
            }
        }
    }
}

/// The object that decides which message a receive takes first, if it looks at one.
fn queue_of(run: &Execution, event: usize, trace: &Trace) -> Option<ObjectId> {
    let Event { class, label, object, .. } = *run.events.get(event);
    if class != Class::Receive || label != Label::Way(Variant::Ready) {
        return None;
    }
    let looks =
        |access: &Access| access.effect == Effect::Read && access.role == Role::Plain && access.object != object;
    trace.accesses(run.events.step(event)).find(looks).map(|access| access.object)
}
