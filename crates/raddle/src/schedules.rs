//! Generated schedules of receives, kept in a directory beside the crate's sources and followed again before each search.
//!
//! One file per schedule: a line that says what it is for, then one line for each receive, all JSON. Receives are known by their
//! names, so a schedule survives edits that do not concern them. The report says how far it could be followed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use raddle_engine::coverage::Generated;
use raddle_engine::coverage::{Criterion, Scheduled};
use serde::{Deserialize, Serialize};

use crate::file_lock::FileLock;
use crate::files;

/// Of the files that are written here.
const VERSION: u32 = 1;

/// The largest file that is read.
const MOST_BYTES: u64 = 16 << 20;

/// The first line of a file.
#[derive(Serialize, Deserialize)]
struct Heading {
    raddle_receives: u32,
    criterion: Criterion,
    first: String,
    second: String,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SchedulesError {
    #[error("{} cannot be read: {source}", .file.display())]
    Unreadable { file: PathBuf, source: io::Error },
    #[error("line {line} of {} is not what Raddle writes there: {source}; delete the file, or have the schedules generated anew", .file.display())]
    Line { file: PathBuf, line: usize, source: serde_json::Error },
    #[error("{} was written by another version of Raddle ({version}, not {VERSION}); have the schedules generated anew", .file.display())]
    Version { file: PathBuf, version: u32 },
    #[error("{} has no receives; delete it, or have the schedules generated anew", .file.display())]
    Empty { file: PathBuf },
    #[error("{} cannot be written: {source}", .file.display())]
    Unwritable { file: PathBuf, source: io::Error },
}

/// Reads the schedules in `dir`, each with the name of its file, and the errors of those that cannot be read. None if there is no such directory.
pub(crate) fn read(dir: &Path, lock_file: &Path) -> (Vec<(String, Vec<Scheduled>)>, Vec<SchedulesError>) {
    if !dir.exists() {
        return Default::default();
    }
    let entries = || {
        let lock = FileLock::wait(lock_file)?;
        Ok((fs::read_dir(dir)?, lock))
    };
    let (mut files, _lock): (Vec<_>, _) = match entries() {
        Ok((entries, lock)) => (entries.flatten().map(|entry| entry.path()).collect(), lock),
        Err(source) => return (Vec::new(), vec![SchedulesError::Unreadable { file: dir.to_owned(), source }]),
    };
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let (mut schedules, mut errors) = (Vec::new(), Vec::new());
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match read_one(&file) {
            Ok(receives) => schedules.push((name, receives)),
            Err(error) => errors.push(error),
        }
    }
    (schedules, errors)
}

fn read_one(file: &Path) -> Result<Vec<Scheduled>, SchedulesError> {
    let unreadable = |source| SchedulesError::Unreadable { file: file.to_owned(), source };
    parse(file, &files::read_text(file, MOST_BYTES).map_err(unreadable)?.unwrap_or_default())
}

/// The receives in a text, which is what is in `file`.
pub(crate) fn parse(file: &Path, text: &str) -> Result<Vec<Scheduled>, SchedulesError> {
    let wrong = |line, source| SchedulesError::Line { file: file.to_owned(), line, source };
    let mut lines = text.lines();
    let heading: Heading = serde_json::from_str(lines.next().unwrap_or_default()).map_err(|e| wrong(1, e))?;
    if heading.raddle_receives != VERSION {
        return Err(SchedulesError::Version { file: file.to_owned(), version: heading.raddle_receives });
    }
    let numbered = lines.enumerate().filter(|(_, line)| !line.trim().is_empty());
    let receives = numbered.map(|(at, line)| serde_json::from_str(line).map_err(|e| wrong(at + 2, e)));
    let receives: Vec<Scheduled> = receives.collect::<Result<_, _>>()?;
    if receives.is_empty() { Err(SchedulesError::Empty { file: file.to_owned() }) } else { Ok(receives) }
}

/// Writes schedules to `dir`, in place of those that are there.
pub(crate) fn write(dir: &Path, lock_file: &Path, schedules: &[Generated]) -> Result<(), SchedulesError> {
    let unwritable = |file: &Path, source| SchedulesError::Unwritable { file: file.to_owned(), source };
    let _lock = FileLock::wait(lock_file).map_err(|source| unwritable(dir, source))?;
    for (at, Generated { criterion, goal, receives }) in (1..).zip(schedules) {
        let (first, second) = goal.clone();
        let heading = Heading { raddle_receives: VERSION, criterion: *criterion, first, second };
        let mut text = serde_json::to_string(&heading).expect("a heading can be written");
        for receive in receives {
            text.push('\n');
            text.push_str(&serde_json::to_string(receive).expect("a receive can be written"));
        }
        let file = dir.join(format!("{at:04}.jsonl"));
        files::write_whole(&file, &(text + "\n")).map_err(|source| unwritable(&file, source))?;
    }
    // What is left of a larger set would be run as if it belonged to this one.
    for at in schedules.len() + 1.. {
        let file = dir.join(format!("{at:04}.jsonl"));
        match fs::remove_file(&file) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(source) => return Err(unwritable(&file, source)),
        }
    }
    Ok(())
}
