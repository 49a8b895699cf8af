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
//!
//! A look at something that cannot change any more ([`Role::Settled`]) needs no decision, but in another order it is a step of its own. It is
//! part of the event before it, or an event of its own for those who [ask for that](Events::with_looks).

mod event;
mod handed;
mod touch;

use std::ops::Range;

use self::handed::HandedOn;
use crate::ids::{ObjectId, StepIx, TaskId};
use crate::trace::{Class, Effect, Offer, Role, Step, Trace};

pub use self::event::{Did, Event, Label, Offered};
pub use self::touch::{Mask, Touch, dependent, merge};

/// The events of one execution.
#[derive(Debug, Default)]
pub struct Events {
    events: Vec<Event>,
    /// In order of sending.
    offered: Vec<Offered>,
    touches: Vec<Touch>,
    /// Steps of the trace taken in so far.
    followed: usize,
    handed: HandedOn,
    /// Which task's end an object is, and how many events there were when it ended.
    ends: Vec<(ObjectId, TaskId, usize)>,
    /// Looks at what cannot change any more are events of their own.
    looks_apart: bool,
}

impl Events {
    /// No events yet. Looks at what cannot change any more will be events of their own, though nothing was decided there.
    #[must_use]
    pub fn with_looks() -> Self {
        Self { looks_apart: true, ..Self::default() }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.events.clear();
        self.touches.clear();
        self.offered.clear();
        self.followed = 0;
        self.handed.clear();
        self.ends.clear();
    }

    /// Forgets all but the first `len` events. The one after them must not be a value: what is done with it counts for the event
    /// before, too. The next step to be taken in has to be one that was decided.
    pub fn truncate(&mut self, len: usize) {
        let Some(&Event { offers, step, begin, .. }) = self.events.get(len) else { return };
        self.events.truncate(len);
        self.touches.truncate(begin as usize);
        self.offered.truncate(offers as usize);
        self.followed = step as usize;
        while self.ends.last().is_some_and(|&(_, _, events)| events > len) {
            self.ends.pop();
        }
        self.handed.truncate(len);
    }

    /// Forgets the events that `trace` does not begin with. It is a trace of the same program, paused at a decision or at its end; so where the
    /// decisions are the same, everything else is.
    pub fn retain_common(&mut self, trace: &Trace) {
        let is_same = |event: &Event| {
            let step = trace.steps().get(event.step as usize).filter(|step| step.alternatives > 0);
            step.is_some_and(|step| step.task == event.task && label(step) == event.label)
        };
        let mut common = self.events.iter().take_while(|event| is_same(event)).count();
        while common > 0 && self.events.get(common).is_some_and(|event| matches!(event.label, Label::Value(_))) {
            common -= 1;
        }
        self.truncate(common);
    }

