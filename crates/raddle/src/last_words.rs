//! Prepares the text that the runtime writes about a test if the process ends, or hangs, in the middle of one of its executions.

use std::sync::Arc;

use raddle_runtime::crash::{LastWords, RegressionFile};

use crate::explorer::Test;
use crate::files::{self, Files};
use crate::regressions;
use crate::report::text;

/// The origin of an execution that may end the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A search: its schedule is new, and is saved.
    Search,
    /// A schedule that was given by the user or saved before.
    Schedule,
}

/// Prepares the text.
pub(crate) fn prepare(test: &Test, files: &Files, source: Source) -> Arc<LastWords> {
    let (before, after) = text::around(&test.path);
    let regressions = files.regressions.as_ref().filter(|_| source == Source::Search).and_then(|file| {
        let shown = files::shown(file, test).display().to_string();
        let heading = regressions::heading(&test.path).join("\n") + "\n\n";
        RegressionFile::new(file, shown, heading)
    });
    Arc::new(LastWords { test: test.path.clone(), replay: (format!("{before}RADDLE_REPLAY="), after), regressions })
}
