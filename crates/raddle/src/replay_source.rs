//! What is to be replayed: a schedule as text, or a file that has one.

use std::path::Path;

use raddle_engine::schedule::Schedule;

use crate::files::read_text;
use crate::regressions::MOST_BYTES;
use crate::settings::{SettingError, shortened};

/// Reads a schedule from text, or the newest one from the file of that name.
pub(crate) fn read(text: &str) -> Result<Schedule, SettingError> {
    let error = match text.parse() {
        Ok(schedule) => return Ok(schedule),
        Err(error) => error,
    };
    let file = Path::new(text.trim());
    let wrong = |why: String| SettingError::ScheduleFile { file: file.to_owned(), why };
    // A text may also be too long for the name of a file.
    if !file.exists() {
        return Err(SettingError::Schedule { value: shortened(text), source: error });
    }
    let content = read_text(file, MOST_BYTES).map_err(|error| wrong(error.to_string()))?.unwrap_or_default();
    let lines = content.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let newest = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).last();
    let (number, line) = newest.ok_or_else(|| wrong("there is none".to_owned()))?;
    line.parse().map_err(|error| wrong(format!("line {number}: {error}")))
}
