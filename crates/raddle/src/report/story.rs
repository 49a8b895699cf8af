//! The steps of an execution, one row for each operation that matters.
//!
//! An operation matters if another task accesses the same object, if it starts a task, or if it chooses a value. Other operations are
//! independent of all other tasks; they are shown right before the next operation of their task that matters. So are joins. The rows of
//! each task are in program order.

use std::collections::HashMap;

use raddle_engine::ids::{ObjectId, StepIx, TaskId};
use raddle_engine::outcome::{Failure, Place, Remark, Waiting};
use raddle_engine::replay::Record;
use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Step};

use super::names::Names;
use super::operations::{operations, spawned};
use super::paint::Tone;
use super::repeats::fold;
use super::verdict::number;

/// One row of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) task: TaskId,
    pub(crate) text: String,
    pub(crate) site: String,
    pub(crate) tone: Tone,
}

/// A row that may be merged with the next one.
struct Draft {
    row: Row,
    joins: Joins,
}

enum Joins {
    /// Nothing.
    No,
    /// The release of what was acquired.
    Release(ObjectId),
    /// The end of the wait that the release of the mutex begins, if it comes at once.
    EndOfWait,
    /// Further tasks are started.
    Spawns(Vec<String>),
    /// Further tasks are joined.
    Joined(Vec<String>),
}

/// Up to so many rows of operations that no other task can see are shown one by one. Folding fewer would save nothing.
const FEW_ROWS: usize = 3;

/// What a task has done since its latest row that matters, in order.
#[derive(Default)]
struct Meanwhile {
    parts: Vec<Part>,
}

/// A part of what a task did independently of others.
enum Part {
    /// Operations on objects that no other task accesses: the first rows, and their number.
    Own(Vec<Draft>, u64),
    /// Joins.
    Join(Draft),
}

/// The rows for an execution and its end.
pub(crate) fn tell(record: &Record, failure: Option<&Failure>, names: &Names) -> Vec<Row> {
    let mut table = Table { names, drafts: Vec::new(), meanwhile: HashMap::new() };
    let shared = shared_objects(record, failure);
    let racing: Vec<StepIx> = match failure {
        Some(Failure::DataRace { first, second, .. }) => vec![first.step, second.step],
        _ => Vec::new(),
    };
    let remarks = Remarks::new(record);
    let texts = operations(&record.steps, names);
    for (index, (step, text)) in record.steps.iter().zip(texts).enumerate() {
        let races = racing.contains(&StepIx::next_of(index));
        let said = remarks.instead(index).map(str::to_owned);
        let matters = races || said.is_some() || matters(step, &shared);
        if let Some(text) = said.or(text) {
            table.add(step, text, matters, races);
        }
        for remark in remarks.after(index) {
            table.add_remark(remark);
        }
    }
    let ending = failure.map(|failure| ending(failure, names)).unwrap_or_default();
    for row in &ending {
        table.flush(row.task);
    }
    table.drafts.extend(ending.into_iter().map(|row| Draft { row, joins: Joins::No }));
    fold(table.drafts.into_iter().map(|draft| draft.row).collect())
}

/// The rows so far.
struct Table<'a> {
    names: &'a Names,
    drafts: Vec<Draft>,
    meanwhile: HashMap<TaskId, Meanwhile>,
}

impl Table<'_> {
    fn add(&mut self, step: &Step, text: String, matters: bool, races: bool) {
        let site = self.site(step);
        let tone = match () {
            () if races => Tone::Bad,
            () if matters || step.op.class == Class::Join => Tone::Plain,
            () => Tone::Quiet,
        };
        let text = if races { text + " (races)" } else { text };
        let draft = Draft { row: Row { task: step.task, text, site, tone }, joins: joins(step, self.names) };
        let meanwhile = self.meanwhile.entry(step.task).or_default();
        if step.op.class == Class::Join {
            return meanwhile.join(draft, step, self.names);
        }
        if !matters {
            return meanwhile.add_own(draft, step, self.names);
        }
        self.flush(step.task);
        if !self.drafts.last_mut().is_some_and(|last| join(last, &draft, step, self.names)) {
            self.drafts.push(draft);
        }
    }

    fn add_remark(&mut self, remark: &Remark) {
        let (text, site) = (remark.text.clone(), self.names.site(remark.site));
        self.flush(remark.task);
        let row = Row { task: remark.task, text, site, tone: Tone::Plain };
        self.drafts.push(Draft { row, joins: Joins::No });
    }

    /// Adds what the task has done independently of others.
    fn flush(&mut self, task: TaskId) {
        self.drafts.extend(self.meanwhile.remove(&task).unwrap_or_default().rows(task));
    }

    /// The place of an operation. For the drop of a guard or a channel only the place is known where it was taken or made, which is not
    /// shown.
    fn site(&self, step: &Step) -> String {
        match step.op.class {
            Class::Release if step.op.verb.starts_with("unlock") && step.op.verb != "unlock to wait" => String::new(),
            Class::Write if step.op.verb.starts_with("drop the ") => String::new(),
            _ => self.names.site(step.site),
        }
    }
}

