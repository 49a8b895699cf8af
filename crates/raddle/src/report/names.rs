//! Names for tasks, objects and places in a report.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::Location;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::{ObjectInfo, Participants, TaskInfo};
use raddle_engine::replay::Record;
use raddle_engine::trace::Word;

use super::source::Sources;

/// Names for the indices of one execution.
pub(crate) struct Names {
    tasks: Vec<String>,
    /// By task, whether it has ended.
    ended: Vec<bool>,
    objects: Vec<String>,
    shows: Vec<fn(Word) -> String>,
    /// File names that occur in several directories.
    ambiguous: BTreeSet<String>,
    /// The values of atomic pointers, by address.
    pointers: Pointers,
}

/// Names for addresses. An address means nothing to a reader, and differs in the next run.
#[derive(Default)]
struct Pointers {
    /// By object: its values are pointers.
    objects: Vec<bool>,
    /// The number of each address that occurs, in order of appearance.
    numbers: HashMap<u64, usize>,
}

impl Pointers {
    /// The low bits of an address, in which programs store flags.
    const FLAGS: u64 = 7;
    /// No object has an address below this: such a value is a number stored as a pointer.
    const FIRST_PAGE: u64 = 4096;

    fn new(record: &Record) -> Self {
        let objects: Vec<bool> = record.participants.objects.iter().map(|card| card.noun == "AtomicPtr").collect();
        let mut pointers = Self { objects, numbers: HashMap::new() };
        for step in &record.steps {
            for word in [step.found, step.left].into_iter().flatten() {
                let address = word.0 & !Self::FLAGS;
                if pointers.holds(step.access.object) && address >= Self::FIRST_PAGE {
                    let next = pointers.numbers.len() + 1;
                    pointers.numbers.entry(address).or_insert(next);
                }
            }
        }
        pointers
    }

    fn holds(&self, object: ObjectId) -> bool {
        self.objects.get(object.index()).is_some_and(|&holds| holds)
    }

    /// `null`, `ptr 1`, or `ptr 1 + 1` if flags are set.
    fn name(&self, word: Word) -> String {
        match (self.numbers.get(&(word.0 & !Self::FLAGS)), word.0 & Self::FLAGS) {
            _ if word.0 == 0 => "null".to_owned(),
            (Some(number), 0) => format!("ptr {number}"),
            (Some(number), flags) => format!("ptr {number} + {flags}"),
            (None, _) => word.0.to_string(),
        }
    }
}

impl Names {
    pub(crate) fn new(record: &Record, crate_dir: Option<&str>) -> Self {
        let tasks = task_names(&record.participants.tasks);
        let objects = object_names(&record.participants, &tasks, &mut Sources::new(crate_dir));
        let shows = record.participants.objects.iter().map(|card| card.show).collect();
        let mut files: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for file in record.steps.iter().map(|step| step.site.file()).filter(|file| !is_own(file)) {
            files.entry(last_parts(file, 1)).or_default().insert(file);
        }
        let ambiguous = files.into_iter().filter(|(_, paths)| paths.len() > 1).map(|(name, _)| name).collect();
        let ended = record.participants.tasks.iter().map(|card| card.finished).collect();
        Self { tasks, ended, objects, shows, ambiguous, pointers: Pointers::new(record) }
    }

    pub(crate) fn task(&self, task: TaskId) -> String {
        self.tasks.get(task.index()).cloned().unwrap_or_else(|| format!("task {}", task.number()))
    }

    pub(crate) fn has_ended(&self, task: TaskId) -> bool {
        self.ended.get(task.index()).is_some_and(|&ended| ended)
    }

    pub(crate) fn object(&self, object: ObjectId) -> &str {
        self.objects.get(object.index()).map_or("", String::as_str)
    }

    /// A value, written as its object writes values.
    pub(crate) fn value(&self, object: ObjectId, value: Word) -> String {
        if self.pointers.holds(object) {
            return self.pointers.name(value);
        }
        self.shows.get(object.index()).map_or_else(|| value.0.to_string(), |show| show(value))
    }

    /// A place in the source, short. Empty if the place is not in the program: actors receive inside Raddle.
    pub(crate) fn site(&self, site: &Location<'_>) -> String {
        if is_own(site.file()) { String::new() } else { self.line(site.file(), site.line()) }
    }

