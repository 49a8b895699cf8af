//! Where the files of a test are, and how they are read and written completely.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::explorer::Test;

/// The paths of the files of one test.
pub(crate) struct Files {
    /// Schedules that failed.
    pub(crate) regressions: Option<PathBuf>,
    /// The directory of generated schedules.
    pub(crate) schedules: Option<PathBuf>,
    /// Reports that are too long for a terminal.
    pub(crate) report: Option<PathBuf>,
    /// A stopped search, to be resumed.
    pub(crate) saved_search: Option<PathBuf>,
    /// What searches have learned about the program.
    pub(crate) learned: Option<PathBuf>,
    /// The directory of lock files: not beside the sources, where they would be checked in.
    locks: Option<PathBuf>,
}

impl Files {
    /// Beside the crate's sources and in its target directory, unless `out` says otherwise; an empty `out` means nowhere.
    /// A program without a name has no files.
    pub(crate) fn of(test: &Test, out: Option<&Path>, keep_regressions: bool) -> Self {
        if test.path.is_empty() || out.is_some_and(|out| out.as_os_str().is_empty()) {
            return Self {
                regressions: None,
                schedules: None,
                report: None,
                saved_search: None,
                learned: None,
                locks: None,
            };
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
            saved_search: reports.as_ref().map(|dir| dir.join(format!("{name}.left.json"))),
            learned: reports.as_ref().map(|dir| dir.join(format!("{name}.learned.json"))),
            locks: reports,
        }
    }

    /// The lock file for `file`.
    pub(crate) fn lock_of(&self, file: &Path) -> PathBuf {
        let mut name = OsString::from(".");
        name.push(file.file_name().unwrap_or_default());
        name.push(".lock");
        self.locks.as_deref().or(file.parent()).unwrap_or(Path::new("")).join(name)
    }
}

fn file_name(test_path: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "_-.".contains(c) { c } else { '_' };
    test_path.replace("::", "-").chars().map(plain).collect()
}

/// The directory in which cargo put this test binary.
fn target_dir() -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    let tagged = |dir: &&Path| dir.join("CACHEDIR.TAG").is_file();
    exe.ancestors().skip(1).find(tagged).map(Path::to_owned)
}

/// Reads a file completely; `None` if there is none. Anything but a regular file is refused before it is opened, because opening a named
/// pipe would wait for a writer. So is a file with more than `most` bytes.
pub(crate) fn read_whole(file: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let missing = |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    let opened = fs::metadata(file).and_then(|about| {
        refuse_other_than_files(&about)?;
        File::open(file)
    });
    let opened = match opened {
        Ok(opened) => opened,
        Err(error) if missing(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut content = Vec::new();
    opened.take(most + 1).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
    }
    Ok(Some(content))
}

/// The same for a text file.
pub(crate) fn read_text(file: &Path, most: u64) -> io::Result<Option<String>> {
    let text = |content| String::from_utf8(content).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error));
    read_whole(file, most)?.map(text).transpose()
}

fn refuse_other_than_files(about: &Metadata) -> io::Result<()> {
    let what = match about {
        _ if about.is_file() => return Ok(()),
        _ if about.is_dir() => "a directory",
        _ => "a pipe, a socket or a device",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what} and not a file")))
}

/// Writes a file so that readers see the old or the new one, never a part of it. Threads and processes that write the same file at the same
/// time each write a draft of their own; the last one to rename its draft wins.
pub(crate) fn write_whole(file: &Path, content: &str) -> io::Result<()> {
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    let dir = file.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(dir)?;
    match fs::metadata(file) {
        Ok(about) => refuse_other_than_files(&about)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let number = DRAFTS.fetch_add(1, Relaxed);
    let draft = dir.join(format!(".{name}.{}-{number}.tmp", std::process::id()));
    let written = fs::write(&draft, content).and_then(|()| fs::rename(&draft, file));
    if written.is_err() {
        // If the draft cannot be removed either, the first error is still the one to report.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// The path of `file` relative to the crate's directory, where its tests run.
pub(crate) fn shown(file: &Path, test: &Test) -> PathBuf {
    let inside = test.crate_dir.and_then(|dir| file.strip_prefix(dir).ok());
    inside.unwrap_or(file).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("raddle-files-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("there is room for a directory");
        dir
    }

    #[test]
    fn only_files_that_are_not_too_large_are_read() {
        let dir = dir("read");
        let file = dir.join("file");
        assert!(matches!(read_whole(&file, 10), Ok(None)));
        assert!(matches!(read_whole(&file.join("below"), 10), Ok(None)));
        write_whole(&file, "0123456789").expect("it can be written");
        assert_eq!(read_text(&file, 10).expect("it is there").as_deref(), Some("0123456789"));
        assert_eq!(read_text(&file, 9).map_err(|e| e.to_string()), Err("it has more than 9 bytes".to_owned()));
        let said = "it is a directory and not a file".to_owned();
        assert_eq!(read_text(&dir, 10).map_err(|e| e.to_string()), Err(said.clone()));
        assert_eq!(write_whole(&dir, "x").map_err(|e| e.to_string()), Err(said));
        let _ = fs::remove_dir_all(&dir);
    }

    #[test]
    fn a_file_is_always_whole_however_many_write_it() {
        let dir = dir("write");
        let file = dir.join("file");
        let text = |who: u32| who.to_string().repeat(10_000);
        write_whole(&file, &text(0)).expect("it can be written");
        std::thread::scope(|scope| {
            for who in 1..4 {
                let file = &file;
                scope.spawn(move || (0..50).for_each(|_| write_whole(file, &text(who)).expect("it can be written")));
            }
            for _ in 0..100 {
                let read = read_text(&file, 1 << 20).expect("it can be read").expect("it is there");
                assert!((0..4).any(|who| read == text(who)));
            }
        });
        assert_eq!(fs::read_dir(&dir).expect("it is there").count(), 1, "no draft is left");
        let _ = fs::remove_dir_all(&dir);
    }
}
