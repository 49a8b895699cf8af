//! Channels.

use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;

use raddle_engine::outcome::Failure;
use raddle_runtime::sync::Mutex;
use raddle_runtime::sync::mpsc::{
    RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError, channel, sync_channel,
};
use raddle_runtime::thread;

use crate::explore::{Seen, fails, panics_with, passes, sample};

/// Orders of `n` sends and `n` receives in which the channel never holds less than nothing or more than `bound`.
fn orders(n: u32, bound: u32) -> u64 {
    fn go(sends: u32, recvs: u32, held: u32, bound: u32) -> u64 {
        let send = if sends > 0 && held < bound { go(sends - 1, recvs, held + 1, bound) } else { 0 };
        let recv = if recvs > 0 && held > 0 { go(sends, recvs - 1, held - 1, bound) } else { 0 };
        if sends + recvs == 0 { 1 } else { send + recv }
    }
    go(n, n, 0, bound)
}

#[test]
fn unbounded_orders_are_catalan_numbers() {
    for n in 1..=5 {
        let count = passes(move || {
            let (tx, rx) = channel();
            let keep = tx.clone();
            let sender = thread::spawn(move || (0..n).for_each(|i| tx.send(i).unwrap()));
            for i in 0..n {
                assert_eq!(rx.recv(), Ok(i));
            }
            sender.join().unwrap();
            std::mem::forget((keep, rx));
        });
        assert_eq!(count, orders(n, u32::MAX), "n = {n}");
        assert_eq!(count, [1, 2, 5, 14, 42][n as usize - 1]);
    }
}

#[test]
fn bounded_orders_are_paths_in_a_strip() {
    for (n, bound) in [(3, 1), (4, 2), (5, 3), (4, 4)] {
        let count = passes(move || {
            let (tx, rx) = sync_channel(bound as usize);
            let keep = tx.clone();
            let sender = thread::spawn(move || (0..n).for_each(|i| tx.send(i).unwrap()));
            for i in 0..n {
                assert_eq!(rx.recv(), Ok(i));
            }
            sender.join().unwrap();
            std::mem::forget((keep, rx));
        });
        assert_eq!(count, orders(n, bound), "n = {n}, bound = {bound}");
    }
}

#[test]
fn two_producers_meet_in_every_order() {
    let seen = Seen::default();
    let all_seen = seen.clone();
    let count = passes(move || {
        let (tx, rx) = channel();
        let producers: Vec<_> = (0..2)
            .map(|p| {
                let tx = tx.clone();
                thread::spawn(move || (0..2).for_each(|i| tx.send((p, i)).unwrap()))
            })
            .collect();
        for p in producers {
            p.join().unwrap();
        }
        let got: Vec<_> = rx.try_iter().collect();
        all_seen.note(got);
    });
    // Two sequences of two: 4! / (2! 2!).
    assert_eq!(count, 6);
    assert_eq!(seen.len(), 6);
}

#[test]
fn the_end_of_all_senders_ends_the_receiver() {
    passes(|| {
        let (tx, rx) = channel();
        let other = tx.clone();
        let a = thread::spawn(move || tx.send(1).unwrap());
        let b = thread::spawn(move || other.send(2).unwrap());
        let mut got: Vec<i32> = rx.iter().collect();
        got.sort_unstable();
        assert_eq!(got, [1, 2]);
        assert_eq!(rx.recv(), Err(RecvError));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(rx.recv_timeout(Duration::from_secs(1)), Err(RecvTimeoutError::Disconnected));
        a.join().unwrap();
        b.join().unwrap();
    });
}

#[test]
fn the_end_of_the_receiver_gives_messages_back() {
    passes(|| {
        let (tx, rx) = channel();
        let (sync, sync_rx) = sync_channel(1);
        sync.send(7).unwrap();
        let dropper = thread::spawn(move || drop((rx, sync_rx)));
        // Full until the receiver is gone, then an error: never sent.
        assert_eq!(sync.send(8), Err(SendError(8)));
        dropper.join().unwrap();
        assert_eq!(tx.send(9), Err(SendError(9)));
        assert_eq!(sync.try_send(10), Err(TrySendError::Disconnected(10)));
    });
}

#[test]
fn try_send_and_try_recv_see_both_worlds() {
    let seen = Seen::default();
    let out = seen.clone();
    passes(move || {
        let (tx, rx) = sync_channel(1);
        tx.send(0).unwrap();
        let t = thread::spawn(move || {
            let first = rx.try_recv();
            let second = rx.try_recv();
            assert_eq!(first, Ok(0));
            second
        });
        let sent = tx.try_send(1);
        let got = t.join().unwrap();
        out.note((sent.is_ok(), got));
    });
    seen.are([(false, Err(TryRecvError::Empty)), (true, Ok(1)), (true, Err(TryRecvError::Empty))]);
}

