//! What searches come to, in files: every form of every strategy on small programs of every kind, by one worker, by three, and
//! stopped and resumed. A change that is not meant to change what is searched leaves these files byte for byte as they are.
//!
//! `GOLDEN=update cargo test -p raddle --lib golden` writes the files anew. Read the difference before you commit it.
//!
//! A line has the program, the strategy, how it was searched, and then: executions that were run to their end, pruned ones, failing ones, probes,
//! steps and states; a hash of all executions (in order, but for those that are shared); the verdict. `alone`, `shared` and
//! `resumed` are searches by the engine that go on after a failure. `explorer` is what a user gets, up to the first failure, and
//! `sessions` is a search that goes on after failures, in two sessions. Nothing in a line depends on time.

mod explore;
mod forms;
mod hash;
mod play;
mod programs;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use self::forms::Form;
use self::play::Way;
use self::programs::Subject;

/// How many differing lines are shown.
const SHOWN: usize = 10;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/golden/data")
}

/// Whether the files are written anew.
fn updates() -> bool {
    std::env::var_os("GOLDEN").is_some_and(|value| value == "update")
}

/// The lines about one program and one strategy.
fn lines(subject: &Subject, form: &Form) -> String {
    let out = std::env::temp_dir().join(format!(
        "raddle-golden-{}-{}-{}",
        std::process::id(),
        subject.name,
        form.text.replace(':', "_")
    ));
    let mut text = String::new();
    let mut add = |how: &str, told: String| {
        writeln!(text, "{} {} {how}: {told}", subject.name, form.text).expect("text can be added to text");
    };
    for (how, way) in [("alone", Way::Alone), ("shared", Way::Shared), ("resumed", Way::Resumed)] {
        add(how, play::run(subject, form, way));
    }
    explore::run(subject, form).into_iter().for_each(|told| add("explorer", told));
    explore::run_resumed(subject, form, &out).into_iter().for_each(|told| add("sessions", told));
    text
}

/// The text of each program's file. Searches do not know of one another, so they run on all cores.
fn texts(subjects: &[Subject], forms: &[Form]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let parts: Vec<Mutex<String>> = (0..subjects.len() * forms.len()).map(|_| Mutex::default()).collect();
    let work = || {
        loop {
            let at = next.fetch_add(1, Relaxed);
            let Some(part) = parts.get(at) else { break };
            let (subject, form) = (&subjects[at / forms.len()], &forms[at % forms.len()]);
            *part.lock().expect("nobody else has it") = lines(subject, form);
        }
    };
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        (0..workers).for_each(|_| drop(scope.spawn(work)));
    });
    let text = |parts: &[Mutex<String>]| parts.iter().map(|part| part.lock().expect("all is done").clone()).collect();
    parts.chunks(forms.len()).map(text).collect()
}

/// A line that is not as it was; a line that only one of the two has is one, too.
struct Difference {
    /// The strategy and how it was searched.
    about: String,
    shown: String,
}

fn differences(golden: &str, now: &str) -> Vec<Difference> {
    let (mut golden, mut now) = (golden.lines(), now.lines());
    let pairs = std::iter::from_fn(|| match (golden.next(), now.next()) {
        (None, None) => None,
        pair => Some(pair),
    });
    let differ = pairs.filter(|(golden, now)| golden != now);
    let show = |(golden, now): (Option<&str>, Option<&str>)| {
        let line = now.or(golden).unwrap_or_default();
        let about = line.split(": ").next().and_then(|key| key.split_once(' ')).map_or(line, |(_, about)| about);
        let shown = format!("- {}\n+ {}\n", golden.unwrap_or("(no line)"), now.unwrap_or("(no line)"));
        Difference { about: about.to_owned(), shown }
    };
    differ.map(show).collect()
}

/// How many lines differ, where, and the first of each strategy and way.
fn summary(differ: &[Difference], of: usize) -> String {
    let mut counts: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for Difference { about, shown } in differ {
        counts.entry(about).or_insert((0, shown)).0 += 1;
    }
    let told: Vec<_> = counts.iter().map(|(about, (count, _))| format!("{count} of {about}")).collect();
    let shown: String = counts.values().take(SHOWN).map(|(_, shown)| *shown).collect();
    format!(
        "{} of {of} lines differ: {}\nfor example (- golden, + now)\n{shown}\
         if this is meant, run with GOLDEN=update and read the difference",
        differ.len(),
        told.join(", ")
    )
}

#[test]
fn searches_come_to_what_they_came_to() {
    let (subjects, forms) = (programs::all(), forms::all());
    let (mut differ, mut of) = (Vec::new(), 0);
    for (subject, now) in subjects.iter().zip(texts(&subjects, &forms)) {
        let file = data().join(format!("{}.txt", subject.name));
        if updates() {
            std::fs::write(&file, now).expect("the golden files can be written");
            continue;
        }
        of += now.lines().count();
        let golden = std::fs::read_to_string(&file).unwrap_or_default();
        differ.extend(differences(&golden, &now));
        assert!(golden == now || !differ.is_empty(), "{}: the ends of lines differ", file.display());
    }
    assert!(differ.is_empty(), "{}", summary(&differ, of));
}

/// A program that was renamed or taken out would leave a file that nobody reads.
#[test]
fn every_golden_file_belongs_to_a_program() {
    if updates() {
        // They are being written.
        return;
    }
    let mut files: Vec<_> = std::fs::read_dir(data())
        .expect("there are golden files")
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    let mut expected: Vec<_> = programs::all().iter().map(|subject| format!("{}.txt", subject.name)).collect();
    files.sort();
    expected.sort();
    assert_eq!(files, expected);
}
