//! Few delays first, as a user sees it.

use raddle::strategy::delay::{Delay, DelayingExplorer, Event, RoundRobin, TaskId};
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Explorer, thread};

use crate::programs;

fn line(strategy: &str, program: fn()) -> String {
    Explorer::new().strategy(strategy).run(program).verdict_line()
}

#[test]
fn the_verdict_counts_states() {
    let verified = "verified: all 13 states; two of them taken for one: chance 4e-18";
    assert_eq!(line("delay", programs::counts_under_a_lock), verified);
    assert_eq!(line("delay:rtc", programs::counts_under_a_lock), verified);
    assert_eq!(line("delay:prr", programs::counts_under_a_lock), verified);
    let bounded = line("delay:0", programs::lost_update);
    assert_eq!(bounded, "no failure with up to 0 delays (all 6 states; two of them taken for one: chance 8e-19)");
    let failed = line("delay", programs::lost_update);
    assert!(failed.contains("(found with 1 delay): panic in main"), "{failed}");
    let stopped = Explorer::new().strategy("delay").executions(3).run(programs::lost_update).verdict_line();
    assert_eq!(stopped, "FAILED after 2 orders (found with 1 delay): panic in main");
}

#[test]
fn the_verdict_of_a_sample_has_its_guarantee() {
    let line =
        Explorer::new().strategy("delay-sample").executions(200).run(programs::counts_under_a_lock).verdict_line();
    assert!(line.contains("(a sample: delay-sample"), "{line}");
    assert!(line.contains("; an execution with 1 delay had probability ≥ "), "{line}");
}

#[test]
fn a_search_that_goes_over_to_samples_tells_both() {
    // More states than the search has executions.
    let program = || {
        let count = Arc::new(AtomicUsize::new(0));
        let add = |count: Arc<AtomicUsize>| move || (0..5).for_each(|_| _ = count.fetch_add(1, SeqCst));
        let threads: Vec<_> = (0..3).map(|_| thread::spawn(add(count.clone()))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    for workers in [1, 2] {
        let explorer = Explorer::new().strategy("delay-hybrid").executions(7_000).workers(workers);
        let line = explorer.run(program).verdict_line();
        assert!(line.contains("among them all with up to "), "{line}");
        assert!(line.contains("; what comes next where the search left off had probability ≥ "), "{line}");
    }
}

#[test]
fn several_workers_see_the_same_states() {
    let program = || {
        let count = Arc::new(Mutex::new(0));
        let add = |count: Arc<Mutex<i32>>| move || (0..3).for_each(|_| *count.lock().unwrap() += 1);
        let threads: Vec<_> = (0..3).map(|_| thread::spawn(add(count.clone()))).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    let run = |workers| Explorer::new().strategy("delay").workers(workers).run(program).verdict_line();
    assert!(run(1).starts_with("verified: all "), "{}", run(1));
    assert_eq!(run(3), run(1));
}

/// Keeps one task back until the program says that its start is over.
#[derive(Clone, Default)]
struct LateComer {
    others: RoundRobin,
    begun: bool,
    passed_by: bool,
}

impl DelayingExplorer for LateComer {
    fn next(&mut self, ready: &[TaskId]) -> TaskId {
        let late = *ready.last().expect("there is always one");
        let rest: Vec<_> = ready.iter().copied().filter(|task| *task != late).collect();
        let now = (self.begun && !self.passed_by) || rest.is_empty();
        if now { late } else { self.others.next(&rest) }
    }

    fn step(&mut self, event: &Event) {
        self.begun |= *event == Event::Hint(7);
        self.passed_by = false;
        self.others.step(event);
    }

    fn delay(&mut self) {
        if self.begun && !self.passed_by {
            self.passed_by = true;
        } else {
            self.passed_by = false;
            self.begun = true;
            self.others.delay();
        }
    }
}

#[test]
fn a_custom_explorer_receives_hints_of_the_program() {
    // Only if the third thread comes right after the start, it finds 1.
    let program = || {
        let x = Arc::new(AtomicUsize::new(0));
        let spawn = |by: usize, hint: bool| {
            let x = x.clone();
            thread::spawn(move || {
                x.fetch_add(by, SeqCst);
                if hint {
                    raddle::hint_explorer(7);
                }
                x.fetch_add(10, SeqCst);
            })
        };
        let threads = [spawn(1, true), spawn(100, false)];
        let y = x.clone();
        let late = thread::spawn(move || assert_ne!(y.load(SeqCst), 1));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        late.join().unwrap();
    };
    let own = Explorer::new().strategy(Delay::new(LateComer::default()).up_to(0)).run(program);
    assert!(own.failed(), "{own}");
    let plain = Explorer::new().strategy("delay:0").run(program);
    assert!(!plain.failed(), "{plain}");
}
