//! What is prepared before a test runs: the texts for a crash report, so that a signal handler need not allocate, and how long a program
//! may hang.

use std::ffi::CString;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The texts for the report that is written if the process ends in the middle of an execution of the test.
#[derive(Debug, Default)]
pub struct LastWords {
    /// The path of the test; empty if it has none.
    pub test: String,
    /// The parts of the replay command before and after the schedule.
    pub replay: (String, String),
    /// The file to save the schedule in. `None` if it is not to be saved, for example because it comes from that file.
    pub regressions: Option<RegressionFile>,
}

/// A file of regressions.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only signal handlers write it"))]
pub struct RegressionFile {
    pub(super) path: CString,
    pub(super) dir: CString,
    pub(super) shown: String,
    pub(super) heading: String,
}

impl RegressionFile {
    /// The file at `path`, which reports call `shown`. If it does not exist yet, it begins with `heading`. `None` if the path contains a null
    /// byte.
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
    /// After this time Raddle writes a report; `None` for never.
    pub tell: Option<Duration>,
    /// After this time Raddle ends the process; `None` for never.
    pub end: Option<Duration>,
}

/// Becomes true when the process is told to end (Ctrl-C). Searches stop then, but not before the program's next step. If that does not come
/// soon, Raddle says why nothing happens. Whoever handles such signals sets it: signals belong to the process, and so does this.
pub fn told_to_end() -> &'static Arc<AtomicBool> {
    static TOLD: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    TOLD.get_or_init(Arc::default)
}
