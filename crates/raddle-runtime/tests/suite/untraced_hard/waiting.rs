//! Handlers that wait in the middle, and mailboxes that fill at the same time.

use std::sync::Arc;
use std::time::Duration;

use raddle_runtime::actor::{Address, Faults, ReplyTo};
use raddle_runtime::sync::atomic::{AtomicU32, Ordering};
use raddle_runtime::sync::{Condvar, Mutex, RwLock, mpsc};
use raddle_runtime::{choice, thread, thread_local};

use super::{does, same};

/// If a handler allows faults, they can happen to its later messages.
#[test]
fn faults_begin_in_the_middle() {
    same(|diary, system| {
        let note = diary.clone();
        let last = system.spawn(does(move |n: u32, _| note.note(n)));
        let inside = system.clone();
        let first = system.spawn(does(move |n: u32, ctx| {
            if n == 2 {
                let _ = inside.clone().faults(Faults { drop: 1, ..Faults::default() });
            }
            ctx.send(&last, n);
            if n > 0 {
                let me = ctx.me();
                ctx.send(&me, n - 1);
            }
        }));
        first.send(4);
        system.run_until_quiet();
    });
}

thread_local! {
    static LOCAL: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// Handlers wait in the middle in every possible way. Thread-local values belong to their actor.
#[test]
fn handlers_wait_in_all_ways() {
    same(|diary, system| {
        let shared = Arc::new((Mutex::new(0), Condvar::new(), RwLock::new(0), AtomicU32::new(0)));
        let (tx, rx) = mpsc::channel::<u32>();
        let (btx, brx) = mpsc::sync_channel::<u32>(1);
        let node = |who: u32| {
            let (diary, shared, tx, btx) = (diary.clone(), shared.clone(), tx.clone(), btx.clone());
            does(move |n: u32, ctx| {
                LOCAL.set(LOCAL.get() + 1);
                diary.note((who, n, LOCAL.get()));
                match n % 10 {
                    0 => {
                        let t = thread::spawn({
                            let shared = shared.clone();
                            move || *shared.0.lock().unwrap() += 1
                        });
                        t.join().unwrap();
                        shared.1.notify_all();
                    }
                    1 => {
                        let mut here = 0;
                        thread::scope(|s| {
                            s.spawn(|| here += *shared.2.read().unwrap());
                            s.spawn(|| shared.3.fetch_add(1, Ordering::SeqCst));
                        });
                        diary.note(here);
                    }
                    2 => {
                        let mut guard = shared.0.lock().unwrap();
                        while *guard == 0 {
                            guard = shared.1.wait(guard).unwrap();
                        }
                    }
                    3 => *shared.2.write().unwrap() += 1,
                    4 => {
                        while shared.3.load(Ordering::SeqCst) == 0 {
                            thread::yield_now();
                        }
                    }
                    5 => thread::sleep(Duration::from_millis(3)),
                    6 => {
                        let me = thread::current();
                        let t = thread::spawn(move || me.unpark());
                        thread::park();
                        t.join().unwrap();
                    }
                    7 => tx.send(n).unwrap(),
                    8 => btx.send(n).unwrap(),
                    _ => {
                        let me = ctx.me();
                        ctx.send(&me, u32::from(choice::choose(9) as u8));
                    }
                }
                if n >= 10 {
                    let me = ctx.me();
                    ctx.send(&me, n - 7);
                }
            })
        };
        let nodes: Vec<_> = (0..3).map(|who| system.spawn(node(who))).collect();
        let first = choice::choose(10) as u32;
        for n in 0..6 {
            nodes[n as usize % 3].send((first + n * 7) % 20);
        }
        drop((tx, btx));
        let note = diary.clone();
        let t = thread::spawn(move || {
            if let Ok(n) = brx.recv() {
                note.note(("bounded", n));
            }
            if let Ok(n) = brx.recv() {
                note.note(("bounded", n));
            }
        });
        system.run_until_quiet();
        diary.note(rx.try_iter().count());
        drop(nodes);
        drop(t);
    });
}

/// One mailbox has more messages of several senders than a mailbox stores without allocation.
#[test]
fn many_messages_wait_for_one() {
    same(|diary, system| {
        let received = diary.clone();
        let sink = system.spawn(does(move |n: u32, _| received.note(n)));
        for source in 0..4 {
            let sink = sink.clone();
            let sends =
                system.spawn(does(move |many: u32, ctx| (0..many).for_each(|n| ctx.send(&sink, 100 * source + n))));
            sends.send(8);
        }
        system.run_until_quiet();
    });
}

pub enum Q {
    Ask(u32, ReplyTo<u32>),
    Begin,
}

/// Handlers that wait for replies wait for each other. Some never get one.
#[test]
fn requests_lead_to_requests() {
    same(|diary, system| {
        let mut next: Option<Address<Q>> = None;
        for _ in 0..4 {
            let (to, note) = (next.take(), diary.clone());
            next = Some(system.spawn(does(move |q: Q, ctx| match (q, &to) {
                (Q::Ask(0, reply), _) => drop(reply),
                (Q::Ask(n, reply), Some(to)) => {
                    let answer = ctx.ask(to, |r| Q::Ask(n - 1, r));
                    note.note(answer);
                    reply.reply(answer + 1);
                }
                (Q::Ask(_, reply), None) => reply.reply(1),
                (Q::Begin, Some(to)) => {
                    let n = 2 + ctx.choose(4);
                    note.note(ctx.ask(to, |r| Q::Ask(n, r)));
                }
                (Q::Begin, None) => {}
            })));
        }
        let first = next.unwrap();
        first.send(Q::Begin);
        first.send(Q::Begin);
        system.run_until_quiet();
    });
}
