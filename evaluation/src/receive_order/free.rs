//! The paper's second baseline: the program as it is, on threads, again and again.
//!
//! Actors that know each other outlive an execution on threads, so executions run in processes of their own, some in each. A process
//! is this command again; it says what came of it in one line. An execution has failed if it panics, or one of its actors does, or it
//! does not end.

use std::io::{Error, ErrorKind};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use cpu_time::ProcessTime;
use serde_json::{Value, json};

use super::trial::Trial;

/// Executions of one process: each may leave some dozen threads behind.
const OF_ONE_PROCESS: u64 = 50;

/// An execution that has not ended by then does not.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs the program with this label until it fails or the CPU time is up.
pub fn find(label: &str, limit_seconds: f64) -> Result<Trial, Error> {
    let mut trial = Trial { executions: 0, seconds: 0.0, found: None, criterion: None, done: false };
    while trial.found.is_none() && trial.seconds < limit_seconds {
        let left = (limit_seconds - trial.seconds).to_string();
        let told = child(&["--free", label, "--seconds", &left])?;
        trial.executions += told["executions"].as_u64().unwrap_or_default();
        trial.seconds += told["seconds"].as_f64().unwrap_or(limit_seconds);
        trial.found = match told["found"].as_str() {
            Some("hang") => Some("hang"),
            Some(_) => Some("panic"),
            None => None,
        };
    }
    Ok(trial)
}

/// Runs this command again with other arguments, and takes what it says.
pub fn child(arguments: &[&str]) -> Result<Value, Error> {
    let mut command = Command::new(std::env::current_exe()?);
    let output = command.arg("receive-order").args(arguments).stderr(Stdio::null()).output()?;
    let wrong =
        |_| Error::new(ErrorKind::InvalidData, format!("a process for {arguments:?} ended with {}", output.status));
    serde_json::from_slice(&output.stdout).map_err(wrong)
}

/// In such a process: some executions, until one fails or the CPU time is up.
pub fn run(body: fn(), limit_seconds: f64) -> Value {
    let clock = ProcessTime::now();
    let mut executions = 0;
    loop {
        executions += 1;
        let (tell, told) = channel();
        let run = move || {
            body();
            // If nobody waits any more, it has taken too long.
            let _ = tell.send(());
        };
        thread::Builder::new().spawn(run).expect("there is room for a thread");
        let found = match told.recv_timeout(PATIENCE) {
            Ok(()) => None,
            Err(RecvTimeoutError::Disconnected) => Some("panic"),
            Err(RecvTimeoutError::Timeout) => Some("hang"),
        };
        let seconds = clock.elapsed().as_secs_f64();
        if found.is_some() || seconds >= limit_seconds || executions == OF_ONE_PROCESS {
            return json!({ "executions": executions, "seconds": seconds, "found": found });
        }
    }
}
