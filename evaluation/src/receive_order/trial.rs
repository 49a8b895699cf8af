//! One search for a bug, or for coverage, within so much CPU time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use cpu_time::{ProcessTime, ThreadTime};
use raddle_engine::coverage::{Coverage, Criterion};
use raddle_engine::search::{Ended, Limits, Report, Search, Status};
use raddle_engine::strategy::Strategy;
use raddle_runtime::threads::{Settings, Threads};

/// What one search came to.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// Executions until the bug was found, or until the search ended; those included that a strategy gives up itself.
    pub executions: u64,
    /// CPU time until then.
    pub seconds: f64,
    /// How the program failed, if it did.
    pub found: Option<&'static str>,
    /// What the schedule was generated for that has shown it, if it was generated.
    pub criterion: Option<Criterion>,
    /// The strategy had nothing left to do.
    pub done: bool,
}

/// How many pairs were covered after so much CPU time, by [criterion](Criterion::index).
pub type Sample = (f64, [u64; 3]);

/// How often it is looked whether the time is up.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// Searches until the program fails, the strategy is done, or the time is up.
pub fn find(body: fn(), strategy: &mut dyn Strategy, limit_seconds: f64) -> Trial {
    let (report, seconds) = searched(body, strategy, limit_seconds, None, &mut |_| ());
    Trial {
        executions: report.executions + report.pruned,
        seconds,
        found: report.found.as_ref().map(|found| found.failure.kind()),
        criterion: None,
        done: matches!(report.ended, Ended::Done(_)),
    }
}

/// Searches as [`find`] does, and tells how coverage has grown; counting it is part of the time.
pub fn cover(body: fn(), strategy: &mut dyn Strategy, limit_seconds: f64) -> (Trial, Vec<Sample>) {
    let coverage: Arc<Mutex<Coverage>> = Arc::default();
    let pairs = || {
        let coverage = coverage.lock().unwrap_or_else(PoisonError::into_inner);
        Criterion::ALL.map(|criterion| coverage.achieved(criterion).pairs)
    };
    let mut samples: Vec<Sample> = Vec::new();
    let mut look = |seconds: f64| samples.push((seconds, pairs()));
    let (report, seconds) = searched(body, strategy, limit_seconds, Some(coverage.clone()), &mut look);
    samples.retain(|sample| sample.0 < seconds);
    samples.push((seconds, pairs()));
    let found = report.found.as_ref().map(|found| found.failure.kind());
    let done = matches!(report.ended, Ended::Done(_));
    (Trial { executions: report.executions, seconds, found, criterion: None, done }, samples)
}

/// The report and the CPU time it took. `look` is called now and then with the time so far.
fn searched(
    body: fn(),
    strategy: &mut dyn Strategy,
    limit_seconds: f64,
    coverage: Option<Arc<Mutex<Coverage>>>,
    look: &mut dyn FnMut(f64),
) -> (Report, f64) {
    let stop = Arc::new(AtomicBool::new(false));
    let mut search = Search::new(strategy, &Limits::default(), 1).stopped_by(stop.clone());
    if let Some(coverage) = coverage {
        search = search.covering(coverage);
    }
    let mut worker = search.worker(strategy);
    let mut seconds = 0.0;
    loop {
        let clock = ProcessTime::now();
        let status = thread::scope(|scope| {
            let (tell, told) = channel();
            let worker = &mut worker;
            scope.spawn(move || {
                let clock = ThreadTime::now();
                let status = worker.work(&mut Threads::new(Arc::new(body), &Settings::default()));
                tell.send((status, clock.elapsed().as_secs_f64())).expect("somebody waits for it");
            });
            loop {
                match told.recv_timeout(LOOK_EVERY) {
                    Ok((status, took)) => {
                        seconds += took;
                        break status;
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        let so_far = seconds + clock.elapsed().as_secs_f64();
                        look(so_far);
                        stop.fetch_or(so_far >= limit_seconds, Ordering::Relaxed);
                    }
                    Err(RecvTimeoutError::Disconnected) => panic!("a search has panicked"),
                }
            }
        });
        if status == Status::Over {
            return (search.close(vec![worker]), seconds);
        }
    }
}
