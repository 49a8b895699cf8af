//! Finds accesses to plain memory that nothing orders.
//!
//! The order is C++'s happens-before: an acquiring access learns what releasing ones published through the object, a read-modify-write keeps
//! what it finds published, a plain store ends it. A relaxed store after a release fence publishes what was known at the fence, and an
//! acquire fence learns what relaxed loads before it found.
//!
//! A trace is followed only from the moment somebody asks, so an execution without cells pays nothing. What few programs do is found out on the
//! way: with the first fence, and with the first atomic that is also accessed as plain memory, the trace is followed anew.

mod undo;

use std::collections::{BTreeMap, HashMap};

use self::undo::{Table, Undo};
use super::clocks::{Clocks, join};
use crate::ids::{StepIx, TaskId};
use crate::outcome::{Accessed, Failure};
use crate::trace::{Access, Class, Effect, Step, Trace};

/// Finds data races: task order, and what synchronisation published and learned.
#[derive(Debug, Default)]
pub struct Races {
    /// The recording whose steps are followed, and how many of them were taken in.
    recording: u64,
    followed: usize,
    undo: Undo,
    /// By task: what it knows.
    tasks: Clocks,
    /// By object: what was published through it.
    objects: Clocks,
    /// The same for messages, which are numbered far apart.
    messages: HashMap<u32, Vec<u32>>,
    cells: Vec<Cell>,
    /// What fences make of relaxed accesses; `None` as long as there was no fence.
    fences: Option<Fences>,
    /// By object: whether it was accessed as an atomic, and whether as plain memory.
    accessed_as: Vec<(bool, bool)>,
    /// Atomics that are also accessed as plain memory, and their atomic accesses: the latest of each task that wrote, and that read.
    mixed: BTreeMap<usize, [Vec<(Accessed, u32)>; 2]>,
}

/// By task: what its fences make of its relaxed accesses.
#[derive(Debug, Default)]
struct Fences {
    /// What the task knew at its latest release fence: its relaxed stores publish that.
    published: Clocks,
    /// What its relaxed loads found published: its next acquire fence learns that.
    found: Clocks,
}

/// The accesses to a cell that a later one may race with.
#[derive(Clone, Debug, Default)]
struct Cell {
    write: Option<(Accessed, u32)>,
    /// The latest read of each task since that write.
    reads: Vec<(Accessed, u32)>,
}

