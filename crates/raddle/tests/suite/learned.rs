//! A test that keeps what it learns, in a directory of its own.

use std::fs;
use std::path::{Path, PathBuf};

use raddle::{Explorer, Report};

/// A test with files of its own.
pub struct Kept {
    name: &'static str,
    pub out: PathBuf,
}

impl Kept {
    pub fn new(name: &'static str) -> Self {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&out);
        Self { name, out }
    }

    /// Where it keeps what it has learned.
    pub fn file(&self) -> PathBuf {
        self.out.join(format!("suite-{}.learned.json", self.name))
    }

    pub fn explorer(&self) -> Explorer {
        let explorer = Explorer::new().strategy("hapset").name(format!("suite::{}", self.name)).regressions(false);
        explorer.set("out", self.out.to_str().unwrap())
    }

    pub fn run(&self, program: fn()) -> Report {
        self.explorer().run(program)
    }
}
