//! speed probe
#![allow(missing_docs, clippy::all)]
use raddle_engine::search::{Limits, search};
use raddle_engine::strategy::{exhaustive::Exhaustive, random::Random};
use raddle_runtime::threads::{Settings, Threads};
use raddle_runtime::{
    sync::Mutex,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};
use std::sync::Arc;
use std::time::Instant;
fn run(name: &str, n: u64, body: impl Fn() + Send + Sync + 'static) {
    let mut p = Threads::new(Arc::new(body), &Settings::default());
    let t = Instant::now();
    let r = search(&mut p, &mut Random::new(1), &Limits { executions: Some(n), ..Limits::default() });
    let e = t.elapsed();
    println!(
        "{name}: {} executions {} steps {:.0} exec/s {:.1} ns/exec {:.1} ns/step {:?}",
        r.executions,
        r.steps,
        n as f64 / e.as_secs_f64(),
        e.as_nanos() as f64 / n as f64,
        e.as_nanos() as f64 / r.steps.max(1) as f64,
        r.found
    );
}
fn main() {
    run("empty", 1000000, || ());
    run("spawn1", 1000000, || {
        thread::spawn(|| ()).join().unwrap();
    });
    run("spawn1000", 1000, || {
        let h: Vec<_> = (0..1000).map(|_| thread::spawn(|| ())).collect();
        for h in h {
            h.join().unwrap();
        }
    });
    run("locked", 300000, || {
        let m = Arc::new(Mutex::new(0));
        let h: Vec<_> = (0..2)
            .map(|_| {
                let m = m.clone();
                thread::spawn(move || {
                    for _ in 0..3 {
                        *m.lock().unwrap() += 1;
                    }
                })
            })
            .collect();
        for h in h {
            h.join().unwrap();
        }
    });
    run("atomic", 300000, || {
        let m = Arc::new(AtomicUsize::new(0));
        let h: Vec<_> = (0..3)
            .map(|_| {
                let m = m.clone();
                thread::spawn(move || {
                    for _ in 0..2 {
                        m.fetch_add(1, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        for h in h {
            h.join().unwrap();
        }
    });
    run("yield10000", 100, || {
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
    });
    run("lock10000", 100, || {
        let m = Arc::new(Mutex::new(0));
        let h: Vec<_> = (0..2)
            .map(|_| {
                let m = m.clone();
                thread::spawn(move || {
                    for _ in 0..10000 {
                        *m.lock().unwrap() += 1
                    }
                })
            })
            .collect();
        for h in h {
            h.join().unwrap();
        }
    });
    run("fetch10000", 100, || {
        let m = Arc::new(AtomicUsize::new(0));
        let h: Vec<_> = (0..2)
            .map(|_| {
                let m = m.clone();
                thread::spawn(move || {
                    for _ in 0..10000 {
                        m.fetch_add(1, Ordering::SeqCst);
                    }
                })
            })
            .collect();
        for h in h {
            h.join().unwrap();
        }
    });
    let mut p = Threads::new(
        Arc::new(|| {
            let m = Arc::new(AtomicUsize::new(0));
            let h: Vec<_> = (0..3)
                .map(|_| {
                    let m = m.clone();
                    thread::spawn(move || {
                        for _ in 0..2 {
                            m.fetch_add(1, Ordering::SeqCst);
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
    println!("{:?}", search(&mut p, &mut Exhaustive::depth_first(), &Limits::default()));
}
