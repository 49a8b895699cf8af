//! Parking.

use std::sync::Arc;

use raddle::sync::atomic::{AtomicBool, Ordering::SeqCst};
use raddle::thread;

use super::table::{self, Row, fails, nothing, verified};

fn parks_once() {
    let flag = Arc::new(AtomicBool::new(false));
    let (theirs, main) = (flag.clone(), thread::current());
    let thread = thread::spawn(move || {
        theirs.store(true, SeqCst);
        main.unpark();
    });
    thread::park();
    assert!(flag.load(SeqCst));
    thread.join().unwrap();
}

const ROWS: &[Row] = &[
    // Who parks can do nothing else until the token comes.
    nothing("parked until the flag is raised", parks_once),
    fails("a park that ends for no reason", "panic", parks_once).with(|explorer| explorer.spurious_wakeups(1)),
    // The flag is seen raised at once; or lowered at first, and the token ends the wait.
    verified("parked if the flag is not raised", 2, || {
        let flag = Arc::new(AtomicBool::new(false));
        let (theirs, main) = (flag.clone(), thread::current());
        let thread = thread::spawn(move || {
            theirs.store(true, SeqCst);
            main.unpark();
        });
        while !flag.load(SeqCst) {
            thread::park();
        }
        thread.join().unwrap();
    }),
    fails("two tokens are one", "deadlock", || {
        let main = thread::current();
        let thread = thread::spawn(move || {
            main.unpark();
            main.unpark();
        });
        thread::park();
        thread.join().unwrap();
        thread::park();
        thread::park();
    }),
    fails("two tokens may be one", "deadlock", || {
        let main = thread::current();
        let thread = thread::spawn(move || {
            main.unpark();
            main.unpark();
        });
        thread::park();
        thread::park();
        thread.join().unwrap();
    }),
    fails("nobody unparks", "deadlock", thread::park),
    fails("the flag is looked at after parking only", "deadlock", || {
        let flag = Arc::new(AtomicBool::new(false));
        let (theirs, main) = (flag.clone(), thread::current());
        let thread = thread::spawn(move || {
            main.unpark();
            theirs.store(true, SeqCst);
        });
        while !flag.load(SeqCst) {
            thread::park();
        }
        thread.join().unwrap();
    }),
];

#[test]
fn parking() {
    table::check(ROWS);
}
