//! A pool of worker threads and their tasks, after the thread manager of Thrift's C++ library.
//!
//! Whoever adds workers waits until all of them have begun. Their number is kept under one lock, and the waiting is done with another. A
//! worker that says "all here" without taking the second may say so while the manager has looked and does not wait yet: nobody
//! hears it, and the manager waits for ever while the workers wait for tasks.

use std::collections::VecDeque;

use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::{Condvar, Mutex};
use raddle::thread;

use crate::Program;

/// With two workers and five tasks for each, as in the first line of the paper's table.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("thrift", "deadlock", || run(2, Notify::Bare)).sized(2, 5, |workers| run(workers, Notify::Bare)),
    Program::correct("thrift_ok", || run(2, Notify::Locked)).sized(2, 5, |workers| run(workers, Notify::Locked)),
];

const TASKS_EACH: u32 = 5;

fn run(workers: u32, notify: Notify) {
    let done = AtomicU32::new(0);
    let manager = ThreadManager::new(notify);
    thread::scope(|scope| {
        manager.want(workers);
        for _ in 0..workers {
            scope.spawn(|| manager.work());
        }
        manager.await_workers();
        for _ in 0..workers * TASKS_EACH {
            manager.add(&done);
        }
        manager.stop();
    });
    assert_eq!(done.load(SeqCst), workers * TASKS_EACH, "a task was not done");
}

/// How the manager is told that all workers have begun.
#[derive(Clone, Copy)]
enum Notify {
    /// Without the lock that goes with the waiting.
    Bare,
    /// Under it.
    Locked,
}

/// A task counts itself as done.
type Task<'a> = &'a AtomicU32;

struct ThreadManager<'a> {
    state: Mutex<State<'a>>,
    /// There is a task, or nothing is left to wait for. Goes with `state`.
    work: Condvar,
    /// For whoever waits for workers.
    workers: Mutex<()>,
    /// All workers have begun. Goes with `workers`.
    all_here: Condvar,
    notify: Notify,
}

#[derive(Default)]
struct State<'a> {
    tasks: VecDeque<Task<'a>>,
    running: u32,
    wanted: u32,
    stopping: bool,
}

impl<'a> ThreadManager<'a> {
    fn new(notify: Notify) -> Self {
        Self {
            state: Mutex::default(),
            work: Condvar::new(),
            workers: Mutex::new(()),
            all_here: Condvar::new(),
            notify,
        }
    }

    fn want(&self, workers: u32) {
        self.state.lock().unwrap().wanted += workers;
    }

    fn are_all_here(&self) -> bool {
        let state = self.state.lock().unwrap();
        state.running == state.wanted
    }

    fn await_workers(&self) {
        let mut waiting = self.workers.lock().unwrap();
        while !self.are_all_here() {
            waiting = self.all_here.wait(waiting).unwrap();
        }
    }

    fn add(&self, task: Task<'a>) {
        self.state.lock().unwrap().tasks.push_back(task);
        self.work.notify_one();
    }

    /// What is queued will still be done.
    fn stop(&self) {
        self.state.lock().unwrap().stopping = true;
        self.work.notify_all();
    }

    /// The life of a worker.
    fn work(&self) {
        self.begin();
        while let Some(task) = self.next_task() {
            task.fetch_add(1, SeqCst);
        }
    }

    fn begin(&self) {
        let mut state = self.state.lock().unwrap();
        state.running += 1;
        let all_here = state.running == state.wanted;
        drop(state);
        if all_here {
            let _waiting = match self.notify {
                Notify::Bare => None,
                Notify::Locked => Some(self.workers.lock().unwrap()),
            };
            self.all_here.notify_one();
        }
    }

    /// Waits for a task; `None` if there will be no more.
    fn next_task(&self) -> Option<Task<'a>> {
        let idle = |state: &mut State<'_>| state.tasks.is_empty() && !state.stopping;
        let mut state = self.work.wait_while(self.state.lock().unwrap(), idle).unwrap();
        state.tasks.pop_front()
    }
}
