//! Where a test's files go.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::explorer::Test;

/// Where the files of one test go.
pub(crate) struct Files {
    /// Schedules that failed.
    pub(crate) regressions: Option<PathBuf>,
    /// The directory of generated schedules.
    pub(crate) schedules: Option<PathBuf>,
    /// Reports that are too long for a terminal.
    pub(crate) report: Option<PathBuf>,
    /// What a search has left to do.
    pub(crate) left: Option<PathBuf>,
    /// What searches have learnt of the program.
    pub(crate) learnt: Option<PathBuf>,
}

impl Files {
    /// Beside the crate's sources and in its target directory, unless `out` says otherwise; an empty `out` means nowhere.
    /// A program without a name has no files.
    pub(crate) fn of(test: &Test, out: Option<&Path>, keep_regressions: bool) -> Self {
        if test.path.is_empty() || out.is_some_and(|out| out.as_os_str().is_empty()) {
            return Self { regressions: None, schedules: None, report: None, left: None, learnt: None };
        }
        let name = file_name(&test.path);
        let beside_sources = || Path::new(test.crate_dir.unwrap_or("")).join("raddle-regressions");
        let dir = out.map_or_else(beside_sources, Path::to_owned);
        let regressions = dir.join(format!("{name}.txt"));
        let reports = out.map(Path::to_owned).or_else(|| Some(target_dir()?.join("raddle")));
        Self {
            regressions: keep_regressions.then_some(regressions),
            schedules: Some(dir.join(format!("{name}.receives"))),
            report: reports.as_ref().map(|dir| dir.join(format!("{name}.report.txt"))),
            left: reports.as_ref().map(|dir| dir.join(format!("{name}.left.json"))),
            learnt: reports.map(|dir| dir.join(format!("{name}.learnt.json"))),
        }
    }
}

fn file_name(test_path: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "_-.".contains(c) { c } else { '_' };
    test_path.replace("::", "-").chars().map(plain).collect()
}

/// Where cargo put this test binary.
fn target_dir() -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    let tagged = |dir: &&Path| dir.join("CACHEDIR.TAG").is_file();
    exe.ancestors().skip(1).find(tagged).map(Path::to_owned)
}

/// Writes a file so that readers see the old or the new one, never half of it.
pub(crate) fn write_whole(file: &Path, content: &str) -> io::Result<()> {
    let dir = file.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(dir)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let draft = dir.join(format!(".{name}.{}.tmp", std::process::id()));
    let written = fs::write(&draft, content).and_then(|()| fs::rename(&draft, file));
    if written.is_err() {
        // Whether or not the draft can be removed: the first error is the one to tell.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// `file` as seen from the crate's directory, where its tests run.
pub(crate) fn shown(file: &Path, test: &Test) -> PathBuf {
    let inside = test.crate_dir.and_then(|dir| file.strip_prefix(dir).ok());
    inside.unwrap_or(file).to_owned()
}