impl Races {
    /// For the execution that `trace` records.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        Self { recording: trace.recording(), ..Self::default() }
    }

    fn clear(&mut self) {
        self.followed = 0;
        self.undo.clear();
        self.tasks.clear();
        self.objects.clear();
        self.messages.clear();
        for cell in &mut self.cells {
            cell.write = None;
            cell.reads.clear();
        }
        self.fences = None;
        self.accessed_as.clear();
        self.mixed.clear();
    }

    /// Takes in the steps that are new in `trace` and returns the first race among them.
    #[inline]
    pub fn follow(&mut self, trace: &Trace) -> Option<Failure> {
        if self.followed < trace.steps().len() { self.follow_new(trace) } else { None }
    }

    /// Begins to follow another execution. What was found out about the latest one is kept as far as `trace` [begins](Trace::like) with the
    /// same steps.
    pub fn begin(&mut self, trace: &Trace) {
        match trace.like() {
            (like, steps) if like == self.recording && like != 0 => self.go_back(steps),
            _ => self.clear(),
        }
        self.recording = trace.recording();
    }

    fn follow_new(&mut self, trace: &Trace) -> Option<Failure> {
        while let Some(step) = trace.steps().get(self.followed) {
            self.undo.begins();
            if self.becomes_mixed(step) {
                // The accesses so far were not remembered for that.
                let mut objects: Vec<usize> = self.mixed.keys().copied().collect();
                objects.push(step.access.object.index());
                self.start_anew(self.fences.is_some(), &objects);
                continue;
            }
            if step.op.class == Class::Fence && self.fences.is_none() {
                // Nor were relaxed accesses.
                let objects: Vec<usize> = self.mixed.keys().copied().collect();
                self.start_anew(true, &objects);
                continue;
            }
            let index = StepIx::next_of(self.followed);
            self.followed += 1;
            if let Some(race) = self.take(index, step, trace) {
                return Some(race);
            }
        }
        None
    }

    fn start_anew(&mut self, has_fences: bool, mixed: &[usize]) {
        self.clear();
        self.fences = has_fences.then(Fences::default);
        self.mixed = mixed.iter().map(|&object| (object, Default::default())).collect();
    }

    fn take(&mut self, index: StepIx, step: &Step, trace: &Trace) -> Option<Failure> {
        let task = step.task.index();
        self.tasks.at(task)[task] += 1;
        self.undo.counted(task);
        match (step.op.class, step.found) {
            (Class::Cell, _) => return self.touch_cell(index, step),
            (Class::Spawn, Some(child)) => {
                let child = child.0 as usize;
                self.undo.clock(Table::Tasks, child, self.tasks.at(child));
                self.tasks.join_rows(child, task);
            }
            (Class::Fence, _) => self.pass_fence(step),
            _ => {}
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
        let now = (accessed.0 || !plain, accessed.1 || plain);
        if now != *accessed {
            self.undo.accessed_as(object, *accessed);
            *accessed = now;
        }
        now == (true, true) && !self.mixed.contains_key(&object)
    }

    /// An atomic access to what is also accessed as plain memory: it races with plain accesses, not with atomic ones.
    fn touch_mixed(&mut self, index: StepIx, step: &Step) -> Option<Failure> {
        let Step { task, access, site, .. } = *step;
        let accesses = self.mixed.get_mut(&access.object.index()).filter(|_| is_atomic(step))?;
        let wrote = access.effect == Effect::Change;
        let clock = self.tasks.row(task.index());
        let now = (Accessed { task, wrote, site, step: index }, clock[task.index()]);
        grow(&mut self.cells, access.object.index());
        let cell = &self.cells[access.object.index()];
        let rival =
            cell.write.iter().chain(cell.reads.iter().filter(|_| wrote)).find(|it| is_unordered(clock, task, it));
        if let Some(&(first, _)) = rival {
            return Some(Failure::DataRace { object: access.object, first, second: now.0 });
        }
        replace_own(&mut accesses[usize::from(!wrote)], now);
        None
    }

    fn pass_fence(&mut self, step: &Step) {
        let task = step.task.index();
        let Some(fences) = &mut self.fences else { return };
        let clock = self.tasks.at(task);
        if step.access.ordered.acquire {
            join(clock, fences.found.at(task));
        }
        if step.access.ordered.release {
            fences.published.replace(task, clock);
        }
    }

    fn synchronise(&mut self, step: &Step, access: Access) {
        let task = step.task.index();
        // Fences work on atomics only.
        let mut fences = self.fences.as_mut().filter(|_| is_atomic(step));
        let Access { ordered, .. } = access;
        if !(ordered.acquire || ordered.reset || ordered.release) && fences.is_none() {
            return;
        }
        let width = self.tasks.width();
        let clock = self.tasks.at(task);
        let published = match access.object.as_message() {
            Some(message) => {
                let published = self.messages.entry(message).or_default();
                published.resize(width.max(published.len()), 0);
                &mut published[..]
            }
            None => self.objects.at_with(access.object.index(), width),
        };
        if ordered.acquire {
            self.undo.clock(Table::Tasks, task, clock);
            join(clock, published);
        } else if let Some(fences) = &mut fences {
            join(fences.found.at_with(task, width), published);
        }
        if ordered.reset || ordered.release || fences.is_some() {
            self.undo.clock(Table::Objects, access.object.index(), published);
        }
        if ordered.reset {
            published.fill(0);
        }
        if ordered.release {
            join(published, clock);
        } else if let Some(fences) = fences.filter(|_| access.effect == Effect::Change) {
            join(published, fences.published.at(task));
        }
    }

    fn touch_cell(&mut self, index: StepIx, step: &Step) -> Option<Failure> {
        let Step { task, access, site, .. } = *step;
        grow(&mut self.cells, access.object.index());
        let clock = self.tasks.row(task.index());
        let wrote = access.effect == Effect::Change;
        let now = Accessed { task, wrote, site, step: index };
        let cell = &mut self.cells[access.object.index()];
        let mixed = if self.mixed.is_empty() { None } else { self.mixed.get(&access.object.index()) };
        let [writes, reads] = mixed.map_or([&[][..]; 2], |it| [&it[0], &it[1]]);
        let rivals = cell.write.iter().chain(writes);
        let readers = cell.reads.iter().chain(reads).filter(|_| wrote);
        let rival = rivals.chain(readers).find(|earlier| is_unordered(clock, task, earlier));
        if let Some(&(first, _)) = rival {
            return Some(Failure::DataRace { object: access.object, first, second: now });
        }
        let now = (now, clock[task.index()]);
        let index = access.object.index();
        if wrote {
            self.undo.cell(index, std::mem::replace(cell, Cell { write: Some(now), reads: Vec::new() }));
        } else {
            self.undo.read(index, replace_own(&mut cell.reads, now));
        }
        None
    }
}