#[test]
fn a_bound_that_is_not_reached_has_no_effect() {
    passes(|| {
        let (tx, rx) = sync_channel(usize::MAX);
        tx.try_send(1).unwrap();
        let t = thread::spawn(move || tx.send(2).unwrap());
        assert_eq!((rx.recv(), rx.recv()), (Ok(1), Ok(2)));
        t.join().unwrap();
    });
}

#[test]
fn recv_timeout_goes_both_ways() {
    let seen = Seen::default();
    let out = seen.clone();
    passes(move || {
        let (tx, rx) = channel();
        let t = thread::spawn(move || {
            let _ = tx.send(1);
            tx
        });
        out.note(rx.recv_timeout(Duration::from_millis(5)));
        t.join().unwrap();
    });
    seen.are([Ok(1), Err(RecvTimeoutError::Timeout)]);
}

#[test]
fn a_receiver_of_nothing_is_a_deadlock() {
    let Failure::Deadlock { waiting } = fails(|| {
        let (tx, rx) = channel::<()>();
        let _ = rx.recv();
        drop(tx);
    }) else {
        panic!("not a deadlock");
    };
    assert_eq!(waiting[0].op.verb, "recv");
    let found = fails(|| {
        let (tx, _rx) = sync_channel(1);
        tx.send(1).unwrap();
        tx.send(2).unwrap();
    });
    assert_eq!(found.kind(), "deadlock");
}

#[test]
fn a_rendezvous_waits_for_the_receiver() {
    passes(|| {
        let (tx, rx) = sync_channel(0);
        let progress = Arc::new(Mutex::new(0));
        let p = progress.clone();
        let sender = thread::spawn(move || {
            for i in 1..=2 {
                tx.send(i).unwrap();
                *p.lock().unwrap() = i;
            }
        });
        // The sender cannot be further than what has been received.
        assert_eq!(*progress.lock().unwrap(), 0);
        assert_eq!(rx.recv(), Ok(1));
        assert!(*progress.lock().unwrap() <= 1);
        assert_eq!(rx.recv(), Ok(2));
        sender.join().unwrap();
        assert_eq!(rx.recv(), Err(RecvError));
    });
}

#[test]
fn a_rendezvous_of_several_senders_serves_each() {
    let orders = Seen::default();
    let out = orders.clone();
    passes(move || {
        let (tx, rx) = sync_channel(0);
        let senders: Vec<_> = (0..3)
            .map(|i| {
                let tx = tx.clone();
                thread::spawn(move || tx.send(i).unwrap())
            })
            .collect();
        drop(tx);
        let got: Vec<i32> = rx.into_iter().collect();
        out.note(got);
        for s in senders {
            s.join().unwrap();
        }
    });
    assert_eq!(orders.len(), 6);
}

#[test]
fn try_send_to_a_rendezvous_fails_without_a_receiver() {
    let seen = Seen::default();
    let out = seen.clone();
    passes(move || {
        let (tx, rx) = sync_channel(0);
        let receiver = thread::spawn(move || rx.recv_timeout(Duration::from_secs(1)));
        let sent = tx.try_send(5);
        let got = receiver.join().unwrap();
        out.note((sent, got));
    });
    let expected = [
        (Ok(()), Ok(5)),
        (Err(TrySendError::Full(5)), Err(RecvTimeoutError::Timeout)),
        (Err(TrySendError::Disconnected(5)), Err(RecvTimeoutError::Timeout)),
    ];
    seen.are(expected);
}

#[test]
fn a_rendezvous_gives_messages_back() {
    let seen = Seen::default();
    let out = seen.clone();
    passes(move || {
        let (tx, rx) = sync_channel(0);
        let senders: Vec<_> = (0..2)
            .map(|i| {
                let tx = tx.clone();
                thread::spawn(move || tx.send(i))
            })
            .collect();
        let got = rx.try_recv();
        drop(rx);
        let back: Vec<_> = senders.into_iter().map(|s| s.join().unwrap()).collect();
        for (i, result) in back.iter().enumerate() {
            let i = i as i32;
            assert_eq!(*result, if got == Ok(i) { Ok(()) } else { Err(SendError(i)) });
        }
        out.note(got);
        drop(tx);
    });
    seen.are([Ok(0), Ok(1), Err(TryRecvError::Empty)]);
}

