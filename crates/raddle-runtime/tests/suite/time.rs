//! The virtual clock.

use std::sync::Mutex as StdMutex;

use raddle_runtime::sync::atomic::{AtomicUsize, Ordering};
use raddle_runtime::sync::mpsc::{RecvTimeoutError, channel};
use raddle_runtime::sync::{Arc, Mutex};
use raddle_runtime::thread;
use raddle_runtime::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::explore::{Seen, panics_with, passes, sample};

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn sleeping_moves_the_clock_by_what_was_slept() {
    let count = passes(|| {
        let start = Instant::now();
        thread::sleep(ms(20));
        assert_eq!(start.elapsed(), ms(20));
        thread::sleep(Duration::ZERO);
        assert_eq!(start.elapsed(), ms(20));
        thread::sleep(Duration::from_secs(3_600));
        assert_eq!(start.elapsed(), ms(3_600_020));
    });
    assert_eq!(count, 1);
}

#[test]
fn sleepers_wake_in_the_order_of_their_times() {
    let seen = Seen::default();
    let out = seen.clone();
    passes(move || {
        let log = Arc::new(Mutex::new(Vec::new()));
        let start = Instant::now();
        let sleepers: Vec<_> = [3, 1, 2]
            .map(|n| {
                let log = log.clone();
                thread::spawn(move || {
                    thread::sleep(ms(n));
                    let woken = start.elapsed();
                    assert!(woken >= ms(n) && woken <= ms(3), "{woken:?}");
                    log.lock().unwrap().push(n);
                })
            })
            .into();
        for s in sleepers {
            s.join().unwrap();
        }
        assert_eq!(start.elapsed(), ms(3));
        let order = log.lock().unwrap().clone();
        out.note(order);
    });
    // Whoever has woken may still be slow.
    assert_eq!(seen.len(), 6);
}

#[test]
fn a_sleeper_may_wake_before_or_after_others_go_on() {
    let seen = Seen::default();
    let out = seen.clone();
    let count = passes(move || {
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || y.fetch_add(1, Ordering::SeqCst));
        thread::sleep(ms(1));
        out.note(x.load(Ordering::SeqCst));
        t.join().unwrap();
    });
    seen.are([0, 1]);
    // The thread's step comes before the waking, before the load, or after both.
    assert_eq!(count, 3);
}

#[test]
fn spinning_on_the_clock_ends() {
    passes(|| {
        let start = Instant::now();
        while start.elapsed() < ms(500) {}
        let x = Arc::new(AtomicUsize::new(0));
        let y = x.clone();
        let t = thread::spawn(move || y.fetch_add(1, Ordering::SeqCst));
        let deadline = Instant::now() + ms(5);
        while x.load(Ordering::SeqCst) == 0 && Instant::now() < deadline {
            thread::yield_now();
        }
        t.join().unwrap();
    });
}

#[test]
fn whoever_spins_until_a_time_is_there_before_a_later_one() {
    let seen = Seen::default();
    let out = seen.clone();
    passes(move || {
        let (tx, rx) = channel();
        let sender = thread::spawn(move || {
            let start = Instant::now();
            while start.elapsed() < ms(50) {}
            let _ = tx.send(1);
            tx
        });
        out.note(rx.recv_timeout(ms(100)));
        sender.join().unwrap();
    });
    seen.are([Ok(1), Err(RecvTimeoutError::Timeout)]);
}

#[test]
fn whoever_gives_up_after_some_timeouts_does_so_before_a_later_time() {
    passes(|| {
        let (tx, rx) = channel();
        let sender = thread::spawn(move || {
            thread::sleep(ms(100));
            tx.send(1)
        });
        let tries = (0..3).map(|_| rx.recv_timeout(ms(10))).filter(|r| *r == Err(RecvTimeoutError::Timeout)).count();
        assert_eq!(tries, 3);
        drop(rx);
        let _ = sender.join().unwrap();
    });
}

#[test]
fn a_loop_of_timed_waits_ends() {
    passes(|| {
        let start = Instant::now();
        let (tx, rx) = channel();
        let sender = thread::spawn(move || {
            thread::sleep(ms(35));
            tx.send(1).unwrap();
            tx
        });
        while rx.recv_timeout(ms(10)).is_err() {}
        assert!(start.elapsed() >= ms(35));
        sender.join().unwrap();
    });
}

#[test]
fn parking_with_a_timeout_ends_by_time_or_by_token() {
    let seen = Seen::default();
    let out = seen.clone();
    passes(move || {
        let start = Instant::now();
        let main = thread::current();
        let waker = thread::spawn(move || main.unpark());
        thread::park_timeout(ms(7));
        out.note(start.elapsed());
        waker.join().unwrap();
    });
    seen.are([Duration::ZERO, ms(7)]);
}

#[test]
fn instants_can_be_reckoned_with() {
    let body = || {
        let now = Instant::now();
        let later = now + ms(5);
        assert_eq!(later - now, ms(5));
        assert_eq!(now - later, Duration::ZERO);
        assert_eq!(now.checked_duration_since(later), None);
        assert_eq!(now.saturating_duration_since(later), Duration::ZERO);
        assert_eq!(later.duration_since(now), ms(5));
        assert!(now < later && later <= later);
        let mut moved = later;
        moved -= ms(5);
        assert_eq!(moved, now);
        moved += ms(1);
        assert!(moved > now);
        assert!(now.checked_sub(ms(1)).is_some());
        assert_eq!((now - ms(1)).checked_add(ms(1)), Some(now));
    };
    body();
    passes(body);
}

#[test]
fn the_time_of_day_starts_the_same_every_time() {
    passes(|| {
        let start = SystemTime::now();
        assert_eq!(start.duration_since(UNIX_EPOCH).unwrap().as_secs(), 1_577_836_800);
        thread::sleep(ms(3));
        assert_eq!(start.elapsed().unwrap(), ms(3));
        assert!((start + ms(9)).elapsed().is_err());
    });
    assert!(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() > 1_577_836_800);
}

#[test]
fn instants_of_two_clocks_do_not_mix() {
    let outside = Instant::now();
    let said = panics_with(move || {
        let _ = Instant::now() - outside;
    });
    assert!(said.contains("different clocks"), "{said}");
    let kept: StdMutex<Option<Instant>> = StdMutex::new(None);
    let report = sample(2, move || {
        let earlier = *kept.lock().unwrap().get_or_insert_with(Instant::now);
        let _ = Instant::now() < earlier;
    });
    assert_eq!(report.failing, 1);
}

#[test]
fn the_end_of_time_is_no_overflow() {
    passes(|| {
        thread::sleep(Duration::MAX);
        thread::sleep(Duration::MAX);
    });
}
