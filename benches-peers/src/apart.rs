//! One search in a process of its own.
//!
//! A search that cannot finish can be cut off there, one that dies of a deadlock takes nothing with it, what a library prints goes
//! nowhere, and memory starts from nothing.

use crate::process;
use crate::programs::Program;
use crate::searcher::{Counted, Ended, Searcher, Task, Watch};
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What to search and how far. Its words are the arguments after `--search`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    pub searcher: Searcher,
    pub program: Program,
    pub workers: usize,
    /// At most this many executions in one search.
    pub executions: u64,
    /// At most this much CPU time for all of it.
    pub time: Duration,
    /// The search is repeated until it has taken this long.
    pub at_least: Duration,
}

/// The results of one order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub counted: Counted,
    /// Executions begun in the first search: complete, pruned, or probes.
    pub begun: u64,
    /// The lowest of all searches.
    pub cpu: Duration,
    /// The lowest of all searches.
    pub wall: Duration,
    /// CPU time of the busiest thread in the first search.
    pub busiest: Duration,
    /// Resident KiB when so many executions had begun.
    pub memory: Vec<(u64, u64)>,
}

/// A search is cut off when it has taken this many times its CPU time by the clock.
const CLOCK_TIMES: u32 = 20;

/// What the line with the answer begins with.
const MARK: &str = "searched:";

impl Order {
    fn words(&self) -> [String; 6] {
        [
            self.searcher.to_string(),
            self.program.to_string(),
            self.workers.to_string(),
            self.executions.to_string(),
            self.time.as_millis().to_string(),
            self.at_least.as_millis().to_string(),
        ]
    }

    /// Reads what follows `--search`.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let [searcher, program, rest @ ..] = words else {
            return Err("--search needs a searcher and a program after it".to_owned());
        };
        let number = |at: usize, default: u64| match rest.get(at) {
            Some(word) => word.parse().map_err(|_| format!("`{word}` is not a number")),
            None => Ok(default),
        };
        if rest.len() > 4 {
            return Err(format!("`{}` is one word too many for --search", rest[4]));
        }
        Ok(Order {
            searcher: searcher.parse()?,
            program: program.parse()?,
            workers: number(0, 1)?.max(1) as usize,
            executions: number(1, 1_000_000)?,
            time: Duration::from_millis(number(2, 60_000)?),
            at_least: Duration::from_millis(number(3, 0)?),
        })
    }

    /// Searches in a process of its own. The error says what became of that process.
    pub fn carry_out(&self) -> Result<Answer, String> {
        let this = std::env::current_exe().map_err(|error| format!("this program cannot be found: {error}"))?;
        self.carry_out_by(&this)
    }

    /// Searches in a process of another build of this program.
    pub fn carry_out_by(&self, build: &Path) -> Result<Answer, String> {
        let ran = Command::new(build)
            .arg("--search")
            .args(self.words())
            .stderr(Stdio::null())
            .output()
            .map_err(|error| format!("no process for a search: {error}"))?;
        let said = String::from_utf8_lossy(&ran.stdout);
        let answer = said.lines().rev().find_map(|line| line.strip_prefix(MARK));
        answer.ok_or_else(|| format!("the process broke down ({})", ran.status))?.parse()
    }

    /// Searches in this process, and prints the answer.
    pub fn carry_out_here(self) {
        let watch = Arc::new(Watch::default());
        let (started, cpu_before) = (Instant::now(), process::cpu_time());
        let cut_off = {
            let watch = Arc::clone(&watch);
            move || {
                // The machines are shared: a search is not to look worse because others had the cores. One that waits for
                // something that never comes uses no CPU time, so the clock ends it too.
                while process::cpu_time() - cpu_before < self.time && started.elapsed() < CLOCK_TIMES * self.time {
                    std::thread::sleep(Duration::from_millis(20));
                }
                let counted = Counted { ended: Ended::Limit, executions: watch.begun() };
                let cpu = process::cpu_time() - cpu_before;
                let memory = watch.memory();
                let (begun, busiest) = (watch.begun(), watch.busiest());
                Answer { counted, begun, cpu, wall: started.elapsed(), busiest, memory }.give();
            }
        };
        std::thread::spawn(cut_off);
        let mut answer = self.search_once(&watch);
        while answer.counted.ended == Ended::Whole && started.elapsed() < self.at_least {
            let again = self.search_once(&Arc::default());
            answer.cpu = answer.cpu.min(again.cpu);
            answer.wall = answer.wall.min(again.wall);
        }
        answer.give();
    }

    fn search_once(&self, watch: &Arc<Watch>) -> Answer {
        let &Order { searcher, program, workers, executions, .. } = self;
        let (started, cpu_before) = (Instant::now(), process::cpu_time());
        let task = Task { searcher, program, workers, executions, watch: Arc::clone(watch) };
        let counted = panic::catch_unwind(AssertUnwindSafe(|| task.run()));
        let (wall, cpu) = (started.elapsed(), process::cpu_time() - cpu_before);
        let counted = counted.unwrap_or(Counted { ended: Ended::Failure, executions: watch.begun() });
        Answer { counted, begun: watch.begun(), cpu, wall, busiest: watch.busiest(), memory: watch.memory() }
    }
}

