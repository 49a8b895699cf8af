//! How fast channels, scopes and thread-local values are.
#![expect(clippy::print_stdout, reason = "a measurement")]

use std::sync::Arc;
use std::time::Instant;

use raddle_engine::search::{Limits, search};
use raddle_engine::strategy::random::Random;
use raddle_runtime::sync::mpsc::{channel, sync_channel};
use raddle_runtime::thread;
use raddle_runtime::threads::{Settings, Threads};

fn run(name: &str, executions: u64, body: impl Fn() + Send + Sync + 'static) {
    let mut program = Threads::new(Arc::new(body), &Settings::default());
    let begun = Instant::now();
    let limits = Limits { executions: Some(executions), ..Limits::default() };
    let report = search(&mut program, &mut Random::new(1), &limits);
    let nanos = begun.elapsed().as_nanos() as f64;
    let (per_run, per_step) = (nanos / report.executions as f64, nanos / report.steps as f64);
    println!("{name}: {per_run:.0} ns an execution, {per_step:.1} ns a step, {} failing", report.failing);
}

fn main() {
    run("2 producers x 3 messages", 300_000, || {
        let (tx, rx) = channel();
        let producers: Vec<_> = (0..2)
            .map(|p| {
                let tx = tx.clone();
                thread::spawn(move || (0..3).for_each(|i| tx.send((p, i)).expect("the receiver is there")))
            })
            .collect();
        drop(tx);
        assert_eq!(rx.iter().count(), 6);
        producers.into_iter().for_each(|p| p.join().expect("producers do not panic"));
    });
    run("one producer, 10,000 messages", 100, || {
        let (tx, rx) = channel();
        thread::spawn(move || (0..10_000).for_each(|i| tx.send(i).expect("the receiver is there")));
        assert_eq!(rx.iter().count(), 10_000);
    });
    run("one producer, 10,000 messages, at most 4 waiting", 100, || {
        let (tx, rx) = sync_channel(4);
        thread::spawn(move || (0..10_000).for_each(|i| tx.send(i).expect("the receiver is there")));
        assert_eq!(rx.iter().count(), 10_000);
    });
    run("scope of 2 threads", 300_000, || {
        thread::scope(|s| {
            s.spawn(|| ());
            s.spawn(|| ());
        });
    });
}
