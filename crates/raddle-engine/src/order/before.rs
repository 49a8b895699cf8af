//! Happens-before over the events of an execution: task order and the order of dependent events, which contains causality
//! (creation, send and receive, unlock and lock). Incremental: an event is taken in once, at a cost in the tasks there are.

use crate::ids::TaskId;
use crate::order::by_slot::BySlot;
use crate::order::events::{Event, Events, Touch};
use crate::rng::mix;
use crate::trace::{Class, Effect, Role};

/// Clocks of the events taken in so far.
#[derive(Debug, Default)]
pub struct Before {
    /// One row of `width` numbers for each event: how many events of each task happened before it, itself included.
    clocks: Vec<u32>,
    width: usize,
    /// By task: its latest event, plus one.
    latest: Vec<u32>,
    events: Vec<Taken>,
    /// The slots of what the events touched, in the order in which they were taken in.
    slots: Vec<usize>,
    /// By object: who touched it, oldest first.
    touched: BySlot<Vec<Touched>>,
    fingerprint: u64,
    /// Nobody asks for the fingerprint.
    anonymous: bool,
}

/// What has to be known of an event to forget it again.
#[derive(Clone, Copy, Debug)]
struct Taken {
    task: u32,
    /// The event before it of the same task, plus one.
    previous: u32,
    /// Where its slots begin.
    slots: u32,
    /// The fingerprint of the events before it.
    fingerprint: u64,
}

/// One access to an object, as the object sees it.
#[derive(Clone, Copy, Debug)]
pub struct Touched {
    event: u32,
    /// Looked at or changed.
    pub effect: Effect,
    /// What it is to those who wait.
    pub role: Role,
}

impl Touched {
    /// The event that touched the object.
    #[inline]
    #[must_use]
    pub fn event(self) -> usize {
        self.event as usize
    }

    /// Whether it may let others go on that wait for the object.
    #[must_use]
    pub fn gives(self) -> bool {
        matches!(self.role, Role::Gives | Role::Timed)
    }
}

/// Two events in a race: dependent, and nothing else orders them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    /// The earlier.
    pub first: usize,
    /// The earlier gave what the later took, so they are in a race only if the later could do without.
    pub gives: bool,
    /// As far as can be told from who gave and took before, it could.
    pub spare: bool,
    /// Whether the earlier changed what they meet at.
    pub changed: bool,
    /// Where they meet, by its place in the table.
    slot: usize,
}

impl Race {
    /// Whether the two events meet at what is touched here.
    #[must_use]
    pub fn is_about(&self, touch: &Touch) -> bool {
        self.slot == touch.slot()
    }
}

impl Before {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Computes no fingerprint.
    #[must_use]
    pub fn anonymous() -> Self {
        Self { anonymous: true, ..Self::default() }
    }

    /// Forgets all but the first `len` events. The cost is that of the events which are forgotten.
    pub fn truncate(&mut self, len: usize) {
        while self.events.len() > len {
            let Some(Taken { task, previous, slots, fingerprint }) = self.events.pop() else { break };
            self.latest[task as usize] = previous;
            self.fingerprint = fingerprint;
            for slot in self.slots.drain(slots as usize..) {
                self.touched.change(slot, |table| _ = table.pop(), Vec::is_empty);
            }
        }
        self.clocks.truncate(len * self.width);
    }

    /// How many events were taken in.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether none was.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Equal for prefixes with the same happens-before relation, whatever the order of their events; 0 if it is
    /// [anonymous](Self::anonymous).
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Takes in the events that are new.
    pub fn follow(&mut self, events: &Events) {
        while self.len() < events.len() {
            self.take(events);
        }
    }

    /// The accesses to an object by events before `upto`, oldest first.
    #[inline]
    #[must_use]
    pub fn accesses(&self, slot: usize, upto: usize) -> &[Touched] {
        let table = self.accesses_to(slot);
        // Who asks looks at late events mostly, so the end is found from there.
        let beyond = table.iter().rev().take_while(|touched| touched.event as usize >= upto).count();
        &table[..table.len() - beyond]
    }

    /// All accesses to an object, oldest first.
    #[inline]
    #[must_use]
    pub fn accesses_to(&self, slot: usize) -> &[Touched] {
        self.touched.get(slot).map_or(&[][..], Vec::as_slice)
    }

