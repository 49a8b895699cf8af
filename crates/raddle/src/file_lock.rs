//! Turns at a file that several processes, or several tests of one, may want to change at once.
//!
//! Whoever has the turn has made a file of another name beside it, which only one can. A crash may leave that behind, so it counts
//! for some seconds only, and nobody waits for longer than it takes to see that: what is kept this way saves time, and must never
//! keep a test from ending.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

/// One's turn; over when dropped.
pub(crate) struct Turn {
    token: Option<PathBuf>,
}

/// Longer than anybody takes who has not crashed.
const STALE: Duration = Duration::from_secs(5);

/// Between two looks, and how many there are at most.
const WAIT: Duration = Duration::from_millis(2);
const LOOKS: u32 = 3_000;

impl Turn {
    /// Waits for the turn at `file`. Where no token can be made, nobody is waited for.
    pub(crate) fn at(file: &Path) -> Self {
        let mut name = OsString::from(".");
        name.push(file.file_name().unwrap_or_default());
        name.push(".turn");
        let token = file.with_file_name(name);
        let _ = token.parent().map(fs::create_dir_all);
        for _ in 0..LOOKS {
            match OpenOptions::new().write(true).create_new(true).open(&token) {
                Ok(_) => return Self { token: Some(token) },
                Err(error) if error.kind() != ErrorKind::AlreadyExists => break,
                Err(_) if is_stale(&token) => take_away(&token),
                Err(_) => thread::sleep(WAIT),
            }
        }
        Self { token: None }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(token) = &self.token {
            let _ = fs::remove_file(token);
        }
    }
}

fn is_stale(token: &Path) -> bool {
    let made = fs::metadata(token).and_then(|about| about.modified());
    made.is_ok_and(|made| SystemTime::now().duration_since(made).is_ok_and(|age| age > STALE))
}

/// Under a name of one's own first: of several who see that it is stale, only one is to take it away, and not what another has made since.
fn take_away(token: &Path) {
    let mut own = token.as_os_str().to_owned();
    own.push(format!(".{}", std::process::id()));
    if fs::rename(token, &own).is_ok() {
        if !is_stale(Path::new(&own)) {
            let _ = fs::hard_link(&own, token);
        }
        let _ = fs::remove_file(&own);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    use super::*;

    fn fresh(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("raddle-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        dir.join("what.json")
    }

    #[test]
    fn only_one_has_the_turn() {
        let file = fresh("turn");
        let (inside, most) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let _turn = Turn::at(&file);
                        most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                        thread::yield_now();
                        inside.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
        assert_eq!(fs::read_dir(file.parent().expect("a directory")).expect("it is there").count(), 0);
        let _ = fs::remove_dir_all(file.parent().expect("a directory"));
    }

    #[test]
    fn what_a_crash_left_behind_counts_for_nothing() {
        let file = fresh("stale-turn");
        let crashed = Turn::at(&file);
        let token = crashed.token.clone().expect("nobody else has it");
        std::mem::forget(crashed);
        let long_ago = SystemTime::now() - 2 * STALE;
        fs::File::options().write(true).open(&token).and_then(|it| it.set_modified(long_ago)).expect("it is ours");
        assert!(Turn::at(&file).token.is_some());
        assert!(!token.exists());
        let _ = fs::remove_dir_all(file.parent().expect("a directory"));
    }
}
