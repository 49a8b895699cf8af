//! One search of all states in a process of its own, so that memory starts from nothing.

use super::{Protocol, Searcher};
use crate::process;
use std::process::Command;
use std::time::Duration;

/// What to search, and who does. Its words are the arguments after `--states`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    pub searcher: Searcher,
    pub protocol: Protocol,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub states: u64,
    pub cpu: Duration,
    /// By how much the most that was ever resident is more than at the start.
    pub peak_bytes: u64,
}

/// What the line with the answer begins with.
const MARK: &str = "states:";

impl Order {
    /// Reads what follows `--states`.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let [searcher, protocol] = words else {
            return Err("--states needs a searcher and a protocol after it".to_owned());
        };
        Ok(Order { searcher: searcher.parse()?, protocol: protocol.parse()? })
    }

    /// Searches in a process of its own. The error says what became of that process.
    pub fn carry_out(&self) -> Result<Answer, String> {
        let this = std::env::current_exe().map_err(|error| format!("this program cannot be found: {error}"))?;
        let words = [self.searcher.name().to_owned(), self.protocol.to_string()];
        let ran = Command::new(this).arg("--states").args(words).output();
        let ran = ran.map_err(|error| format!("no process for a search: {error}"))?;
        let said = String::from_utf8_lossy(&ran.stdout);
        let answer = said.lines().find_map(|line| Answer::read(line.strip_prefix(MARK)?));
        answer.ok_or_else(|| format!("the process broke down ({})", ran.status))
    }

    /// Searches in this process, and prints the answer.
    pub fn carry_out_here(self) {
        let (peak, cpu) = (process::peak_kib(), process::cpu_time());
        let states = self.searcher.search(self.protocol);
        let cpu = process::cpu_time() - cpu;
        let peak_bytes = (process::peak_kib() - peak) * 1024;
        println!("{MARK} {states} {} {peak_bytes}", cpu.as_nanos());
    }
}

impl Answer {
    fn read(words: &str) -> Option<Self> {
        let mut numbers = words.split_whitespace().map(str::parse::<u64>);
        let mut next = || numbers.next()?.ok();
        Some(Answer { states: next()?, cpu: Duration::from_nanos(next()?), peak_bytes: next()? })
    }

    /// The lowest figures of both.
    pub fn better(self, other: Self) -> Self {
        assert_eq!(self.states, other.states, "the same search found different numbers of states");
        Answer { cpu: self.cpu.min(other.cpu), peak_bytes: self.peak_bytes.min(other.peak_bytes), ..self }
    }
}