    /// How many events of its own task there are up to this event, itself included.
    #[inline]
    #[must_use]
    pub fn count(&self, events: &Events, event: usize) -> u32 {
        self.clocks[event * self.width + events.get(event).task.index()]
    }

    /// The clock of an event: by task, how many of its events happened before, itself included.
    #[inline]
    #[must_use]
    pub fn row(&self, event: usize) -> &[u32] {
        &self.clocks[event * self.width..(event + 1) * self.width]
    }

    /// Whether `earlier` is `later` or happened before it.
    #[inline]
    #[must_use]
    pub fn ordered(&self, events: &Events, earlier: usize, later: usize) -> bool {
        let task = events.get(earlier).task.index();
        self.clocks[later * self.width + task] >= self.clocks[earlier * self.width + task]
    }

    /// Tells of events later than `earlier` whether that happened before them.
    #[inline]
    pub fn after<'a>(&'a self, events: &Events, earlier: usize) -> impl Fn(usize) -> bool + use<'a> {
        let task = events.get(earlier).task.index();
        let count = self.clocks[earlier * self.width + task];
        move |later| self.clocks[later * self.width + task] >= count
    }

    /// Whether `earlier` happened before what `task` does after the events so far.
    fn known_to(&self, events: &Events, earlier: usize, latest: Option<usize>) -> bool {
        latest.is_some_and(|latest| self.ordered(events, earlier, latest))
    }

    fn widen(&mut self, tasks: usize) {
        if tasks <= self.width {
            return;
        }
        let width = tasks.next_power_of_two().max(4);
        let mut clocks = vec![0; self.len() * width];
        for event in 0..self.len() {
            clocks[event * width..event * width + self.width].copy_from_slice(self.row(event));
        }
        self.clocks = clocks;
        self.width = width;
        self.latest.resize(width, 0);
    }

    fn take(&mut self, events: &Events) {
        let index = self.len();
        let event = u32::try_from(index).expect("raddle bug: more than 2^32 events in one execution");
        let slots = u32::try_from(self.slots.len()).expect("raddle bug: more than 2^32 accesses in one execution");
        let task = events.get(index).task.index();
        self.widen(task + 1);
        let start = self.clocks.len();
        match self.latest[task] {
            0 => self.clocks.resize(start + self.width, 0),
            latest => {
                let latest = latest as usize;
                self.clocks.extend_from_within((latest - 1) * self.width..latest * self.width);
            }
        }
        for touch in events.touches(index) {
            let table = self.touched.at(touch.slot());
            for earlier in table.iter().rev() {
                if touch.effect == Effect::Change || earlier.effect == Effect::Change {
                    join(&mut self.clocks, self.width, start, earlier.event as usize);
                }
                if earlier.effect == Effect::Change {
                    break;
                }
            }
            self.slots.push(touch.slot());
            table.push(Touched { event, effect: touch.effect, role: touch.role });
        }
        self.clocks[start + task] += 1;
        let previous = std::mem::replace(&mut self.latest[task], event + 1);
        let fingerprint = self.fingerprint;
        self.events.push(Taken { task: events.get(index).task.number(), previous, slots, fingerprint });
        if !self.anonymous {
            self.fingerprint = self.fingerprint.wrapping_add(self.hash(events, index));
        }
    }

    fn hash(&self, events: &Events, index: usize) -> u64 {
        let fold = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let event = events.get(index);
        let seed = fold(u64::from(event.task.number()) + 1, event.label.code());
        // Tasks that are not known yet count for nothing, or the width of the table would show.
        let known = self.row(index).iter().enumerate().filter(|(_, count)| **count > 0);
        let hash = known.fold(seed, |hash, (task, &count)| fold(hash, (task as u64) << 32 | u64::from(count)));
        // Hashes are added up, and only what is well mixed can be without one sum being another's.
        mix(hash, 0)
    }

    /// The latest event of `task` before event `index`, which is one of its own or did not happen.
    #[must_use]
    pub fn previous(&self, task: TaskId, index: usize) -> Option<usize> {
        let latest = || self.latest.get(task.index()).copied().unwrap_or(0);
        let previous = self.events.get(index).map_or_else(latest, |event| event.previous);
        previous.checked_sub(1).map(|event| event as usize)
    }

    /// Finds the events that are in a race with event `index`, which may be one that did not happen and was not taken in.
    /// Latest first on each object.
    ///
    /// An event that takes is not in a race with those that gave: it could not have come first. It is in a race with what
    /// came before them on the same object (lock, unlock, lock: the two locks).
    pub fn races(&self, events: &Events, index: usize, previous: Option<usize>, found: &mut Vec<Race>) {
        found.clear();
        let task = events.get(index).task;
        let mut causes = Vec::new();
        // Who takes whatever message comes first would have taken another one in another's place.
        let Event { class, object, .. } = *events.get(index);
        let takes_any = class == Class::Receive;
        // Unless nobody else can receive there: then what it took was first, and had to be sent.
        let takes_first = takes_any && events.touches(index).iter().all(|touch| touch.object != object);
        for touch in events.touches(index) {
            let slot = touch.slot();
            let Some(table) = self.touched.get(slot) else { continue };
            let mut given = false;
            let upto = table.partition_point(|earlier| (earlier.event as usize) < index);
            for (at, earlier) in table[..upto].iter().enumerate().rev() {
                let event = earlier.event as usize;
                if touch.effect == Effect::Read && earlier.effect == Effect::Read {
                    continue;
                }
                if events.get(event).task == task || self.known_to(events, event, previous) {
                    if earlier.effect == Effect::Change {
                        break;
                    }
                    continue;
                }
                let cause = touch.takes() && (earlier.gives() || looked_at_held(&table[..at], *earlier));
                if cause {
                    if takes_any && events.get(event).class == Class::Send && touch.object != object {
                        causes.extend(takes_first.then_some((slot, event)));
                        break;
                    }
                    causes.push((slot, event));
                    if earlier.gives() && (!given || earlier.effect == Effect::Read) {
                        let spare = could_do_without(events, &table[..at], event);
                        let changed = earlier.effect == Effect::Change;
                        found.push(Race { first: event, gives: true, spare, changed, slot });
                    }
                    given = true;
                    continue;
                }
                let changed = earlier.effect == Effect::Change;
                found.push(Race { first: event, gives: false, spare: true, changed, slot });
                if changed {
                    break;
                }
            }
        }
        self.keep_immediate(events, found, &causes);
    }

    /// Finds the events that are dependent with event `index` and did not happen before what its task did before: more than those
    /// in a race. Latest first on each object.
    pub fn rivals(&self, events: &Events, index: usize, previous: Option<usize>, found: &mut Vec<Race>) {
        found.clear();
        let task = events.get(index).task;
        for touch in events.touches(index) {
            let slot = touch.slot();
            let Some(table) = self.touched.get(slot) else { continue };
            let upto = table.partition_point(|earlier| (earlier.event as usize) < index);
            for (at, earlier) in table[..upto].iter().enumerate().rev() {
                let first = earlier.event as usize;
                let conflict = touch.effect == Effect::Change || earlier.effect == Effect::Change;
                if !conflict || events.get(first).task == task || self.known_to(events, first, previous) {
                    continue;
                }
                let (gives, takes) = (earlier.gives(), touch.takes());
                if !takes || gives || !looked_at_held(&table[..at], *earlier) {
                    let (gives, changed) = (gives && takes, earlier.effect == Effect::Change);
                    let spare = !gives || could_do_without(events, &table[..at], first);
                    found.push(Race { first, gives, spare, changed, slot });
                }
            }
        }
    }

    /// Keeps the races between whose events nothing else lies. What gave is between, but not for the object it gave.
    fn keep_immediate(&self, events: &Events, found: &mut Vec<Race>, causes: &[(usize, usize)]) {
        if found.is_empty() || (found.len() == 1 && causes.is_empty()) {
            return;
        }
        // What cannot be reversed, because something was given in between, is not between others either.
        found.retain(|race| {
            let cause = |&(slot, event): &(usize, usize)| {
                let other = event != race.first || Touch::is_message_at(slot);
                slot != race.slot && other && self.ordered(events, race.first, event)
            };
            !causes.iter().any(cause)
        });
        let all = std::mem::take(found);
        let between = |race: &Race| {
            let later = |other: &Race| {
                let own_gift = other.gives && other.slot == race.slot;
                other.first != race.first && !own_gift && self.ordered(events, race.first, other.first)
            };
            all.iter().any(later)
        };
        for race in &all {
            if !between(race) && found.iter().all(|other| other.first != race.first) {
                found.push(*race);
            }
        }
    }
}

