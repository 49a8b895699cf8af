//! A stopped search, saved in a file for the next run of the test.
//!
//! Two lines of JSON: a head that says whose search it is, and what the search has left to do. A file that does not fit the test is an error;
//! it is not overwritten, since it may hold hours of work.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::sync::OnceLock;

use raddle_engine::board::Remains;
use raddle_engine::rng::mix;
use serde::{Deserialize, Serialize};

use crate::files::{read_text, write_whole};
use crate::settings::SettingError;
use crate::strategy::Strategy;

/// The version of this kind of file.
const FORMAT: u32 = 4;

/// The largest file that is read or written.
const MOST_BYTES: u64 = 1 << 30;

/// The first line of the file. The second line is what is left to do.
#[derive(Serialize, Deserialize)]
struct SavedHead {
    format: u32,
    test: String,
    strategy: String,
    /// The settings that decide which orders there are.
    settings: String,
    /// What was known about the program, in its own words.
    #[serde(default)]
    facts: Vec<String>,
    /// A hash of the test binary: another build may take other steps.
    program: u64,
    /// A checksum of the second line, to detect a file that was changed by hand.
    sum: u64,
}

/// Whose search it is.
pub(crate) struct Owner<'a> {
    pub(crate) test: &'a str,
    pub(crate) strategy: &'a str,
    pub(crate) settings: &'a str,
    /// What is known about the program, in its own words.
    pub(crate) facts: &'a [String],
}

/// Read first, to distinguish a file of another version from a broken one.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// What the file of a test holds.
pub(crate) enum SavedSearch {
    /// There is no file.
    Nothing,
    /// A search to continue, and what was known about the program.
    Remains(Box<Remains>, Vec<String>),
    /// A search by another build of the test, which says nothing about this one.
    ByAnotherBuild,
}

/// Reads the saved search of a test.
pub(crate) fn read(file: &Path, owner: &Owner<'_>, strategy: &mut dyn Strategy) -> Result<SavedSearch, SettingError> {
    match read_text(file, MOST_BYTES) {
        Ok(Some(text)) => understood(&text, owner, strategy).map_err(|why| refused(file, &why)),
        Ok(None) => Ok(SavedSearch::Nothing),
        Err(error) => Err(refused(file, &format!("cannot be read ({error})"))),
    }
}

fn refused(file: &Path, why: &str) -> SettingError {
    SettingError::Resume { why: format!("{} {why}; delete it to begin again", file.display()) }
}

pub(crate) fn understood(text: &str, owner: &Owner<'_>, strategy: &mut dyn Strategy) -> Result<SavedSearch, String> {
    let broken = |error: serde_json::Error| format!("is broken ({error})");
    let (head, remains) = text.trim_end().split_once('\n').ok_or("is broken (it has no second line)")?;
    let Version { format } = serde_json::from_str(head).map_err(broken)?;
    if format != FORMAT {
        return Err(format!("has format {format} and not {FORMAT}"));
    }
    let head: SavedHead = serde_json::from_str(head).map_err(broken)?;
    if head.test != owner.test {
        return Err(format!("belongs to the test {}", head.test));
    }
    if head.strategy != owner.strategy {
        return Err(format!("was left by the strategy {} and not by {}", head.strategy, owner.strategy));
    }
    if head.settings != owner.settings {
        return Err(format!("was left with the settings {} and not with {}", head.settings, owner.settings));
    }
    if head.program != program() {
        return Ok(SavedSearch::ByAnotherBuild);
    }
    if head.sum != sum(remains.as_bytes()) {
        return Err("is broken (it is not what was written)".to_owned());
    }
    let remains: Remains = serde_json::from_str(remains).map_err(broken)?;
    if remains.fits(strategy) {
        Ok(SavedSearch::Remains(Box::new(remains), head.facts))
    } else {
        Err("is broken (its parts do not fit together)".to_owned())
    }
}

/// Writes what is left to do, or removes the file if that is nothing. An error says what is wrong.
pub(crate) fn write(file: &Path, owner: &Owner<'_>, remains: Option<Remains>) -> Result<(), String> {
    let Some(remains) = remains else {
        return match fs::remove_file(file) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(format!("{}: {error}", file.display())),
            _ => Ok(()),
        };
    };
    let remains = serde_json::to_string(&remains).map_err(|error| error.to_string())?;
    if remains.len() as u64 > MOST_BYTES - (1 << 16) {
        return Err(format!("{}: it would have more than {MOST_BYTES} bytes", file.display()));
    }
    write_whole(file, &written(owner, &remains)?).map_err(|error| format!("{}: {error}", file.display()))
}

/// The text of a file with this second line.
pub(crate) fn written(owner: &Owner<'_>, remains: &str) -> Result<String, String> {
    let head = SavedHead {
        format: FORMAT,
        test: owner.test.to_owned(),
        strategy: owner.strategy.to_owned(),
        settings: owner.settings.to_owned(),
        facts: owner.facts.to_vec(),
        program: program(),
        sum: sum(remains.as_bytes()),
    };
    let head = serde_json::to_string(&head).map_err(|error| error.to_string())?;
    Ok(format!("{head}\n{remains}\n"))
}

/// A hash of the running program; 0 if its file cannot be read. Test programs are large, so it is computed once, and in parts.
fn program() -> u64 {
    static HASH: OnceLock<u64> = OnceLock::new();
    let hash = || -> io::Result<u64> {
        let mut file = File::open(std::env::current_exe()?)?;
        let (mut hash, mut part) = (0, Vec::new());
        while file.by_ref().take(1 << 16).read_to_end(&mut part)? > 0 {
            hash = mix(hash, sum(&part));
            part.clear();
        }
        Ok(hash)
    };
    *HASH.get_or_init(|| hash().unwrap_or(0))
}

pub(crate) fn sum(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(bytes.len() as u64, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(hash, u64::from_le_bytes(word))
    })
}