    /// How many steps of the trace were taken in.
    #[must_use]
    pub fn followed(&self) -> usize {
        self.followed
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

    /// The step of the trace that it began with.
    #[must_use]
    pub fn step(&self, index: usize) -> StepIx {
        StepIx::new(self.events[index].step)
    }

    /// What that event touched.
    #[inline]
    #[must_use]
    pub fn touches(&self, index: usize) -> &[Touch] {
        let Event { begin, end, .. } = self.events[index];
        &self.touches[begin as usize..end as usize]
    }

    /// Whether two events of different tasks are dependent.
    #[inline]
    #[must_use]
    pub fn dependent(&self, one: usize, other: usize) -> bool {
        let meet = || dependent(self.touches(one), self.touches(other));
        let vague = self.events[one].vague || self.events[other].vague;
        vague || (self.events[one].mask.may_conflict(self.events[other].mask) && meet())
    }

    /// Whether it is not known what that event, which did not happen, would touch: it may be anything.
    #[inline]
    pub fn is_vague(&self, index: usize) -> bool {
        self.events[index].vague
    }

    /// What that event may conflict with.
    #[inline]
    pub fn mask(&self, index: usize) -> Mask {
        self.events[index].mask
    }

    /// The event in which the task ended whose end the object is; `None` if it is no end, or came before anything was decided.
    pub fn end(&self, object: ObjectId) -> Option<usize> {
        self.ends.iter().find(|end| end.0 == object).and_then(|end| end.2.checked_sub(1))
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
        self.follow_to(trace, usize::MAX);
    }

    /// Takes in what is new in `trace`, until there are `events` events and another would begin.
    pub fn follow_to(&mut self, trace: &Trace, events: usize) {
        while let Some(step) = trace.steps().get(self.followed) {
            let index = StepIx::next_of(self.followed);
            let is_look = self.looks_apart && step.access.role == Role::Settled && !self.events.is_empty();
            let begins = step.alternatives > 0 || is_look;
            if begins && self.events.len() >= events {
                break;
            }
            self.followed += 1;
            if begins {
                self.begin(step, index);
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
            self.ends.push((step.access.object, step.task, 0));
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
        let mask = Mask::of(&self.touches[begin as usize..]);
        self.events.push(Event { begin, end, mask, ..event });
        self.events.len() - 1
    }

    /// Adds an event without a step, which stays: a step of `task` that counts as done, though it is not in the trace.
    pub fn assume(&mut self, task: TaskId, label: Label, did: &Did) {
        let offers = u32::try_from(self.offered.len()).expect("raddle bug: more than 2^32 messages in one execution");
        let step = u32::try_from(self.followed).expect("raddle bug: more than 2^32 steps in one execution");
        let event = Event { offers, step, ..Event::pending(task, label, did.class, did.object) };
        self.suppose(event, did.touches.iter().copied());
    }

    /// Adds an event that did not happen and may touch anything, in the same way.
    pub fn suppose_vague(&mut self, event: Event) -> usize {
        self.suppose(Event { vague: true, ..event }, [])
    }

    /// Takes away the latest event, which did not happen.
    pub fn forget(&mut self) {
        let event = self.events.pop().expect("raddle bug: no event to forget");
        self.touches.truncate(event.begin as usize);
    }

    /// What would be handed on to the next event of `task`.
    #[must_use]
    pub fn handed(&self, task: TaskId) -> &[Touch] {
        self.handed.to(task)
    }

    fn mark(&self) -> u32 {
        u32::try_from(self.touches.len()).expect("raddle bug: more than 2^32 accesses in one execution")
    }

    /// Hands a touch on to the next event of `task`.
    fn hand(&mut self, task: TaskId, touch: Touch) {
        self.handed.hand(self.events.len(), task, touch);
    }

    fn begin(&mut self, step: &Step, index: StepIx) {
        let begin = self.mark();
        self.handed.move_to(self.events.len() + 1, step.task, &mut self.touches);
        self.events.push(Event {
            task: step.task,
            label: label(step),
            class: step.op.class,
            object: step.access.object,
            found: step.found,
            wants: step.wants,
            timed: ObjectId::NONE,
            offers: u32::try_from(self.offered.len()).expect("raddle bug: more than 2^32 messages in one execution"),
            step: u32::try_from(index.index()).expect("raddle bug: more than 2^32 steps in one execution"),
            begin,
            end: self.mark(),
            mask: Mask::of(&self.touches[begin as usize..]),
            vague: false,
            look: step.alternatives == 0,
        });
    }

    fn add(&mut self, step: &Step, index: StepIx, trace: &Trace) {
        let now = self.owner(step.task) + 1;
        let owner = self.events[now - 1].task;
        let waited = step.op.class == Class::Join || matches!(step.access.role, Role::Takes | Role::Alone);
        let let_go = step.alternatives == 0 && waited;
        let handed = self.handed.of(step.task);
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
                let role = match (step.op.class, access.role) {
                    (Class::Join, _) => Role::Takes,
                    (Class::Finish, _) => Role::Gives,
                    // As an event of its own it has the role that the operation has as a step.
                    (Class::Acquire, Role::Settled) if self.looks_apart => Role::Takes,
                    (_, Role::Settled) => Role::Plain,
                    (_, role) => role,
                };
                let touch = Touch { object: access.object, effect: access.effect, role };
                if apart {
                    let seen = Touch { effect: Effect::Read, role: Role::Takes, ..touch };
                    self.hand(step.task, seen);
                }
                if !apart || access.effect == Effect::Change {
                    self.put(now - 1, touch);
                }
            }
        }
        match (step.op.class, step.found) {
            (Class::Spawn, Some(child)) => self.give_birth(step.task, TaskId::next_of(child.0 as usize), apart, now),
            (Class::Finish, _) => self.ends.push((step.access.object, step.task, now)),
            _ => {}
        }
    }

    /// The event that a step of `task` belongs to: the latest that is not the look of another task.
    fn owner(&self, task: TaskId) -> usize {
        let owns = |event: &Event| !event.look || event.task == task;
        self.events.iter().rposition(owns).expect("raddle bug: nothing was decided before a look")
    }

    /// Adds a touch to an event, and to the event that asked for the value if it is a value.
    fn put(&mut self, at: usize, touch: Touch) {
        let is_value = |event: &Event| matches!(event.label, Label::Value(_));
        if at + 1 == self.events.len() {
            let event = &mut self.events[at];
            merge(&mut self.touches, event.begin as usize, touch);
            event.mask.add(touch);
            event.end =
                u32::try_from(self.touches.len()).expect("raddle bug: more than 2^32 accesses in one execution");
        } else {
            self.put_earlier(at, touch);
        }
        let mut at = at;
        let mut in_group = is_value(&self.events[at]);
        while at > 0 && in_group {
            at -= 1;
            self.put_earlier(at, touch);
            in_group = is_value(&self.events[at]) || self.events[at].look;
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
        self.events[at].mask.add(touch);
        for later in &mut self.events[at + 1..] {
            later.begin += more;
            later.end += more;
        }
    }

    fn give_birth(&mut self, parent: TaskId, child: TaskId, apart: bool, now: usize) {
        self.put(now - 1, Touch::birth(child, Effect::Change, Role::Gives));
        let born = self.handed.of(child);
        (born.apart, born.born) = (if apart { now } else { 0 }, now);
        if apart {
            self.hand_what_waits(parent, child);
        }
        self.hand(child, Touch::birth(child, Effect::Read, Role::Takes));
    }

    /// Hands on to one task what is handed on to another.
    fn hand_what_waits(&mut self, from: TaskId, to: TaskId) {
        for at in 0..self.handed(from).len() {
            self.hand(to, self.handed(from)[at]);
        }
    }

    /// A task may have ended right after it was let go on: who waits for its end comes after all that it waited for.
    fn inherit_from_ended(&mut self, step: &Step) {
        let ended = self.ends.iter().find(|(object, ..)| *object == step.access.object).map(|&(_, task, _)| task);
        if let Some(ended) = ended {
            self.hand_what_waits(ended, step.task);
        }
    }
}

/// What was decided before a step.
fn label(step: &Step) -> Label {
    if step.op.class == Class::Choice {
        Label::Value(step.found.map_or(0, |word| u32::try_from(word.0).unwrap_or(u32::MAX)))
    } else {
        Label::Way(step.variant)
    }
}

/// What a step that sends gives to whoever receives.
fn given(trace: &Trace, step: StepIx) -> Option<ObjectId> {
    trace.accesses(step).find(|access| access.role == Role::Gives).map(|access| access.object)
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;
    use crate::rng::Rng;
    use crate::system::Variant;
    use crate::trace::{Access, Hold, Operation, Ordered, Word};

    static OPERATIONS: [Operation; 6] = [
        Operation { verb: "spawn", class: Class::Spawn },
        Operation { verb: "join", class: Class::Join },
        Operation { verb: "finish", class: Class::Finish },
        Operation { verb: "choose", class: Class::Choice },
        Operation { verb: "store", class: Class::Write },
        Operation { verb: "lock", class: Class::Acquire },
    ];

    /// A step such as there may be, though not necessarily after those before.
    fn step(rng: &mut Rng) -> Step {
        let op = &OPERATIONS[rng.below(6) as usize];
        let effect = if rng.below(2) == 0 { Effect::Read } else { Effect::Change };
        let role = [Role::Plain, Role::Takes, Role::Gives][rng.below(3) as usize];
        let ends = matches!(op.class, Class::Join | Class::Finish);
        let object = ObjectId::new(rng.below(4) + if ends { 10 } else { 0 });
        Step {
            task: TaskId::new(rng.below(4)),
            variant: Variant::Ready,
            op,
            access: Access { object, effect, role, ordered: Ordered::RELAXED },
            found: Some(Word(u64::from(4 + rng.below(3)))),
            left: None,
            hold: Hold::Unchanged,
            wants: None,
            site: Location::caller(),
            alternatives: if op.class == Class::Choice { 2 } else { rng.below(3) },
            more: 0,
        }
    }

    fn trace(steps: &[Step]) -> Trace {
        let mut trace = Trace::default();
        steps.iter().for_each(|step| trace.push(*step));
        trace
    }

    /// All that can be asked for.
    fn told(events: &Events) -> String {
        let each = (0..events.len()).map(|at| format!("{:?} {:?}\n", events.get(at), events.touches(at)));
        let handed: Vec<_> = (0..8).map(|task| events.handed(TaskId::new(task))).collect();
        format!("{}{handed:?} {}", each.collect::<String>(), events.followed())
    }

    #[test]
    fn what_is_taken_back_leaves_nothing_behind() {
        let mut handed = 0;
        for seed in 0..500 {
            let mut rng = Rng::new(seed);
            let mut steps: Vec<Step> = (0..30).map(|_| step(&mut rng)).collect();
            let mut events = Events::default();
            events.follow(&trace(&steps));
            let is_value = |at: &usize| matches!(events.get(*at).label, Label::Value(_));
            let kept = (0..events.len()).rev().filter(|at| !is_value(at)).nth(rng.below(5) as usize);
            let Some(kept) = kept else { continue };
            handed += events.handed.changes_after(kept);
            let same = events.get(kept).step as usize;
            steps.truncate(same);
            events.truncate(kept);
            assert_eq!((events.len(), events.followed()), (kept, same));
            steps.extend((0..20).map(|_| step(&mut rng)));
            // Whatever follows a decision by itself is part of what is kept.
            steps[same].alternatives = 2;
            let (other, mut alone) = (trace(&steps), Events::default());
            events.follow(&other);
            alone.follow(&other);
            assert_eq!(told(&events), told(&alone), "seed {seed}");
        }
        assert!(handed > 1_000, "only {handed} changes were taken back");
    }

    #[test]
    fn what_two_executions_begin_with_stays() {
        let mut stayed = 0;
        for seed in 0..500 {
            let mut rng = Rng::new(seed);
            let mut steps: Vec<Step> = (0..30).map(|_| step(&mut rng)).collect();
            let mut events = Events::default();
            events.follow(&trace(&steps));
            let decided: Vec<usize> = (0..events.len()).map(|at| events.step(at).index()).collect();
            let Some(&parts) = decided.get(rng.below(decided.len().max(1) as u32) as usize) else { continue };
            steps.truncate(parts);
            steps.extend((0..20).map(|_| step(&mut rng)));
            // The task is another one, so this is another decision.
            (steps[parts].alternatives, steps[parts].task) = (2, TaskId::new(9));
            let other = trace(&steps);
            events.retain_common(&other);
            assert!(events.followed() <= parts, "seed {seed}");
            stayed += events.len();
            events.follow(&other);
            let mut alone = Events::default();
            alone.follow(&other);
            assert_eq!(told(&events), told(&alone), "seed {seed}");
        }
        assert!(stayed > 1_000, "only {stayed} events stayed");
    }
}
