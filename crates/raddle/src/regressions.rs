//! Schedules that failed once, kept in a small text file beside the crate's sources and run first the next time.
//!
//! One schedule per line, the newest last; lines that start with `#` are comments and stay with the schedule below them. A
//! file that cannot be read as such is reported and left as it is.

use std::io;
use std::path::Path;

use raddle_engine::schedule::{LONGEST_BYTES, Schedule, ScheduleError};

use crate::file_lock::FileLock;
use crate::files;

/// Older ones make room.
pub(crate) const MOST_KEPT: usize = 20;

/// The largest file that is read: as many schedules as are kept, each as long as can be, and their comments.
pub(crate) const MOST_BYTES: u64 = 32 << 20;

/// The file of one test.
pub(crate) struct Regressions {
    heading: Vec<String>,
    kept: Vec<Kept>,
}

/// One schedule.
pub(crate) struct Kept {
    /// The comments above it, `#` included.
    comments: Vec<String>,
    /// It can be read as a schedule; as text it takes a fraction of the memory.
    text: String,
    /// Its line, from 1.
    pub(crate) line: usize,
}

impl Kept {
    /// The schedule.
    pub(crate) fn schedule(&self) -> Schedule {
        self.text.parse().expect("raddle bug: a line was a schedule when its file was read, and is none")
    }
}

/// Why a file cannot be used.
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
    #[error("the schedule is too long to be kept ({0} bytes, at most {LONGEST_BYTES})")]
    TooLong(usize),
}

/// What happened to a schedule that was to be saved.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Saved {
    /// Older schedules that had to make room for it.
    pub(crate) dropped: usize,
}

impl Regressions {
    /// What is in `file`; nothing if there is no such file.
    pub(crate) fn read(file: &Path) -> Result<Self, RegressionsError> {
        match files::read_text(file, MOST_BYTES) {
            Ok(text) => Self::parse(&text.unwrap_or_default()),
            Err(error) => Err(RegressionsError::Unreadable(error)),
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, RegressionsError> {
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
                let wrong = |source| RegressionsError::Line { line: line_number, source };
                let _: Schedule = line.parse().map_err(wrong)?;
                let text = line.to_owned();
                kept.push(Kept { comments: std::mem::take(&mut comments), text, line: line_number });
            }
        }
        Ok(Self { heading, kept })
    }

    /// The schedules, oldest first.
    pub(crate) fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// Adds a schedule, which failed as `failure` says, to what is in `file` by now: others may have written it since it was read.
    /// Nothing changes if it is there already.
    pub(crate) fn keep(
        file: &Path,
        lock_file: &Path,
        test_path: &str,
        schedule: &Schedule,
        failure: &str,
    ) -> Result<Saved, RegressionsError> {
        let _lock = FileLock::wait(lock_file).map_err(RegressionsError::Unwritable)?;
        let mut regressions = Self::read(file)?;
        let saved = regressions.add(test_path, schedule, failure)?;
        if let Some(saved) = saved {
            files::write_whole(file, &regressions.text()).map_err(RegressionsError::Unwritable)?;
            return Ok(saved);
        }
        Ok(Saved { dropped: 0 })
    }

    /// `None` if it is there already.
    fn add(&mut self, test_path: &str, schedule: &Schedule, failure: &str) -> Result<Option<Saved>, RegressionsError> {
        if self.kept.iter().any(|kept| kept.schedule() == *schedule) {
            return Ok(None);
        }
        let text = schedule.to_string();
        if text.len() > LONGEST_BYTES {
            return Err(RegressionsError::TooLong(text.len()));
        }
        if self.heading.is_empty() {
            self.heading = heading(test_path);
        }
        self.kept.push(Kept { comments: vec![format!("# {failure}")], text, line: 0 });
        let dropped = self.kept.len().saturating_sub(MOST_KEPT);
        self.kept.drain(..dropped);
        Ok(Some(Saved { dropped }))
    }

    pub(crate) fn text(&self) -> String {
        let mut text = self.heading.join("\n") + "\n\n";
        for kept in &self.kept {
            for comment in &kept.comments {
                text.push_str(comment);
                text.push('\n');
            }
            text.push_str(&kept.text);
            text.push('\n');
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
        let regressions = Regressions::parse(text).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(regressions.text(), text);
        assert_eq!(regressions.kept().iter().map(|kept| kept.line).collect::<Vec<_>>(), [5, 6]);
    }

    #[test]
    fn a_line_that_is_no_schedule_is_named() {
        let error = Regressions::parse("v1:1\n\n<<<<<<< HEAD\n").err().map(|e| e.to_string());
        assert!(error.as_ref().is_some_and(|e| e.starts_with("line 3 is not a schedule")), "{error:?}");
    }

    #[test]
    fn no_schedule_is_lost_that_others_keep_at_the_same_time() {
        let dir = std::env::temp_dir().join(format!("raddle-regressions-{}", std::process::id()));
        let (file, lock) = (dir.join("x.txt"), dir.join("x.lock"));
        std::thread::scope(|scope| {
            for who in 0..4 {
                let (file, lock) = (&file, &lock);
                scope.spawn(move || {
                    for i in 0..5 {
                        let schedule = format!("v1:={who},={i}").parse().expect("it is one");
                        Regressions::keep(file, lock, "x", &schedule, "no").unwrap_or_else(|error| panic!("{error}"));
                    }
                });
            }
        });
        let kept = Regressions::read(&file).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(kept.kept().len(), 20);
        let _ = std::fs::remove_dir_all(&dir);
    }
}
