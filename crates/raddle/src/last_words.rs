//! What the runtime is to say about a test if the process ends, or hangs, in the middle of one of its executions.

use std::sync::Arc;

use raddle_runtime::crash::{LastWords, RegressionFile};

use crate::explorer::Test;
use crate::files::{self, Files};
use crate::regressions;
use crate::report::text;

/// Where the execution comes from that may end the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A search: its schedule is new, and kept.
    Search,
    /// A schedule that was given, or kept before.
    Schedule,
}

/// Prepares what is to be said.
pub(crate) fn prepare(test: &Test, files: &Files, source: Source) -> Arc<LastWords> {
    let (before, after) = text::around(&test.path);
    let regressions = files.regressions.as_ref().filter(|_| source == Source::Search).and_then(|file| {
        let shown = files::shown(file, test).display().to_string();
        let heading = regressions::heading(&test.path).join("\n") + "\n\n";
        RegressionFile::new(file, shown, heading)
    });
    Arc::new(LastWords { test: test.path.clone(), replay: (format!("{before}RADDLE_REPLAY="), after), regressions })
}