#[test]
fn a_polling_pair_at_a_rendezvous_ends() {
    passes(|| {
        let (tx, rx) = sync_channel(0);
        let receiver = thread::spawn(move || rx.recv().unwrap());
        while tx.try_send(3).is_err() {
            thread::yield_now();
        }
        assert_eq!(receiver.join().unwrap(), 3);
    });
}

#[test]
fn a_polling_receiver_ends() {
    passes(|| {
        let (tx, rx) = channel();
        let t = thread::spawn(move || tx.send(1).unwrap());
        let got = loop {
            match rx.try_recv() {
                Ok(got) => break got,
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => panic!("the message was sent before the end"),
            }
        };
        assert_eq!(got, 1);
        t.join().unwrap();
    });
}

/// Takes an operation when dropped.
struct Counts(Arc<Mutex<u32>>);

impl Drop for Counts {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(|e| e.into_inner()) += 1;
    }
}

#[test]
fn messages_left_are_dropped_with_the_receiver() {
    passes(|| {
        let dropped = Arc::new(Mutex::new(0));
        let (tx, rx) = channel();
        for _ in 0..3 {
            tx.send(Counts(dropped.clone())).unwrap();
        }
        let d = dropped.clone();
        let other = thread::spawn(move || *d.lock().unwrap());
        drop(rx.recv());
        assert_eq!(*dropped.lock().unwrap(), 1);
        drop(rx);
        assert_eq!(*dropped.lock().unwrap(), 3);
        let Err(SendError(back)) = tx.send(Counts(dropped.clone())) else { panic!("sent to nobody") };
        drop(back);
        assert_eq!(*dropped.lock().unwrap(), 4);
        other.join().unwrap();
    });
}

#[test]
fn channels_survive_failing_executions() {
    let report = sample(3_000, || {
        let dropped = Arc::new(Mutex::new(0));
        let (tx, rx) = sync_channel(1);
        let (meet, met) = sync_channel(0);
        let senders: Vec<_> = (0..3)
            .map(|i| {
                let (tx, meet, dropped) = (tx.clone(), meet.clone(), dropped.clone());
                thread::spawn(move || {
                    tx.send(Counts(dropped.clone())).unwrap();
                    meet.send(Counts(dropped.clone())).unwrap();
                    tx.send(Counts(dropped)).unwrap();
                    assert_ne!(i, 1, "on purpose");
                })
            })
            .collect();
        drop(tx);
        drop(meet);
        for _ in 0..3 {
            let _ = rx.recv();
            let _ = met.recv_timeout(Duration::from_millis(1));
        }
        drop(rx);
        for s in senders {
            s.join().unwrap();
        }
    });
    assert_eq!(report.executions, 3_000);
    assert!(report.failing > 0);
}

#[test]
fn channels_made_outside_are_those_of_std() {
    let (tx, rx) = channel();
    let (sync, sync_rx) = sync_channel(1);
    tx.send(1).unwrap();
    assert_eq!(rx.recv_timeout(Duration::from_millis(1)), Ok(1));
    assert_eq!(rx.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    let t = thread::spawn(move || (0..3).for_each(|i| sync.send(i).unwrap()));
    assert_eq!(sync_rx.into_iter().collect::<Vec<_>>(), [0, 1, 2]);
    t.join().unwrap();
    assert_eq!(format!("{tx:?} {rx:?}"), "Sender { .. } Receiver { .. }");
    drop(tx);
    assert_eq!(rx.recv(), Err(RecvError));
}

#[test]
fn channels_made_outside_must_not_block_inside() {
    let (tx, rx) = channel::<i32>();
    let rx = StdMutex::new(rx);
    let said = panics_with(move || {
        let _ = rx.lock().unwrap().recv();
    });
    assert!(said.contains("make the channel inside the test"), "{said}");
    drop(tx);
    let (tx, rx) = sync_channel(0);
    let said = panics_with(move || tx.send(1).unwrap());
    assert!(said.contains("make the channel inside the test"), "{said}");
    drop(rx);
}

#[test]
fn a_channel_of_an_earlier_execution_is_a_leak() {
    type Ends = (raddle_runtime::sync::mpsc::Sender<i32>, raddle_runtime::sync::mpsc::Receiver<i32>);
    let kept: StdMutex<Option<Ends>> = StdMutex::new(None);
    let found = fails(move || {
        let mut kept = kept.lock().unwrap();
        let (tx, rx) = kept.get_or_insert_with(channel);
        tx.send(1).unwrap();
        assert_eq!(rx.recv(), Ok(1));
        drop(kept);
        thread::spawn(thread::yield_now);
        thread::yield_now();
    });
    assert_eq!(found.kind(), "leak between executions");
}
