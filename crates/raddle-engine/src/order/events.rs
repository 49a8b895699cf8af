//! An execution as reduction sees it: one event for each decision, with everything it touched.
//!
//! Steps that follow without a decision belong to the event before them, with one exception. Who learns that another task has
//! ended, or is let go on by another task's step, does so as soon as both sides are there, and nobody can tell which came last.
//! So what such a step touches is handed on to the next event of its task, which thereby comes after both, while the event that
//! it happened to follow does not.
//!
//! A task that has asked for a value gets it before anything else happens. So what is done with the value counts for the event
//! that led to the question as well: others come before both or after both.
//!
//! Being created is an object too: the parent's event gives it and the child's first event takes it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::ids::{ObjectId, StepIx, TaskId};
use crate::system::Variant;
use crate::trace::{Class, Effect, Offer, Role, Step, Trace, Word};

/// What was decided: together with the task it tells apart everything that can happen at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Label {
    /// The task went on in this way.
    Way(Variant),
    /// The task was given this value.
    Value(u32),
}

/// An object that an event touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Touch {
    /// Which; the birth of a task counts as one.
    pub object: ObjectId,
    /// Looked at or changed.
    pub effect: Effect,
    /// What it is to those who wait.
    pub role: Role,
}

/// Births are numbered from the top, where no execution has that many objects.
const BIRTHS: u32 = 1 << 31;

impl Touch {
    fn birth(task: TaskId, effect: Effect, role: Role) -> Self {
        Self { object: ObjectId::new(BIRTHS + task.number()), effect, role }
    }

    /// Whether it is about a task's creation.
    pub(crate) fn is_birth(self) -> bool {
        self.object.number() >= BIRTHS
    }

    /// A place for the object in a dense table.
    pub(crate) fn slot(self) -> usize {
        let number = self.object.number();
        if number >= BIRTHS {
            (number - BIRTHS) as usize * 3 + 1
        } else if let Some(message) = self.object.as_message() {
            message as usize * 3 + 2
        } else {
            number as usize * 3
        }
    }

    /// Whether it is a message that has this place.
    pub(crate) fn is_message_at(slot: usize) -> bool {
        slot % 3 == 2
    }

    /// Whether it has to wait until somebody else gives.
    pub(crate) fn takes(self) -> bool {
        self.role == Role::Takes || (self.role == Role::Timed && self.effect == Effect::Change)
    }

    /// Whether the order of the two makes a difference.
    #[inline]
    #[must_use]
    pub fn conflicts(self, other: Self) -> bool {
        self.object == other.object && (self.effect == Effect::Change || other.effect == Effect::Change)
    }
}

/// Whether two events of different tasks that touch these objects are dependent.
#[inline]
#[must_use]
pub fn dependent(one: &[Touch], other: &[Touch]) -> bool {
    one.iter().any(|&a| other.iter().any(|&b| a.conflicts(b)))
}

/// What came of one decision.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Who.
    pub task: TaskId,
    /// In which way, or with which value.
    pub label: Label,
    /// What kind of operation it was.
    pub class: Class,
    /// What its step was done to, if to anything.
    pub object: ObjectId,
    /// The value before, if it is known.
    pub found: Option<Word>,
    /// It changes something only if it finds this value.
    pub wants: Option<Word>,
    /// The clock that it could have ended by instead, if it is the end of a wait; [`ObjectId::NONE`] if by none.
    pub timed: ObjectId,
    /// Where the messages it sends begin among those of the whole execution; only those that receives choose from.
    offers: u32,
    begin: u32,
    end: u32,
}

impl Event {
    /// One that has not happened.
    #[must_use]
    pub fn pending(task: TaskId, label: Label, class: Class, object: ObjectId) -> Self {
        Self {
            task,
            label,
            class,
            object,
            found: None,
            wants: None,
            timed: ObjectId::NONE,
            offers: u32::MAX,
            begin: 0,
            end: 0,
        }
    }
}

/// A message that receives may choose.
#[derive(Clone, Copy, Debug)]
pub struct Offered {
    /// In which event it was sent; `None` if that was before anything was decided.
    pub event: Option<usize>,
    /// Who sent it.
    pub task: TaskId,
    /// Where it can be received.
    pub place: ObjectId,
    /// What those see of it who may receive it.
    pub offer: Offer,
    /// The message as something that is given and taken.
    pub message: ObjectId,
}

/// The events of one execution.
#[derive(Debug, Default)]
pub struct Events {
    events: Vec<Event>,
    /// In order of sending.
    offered: Vec<Offered>,
    touches: Vec<Touch>,
    /// Steps of the trace taken in so far.
    followed: usize,
    /// By task: what its next event touches before anything else.
    handed: Vec<Handed>,
    /// Which task's end an object is.
    ends: Vec<(ObjectId, TaskId)>,
}

