//! Happens-before: who could have known what when something happened.
//!
//! [`Races`] finds accesses to plain memory that nothing orders. It follows a trace only from the moment somebody asks, so an
//! execution without cells pays nothing for it.
//!
//! What orders accesses is C++'s happens-before: an acquiring access learns what releasing ones published through the
//! object, a read-modify-write carries on what it finds published, a plain store ends it. A relaxed store after a release
//! fence publishes what was known at the fence, and an acquire fence learns what relaxed loads before it found.

pub mod before;
pub mod by_slot;
pub mod events;

use std::collections::{BTreeMap, HashMap};

use crate::ids::{StepIx, TaskId};
use crate::outcome::{Accessed, Failure};
use crate::trace::{Access, Class, Effect, Step, Trace};

/// How many steps of each task are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(Vec<u32>);

impl Clock {
    /// How many steps of `task` are known.
    #[must_use]
    pub fn of(&self, task: TaskId) -> u32 {
        self.0.get(task.index()).copied().unwrap_or(0)
    }

    /// One more step of `task` is known.
    pub fn tick(&mut self, task: TaskId) {
        if self.0.len() <= task.index() {
            self.0.resize(task.index() + 1, 0);
        }
        self.0[task.index()] += 1;
    }

    /// Whatever `other` knows is known.
    pub fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }
}

/// Finds data races by happens-before: task order, and what synchronisation published and learnt.
#[derive(Debug, Default)]
pub struct Races {
    followed: usize,
    tasks: Vec<Clock>,
    /// What was published through each object.
    objects: Vec<Clock>,
    /// The same for messages, which are numbered far apart.
    messages: HashMap<u32, Clock>,
    cells: Vec<Cell>,
    /// By task.
    fences: Vec<Fences>,
    /// By object: whether it was accessed as an atomic, and whether as plain memory.
    accessed_as: Vec<(bool, bool)>,
    /// Atomics that are also accessed as plain memory, and their atomic accesses: the latest of each task that wrote, and that read.
    mixed: BTreeMap<usize, [Vec<(Accessed, u32)>; 2]>,
}

/// What a task's fences make of its relaxed accesses.
#[derive(Clone, Debug, Default)]
struct Fences {
    /// What the task knew at its latest release fence: its relaxed stores publish that.
    published: Clock,
    /// What its relaxed loads found published: its next acquire fence learns that.
    found: Clock,
}

/// The accesses to a cell that a later one may race with.
#[derive(Clone, Debug, Default)]
struct Cell {
    write: Option<(Accessed, u32)>,
    /// The latest read of each task since that write.
    reads: Vec<(Accessed, u32)>,
}

impl Races {
    /// Takes in the steps that are new in `trace` and returns the first race among them.
    pub fn follow(&mut self, trace: &Trace) -> Option<Failure> {
        while self.followed < trace.len() {
            let index = StepIx::next_of(self.followed);
            let step = &trace.steps()[self.followed];
            if self.becomes_mixed(step) {
                // The accesses so far were not remembered for that, so the trace is followed anew.
                let mixed = std::mem::take(&mut self.mixed).into_keys().chain([step.access.object.index()]);
                *self = Self { mixed: mixed.map(|object| (object, Default::default())).collect(), ..Self::default() };
                continue;
            }
            self.followed += 1;
            if let Some(race) = self.take(index, step, trace) {
                return Some(race);
            }
        }
        None
    }

    fn take(&mut self, index: StepIx, step: &Step, trace: &Trace) -> Option<Failure> {
        let task = step.task;
        grow(&mut self.tasks, task.index());
        self.tasks[task.index()].tick(task);
        if step.op.class == Class::Cell {
            return self.touch_cell(index, step);
        }
        if let (Class::Spawn, Some(child)) = (step.op.class, step.found) {
            let born = self.tasks[task.index()].clone();
            let child = child.0 as usize;
            grow(&mut self.tasks, child);
            self.tasks[child].join(&born);
        }
        grow(&mut self.fences, task.index());
        if step.op.class == Class::Fence {
            self.pass_fence(step);
        }
        for access in trace.accesses(index) {
            self.synchronise(step, access);
        }
        if self.mixed.is_empty() { None } else { self.touch_mixed(index, step) }
    }

    /// Whether an object turns out to be an atomic that is also accessed as plain memory, by this step.
    fn becomes_mixed(&mut self, step: &Step) -> bool {
        let plain = step.op.class == Class::Cell;
        if !plain && !is_atomic(step) || !step.access.object.is_some() {
            return false;
        }
        let object = step.access.object.index();
        grow(&mut self.accessed_as, object);
        let accessed = &mut self.accessed_as[object];
        accessed.0 |= !plain;
        accessed.1 |= plain;
        *accessed == (true, true) && !self.mixed.contains_key(&object)
    }

