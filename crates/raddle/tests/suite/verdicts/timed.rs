//! Waits with a time, which may run out at any moment since a real thread can be slow.

use std::time::Duration;

use raddle::sync::mpsc::{self, RecvTimeoutError};
use raddle::sync::{Condvar, Mutex};
use raddle::{Explorer, thread};

use super::table::{self, Row, fails, holds, nothing, two, verified};

const HOUR: Duration = Duration::from_secs(3600);

fn late(explorer: Explorer) -> Explorer {
    explorer.timeouts("late")
}

fn receives_in_time() {
    let (sender, receiver) = mpsc::channel();
    let theirs = sender.clone();
    let thread = thread::spawn(move || theirs.send(1).unwrap());
    assert_eq!(receiver.recv_timeout(HOUR), Ok(1));
    thread.join().unwrap();
}

fn notified_in_time() {
    two(
        (Mutex::new(false), Condvar::new()),
        |(flag, raised)| {
            let up = flag.lock().unwrap();
            let (_up, result) = raised.wait_timeout_while(up, HOUR, |up| !*up).unwrap();
            assert!(!result.timed_out());
        },
        |(flag, raised)| {
            *flag.lock().unwrap() = true;
            raised.notify_one();
        },
    );
}

const ROWS: &[Row] = &[
    fails("a message after the time", "panic", receives_in_time),
    nothing("a message, and time as a safety net", receives_in_time).with(late),
    fails("a notification after the time", "panic", notified_in_time),
    holds("a notification, and time as a safety net", notified_in_time).with(late),
    fails("time as a safety net that is needed", "panic", || {
        let (sender, receiver) = mpsc::channel::<u32>();
        let thread = thread::spawn(|| ());
        assert_ne!(receiver.recv_timeout(HOUR), Err(RecvTimeoutError::Timeout));
        drop(sender);
        thread.join().unwrap();
    })
    .with(late),
    // The message is received, or the time runs out before it is sent.
    verified("a message or not", 2, || {
        let (sender, receiver) = mpsc::channel();
        let theirs = sender.clone();
        let thread = thread::spawn(move || theirs.send(1).unwrap());
        assert!(matches!(receiver.recv_timeout(HOUR), Ok(1) | Err(RecvTimeoutError::Timeout)));
        thread.join().unwrap();
    }),
    // The flag is raised before the waiter looks; or it waits, and is notified; or its time runs out and it looks again
    // before or after the flag is raised.
    verified("notified or not", 4, || {
        two(
            (Mutex::new(false), Condvar::new()),
            |(flag, raised)| {
                let up = flag.lock().unwrap();
                if !*up {
                    drop(raised.wait_timeout(up, HOUR).unwrap());
                }
            },
            |(flag, raised)| {
                *flag.lock().unwrap() = true;
                raised.notify_one();
            },
        );
    }),
    // Parked until the token comes, or until the time runs out before that.
    verified("parked for a time", 2, || {
        let main = thread::current();
        let thread = thread::spawn(move || main.unpark());
        thread::park_timeout(HOUR);
        thread.join().unwrap();
    }),
    // Nothing is awaited, so it does not matter when the sleeper wakes.
    verified("sleeping", 2, || {
        two(
            Mutex::new(0),
            |m| {
                thread::sleep(Duration::from_millis(1));
                *m.lock().unwrap() += 1;
            },
            |m| *m.lock().unwrap() += 1,
        );
    }),
    fails("sleeping is no way to be the second", "panic", || {
        two(
            Mutex::new(0),
            |m| {
                thread::sleep(HOUR);
                assert_eq!(*m.lock().unwrap(), 1);
            },
            |m| *m.lock().unwrap() += 1,
        );
    }),
    fails("out of time, and yet the flag is up", "panic", || {
        two(
            (Mutex::new(false), Condvar::new()),
            |(flag, raised)| {
                let up = flag.lock().unwrap();
                let (up, result) = raised.wait_timeout(up, HOUR).unwrap();
                assert!(!(result.timed_out() && *up));
            },
            |(flag, raised)| {
                *flag.lock().unwrap() = true;
                raised.notify_all();
            },
        );
    }),
];

#[test]
fn timed() {
    table::check(ROWS);
}
