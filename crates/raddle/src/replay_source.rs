//! What is to be replayed: a schedule as text, or a file that has one.

use std::path::Path;

use raddle_engine::schedule::Schedule;

use crate::settings::SettingError;

/// Reads a schedule from text, or the newest one from the file of that name.
pub(crate) fn read(text: &str) -> Result<Schedule, SettingError> {
    let error = match text.parse() {
        Ok(schedule) => return Ok(schedule),
        Err(error) => error,
    };
    let file = Path::new(text.trim());
    let wrong = |why: String| SettingError::ScheduleFile { file: file.to_owned(), why };
    if !file.is_file() {
        return Err(SettingError::Schedule { value: shortened(text), source: error });
    }
    let content = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let lines = content.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let newest = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).last();
    let (number, line) = newest.ok_or_else(|| wrong("there is none".to_owned()))?;
    line.parse().map_err(|error| wrong(format!("line {number}: {error}")))
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