    /// A line of a file, with as much of the path as is needed to identify the file.
    pub(crate) fn line(&self, file: &str, line: u32) -> String {
        let name = last_parts(file, 1);
        let name = if self.ambiguous.contains(&name) { last_parts(file, 2) } else { name };
        format!("{name}:{line}")
    }
}

/// The same, as part of a sentence.
pub(crate) fn at(site: &str) -> String {
    if site.is_empty() { String::new() } else { format!(" at {site}") }
}

/// Whether a file is part of Raddle.
fn is_own(file: &str) -> bool {
    let file = file.replace('\\', "/");
    file.contains("raddle-runtime") && ["/src/actor/life.rs", "/src/model.rs"].iter().any(|own| file.ends_with(own))
}

fn last_parts(path: &str, parts: usize) -> String {
    let all: Vec<&str> = path.split(['/', '\\']).collect();
    all[all.len().saturating_sub(parts)..].join("/")
}

/// The names that the program gives to tasks. If there is none, or if the program uses one name twice, the order of creation.
fn task_names(cards: &[TaskInfo]) -> Vec<String> {
    let mut uses: HashMap<&str, u32> = HashMap::new();
    for label in cards.iter().filter_map(|card| card.label.as_deref()) {
        *uses.entry(label).or_default() += 1;
    }
    let name = |card: &TaskInfo| match &card.label {
        Some(label) if uses[label.as_str()] == 1 => label.clone(),
        Some(label) => format!("{label} ({})", card.name),
        None if card.name.0.is_empty() => "main".to_owned(),
        None => format!("thread {}", card.name),
    };
    cards.iter().map(name).collect()
}

/// The names of the variables in the source. If there is none, the kind of the object.
fn object_names(cast: &Participants, tasks: &[String], sources: &mut Sources) -> Vec<String> {
    let mut names: Vec<String> = cast.objects.iter().map(|card| card.noun.to_owned()).collect();
    let mut same: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut nameless: BTreeMap<&str, usize> = BTreeMap::new();
    let mut of_tasks = [tasks.iter(), tasks.iter()];
    let mut found: HashMap<&Location<'_>, Option<String>> = HashMap::new();
    for (index, card) in cast.objects.iter().enumerate() {
        let Some(made) = card.made else {
            // Objects of the runtime: for each task, in order, its end and its token.
            match card.noun {
                "thread" => names[index] = of_tasks[0].next().cloned().unwrap_or_default(),
                "token" => names[index] = of_tasks[1].next().cloned().unwrap_or_default(),
                // Actors have their own names.
                "mailbox" => names[index] = "its mailbox".to_owned(),
                "system" => names[index].clear(),
                "clock" => names[index] = "the clock".to_owned(),
                _ => {}
            }
            continue;
        };
        match found.entry(made).or_insert_with(|| sources.name_at(made)) {
            Some(name) => same.entry(name.clone()).or_default().push(index),
            None => {
                let number = nameless.entry(card.noun).or_default();
                *number += 1;
                names[index] = format!("{} {number}", card.noun);
            }
        }
    }
    for (name, indices) in same {
        tell_apart(&name, indices, &cast.objects, &mut names);
    }
    names
}

/// Values in one array expression get their index, `a[0]` and `a[1]`. Values made by the same expression get numbers in the order of first
/// use, `a #1` and `a #2`: it is not known where they were stored.
fn tell_apart(name: &str, mut indices: Vec<usize>, cards: &[ObjectInfo], names: &mut [String]) {
    if let [only] = indices[..] {
        names[only] = name.to_owned();
        return;
    }
    let place = |index: &usize| cards[*index].made.map(|made| (made.file(), made.line(), made.column()));
    let columns: BTreeSet<_> = indices.iter().map(place).collect();
    let lines: BTreeSet<_> = columns.iter().map(|at| at.map(|(file, line, _)| (file, line))).collect();
    let side_by_side = columns.len() == indices.len() && lines.len() == 1;
    if side_by_side {
        indices.sort_by_key(place);
    }
    for (number, index) in indices.into_iter().enumerate() {
        names[index] = if side_by_side { format!("{name}[{number}]") } else { format!("{name} #{}", number + 1) };
    }
}
