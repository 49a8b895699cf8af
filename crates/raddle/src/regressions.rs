//! Schedules that failed once, kept in a small text file beside the crate's sources and run first the next time.
//!
//! One schedule per line, the newest last; lines that start with `#` are comments and stay with the schedule below them. A
//! file that cannot be read as such is reported and left as it is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use raddle_engine::schedule::{Schedule, ScheduleError};

use crate::files;

/// Older ones make room.
const MOST_KEPT: usize = 20;

/// A longer one is not worth keeping: it would not survive the next edit.
const LONGEST_BYTES: usize = 1 << 20;

/// The file of one test.
pub(crate) struct Regressions {
    file: PathBuf,
    heading: Vec<String>,
    kept: Vec<Kept>,
}

/// One schedule.
pub(crate) struct Kept {
    /// The comments above it, `#` included.
    comments: Vec<String>,
    pub(crate) schedule: Schedule,
    /// Its line, from 1.
    pub(crate) line: usize,
}

/// Why a file is of no use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RegressionsError {
    #[error(
        "line {line} is not a schedule: {source}. Expected: one schedule per line, such as `v1:1,2x3`; comments with `#`"
    )]
    Line { line: usize, source: ScheduleError },
    #[error("it cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    #[error("it cannot be written: {0}")]
    Unwritable(#[source] io::Error),
    #[error("the schedule is too long to be kept ({0} bytes)")]
    TooLong(usize),
}

impl Regressions {
    /// What is in `file`; nothing if there is no such file.
    pub(crate) fn read(file: &Path) -> Result<Self, RegressionsError> {
        match fs::read_to_string(file) {
            Ok(text) => Self::parse(file, &text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Self { file: file.to_owned(), heading: Vec::new(), kept: Vec::new() })
            }
            Err(error) => Err(RegressionsError::Unreadable(error)),
        }
    }

    fn parse(file: &Path, text: &str) -> Result<Self, RegressionsError> {
        let mut kept = Vec::new();
        let mut comments = Vec::new();
        let mut heading = Vec::new();
        for (index, line) in text.lines().map(str::trim).enumerate() {
            if line.starts_with('#') {
                comments.push(line.to_owned());
            } else if line.is_empty() {
                // Comments with a gap below them belong to the file.
                heading.append(&mut comments);
            } else {
                let line_number = index + 1;
                let schedule = line.parse().map_err(|source| RegressionsError::Line { line: line_number, source })?;
                kept.push(Kept { comments: std::mem::take(&mut comments), schedule, line: line_number });
            }
        }
        Ok(Self { file: file.to_owned(), heading, kept })
    }

    /// The schedules, oldest first.
    pub(crate) fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// Keeps one more, which failed as `failure` says. Nothing changes if it is there already.
    pub(crate) fn keep(&mut self, test_path: &str, schedule: &Schedule, failure: &str) -> Result<(), RegressionsError> {
        if self.kept.iter().any(|kept| kept.schedule == *schedule) {
            return Ok(());
        }
        let length = schedule.to_string().len();
        if length > LONGEST_BYTES {
            return Err(RegressionsError::TooLong(length));
        }
        if self.heading.is_empty() {
            self.heading = heading(test_path);
        }
        self.kept.push(Kept { comments: vec![format!("# {failure}")], schedule: schedule.clone(), line: 0 });
        let surplus = self.kept.len().saturating_sub(MOST_KEPT);
        self.kept.drain(..surplus);
        files::write_whole(&self.file, &self.text()).map_err(RegressionsError::Unwritable)
    }

    fn text(&self) -> String {
        let mut text = self.heading.join("\n") + "\n\n";
        for kept in &self.kept {
            for comment in &kept.comments {
                text.push_str(comment);
                text.push('\n');
            }
            text.push_str(&format!("{}\n", kept.schedule));
        }
        text
    }
}

/// What stands at the top of a new file.
pub(crate) fn heading(test_path: &str) -> Vec<String> {
    vec![
        format!("# Schedules in which `{test_path}` failed. Raddle runs them first, before it searches."),
        "# One per line, the newest last. Check this file in; delete what is of no more use.".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_stay_where_they_are() {
        let text = "# what this is\n\n# panic in main: no\n# really\nv1:1,2\nv1:2\n";
        let regressions = Regressions::parse(Path::new("x"), text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(regressions.text(), text);
        assert_eq!(regressions.kept().iter().map(|kept| kept.line).collect::<Vec<_>>(), [5, 6]);
    }

    #[test]
    fn a_line_that_is_no_schedule_is_named() {
        let error = Regressions::parse(Path::new("x"), "v1:1\n\n<<<<<<< HEAD\n").err().map(|e| e.to_string());
        assert!(error.as_ref().is_some_and(|e| e.starts_with("line 3 is not a schedule")), "{error:?}");
    }
}
