//! The steps that matter, one row each.
//!
//! A step matters if somebody else touches the same object, if it starts a task, or if it draws a value. What a task does for
//! itself commutes with everything else, and so does learning that another has ended: that is told in one row, before
//! the task's next step that matters.

use std::collections::HashMap;

use raddle_engine::ids::{ObjectId, StepIx, TaskId};
use raddle_engine::outcome::{Failure, Place, Remark, Waiting};
use raddle_engine::replay::Record;
use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Effect, Step};

use super::names::Names;
use super::paint::Tone;
use super::verdict::number;

/// One row of the table.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) task: TaskId,
    pub(crate) text: String,
    pub(crate) site: String,
    pub(crate) tone: Tone,
}

/// A row that may still be joined by the next one.
struct Draft {
    row: Row,
    joins: Joins,
}

enum Joins {
    /// Nothing.
    No,
    /// The release of what was acquired.
    Release(ObjectId),
    /// More tasks started.
    Spawns(Vec<String>),
}

/// As many rows of steps that no other task can see are told one by one: folding fewer would save nothing.
const FEW_ROWS: usize = 3;

/// What a task has done since its latest row.
#[derive(Default)]
struct Meanwhile {
    /// Steps on what no other task touches, in rows; no more of them than tell that they are many.
    own: Vec<Draft>,
    own_steps: u64,
    joined: Vec<String>,
    join_site: String,
}

/// Tells what an execution did and how it ended.
pub(crate) fn tell(record: &Record, failure: Option<&Failure>, names: &Names) -> Vec<Row> {
    let shared = shared_objects(record, failure);
    let racing: Vec<StepIx> = match failure {
        Some(Failure::DataRace { first, second, .. }) => vec![first.step, second.step],
        _ => Vec::new(),
    };
    let mut drafts: Vec<Draft> = Vec::new();
    let mut meanwhile: HashMap<TaskId, Meanwhile> = HashMap::new();
    let remarks = Remarks::new(record);
    for (index, step) in record.steps.iter().enumerate() {
        if index > 0 {
            add_remarks(&remarks, index - 1, &mut drafts, &mut meanwhile, names);
        }
        let said = remarks.instead(index);
        let races = racing.contains(&StepIx::next_of(index));
        let told = meanwhile.entry(step.task).or_default();
        match step.op.class {
            Class::Finish => continue,
            // Who leaves a channel that others still use is not missed.
            Class::Write if !step.access.object.is_some() => continue,
            // What came of it is told in words.
            Class::Choice if step.op.verb == "does a fault happen?" => continue,
            Class::Join => {
                told.joined.push(names.object(step.access.object).to_owned());
                told.join_site = names.site(step.site);
                continue;
            }
            _ if !races && said.is_none() && !matters(step, &shared) => {
                told.own_steps += 1;
                if told.own.len() <= FEW_ROWS && !told.own.last_mut().is_some_and(|last| join(last, step, names)) {
                    let (text, site) = (words(step, names), names.site(step.site));
                    let row = Row { task: step.task, text, site, tone: Tone::Quiet };
                    told.own.push(Draft { row, joins: joins(step, names) });
                }
                continue;
            }
            _ => drafts.extend(std::mem::take(told).rows(step.task)),
        }
        if drafts.last_mut().is_some_and(|last| join(last, step, names)) {
            continue;
        }
        let text = said.map_or_else(|| words(step, names), str::to_owned);
        let mut row = Row { task: step.task, text, site: names.site(step.site), tone: Tone::Plain };
        if races {
            row.text.push_str(" (races)");
            row.tone = Tone::Bad;
        }
        drafts.push(Draft { row, joins: joins(step, names) });
    }
    if let Some(last) = record.steps.len().checked_sub(1) {
        add_remarks(&remarks, last, &mut drafts, &mut meanwhile, names);
    }
    for row in failure.map(|failure| ending(failure, names)).unwrap_or_default() {
        drafts.extend(meanwhile.remove(&row.task).unwrap_or_default().rows(row.task));
        drafts.push(Draft { row, joins: Joins::No });
    }
    fold(drafts.into_iter().map(|draft| draft.row))
}

/// Adds what is told after a step.
fn add_remarks(
    remarks: &Remarks<'_>,
    step: usize,
    drafts: &mut Vec<Draft>,
    meanwhile: &mut HashMap<TaskId, Meanwhile>,
    names: &Names,
) {
    for remark in remarks.after(step) {
        drafts.extend(meanwhile.remove(&remark.task).unwrap_or_default().rows(remark.task));
        let (text, site) = (remark.text.clone(), names.site(remark.site));
        drafts.push(Draft { row: Row { task: remark.task, text, site, tone: Tone::Plain }, joins: Joins::No });
    }
}

/// What the program has to say of its steps.
struct Remarks<'a>(&'a [Remark]);

