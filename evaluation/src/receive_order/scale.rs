//! How long a large execution takes to be analysed, and what memory that needs. In a process of its own, so that its peak is its own.

use std::collections::HashSet;
use std::fs;
use std::io::Error;
use std::sync::Arc;

use cpu_time::ThreadTime;
use programs::bita::geotrellis;
use raddle_engine::coverage::{Must, Recorded};
use raddle_engine::search::{Limits, search};
use raddle_engine::strategy::{After, Claim, Decision, Needs, Next, Run, Strategy};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;
use raddle_runtime::threads::{Settings, Threads};
use raddle_strategies::receives::ReceiveOrder;
use serde_json::{Value, json};

use super::free;

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    pub receives: u64,
    pub actors: u64,
    /// CPU time until the receives are known and what they achieve is counted.
    pub record_seconds: f64,
    /// CPU time from there until the first schedule is there.
    pub schedule_seconds: f64,
    /// Of that, the part for must-happen-before.
    pub must_seconds: f64,
    /// Of the process, when the execution was over; `None` where the system does not tell.
    pub before_bytes: Option<u64>,
    /// Of the process, when the first schedule was there.
    pub peak_bytes: Option<u64>,
}

/// Measures in a process of its own.
pub fn measure() -> Result<Scale, Error> {
    let told = free::child(&["--scale"])?;
    let (whole, part) = (|key: &str| told[key].as_u64(), |key: &str| told[key].as_f64().unwrap_or(f64::NAN));
    Ok(Scale {
        receives: whole("receives").unwrap_or_default(),
        actors: whole("actors").unwrap_or_default(),
        record_seconds: part("record_seconds"),
        schedule_seconds: part("schedule_seconds"),
        must_seconds: part("must_seconds"),
        before_bytes: whole("before_bytes"),
        peak_bytes: whole("peak_bytes"),
    })
}

/// In such a process.
pub fn run() -> Value {
    let mut timed = Timed { inner: ReceiveOrder::new(1), recorded: None, told: json!({}) };
    let body = || _ = geotrellis::run(geotrellis::Config::LARGE);
    let limits = Limits { steps: 1_000_000, ..Limits::default() };
    search(&mut Threads::new(Arc::new(body), &Settings::default()), &mut timed, &limits);
    timed.told
}

/// Runs one execution, and ends when the schedule for the next is there.
struct Timed {
    inner: ReceiveOrder,
    recorded: Option<Recorded>,
    told: Value,
}

impl Strategy for Timed {
    fn needs(&self) -> Needs {
        self.inner.needs()
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        let clock = ThreadTime::now();
        let next = self.inner.begin(prefix);
        let Some(recorded) = self.recorded.take() else { return next };
        self.told["schedule_seconds"] = json!(clock.elapsed().as_secs_f64());
        self.told["peak_bytes"] = json!(peak_bytes());
        let clock = ThreadTime::now();
        drop(Must::of(&recorded));
        self.told["must_seconds"] = json!(clock.elapsed().as_secs_f64());
        Next::Done(Claim::Selective)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.inner.choose(at, so_far)
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.told["before_bytes"] = json!(peak_bytes());
        let clock = ThreadTime::now();
        self.inner.end(run);
        self.told["record_seconds"] = json!(clock.elapsed().as_secs_f64());
        let recorded = Recorded::of(run.trace);
        self.told["receives"] = json!(recorded.events.len());
        let receivers: HashSet<u64> = recorded.events.iter().map(|event| event.name.receiver).collect();
        self.told["actors"] = json!(receivers.len());
        self.recorded = Some(recorded);
        After::Next
    }
}

/// The most memory this process had so far.
fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1_024)
}