impl Meanwhile {
    fn join(&mut self, draft: Draft, step: &Step, names: &Names) {
        let joined = match self.parts.last_mut() {
            Some(Part::Join(last)) => join(last, &draft, step, names),
            _ => false,
        };
        if !joined {
            self.parts.push(Part::Join(draft));
        }
    }

    fn add_own(&mut self, draft: Draft, step: &Step, names: &Names) {
        if !matches!(self.parts.last(), Some(Part::Own(..))) {
            self.parts.push(Part::Own(Vec::new(), 0));
        }
        let Some(Part::Own(rows, steps)) = self.parts.last_mut() else { return };
        *steps += 1;
        if rows.len() <= FEW_ROWS && !rows.last_mut().is_some_and(|last| join(last, &draft, step, names)) {
            rows.push(draft);
        }
    }

    fn rows(self, task: TaskId) -> impl Iterator<Item = Draft> {
        self.parts.into_iter().flat_map(move |part| match part {
            Part::Own(rows, steps) if rows.len() > FEW_ROWS => {
                let text = format!("… {} steps that no other thread can see", number(steps));
                let row = Row { task, text, site: String::new(), tone: Tone::Quiet };
                vec![Draft { row, joins: Joins::No }]
            }
            Part::Own(rows, _) => rows,
            Part::Join(row) => vec![row],
        })
    }
}

/// The program's own texts for its steps.
struct Remarks<'a>(&'a [Remark]);

impl<'a> Remarks<'a> {
    fn new(record: &'a Record) -> Self {
        Self(&record.participants.remarks)
    }

    fn of(&self, step: usize) -> impl Iterator<Item = &'a Remark> {
        let start = self.0.partition_point(|remark| remark.step.index() < step);
        self.0[start..].iter().take_while(move |remark| remark.step.index() == step)
    }

    fn instead(&self, step: usize) -> Option<&'a str> {
        self.of(step).filter(|remark| remark.instead).last().map(|remark| remark.text.as_str())
    }

    fn after(&self, step: usize) -> impl Iterator<Item = &'a Remark> {
        self.of(step).filter(|remark| !remark.instead)
    }
}

/// A few names, or the first and the last of many.
fn list(names: &[String]) -> String {
    match names {
        [first, .., last] if names.len() > 3 => format!("{first} … {last}"),
        few => few.join(", "),
    }
}

/// By object, whether its operations are shown.
fn shared_objects(record: &Record, failure: Option<&Failure>) -> Vec<bool> {
    let mut touched_by: Vec<Option<TaskId>> = vec![None; record.participants.objects.len()];
    let mut shared = vec![false; record.participants.objects.len()];
    for step in &record.steps {
        let Some(first) = touched_by.get_mut(step.access.object.index()) else { continue };
        let first = first.get_or_insert(step.task);
        shared[step.access.object.index()] |= *first != step.task;
    }
    let waiting = match failure {
        Some(Failure::Deadlock { waiting: list } | Failure::Livelock { spinning: list }) => list.as_slice(),
        _ => &[],
    };
    for object in waiting.iter().map(|waiting| waiting.object) {
        if let Some(shared) = shared.get_mut(object.index()) {
            *shared = true;
        }
    }
    shared
}

fn matters(step: &Step, shared: &[bool]) -> bool {
    match step.op.class {
        Class::Spawn => true,
        Class::Choice => true,
        Class::Yield => false,
        _ => unusual(step.variant) || shared.get(step.access.object.index()).is_some_and(|&shared| shared),
    }
}

/// Whether a wait ended in an unusual way.
fn unusual(variant: Variant) -> bool {
    matches!(variant, Variant::TimedOut | Variant::Spurious)
}

