//! probe
#![allow(missing_docs, clippy::all)]
use raddle_engine::search::{Limits, search};
use raddle_engine::strategy::random::Random;
use raddle_runtime::thread;
use raddle_runtime::threads::{Settings, Threads};
use std::sync::Arc;
fn main() {
    let mut p = Threads::new(
        Arc::new(|| {
            let h: Vec<_> = (0..2)
                .map(|_| {
                    thread::spawn(|| {
                        for _ in 0..10000 {
                            thread::yield_now()
                        }
                    })
                })
                .collect();
            for h in h {
                h.join().unwrap();
            }
        }),
        &Settings::default(),
    );
    let n = std::env::args().nth(1).map_or(10, |a| a.parse().unwrap());
    let r = search(&mut p, &mut Random::new(1), &Limits { executions: Some(n), ..Limits::default() });
    println!("{}", r.steps);
}