impl<'a> Remarks<'a> {
    fn new(record: &'a Record) -> Self {
        Self(&record.cast.remarks)
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

/// Joins rows that say the same thing again and again.
fn fold(rows: impl Iterator<Item = Row>) -> Vec<Row> {
    let mut folded: Vec<(Row, usize)> = Vec::new();
    for row in rows {
        match folded.last_mut() {
            Some((last, times)) if (last.task, &last.text, &last.site) == (row.task, &row.text, &row.site) => {
                *times += 1
            }
            _ => folded.push((row, 1)),
        }
    }
    let count = |(mut row, times): (Row, usize)| {
        if times > 1 {
            row.text.push_str(&format!(", {} times", number(times as u64)));
        }
        row
    };
    folded.into_iter().map(count).collect()
}

impl Meanwhile {
    fn rows(mut self, task: TaskId) -> Vec<Draft> {
        if self.own.len() > FEW_ROWS {
            let text = format!("… {} steps that no other thread can see", number(self.own_steps));
            let row = Row { task, text, site: String::new(), tone: Tone::Quiet };
            self.own = vec![Draft { row, joins: Joins::No }];
        }
        let mut told = self.own;
        if !self.joined.is_empty() {
            let text = format!("join {}", list(&self.joined));
            let row = Row { task, text, site: self.join_site, tone: Tone::Plain };
            told.push(Draft { row, joins: Joins::No });
        }
        told
    }
}

/// A few names, or the first and the last of many.
fn list(names: &[String]) -> String {
    match names {
        [first, .., last] if names.len() > 3 => format!("{first} … {last}"),
        few => few.join(", "),
    }
}

/// By object, whether it is worth telling what happens to it.
fn shared_objects(record: &Record, failure: Option<&Failure>) -> Vec<bool> {
    let mut touched_by: Vec<Option<TaskId>> = vec![None; record.cast.objects.len()];
    let mut shared = vec![false; record.cast.objects.len()];
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
        // What comes of a question of the runtime's own is the step after it.
        Class::Choice => !step.op.verb.ends_with('?'),
        Class::Yield => false,
        _ => unusual(step.variant).is_some() || shared.get(step.access.object.index()).is_some_and(|&shared| shared),
    }
}

/// What is to be said of a way out of a wait that is not the ordinary one.
fn unusual(variant: Variant) -> Option<&'static str> {
    match variant {
        Variant::TimedOut => Some("timed out"),
        Variant::Spurious => Some("woken for no reason"),
        Variant::Ready | Variant::Message(_) => None,
    }
}

fn joins(step: &Step, names: &Names) -> Joins {
    match step.op.class {
        Class::Acquire if unusual(step.variant).is_none() => Joins::Release(step.access.object),
        Class::Spawn => Joins::Spawns(vec![spawned(step, names)]),
        _ => Joins::No,
    }
}

/// Whom a step has started.
fn spawned(step: &Step, names: &Names) -> String {
    match step.found {
        Some(child) => names.task(TaskId::next_of(child.0 as usize)),
        None => names.object(step.access.object).to_owned(),
    }
}

/// Adds `step` to the latest row if it belongs there.
fn join(last: &mut Draft, step: &Step, names: &Names) -> bool {
    if last.row.task != step.task || unusual(step.variant).is_some() {
        return false;
    }
    match &mut last.joins {
        Joins::Release(object) if step.op.class == Class::Release && step.access.object == *object => {
            last.row.text.push_str(&format!(", {}", step.op.verb));
            last.joins = Joins::No;
            true
        }
        Joins::Spawns(tasks) if step.op.class == Class::Spawn => {
            tasks.push(spawned(step, names));
            last.row.text = format!("{} {}", step.op.verb, list(tasks));
            true
        }
        _ => false,
    }
}

/// What a step did: `load x → 0`, `store x ← 1`, `fetch_add x 0 → 1`.
fn words(step: &Step, names: &Names) -> String {
    let object = step.access.object;
    let mut text = step.op.verb.to_owned();
    if step.op.class == Class::Spawn {
        text.push(' ');
        text.push_str(&spawned(step, names));
    } else if object.is_some() && step.op.class != Class::Time {
        text.push(' ');
        text.push_str(names.object(object));
    }
    let value = |word| names.value(object, word);
    let tried = step.op.class == Class::Update && step.access.effect == Effect::Read;
    match (step.found, step.left) {
        _ if step.op.class == Class::Spawn || step.op.verb.starts_with("try_lock") => {}
        (Some(found), Some(left)) => text.push_str(&format!(" {} → {}", value(found), value(left))),
        (Some(found), None) => text.push_str(&format!(" → {}", value(found))),
        (None, Some(left)) => text.push_str(&format!(" ← {}", value(left))),
        (None, None) => {}
    }
    if tried {
        text.push_str(" (fails)");
    }
    match unusual(step.variant) {
        Some(way_out) if step.op.class != Class::Time => text.push_str(&format!(": {way_out}")),
        _ => {}
    }
    text
}

/// The last rows: what failed, or who does not go on.
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

/// What a task does that will never see anything new.
pub(crate) fn spins_or_waits(waiting: &Waiting, names: &Names) -> String {
    match waiting.op.class {
        Class::Acquire | Class::Join | Class::Wait => waits_for(waiting, names),
        _ => format!("spins: {}", about_to(waiting, names)),
    }
}

/// What a task is about to do.
pub(crate) fn about_to(waiting: &Waiting, names: &Names) -> String {
    format!("{} {}", waiting.op.verb, names.object(waiting.object)).trim_end().to_owned()
}

/// Whether somebody waits for the reply to what it asked another.
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