    /// An atomic access to what is also accessed as plain memory: it races with plain accesses, not with atomic ones.
    fn touch_mixed(&mut self, index: StepIx, step: &Step) -> Option<Failure> {
        let Step { task, access, site, .. } = *step;
        let accesses = self.mixed.get_mut(&access.object.index()).filter(|_| is_atomic(step))?;
        let wrote = access.effect == Effect::Change;
        let now = (Accessed { task, wrote, site, step: index }, self.tasks[task.index()].of(task));
        let clock = &self.tasks[task.index()];
        grow(&mut self.cells, access.object.index());
        let cell = &self.cells[access.object.index()];
        let rival =
            cell.write.iter().chain(cell.reads.iter().filter(|_| wrote)).find(|it| is_unordered(clock, task, it));
        if let Some(&(first, _)) = rival {
            return Some(Failure::DataRace { object: access.object, first, second: now.0 });
        }
        let list = &mut accesses[usize::from(!wrote)];
        match list.iter_mut().find(|(earlier, _)| earlier.task == task) {
            Some(earlier) => *earlier = now,
            None => list.push(now),
        }
        None
    }

    fn pass_fence(&mut self, step: &Step) {
        let clock = &mut self.tasks[step.task.index()];
        let fences = &mut self.fences[step.task.index()];
        if step.access.ordered.acquire {
            clock.join(&fences.found);
        }
        if step.access.ordered.release {
            fences.published.clone_from(clock);
        }
    }

    fn synchronise(&mut self, step: &Step, access: Access) {
        let clock = &mut self.tasks[step.task.index()];
        let fences = &mut self.fences[step.task.index()];
        let published = match access.object.as_message() {
            Some(message) => self.messages.entry(message).or_default(),
            None => {
                grow(&mut self.objects, access.object.index());
                &mut self.objects[access.object.index()]
            }
        };
        // Fences work on atomics only.
        let atomic = is_atomic(step);
        if access.ordered.acquire {
            clock.join(published);
        } else if atomic {
            fences.found.join(published);
        }
        if access.ordered.reset {
            published.0.clear();
        }
        if access.ordered.release {
            published.join(clock);
        } else if atomic && access.effect == Effect::Change {
            published.join(&fences.published);
        }
    }

    fn touch_cell(&mut self, index: StepIx, step: &Step) -> Option<Failure> {
        let Step { task, access, site, .. } = *step;
        grow(&mut self.cells, access.object.index());
        let clock = &self.tasks[task.index()];
        let wrote = access.effect == Effect::Change;
        let now = Accessed { task, wrote, site, step: index };
        let cell = &mut self.cells[access.object.index()];
        let [writes, reads] = self.mixed.get(&access.object.index()).map_or([&[][..]; 2], |it| [&it[0], &it[1]]);
        let rivals = cell.write.iter().chain(writes);
        let readers = cell.reads.iter().chain(reads).filter(|_| wrote);
        let rival = rivals.chain(readers).find(|earlier| is_unordered(clock, task, earlier));
        if let Some(&(first, _)) = rival {
            return Some(Failure::DataRace { object: access.object, first, second: now });
        }
        let at = clock.of(task);
        if wrote {
            cell.write = Some((now, at));
            cell.reads.clear();
        } else {
            match cell.reads.iter_mut().find(|(read, _)| read.task == task) {
                Some(read) => *read = (now, at),
                None => cell.reads.push((now, at)),
            }
        }
        None
    }
}

/// Whether nothing orders an earlier access before what `task`, which knows `clock`, does now.
fn is_unordered(clock: &Clock, task: TaskId, (earlier, at): &(Accessed, u32)) -> bool {
    earlier.task != task && clock.of(earlier.task) < *at
}

/// Operations on atomics are of these classes.
fn is_atomic(step: &Step) -> bool {
    matches!(step.op.class, Class::Read | Class::Write | Class::Update)
}

