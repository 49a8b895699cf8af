//! Handlers that panic, crash and fail in other ways.

use std::sync::Arc;
use std::time::Duration;

use raddle_runtime::actor::{Actor, Address, Context, Faults, Monitor, System};
use raddle_runtime::sync::Mutex;
use raddle_runtime::thread;
use raddle_runtime::threads::Settings;

use super::{Diary, does, same, same_with};

/// Panics of threads may be left to the joining threads. Panics of actors are not.
#[test]
fn isolated_panics_of_actors() {
    let settings = Settings { isolate_panics: true, ..Settings::default() };
    same_with(&settings, |diary, system| {
        let note = diary.clone();
        let a = system.spawn(does(move |n: u32, _| {
            note.note(n);
            assert!(n != 1, "on purpose");
        }));
        let b = system.spawn(does(move |n: u32, ctx| ctx.send(&a, n)));
        for n in 0..4 {
            b.send(n);
        }
        system.run_until_quiet();
        diary.note(system.dead_letters());
    });
}

pub struct Started(pub Diary, pub Option<Address<u32>>, pub u32);
impl Actor for Started {
    type Msg = u32;
    fn started(&mut self, ctx: &mut Context<'_, u32>) {
        self.0.note("started");
        let to = self.1.clone().unwrap_or_else(|| ctx.me());
        ctx.send(&to, 100);
        ctx.after(Duration::ZERO, 50);
        let gone = ctx.after(Duration::from_millis(1), 51);
        ctx.cancel(gone);
    }
    fn handle(&mut self, n: u32, ctx: &mut Context<'_, u32>) {
        self.2 += 1;
        self.0.note((n, self.2));
        match (n, &self.1) {
            (100.., _) => {}
            (50, Some(to)) => ctx.send(to, 10),
            (1..10, Some(to)) => ctx.send(to, n - 1),
            (1..10, None) => {
                let (me, t) = (ctx.me(), ctx.after(Duration::from_millis(2), n - 1));
                if ctx.flip() {
                    ctx.cancel(t);
                }
                ctx.send(&me, 0);
            }
            _ => {}
        }
        if n == 3 {
            panic!("on purpose");
        }
    }
}

/// Actors crash, panic and restart, set and cancel timers, and an external actor starts at any time.
#[test]
fn crashes_restarts_and_timers() {
    same(|diary, system| {
        let system = system.faults(Faults { crash: 2, ..Faults::default() }).restart(1);
        let d = diary.clone();
        let b = system.spawn_with(move || Started(d.clone(), None, 0));
        let (d, to) = (diary.clone(), b.clone());
        let a = system.spawn_with(move || Started(d.clone(), Some(to.clone()), 0));
        system.may_crash(&a);
        system.may_crash(&b);
        a.send(5);
        a.send(3);
        let _out = system.external(Started(diary.clone(), Some(a.clone()), 0));
        system.run_until_quiet();
    });
}

/// A handler allows another actor, which waits for a message, to crash.
#[test]
fn handlers_allow_other_actors_to_crash() {
    same(|diary, system| {
        let system = system.faults(Faults { crash: 1, ..Faults::default() });
        let note = diary.clone();
        let frail = system.spawn_with(move || {
            let (note, mut handled) = (note.clone(), 0);
            does(move |n: u32, _| {
                handled += 1;
                note.note((n, handled));
            })
        });
        let inside = system.clone();
        let first = system.spawn(does(move |n: u32, ctx| {
            if n == 4 {
                inside.may_crash(&frail);
            }
            ctx.send(&frail, n);
            if n > 0 {
                let me = ctx.me();
                ctx.send(&me, n - 1);
            }
        }));
        first.send(6);
        system.run_until_quiet();
    });
}

struct Odd(u32);
impl Monitor for Odd {
    type Event = u32;
    fn observe(&mut self, n: &u32) -> Result<(), String> {
        self.0 += n;
        assert!(self.0 != 5, "monitor panics");
        if self.0 > 5 { Err(format!("{} is too much", self.0)) } else { Ok(()) }
    }
    fn at_quiet(&self) -> Result<(), String> {
        if self.0 == 3 { Err("three".to_owned()) } else { Ok(()) }
    }
}