impl Answer {
    /// Prints the answer, and ends the process.
    fn give(&self) -> ! {
        println!("\n{MARK}{self}");
        std::process::exit(0);
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ended = match self.counted.ended {
            Ended::Whole => "whole",
            Ended::Limit => "limit",
            Ended::Failure => "failure",
        };
        let [cpu, wall, busiest] = [self.cpu, self.wall, self.busiest].map(|time| time.as_nanos());
        write!(
            f,
            "{ended} executions {} begun {} cpu_ns {cpu} wall_ns {wall} busiest_ns {busiest} kib",
            self.counted.executions, self.begun
        )?;
        self.memory.iter().try_for_each(|(begun, kib)| write!(f, " {begun} {kib}"))
    }
}

impl FromStr for Answer {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let broken = || format!("the answer of a search cannot be read: `{line}`");
        let words: Vec<&str> = line.split_whitespace().collect();
        let [ended, _, executions, _, begun, _, cpu, _, wall, _, busiest, _, memory @ ..] = words.as_slice() else {
            return Err(broken());
        };
        let number = |word: &str| word.parse::<u64>().map_err(|_| broken());
        let ended = match *ended {
            "whole" => Ended::Whole,
            "limit" => Ended::Limit,
            "failure" => Ended::Failure,
            _ => return Err(broken()),
        };
        let memory = memory.chunks_exact(2).map(|pair| Ok((number(pair[0])?, number(pair[1])?)));
        Ok(Answer {
            counted: Counted { ended, executions: number(executions)? },
            begun: number(begun)?,
            cpu: Duration::from_nanos(number(cpu)?),
            wall: Duration::from_nanos(number(wall)?),
            busiest: Duration::from_nanos(number(busiest)?),
            memory: memory.collect::<Result<_, String>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_survives_a_round_trip() {
        let answer = Answer {
            counted: Counted { ended: Ended::Limit, executions: 704 },
            begun: 804,
            cpu: Duration::from_micros(12),
            wall: Duration::from_micros(15),
            busiest: Duration::from_micros(11),
            memory: vec![(64, 3000), (128, 3004)],
        };
        assert_eq!(answer.to_string().parse(), Ok(answer.clone()));
        assert!("whole executions".parse::<Answer>().is_err());
    }

    #[test]
    fn an_order_survives_a_round_trip() {
        let order = Order {
            searcher: Searcher::Raddle("dpor"),
            program: Program::LastZero(8),
            workers: 2,
            executions: 9,
            time: Duration::from_secs(3),
            at_least: Duration::from_millis(7),
        };
        assert_eq!(Order::parse(&order.words()), Ok(order));
    }
}
