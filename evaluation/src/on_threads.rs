//! Searches of programs on threads, by one worker.

use std::sync::Arc;
use std::thread;

use raddle_engine::search::{Limits, Report, Search, Status};
use raddle_engine::strategy::Strategy;
use raddle_runtime::threads::{Settings, Threads};

/// The body of an execution.
pub type Body = Arc<dyn Fn() + Send + Sync>;

/// Searches on OS threads of its own: one that had to leave a task behind is replaced.
pub fn search(body: &Body, strategy: &mut dyn Strategy, limits: &Limits) -> Report {
    let search = Search::new(strategy, limits, 1);
    let mut worker = search.worker(strategy);
    loop {
        let work = || worker.work(&mut Threads::new(body.clone(), &Settings::default()));
        let status = thread::scope(|scope| scope.spawn(work).join().expect("raddle bug: a worker has panicked"));
        if status == Status::Over {
            return search.close(vec![worker]);
        }
    }
}
