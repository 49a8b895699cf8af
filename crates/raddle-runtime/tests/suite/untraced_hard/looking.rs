//! Waiting for conditions, and looking at actors.

use std::sync::{Arc, Mutex as StdMutex};

use raddle_runtime::actor::System;
use raddle_runtime::sync::Mutex;
use raddle_runtime::thread;

use super::failing::Started;
use super::waiting::Q;
use super::{Does, does, same};

/// A task that waits for a condition checks it after each message, even if the receivers had nothing to receive when the untraced run
/// began.
#[test]
fn a_condition_is_checked_after_each_message_of_another_system() {
    same(|diary, one| {
        let two = System::new();
        let handled = Arc::new(StdMutex::new(0));
        let count = handled.clone();
        let last = two.spawn(does(move |_: u32, _| *count.lock().unwrap() += 1));
        let first = one.spawn(does(move |n: u32, ctx| {
            last.send(n);
            if n > 0 {
                let me = ctx.me();
                ctx.send(&me, n - 1);
            }
        }));
        first.send(4);
        let seen = handled.clone();
        let diary2 = diary.clone();
        let held = two.run_until(|| {
            diary2.note(*seen.lock().unwrap());
            *seen.lock().unwrap() == 2
        });
        diary.note((held, *handled.lock().unwrap()));
        one.run_until_quiet();
    });
}

/// While a task looks at an actor, the actor cannot receive, even if it had no message when the untraced run began.
#[test]
fn an_actor_does_not_receive_while_a_task_looks_at_it() {
    same(|_, system| {
        let a = system.spawn(does(|_: u32, _| ()));
        let to = a.clone();
        let b = system.spawn(does(move |n: u32, ctx| ctx.send(&to, n)));
        b.send(1);
        system.with(&a, |_: &Does<u32>| system.run_until_quiet());
    });
}

/// A handler that waits for a condition checks it as often as in a traced run.
#[test]
fn handlers_wait_for_conditions() {
    same(|diary, system| {
        let seen = Arc::new(StdMutex::new(0));
        let count = seen.clone();
        let other = system.spawn(does(move |_: u32, _| *count.lock().unwrap() += 1));
        let (waits, note) = (system.clone(), diary.clone());
        let a = system.spawn(does(move |n: u32, _| {
            let looks = std::cell::Cell::new(0);
            let held = waits.run_until(|| {
                looks.set(looks.get() + 1);
                *seen.lock().unwrap() >= n
            });
            note.note((n, held, looks.get()));
        }));
        a.send(2);
        a.send(1);
        for n in 0..4 {
            other.send(n);
        }
        system.run_until_quiet();
    });
}

/// Handlers and threads look at actors that receive meanwhile.
#[test]
fn handlers_and_threads_look_at_actors() {
    same(|diary, system| {
        let note = diary.clone();
        let count = system.spawn(Started(diary.clone(), None, 0));
        let (inside, c) = (system.clone(), count.clone());
        let a = system.spawn(does(move |n: u32, ctx| {
            note.note(inside.with(&c, |s: &Started| s.2));
            ctx.send(&c, 200 + n);
        }));
        for n in 0..3 {
            a.send(n);
            count.send(300 + n);
        }
        let (s, c, d) = (system.clone(), count.clone(), diary.clone());
        let t = thread::spawn(move || {
            d.note(s.run_until(|| s.with(&c, |st: &Started| st.2) > 3));
            while s.with(&c, |st: &Started| st.2) < 4 {
                thread::yield_now();
            }
        });
        system.run_until_quiet();
        t.join().unwrap();
        diary.note(system.with(&count, |s: &Started| s.2));
    });
}

/// A task that looks at an actor again and again does not spin if the actor has received in between, even untraced.
#[test]
fn an_untraced_receive_is_a_change() {
    same(|diary, system| {
        let asked = Arc::new(StdMutex::new(0));
        let count = asked.clone();
        let a = system.spawn(does(move |q: Q, _| {
            *count.lock().unwrap() += 1;
            if let Q::Ask(n, reply) = q {
                reply.reply(n);
            }
        }));
        let lock = Arc::new(Mutex::new(0));
        let (held, to) = (lock.clone(), a.clone());
        let holds = system.spawn(does(move |n: u32, ctx| {
            let guard = held.lock().unwrap();
            ctx.ask(&to, |reply| Q::Ask(n, reply));
            drop(guard);
            if n > 0 {
                let me = ctx.me();
                ctx.send(&me, n - 1);
            }
        }));
        holds.send(9);
        let (s, note) = (system.clone(), diary.clone());
        let spins = thread::spawn(move || {
            while s.with(&a, |_: &Does<Q>| *asked.lock().unwrap()) < 10 {
                drop(lock.lock().unwrap());
            }
            note.note("enough");
        });
        spins.join().unwrap();
        system.run_until_quiet();
    });
}