fn joins(step: &Step, names: &Names) -> Joins {
    match step.op.class {
        Class::Acquire if !unusual(step.variant) => Joins::Release(step.access.object),
        Class::Release if step.op.verb == "unlock to wait" => Joins::EndOfWait,
        Class::Spawn => Joins::Spawns(vec![spawned(step, names)]),
        Class::Join => Joins::Joined(vec![names.object(step.access.object).to_owned()]),
        _ => Joins::No,
    }
}

/// Merges the row of `step` with the latest one, if they belong together.
fn join(last: &mut Draft, draft: &Draft, step: &Step, names: &Names) -> bool {
    if last.row.task != step.task {
        return false;
    }
    match &mut last.joins {
        Joins::Release(object)
            if step.op.class == Class::Release && step.access.object == *object && step.op.verb != "unlock to wait" =>
        {
            last.row.text.push_str(&format!(", {}", step.op.verb));
            last.joins = Joins::No;
            true
        }
        Joins::EndOfWait if step.variant == Variant::Spurious => {
            last.row.text.clone_from(&draft.row.text);
            last.joins = Joins::No;
            true
        }
        Joins::Spawns(tasks) if step.op.class == Class::Spawn => {
            tasks.push(spawned(step, names));
            last.row.text = format!("{} {}", step.op.verb, list(tasks));
            true
        }
        Joins::Joined(tasks) if step.op.class == Class::Join => {
            tasks.push(names.object(step.access.object).to_owned());
            last.row.text = format!("{} {}", step.op.verb, list(tasks));
            last.row.site.clone_from(&draft.row.site);
            true
        }
        _ => false,
    }
}

/// The last rows: the failure, or the tasks that cannot continue.
fn ending(failure: &Failure, names: &Names) -> Vec<Row> {
    let at = |place: &Option<Place>| place.as_ref().map(|place| names.line(&place.file, place.line));
    let one = |task: TaskId, text: &str, site: Option<String>| {
        vec![Row { task, text: text.to_owned(), site: site.unwrap_or_default(), tone: Tone::Bad }]
    };
    let stuck = |list: &[Waiting], words: fn(&Waiting, &Names) -> String| {
        let row =
            |w: &Waiting| Row { task: w.task, text: words(w, names), site: names.site(w.site), tone: Tone::Stuck };
        list.iter().map(row).collect()
    };
    match failure {
        Failure::Panic { task, place, .. } | Failure::CannotUnwind { task, place, .. } => {
            one(*task, "panics", at(place))
        }
        Failure::Abort { task, place, .. } => one(*task, "panics while panicking", at(place)),
        Failure::StackOverflow { task, .. } => one(*task, "overflows its stack", None),
        Failure::Deadlock { waiting } => stuck(waiting, waits_for),
        Failure::Livelock { spinning } => stuck(spinning, spins_or_waits),
        Failure::TooManySteps { unfinished, .. } => {
            stuck(unfinished, |w, names| format!("next: {}", about_to(w, names)))
        }
        _ => Vec::new(),
    }
}

/// What a task does that spins forever.
pub(crate) fn spins_or_waits(waiting: &Waiting, names: &Names) -> String {
    match waiting.op.class {
        Class::Acquire | Class::Join | Class::Wait => waits_for(waiting, names),
        _ => format!("spins: {}", about_to(waiting, names)),
    }
}

/// The pending operation of a task.
pub(crate) fn about_to(waiting: &Waiting, names: &Names) -> String {
    format!("{} {}", waiting.op.verb, names.object(waiting.object)).trim_end().to_owned()
}

/// Whether the task waits for a reply.
pub(crate) fn is_question(waiting: &Waiting) -> bool {
    waiting.op.class == Class::Receive && !waiting.held_by.is_empty()
}

/// What a task waits for.
pub(crate) fn waits_for(waiting: &Waiting, names: &Names) -> String {
    let object = names.object(waiting.object);
    match waiting.op.class {
        Class::Acquire | Class::Join => format!("waits for {object}"),
        Class::Wait if waiting.op.verb == "park" => "waits to be unparked".to_owned(),
        Class::Wait if object.is_empty() => waiting.op.verb.replacen("wait", "waits", 1),
        Class::Receive if is_question(waiting) => match waiting.held_by.first() {
            Some((asked, _)) => format!("waits for the reply of {}", names.task(*asked)),
            None => "waits for a reply".to_owned(),
        },
        Class::Wait => format!("waits on {object}"),
        Class::Receive => format!("waits for a message from {object}"),
        Class::Send => format!("waits for room in {object}"),
        _ => format!("waits: {}", about_to(waiting, names)),
    }
}

#[cfg(test)]
mod tests;