/// Replaces the latest access of the same task, or adds this one. Returns where, and what was there.
fn replace_own(accesses: &mut Vec<(Accessed, u32)>, now: (Accessed, u32)) -> (usize, Option<(Accessed, u32)>) {
    match accesses.iter().position(|(earlier, _)| earlier.task == now.0.task) {
        Some(place) => (place, Some(std::mem::replace(&mut accesses[place], now))),
        None => {
            accesses.push(now);
            (accesses.len() - 1, None)
        }
    }
}

/// Whether nothing orders an earlier access before what `task`, which knows `clock`, does now.
fn is_unordered(clock: &[u32], task: TaskId, (earlier, at): &(Accessed, u32)) -> bool {
    earlier.task != task && clock.get(earlier.task.index()).copied().unwrap_or(0) < *at
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
    use crate::rng::Rng;
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

    /// The step of the first race, found by walking back from each access to a cell along the edges of the happens-before graph.
    fn race_by_graph(steps: &[Step]) -> Option<usize> {
        let mut edges: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
        let mut latest = BTreeMap::new();
        let mut published: BTreeMap<ObjectId, Vec<usize>> = BTreeMap::new();
        // By task: its latest release fence, and what its relaxed loads have found.
        let mut released = BTreeMap::new();
        let mut found: BTreeMap<TaskId, Vec<usize>> = BTreeMap::new();
        for (at, step) in steps.iter().enumerate() {
            edges[at].extend(latest.insert(step.task, at));
            let ordered = step.access.ordered;
            let found = found.entry(step.task).or_default();
            match step.op.class {
                Class::Cell => {
                    let mut before = vec![false; steps.len()];
                    let mut rest = edges[at].clone();
                    while let Some(earlier) = rest.pop() {
                        if !std::mem::replace(&mut before[earlier], true) {
                            rest.extend(&edges[earlier]);
                        }
                    }
                    let races = |earlier: usize| {
                        let other = &steps[earlier];
                        let conflicts = other.op.class == Class::Cell && other.access.object == step.access.object;
                        let writes = [other, step].iter().any(|it| it.access.effect == Effect::Change);
                        conflicts && writes && !before[earlier]
                    };
                    if (0..at).any(races) {
                        return Some(at);
                    }
                }
                Class::Fence => {
                    if ordered.acquire {
                        edges[at].append(found);
                    }
                    if ordered.release {
                        released.insert(step.task, at);
                    }
                }
                _ => {
                    let published = published.entry(step.access.object).or_default();
                    if ordered.acquire {
                        edges[at].extend_from_slice(published);
                    } else {
                        found.extend_from_slice(published);
                    }
                    if ordered.reset {
                        published.clear();
                    }
                    if ordered.release {
                        published.push(at);
                    } else if step.access.effect == Effect::Change {
                        published.extend(released.get(&step.task));
                    }
                }
            }
        }
        None
    }

    #[test]
    fn generated_traces_race_where_the_graph_says() {
        let mut racing = 0;
        for seed in 0..4_000 {
            let mut rng = Rng::new(seed);
            let tasks = 2 + rng.below(5);
            let steps: Vec<Step> = (0..6 + rng.below(30))
                .map(|_| {
                    let task = rng.below(tasks);
                    let atomic = ObjectId::new(rng.below(2));
                    let [acquire, release] = [rng.below(2) == 0, rng.below(2) == 0];
                    match rng.below(if seed % 2 == 0 { 7 } else { 6 }) {
                        0 => {
                            let mut access = step(task, &CELL, ObjectId::new(2 + rng.below(3)), Ordered::RELAXED);
                            access.access.effect = if rng.below(3) == 0 { Effect::Change } else { Effect::Read };
                            access
                        }
                        1 | 2 => step(task, &LOAD, atomic, Ordered { acquire, reset: false, release: false }),
                        3 | 4 => step(task, &STORE, atomic, Ordered { acquire: false, reset: true, release }),
                        5 => step(task, &UPDATE, atomic, Ordered { acquire, reset: false, release }),
                        _ => step(task, &FENCE, ObjectId::NONE, Ordered { acquire, reset: false, release }),
                    }
                })
                .collect();
            let mut trace = Trace::default();
            let mut races = Races::default();
            let mut found = None;
            for step in &steps {
                trace.push(*step);
                found = found.or_else(|| races.follow(&trace));
            }
            let second = found.map(|failure| match failure {
                Failure::DataRace { second, .. } => second.step.index(),
                other => panic!("{other:?}"),
            });
            assert_eq!(second, race_by_graph(&steps), "seed {seed}");
            races.clear();
            assert_eq!(races.follow(&trace).is_some(), second.is_some(), "seed {seed}, anew");
            racing += usize::from(second.is_some());
        }
        assert!((400..3_600).contains(&racing), "{racing} of 4,000 traces race");
    }
}