fn grow<T: Default + Clone>(table: &mut Vec<T>, index: usize) {
    if table.len() <= index {
        table.resize(index + 1, T::default());
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;
    use crate::ids::ObjectId;
    use crate::system::Variant;
    use crate::trace::{Hold, Operation, Ordered, Role};

    static CELL: Operation = Operation { verb: "cell", class: Class::Cell };
    static LOAD: Operation = Operation { verb: "load", class: Class::Read };
    static STORE: Operation = Operation { verb: "store", class: Class::Write };
    static UPDATE: Operation = Operation { verb: "update", class: Class::Update };
    static FENCE: Operation = Operation { verb: "fence", class: Class::Fence };

    const DATA: ObjectId = ObjectId::new(0);
    const FLAG: ObjectId = ObjectId::new(1);
    const PLAIN_STORE: Ordered = Ordered { acquire: false, reset: true, release: false };
    const RELEASE_STORE: Ordered = Ordered { acquire: false, reset: true, release: true };

    fn step(task: u32, op: &'static Operation, object: ObjectId, ordered: Ordered) -> Step {
        let effect = if op.class == Class::Read { Effect::Read } else { Effect::Change };
        Step {
            task: TaskId::new(task),
            variant: Variant::Ready,
            op,
            access: Access { object, effect, role: Role::Plain, ordered },
            found: None,
            left: None,
            hold: Hold::Unchanged,
            site: Location::caller(),
            alternatives: 1,
            wants: None,
            more: 0,
        }
    }

    /// Task 0 writes and does `publish`, task 1 does `learn` and writes: do the writes race?
    fn races(publish: &[(&'static Operation, Ordered)], learn: &[(&'static Operation, Ordered)]) -> bool {
        let mut trace = Trace::default();
        let object = |op: &Operation| if op.class == Class::Fence { ObjectId::NONE } else { FLAG };
        trace.push(step(0, &CELL, DATA, Ordered::RELAXED));
        publish.iter().for_each(|&(op, ordered)| trace.push(step(0, op, object(op), ordered)));
        learn.iter().for_each(|&(op, ordered)| trace.push(step(1, op, object(op), ordered)));
        trace.push(step(1, &CELL, DATA, Ordered::RELAXED));
        Races::default().follow(&trace).is_some()
    }

    #[test]
    fn release_and_acquire_order() {
        assert!(!races(&[(&STORE, RELEASE_STORE)], &[(&LOAD, Ordered::ACQUIRE)]));
        assert!(races(&[(&STORE, PLAIN_STORE)], &[(&LOAD, Ordered::ACQUIRE)]));
        assert!(races(&[(&STORE, RELEASE_STORE)], &[(&LOAD, Ordered::RELAXED)]));
    }

    #[test]
    fn plain_accesses_to_an_atomic_race_with_atomic_ones() {
        let found = |steps: &[Step]| {
            let mut trace = Trace::default();
            steps.iter().for_each(|step| trace.push(*step));
            Races::default().follow(&trace).is_some()
        };
        let plain_read = |task| {
            let mut read = step(task, &CELL, DATA, Ordered::RELAXED);
            read.access.effect = Effect::Read;
            read
        };
        let plain_write = |task| step(task, &CELL, DATA, Ordered::RELAXED);
        let store = |task| step(task, &STORE, DATA, RELEASE_STORE);
        let load = |task, ordered| step(task, &LOAD, DATA, ordered);
        assert!(found(&[store(0), plain_read(1)]));
        assert!(found(&[plain_read(1), store(0)]));
        assert!(found(&[load(0, Ordered::RELAXED), plain_write(1)]));
        assert!(!found(&[load(0, Ordered::RELAXED), plain_read(1)]));
        assert!(!found(&[store(0), load(1, Ordered::ACQUIRE), plain_read(1)]));
        assert!(!found(&[store(0), store(1), load(2, Ordered::RELAXED)]));
        assert!(!found(&[plain_write(0), store(0), load(1, Ordered::ACQUIRE)]));
    }

    #[test]
    fn release_sequences_end_at_plain_stores() {
        let publish = (&STORE, RELEASE_STORE);
        assert!(!races(&[publish, (&UPDATE, Ordered::RELAXED)], &[(&LOAD, Ordered::ACQUIRE)]));
        assert!(races(&[publish, (&STORE, PLAIN_STORE)], &[(&LOAD, Ordered::ACQUIRE)]));
    }

    #[test]
    fn fences_make_relaxed_accesses_order() {
        let release = (&FENCE, Ordered::RELEASE);
        let acquire = (&FENCE, Ordered::ACQUIRE);
        let (store, load) = ((&STORE, PLAIN_STORE), (&LOAD, Ordered::RELAXED));
        assert!(!races(&[release, store], &[load, acquire]));
        assert!(!races(&[(&FENCE, Ordered::BOTH), (&UPDATE, Ordered::RELAXED)], &[load, acquire]));
        assert!(!races(&[(&STORE, RELEASE_STORE)], &[load, acquire]));
        assert!(!races(&[release, store], &[(&LOAD, Ordered::ACQUIRE)]));
        assert!(races(&[store, release], &[load, acquire]), "a fence after the store publishes nothing through it");
        assert!(races(&[release, store], &[acquire, load]), "a fence before the load learns nothing from it");
        assert!(races(&[acquire, store], &[load, acquire]));
        assert!(races(&[release, store], &[load, release]));
    }
}