/// Failures by monitors, dead letters and unhandled messages.
#[test]
fn failures_that_are_no_panics() {
    for which in 0..3 {
        let body: fn(&Diary, System) = match which {
            0 => |d, s| program(d, s.fail_on_dead_letters(true)),
            1 => |d, s| program(d, s.fail_on_unhandled(true)),
            _ => |d, s| program(d, s.monitor(Odd(0))),
        };
        assert!(same(body) > 0, "all of them fail in some walks");
    }
    fn program(diary: &Diary, system: System) {
        let note = diary.clone();
        let a = system.spawn(does(move |n: u32, ctx| {
            note.note(n);
            match n {
                7 if ctx.flip() => ctx.stop(),
                8 if ctx.flip() => ctx.unhandled(n),
                n => ctx.announce(n % 4),
            }
        }));
        let b = system.spawn(does(move |n: u32, ctx| {
            ctx.send(&a, n);
            ctx.announce(n % 2);
        }));
        (0..10).for_each(|n| b.send(n));
        system.run_until_quiet();
    }
}

#[inline(never)]
fn down(n: u64) -> u64 {
    let frame = std::hint::black_box([n; 64]);
    if n == u64::MAX { 0 } else { down(n + 1) + frame[(n % 64) as usize] }
}

struct PanicsToo;
impl Drop for PanicsToo {
    fn drop(&mut self) {
        panic!("and another");
    }
}

/// Handlers that have waited in the middle, and so kept the borrowed stack, end in every possible way.
#[test]
fn handlers_end_badly_after_a_wait() {
    for body in [
        |d: &Diary, s: System| bad(d, s, 0),
        |d: &Diary, s: System| bad(d, s, 1),
        |d: &Diary, s: System| bad(d, s, 2),
        |d: &Diary, s: System| bad(d, s, 3),
        |d: &Diary, s: System| bad(d, s, 4),
    ] {
        assert!(same(body) > 0, "all of them fail in some walks");
    }
    fn bad(diary: &Diary, system: System, what: u32) {
        let lock = Arc::new(Mutex::new(0));
        let node = |who: u32| {
            let (lock, note) = (lock.clone(), diary.clone());
            does(move |n: u32, ctx: &mut Context<'_, u32>| {
                *lock.lock().unwrap() += 1;
                note.note((who, n));
                if n == 2 {
                    match what {
                        0 => note.note(down(0)),
                        1 => {
                            let _too = PanicsToo;
                            panic!("on purpose");
                        }
                        2 => {
                            let _held = lock.lock().unwrap();
                            let _never = lock.lock();
                        }
                        3 => panic!("on purpose"),
                        _ => {
                            let me = ctx.me();
                            ctx.send(&me, 2);
                        }
                    }
                }
            })
        };
        let nodes: Vec<_> = (0..3).map(|who| system.spawn(node(who))).collect();
        for n in 0..6 {
            nodes[n as usize % 2].send(n);
        }
        nodes[2].send(9);
        system.run_until_quiet();
    }
}

/// Handlers catch panics, and also the unwinding at the end of the execution.
#[test]
fn handlers_catch_what_unwinds_them() {
    same(|diary, system| {
        let lock = Arc::new(Mutex::new(0));
        let node = |who: u32| {
            let (lock, note) = (lock.clone(), diary.clone());
            does(move |n: u32, ctx: &mut Context<'_, u32>| {
                let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    *lock.lock().unwrap_or_else(|e| e.into_inner()) += 1;
                    assert!(n != 2, "caught");
                    if n == 4 {
                        thread::park();
                    }
                    ctx.choose(2)
                }));
                note.note((who, n, caught.ok()));
                assert!(n != 7, "not caught");
            })
        };
        let nodes: Vec<_> = (0..2).map(|who| system.spawn(node(who))).collect();
        for n in 0..8 {
            nodes[n as usize % 2].send(n);
        }
        system.run_until_quiet();
    });
}
