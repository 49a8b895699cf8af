//! Locks for files that several processes, or several explorers of one process, may change at the same time.
//!
//! A lock of the operating system on a separate lock file, because the files themselves are replaced when they are written. The system
//! releases the lock when a process ends, so nothing has to be cleaned up; the lock file stays.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// A lock that is held until it is dropped.
pub(crate) struct FileLock {
    /// `None` on file systems without locks. There, the last writer wins, and the file is still complete.
    _locked: Option<File>,
}

/// To read, change and write a file takes milliseconds, unless the process was stopped.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The time between two attempts.
const BETWEEN: Duration = Duration::from_millis(2);

impl FileLock {
    /// Waits until no other process changes the file.
    ///
    /// # Errors
    ///
    /// If the lock file cannot be made, or somebody else has held the lock for several seconds.
    pub(crate) fn wait(lock_file: &Path) -> io::Result<Self> {
        let start = Instant::now();
        loop {
            if let Some(lock) = Self::try_now(lock_file)? {
                return Ok(lock);
            }
            if start.elapsed() > LONGEST_WAIT {
                let why = format!("another process has locked {} for several seconds", lock_file.display());
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            thread::sleep(BETWEEN);
        }
    }

    /// Takes the lock; `None` if another process has it.
    ///
    /// # Errors
    ///
    /// If the lock file cannot be made.
    pub(crate) fn try_now(lock_file: &Path) -> io::Result<Option<Self>> {
        lock_file.parent().map_or(Ok(()), fs::create_dir_all)?;
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(lock_file)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _locked: Some(file) })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(Some(Self { _locked: None }))
            }
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    use super::*;

    #[test]
    fn only_one_has_the_lock() {
        let dir = std::env::temp_dir().join(format!("raddle-lock-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        let file = dir.join("below").join("what.lock");
        let (inside, most) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let _lock = FileLock::wait(&file).expect("nobody holds it for long");
                        most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                        thread::yield_now();
                        inside.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
        let held = FileLock::try_now(&file).expect("it can be locked");
        assert!(held.is_some() && FileLock::try_now(&file).expect("it is there").is_none());
        drop(held);
        assert!(FileLock::try_now(&file).expect("it is there").is_some());
        let _ = fs::remove_dir_all(&dir);
    }
}