/// What happened before an earlier event happened before the one whose row begins at `start`.
fn join(clocks: &mut [u32], width: usize, start: usize, earlier: usize) {
    let (before, mine) = clocks.split_at_mut(start);
    let theirs = &before[earlier * width..(earlier + 1) * width];
    mine.iter_mut().zip(theirs).for_each(|(mine, &theirs)| *mine = (*mine).max(theirs));
}

/// A look at something that was held just then (a `try_lock` that failed): whoever takes it later cannot come before it.
#[must_use]
pub fn looked_at_held(before: &[Touched], look: Touched) -> bool {
    let latest = || before.iter().rev().find(|earlier| earlier.effect == Effect::Change);
    look.effect == Effect::Read && look.role == Role::Plain && latest().is_some_and(|change| !change.gives())
}

/// Whether one who takes what `gift` gave might have found enough without it: somebody else had given before, and the giver did
/// not give back what it had taken itself.
#[must_use]
pub fn could_do_without(events: &Events, before: &[Touched], gift: usize) -> bool {
    let giver = events.get(gift).task;
    let own = before.iter().rev().find(|earlier| events.get(earlier.event as usize).task == giver);
    let lends = events.get(gift).class != Class::Send;
    let gives_back = lends && own.is_some_and(|own| own.role != Role::Gives);
    let is_end = events.get(gift).class == Class::Finish;
    !gives_back && !is_end && before.iter().any(|earlier| earlier.role == Role::Gives)
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;
    use crate::ids::ObjectId;
    use crate::system::Variant;
    use crate::trace::{Access, Hold, Operation, Ordered, Step, Trace};

    static STORE: Operation = Operation { verb: "store", class: Class::Write };

    /// The fingerprint of stores by these tasks to these objects.
    fn fingerprint(stores: &[(u32, u32)]) -> u64 {
        followed(stores).1.fingerprint()
    }

    fn followed(stores: &[(u32, u32)]) -> (Events, Before) {
        let mut trace = Trace::default();
        for &(task, object) in stores {
            let object = ObjectId::new(object);
            trace.push(Step {
                task: TaskId::new(task),
                variant: Variant::Ready,
                op: &STORE,
                access: Access { object, effect: Effect::Change, role: Role::Plain, ordered: Ordered::RELAXED },
                found: None,
                left: None,
                hold: Hold::Unchanged,
                wants: None,
                site: Location::caller(),
                alternatives: 1,
                more: 0,
            });
        }
        let (mut events, mut before) = (Events::default(), Before::default());
        events.follow(&trace);
        before.follow(&events);
        (events, before)
    }

    #[test]
    fn a_forgotten_event_leaves_no_trace_in_the_fingerprint() {
        let stores = [(0, 1), (1, 2), (0, 2), (5, 1), (1, 1)];
        let (events, mut before) = followed(&stores);
        for len in (0..stores.len()).rev() {
            before.truncate(len);
            assert_eq!(before.fingerprint(), fingerprint(&stores[..len]), "{len} events");
            before.follow(&events);
            assert_eq!(before.fingerprint(), fingerprint(&stores));
        }
    }

    #[test]
    fn equivalent_prefixes_have_equal_fingerprints() {
        assert_eq!(fingerprint(&[(0, 1), (1, 2), (5, 3)]), fingerprint(&[(5, 3), (1, 2), (0, 1)]));
        assert_eq!(fingerprint(&[(0, 1), (1, 1), (2, 3)]), fingerprint(&[(2, 3), (0, 1), (1, 1)]));
        assert_ne!(fingerprint(&[(0, 1), (1, 1)]), fingerprint(&[(1, 1), (0, 1)]));
        assert_ne!(fingerprint(&[(0, 1), (1, 1)]), fingerprint(&[(0, 1), (1, 2)]));
    }
}
