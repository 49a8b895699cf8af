//! What searches have learned about a program, in a file. The next search starts from it.
//!
//! Two lines of JSON: a head with the test and a checksum, and what was learned. A broken file is renamed and not used. The file only saves
//! time, so it must never keep a test from running.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use raddle_engine::strategy::Memory;
use serde::{Deserialize, Serialize};

use crate::file_lock::FileLock;
use crate::files::{read_whole, write_whole};
use crate::saved_search::sum;

/// The version of this kind of file.
const FORMAT: u32 = 1;

/// The largest file that is read or written.
const MOST_BYTES: u64 = 64 << 20;

/// The first line.
#[derive(Serialize, Deserialize)]
pub(crate) struct LearnedHead {
    format: u32,
    test: String,
    /// How many calls tell its statements apart.
    #[serde(default, skip_serializing_if = "is_zero")]
    context: usize,
    /// The build of the test that was searched last.
    #[serde(default)]
    build: u64,
    /// Of the second line.
    sum: u64,
}

/// A number for the build of the running test, from the size and time of its file. It only has to differ between builds.
fn build() -> u64 {
    let file = || {
        let about = fs::metadata(std::env::current_exe().ok()?).ok()?;
        let time = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some((about.len(), time.as_nanos()))
    };
    sum(format!("{:?}", file()).as_bytes())
}

fn is_zero(context: &usize) -> bool {
    *context == 0
}

/// The contents of a file.
pub(crate) enum Read {
    /// There is none.
    Nothing,
    /// Text that the strategy understands.
    Saved(String),
    /// The same, but learned from another build of the test, which may do something else now.
    OfAnotherBuild(String),
    /// What was learned with another `context`, whose statements are not the same.
    OfOthers { context: usize },
    /// The file is broken.
    Broken {
        why: String,
        /// The name it has now; `None` if it could not be given one.
        now: Option<PathBuf>,
    },
}

/// Reads what was learned about a test with this `context`. A broken file is renamed.
pub(crate) fn read(file: &Path, test: &str, context: usize, memory: &dyn Memory) -> Read {
    let text = match read_whole(file, MOST_BYTES) {
        Ok(Some(text)) => text,
        Ok(None) => return Read::Nothing,
        Err(error) => return Read::Broken { why: error.to_string(), now: None },
    };
    match understood(&text, test, memory) {
        Ok((_, head)) if head.context != context => Read::OfOthers { context: head.context },
        Ok((saved, head)) if head.build == build() => Read::Saved(saved),
        Ok((saved, _)) => Read::OfAnotherBuild(saved),
        Err(why) => {
            let mut aside = file.as_os_str().to_owned();
            aside.push(".corrupt");
            let aside = PathBuf::from(aside);
            Read::Broken { why, now: fs::rename(file, &aside).is_ok().then_some(aside) }
        }
    }
}

pub(crate) fn understood(text: &[u8], test: &str, memory: &dyn Memory) -> Result<(String, LearnedHead), String> {
    let broken = |error: serde_json::Error| format!("it is broken ({error})");
    let text = str::from_utf8(text).map_err(|error| format!("it is no text ({error})"))?;
    let (head, saved) = text.trim_end().split_once('\n').ok_or("it has no second line")?;
    let head: LearnedHead = serde_json::from_str(head).map_err(broken)?;
    if head.format != FORMAT {
        return Err(format!("it has format {} and not {FORMAT}", head.format));
    }
    if head.test != test {
        return Err(format!("it belongs to the test {}", head.test));
    }
    if head.sum != sum(saved.as_bytes()) {
        return Err("it is not what was written".to_owned());
    }
    memory.check(saved)?;
    Ok((saved.to_owned(), head))
}

/// Adds what a search has learned to the file, under a lock, since other searches may have written to it meanwhile. Readers see the old file or
/// the new one, never a part of it. What was learned with another `context` is overwritten.
pub(crate) fn write(
    file: &Path,
    lock_file: &Path,
    test: &str,
    context: usize,
    memory: &dyn Memory,
) -> Result<(), String> {
    let _lock = FileLock::wait(lock_file).map_err(|error| error.to_string())?;
    let earlier = match read(file, test, context, memory) {
        Read::Saved(saved) | Read::OfAnotherBuild(saved) => Some(saved),
        Read::Nothing | Read::OfOthers { .. } | Read::Broken { .. } => None,
    };
    let Some(saved) = memory.save(earlier.as_deref())? else { return Ok(()) };
    if saved.len() as u64 > MOST_BYTES - (1 << 16) {
        return Err(format!("{}: it would have more than {MOST_BYTES} bytes", file.display()));
    }
    write_whole(file, &written(test, context, &saved)?).map_err(|error| format!("{}: {error}", file.display()))
}

/// The text of a file with this second line.
pub(crate) fn written(test: &str, context: usize, saved: &str) -> Result<String, String> {
    let head =
        LearnedHead { format: FORMAT, test: test.to_owned(), context, build: build(), sum: sum(saved.as_bytes()) };
    let head = serde_json::to_string(&head).map_err(|error| error.to_string())?;
    Ok(format!("{head}\n{saved}\n"))
}