#[derive(Clone, Debug, Default)]
struct Handed {
    touches: Vec<Touch>,
    /// The latest event, plus one, in which the task was let go on by another.
    apart: usize,
    /// The event, plus one, in which the task was created.
    born: usize,
}

impl Events {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.events.clear();
        self.touches.clear();
        self.offered.clear();
        self.followed = 0;
        self.handed.iter_mut().for_each(|handed| {
            handed.touches.clear();
            handed.apart = 0;
            handed.born = 0;
        });
        self.ends.clear();
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether nothing was decided yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The event of this decision.
    #[must_use]
    pub fn get(&self, index: usize) -> &Event {
        &self.events[index]
    }

    /// What that event touched.
    #[inline]
    #[must_use]
    pub fn touches(&self, index: usize) -> &[Touch] {
        let Event { begin, end, .. } = self.events[index];
        &self.touches[begin as usize..end as usize]
    }

    /// The messages that receives choose from, in order of sending.
    #[must_use]
    pub fn offered(&self) -> &[Offered] {
        &self.offered
    }

    /// Which of them that event sent.
    #[must_use]
    pub fn offers_of(&self, index: usize) -> Range<usize> {
        let begin = |event: &Event| (event.offers as usize).min(self.offered.len());
        begin(&self.events[index])..self.events.get(index + 1).map_or(self.offered.len(), begin)
    }

    /// Takes in what is new in `trace`.
    pub fn follow(&mut self, trace: &Trace) {
        while let Some(step) = trace.steps().get(self.followed) {
            let index = StepIx::next_of(self.followed);
            self.followed += 1;
            if step.alternatives > 0 {
                self.begin(step);
                self.add(step, index, trace);
            } else if !self.events.is_empty() {
                self.add(step, index, trace);
            } else {
                self.add_before_all(step, index, trace);
            }
        }
    }

    /// A step that came before anything was decided comes before every event; what it sent and who ended has to be known.
    fn add_before_all(&mut self, step: &Step, index: StepIx, trace: &Trace) {
        if step.op.class == Class::Finish && step.access.object.is_some() {
            self.ends.push((step.access.object, step.task));
        }
        for access in trace.accesses(index) {
            if let Role::Offers(offer) = access.role {
                self.put_offer(step, access.object, offer, given(trace, index), None);
            }
        }
    }

    fn put_offer(
        &mut self,
        step: &Step,
        place: ObjectId,
        offer: Offer,
        message: Option<ObjectId>,
        event: Option<usize>,
    ) {
        let message = message.expect("raddle bug: a message is offered that nobody gives");
        self.offered.push(Offered { event, task: step.task, place, offer, message });
    }

    /// Adds an event that did not happen, behind all others; to be taken away again with [`forget`](Self::forget).
    pub fn suppose(&mut self, event: Event, touches: impl IntoIterator<Item = Touch>) -> usize {
        let begin = self.mark();
        self.touches.extend(touches);
        let end = self.mark();
        self.events.push(Event { begin, end, ..event });
        self.events.len() - 1
    }

    /// Takes away the latest event, which did not happen.
    pub fn forget(&mut self) {
        let event = self.events.pop().expect("raddle bug: no event to forget");
        self.touches.truncate(event.begin as usize);
    }

    /// What would be handed on to the next event of `task`.
    #[must_use]
    pub fn handed(&self, task: TaskId) -> &[Touch] {
        self.handed.get(task.index()).map_or(&[], |handed| &handed.touches)
    }

    fn mark(&self) -> u32 {
        u32::try_from(self.touches.len()).expect("raddle bug: more than 2^32 accesses in one execution")
    }

    fn handed_to(&mut self, task: TaskId) -> &mut Handed {
        if self.handed.len() <= task.index() {
            self.handed.resize_with(task.index() + 1, Handed::default);
        }
        &mut self.handed[task.index()]
    }

    fn begin(&mut self, step: &Step) {
        let value = step.found.map_or(0, |word| u32::try_from(word.0).unwrap_or(u32::MAX));
        let is_choice = step.op.class == Class::Choice;
        let begin = self.mark();
        let mut handed = std::mem::take(&mut self.handed_to(step.task).touches);
        self.touches.append(&mut handed);
        self.handed_to(step.task).touches = handed;
        self.events.push(Event {
            task: step.task,
            label: if is_choice { Label::Value(value) } else { Label::Way(step.variant) },
            class: step.op.class,
            object: step.access.object,
            found: step.found,
            wants: step.wants,
            timed: ObjectId::NONE,
            offers: u32::try_from(self.offered.len()).expect("raddle bug: more than 2^32 messages in one execution"),
            begin,
            end: self.mark(),
        });
    }

