//! What a search has left to do, in a file: for the next sitting.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use raddle_engine::board::Remains;
use raddle_engine::rng::mix;
use serde::{Deserialize, Serialize};

use crate::files::write_whole;
use crate::settings::SettingError;

/// The version of this kind of file.
const FORMAT: u32 = 1;

/// The file.
#[derive(Serialize, Deserialize)]
struct Left {
    format: u32,
    test: String,
    strategy: String,
    /// Of the program that ran: another one may take other steps.
    program: u64,
    remains: Remains,
}

/// Only this is read first, to tell a file of another version from one that is broken.
#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// What an earlier search of this test left; `None` if it left nothing.
pub(crate) fn read(file: &Path, test: &str, strategy: &str) -> Result<Option<Remains>, SettingError> {
    let wrong = |why: String| {
        let why = format!("{} {why}; delete it to begin again", file.display());
        Err(SettingError::Resume { why })
    };
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return wrong(format!("cannot be read ({error})")),
    };
    match serde_json::from_str::<Version>(&text) {
        Ok(Version { format: FORMAT }) => {}
        Ok(Version { format }) => return wrong(format!("has format {format} and not {FORMAT}")),
        Err(error) => return wrong(format!("is broken ({error})")),
    }
    let left: Left = match serde_json::from_str(&text) {
        Ok(left) => left,
        Err(error) => return wrong(format!("is broken ({error})")),
    };
    if left.test != test {
        return wrong(format!("belongs to the test {}", left.test));
    }
    if left.strategy != strategy {
        return wrong(format!("was left by the strategy {} and not by {strategy}", left.strategy));
    }
    if left.program != program() {
        return wrong("was left by another build of the test".to_owned());
    }
    if !left.remains.is_sound() {
        return wrong("is broken (its parts do not fit together)".to_owned());
    }
    Ok(Some(left.remains))
}

/// Keeps what is left, or takes the file away if nothing is; what is wrong, if anything.
pub(crate) fn write(file: &Path, test: &str, strategy: &str, remains: Option<Remains>) -> Result<(), String> {
    let Some(remains) = remains else {
        return match fs::remove_file(file) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(format!("{}: {error}", file.display())),
            _ => Ok(()),
        };
    };
    let left =
        Left { format: FORMAT, test: test.to_owned(), strategy: strategy.to_owned(), program: program(), remains };
    let text = serde_json::to_string(&left).map_err(|error| error.to_string())?;
    write_whole(file, &(text + "\n")).map_err(|error| format!("{}: {error}", file.display()))
}

/// A hash of the program that runs.
fn program() -> u64 {
    let image = std::env::current_exe().and_then(fs::read).unwrap_or_default();
    image.chunks(8).fold(image.len() as u64, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(hash, u64::from_le_bytes(word))
    })
}
