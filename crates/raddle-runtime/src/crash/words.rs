//! What is prepared for a test before it runs: what is said when the process ends, so that nothing has to be allocated then, and how
//! long a program may hang.

use std::ffi::CString;
use std::path::Path;
use std::time::Duration;

/// What is said about a test when the process ends in the middle of one of its executions.
#[derive(Debug, Default)]
pub struct LastWords {
    /// The path of the test; empty if it has none.
    pub test: String,
    /// What comes before and after a schedule in the command that replays it.
    pub replay: (String, String),
    /// Where the schedule is to be kept; `None` if it is not, for example because it comes from there.
    pub regressions: Option<RegressionFile>,
}

/// A file of regressions.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "it is handlers of signals that write it"))]
pub struct RegressionFile {
    pub(super) path: CString,
    pub(super) dir: CString,
    pub(super) shown: String,
    pub(super) heading: String,
}

impl RegressionFile {
    /// The file at `path`, which reports call `shown`; `heading` goes to its top if it does not exist yet. `None` if the path cannot be
    /// given to the system.
    #[must_use]
    pub fn new(path: &Path, shown: String, heading: String) -> Option<Self> {
        let text = |path: &Path| CString::new(path.as_os_str().as_encoded_bytes()).ok();
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(Self { path: text(path)?, dir: text(dir)?, shown, heading })
    }
}

/// How long a program may go without a step.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// After so long it is told; `None` for never.
    pub tell: Option<Duration>,
    /// After so long the process ends; `None` for never.
    pub end: Option<Duration>,
}