    fn add(&mut self, step: &Step, index: StepIx, trace: &Trace) {
        let now = self.events.len();
        let owner = self.events[now - 1].task;
        let waited = step.op.class == Class::Join || matches!(step.access.role, Role::Takes | Role::Alone);
        let let_go = step.alternatives == 0 && waited;
        let handed = self.handed_to(step.task);
        // What a new task does at once, it does in the step that created it.
        if let_go || (step.task != owner && handed.born != now) {
            handed.apart = now;
        }
        let apart = handed.apart == now;
        if step.op.class == Class::Join {
            self.inherit_from_ended(step);
        }
        // Nobody can tell in which order plain memory was touched, unless it was raced on, which is a failure in any order.
        if step.op.class != Class::Cell {
            for access in trace.accesses(index) {
                if let Role::Offers(offer) = access.role {
                    self.put_offer(step, access.object, offer, given(trace, index), Some(now - 1));
                }
                if access.role.orders_nothing() {
                    continue;
                }
                if access.role == Role::Timed && access.effect == Effect::Read {
                    self.events[now - 1].timed = access.object;
                }
                let role = match step.op.class {
                    Class::Join => Role::Takes,
                    Class::Finish => Role::Gives,
                    _ => access.role,
                };
                let touch = Touch { object: access.object, effect: access.effect, role };
                if apart {
                    let seen = Touch { effect: Effect::Read, role: Role::Takes, ..touch };
                    merge(&mut self.handed_to(step.task).touches, 0, seen);
                }
                if !apart || access.effect == Effect::Change {
                    self.put(touch);
                }
            }
        }
        match (step.op.class, step.found) {
            (Class::Spawn, Some(child)) => self.give_birth(step.task, TaskId::next_of(child.0 as usize), apart),
            (Class::Finish, _) => self.ends.push((step.access.object, step.task)),
            _ => {}
        }
    }

    fn put(&mut self, touch: Touch) {
        let event = self.events.last_mut().expect("raddle bug: a touch without an event");
        merge(&mut self.touches, event.begin as usize, touch);
        event.end = u32::try_from(self.touches.len()).expect("raddle bug: more than 2^32 accesses in one execution");
        let mut at = self.events.len() - 1;
        while at > 0 && matches!(self.events[at].label, Label::Value(_)) {
            at -= 1;
            self.put_earlier(at, touch);
        }
    }

    /// Adds a touch to an event that is not the latest.
    #[cold]
    fn put_earlier(&mut self, at: usize, touch: Touch) {
        let Event { begin, end, .. } = self.events[at];
        let mut touches = self.touches[begin as usize..end as usize].to_vec();
        merge(&mut touches, 0, touch);
        let more = touches.len() as u32 - (end - begin);
        self.touches.splice(begin as usize..end as usize, touches);
        self.events[at].end += more;
        for later in &mut self.events[at + 1..] {
            later.begin += more;
            later.end += more;
        }
    }

    fn give_birth(&mut self, parent: TaskId, child: TaskId, apart: bool) {
        self.put(Touch::birth(child, Effect::Change, Role::Gives));
        let mut known = if apart { self.handed_to(parent).touches.clone() } else { Vec::new() };
        known.push(Touch::birth(child, Effect::Read, Role::Takes));
        let now = self.events.len();
        *self.handed_to(child) = Handed { touches: known, apart: if apart { now } else { 0 }, born: now };
    }

    /// A task may have ended right after it was let go on: who waits for its end comes after all that it waited for.
    fn inherit_from_ended(&mut self, step: &Step) {
        let Some(&(_, ended)) = self.ends.iter().find(|(object, _)| *object == step.access.object) else { return };
        let known = self.handed_to(ended).touches.clone();
        let mine = &mut self.handed_to(step.task).touches;
        known.into_iter().for_each(|touch| merge(mine, 0, touch));
    }
}

/// What a step that sends gives to whoever receives.
fn given(trace: &Trace, step: StepIx) -> Option<ObjectId> {
    trace.accesses(step).find(|access| access.role == Role::Gives).map(|access| access.object)
}

/// Adds a touch to those from `begin` on; an object is there only once.
pub(crate) fn merge(touches: &mut Vec<Touch>, begin: usize, touch: Touch) {
    match touches[begin..].iter_mut().find(|other| other.object == touch.object) {
        None => touches.push(touch),
        Some(other) => {
            if touch.effect == Effect::Change {
                other.effect = Effect::Change;
            }
            if other.role != touch.role {
                // Whoever begins to wait for another time right after an end is still one who has ended a wait.
                let timed = other.role == Role::Timed || touch.role == Role::Timed;
                other.role = if timed { Role::Timed } else { Role::Plain };
            }
        }
    }
}
