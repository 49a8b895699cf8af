//! Programs that are hard on walks whose steps nobody wants to see: they must go as they do where somebody looks.

use std::fmt::Debug;
use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;

use raddle_engine::search::Limits;
use raddle_engine::strategy::Strategy;
use raddle_engine::strategy::random::Random;
use raddle_engine::strategy::watched::Watched;
use raddle_runtime::actor::{Actor, Address, Context, Delivery, Faults, Monitor, ReplyTo, System};
use raddle_runtime::sync::atomic::{AtomicU32, Ordering};
use raddle_runtime::sync::{Condvar, Mutex, RwLock, mpsc};
use raddle_runtime::threads::Settings;
use raddle_runtime::{choice, thread, thread_local};

use crate::by_lot::{Walked, assert_same};
use crate::explore::run_with;
use crate::model::ORDERS;

/// What happened in each execution.
#[derive(Clone, Default)]
pub struct Diary(Arc<StdMutex<Vec<Vec<String>>>>);

impl Diary {
    pub fn note(&self, what: impl Debug) {
        self.0.lock().unwrap().last_mut().unwrap().push(format!("{what:?}"));
    }
}

type Handler<M> = dyn FnMut(M, &mut Context<'_, M>) + Send;

/// Handles messages as a function says.
struct Does<M>(Box<Handler<M>>);

impl<M: Send + 'static> Actor for Does<M> {
    type Msg = M;

    fn handle(&mut self, msg: M, ctx: &mut Context<'_, M>) {
        (self.0)(msg, ctx);
    }
}

fn does<M>(handle: impl FnMut(M, &mut Context<'_, M>) + Send + 'static) -> Does<M> {
    Does(Box::new(handle))
}

pub fn walk(
    settings: &Settings,
    limits: &Limits,
    seed: u64,
    delivery: Delivery,
    seen: bool,
    body: fn(&Diary, System),
) -> Walked<Vec<String>> {
    let diary = Diary::default();
    let written = diary.clone();
    let mut strategy: Box<dyn Strategy> = Box::new(Random::new(seed));
    if seen {
        strategy = Box::new(Watched::new(strategy, |_: &dyn Strategy, _: &_| ()));
    }
    let report = run_with(settings, &mut *strategy, limits.clone(), move || {
        diary.0.lock().unwrap().push(Vec::new());
        body(&diary, System::new().delivery(delivery));
    });
    let written = written.0.lock().unwrap().clone();
    (report, written)
}

const WALKS: u64 = 60;

/// Demands that walks go the same way whether somebody looks or not; says how many failed.
#[track_caller]
fn same(body: fn(&Diary, System)) -> u64 {
    same_with(&Settings::default(), body)
}

#[track_caller]
fn same_with(settings: &Settings, body: fn(&Diary, System)) -> u64 {
    let limits = Limits { executions: Some(WALKS), keep_going: true, steps: 1_000, ..Limits::default() };
    let mut failing = 0;
    for delivery in ORDERS {
        for seed in 1..4 {
            let walk = |seen| walk(settings, &limits, seed, delivery, seen, body);
            failing += assert_same(&(delivery, seed), walk(false), walk(true));
        }
    }
    failing
}

/// Who waits for a condition looks after each message, also where those who receive had nothing to receive when lots began to be drawn.
#[test]
fn a_condition_is_looked_at_after_each_message_of_another_system() {
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

/// Who is looked at cannot receive, also if nothing was there for it when lots began to be drawn.
#[test]
fn nobody_receives_by_lot_who_is_looked_at() {
    same(|_, system| {
        let a = system.spawn(does(|_: u32, _| ()));
        let to = a.clone();
        let b = system.spawn(does(move |n: u32, ctx| ctx.send(&to, n)));
        b.send(1);
        system.with(&a, |_: &Does<u32>| system.run_until_quiet());
    });
}

struct SendsWhenDropped(Address<Msg>, bool);
enum Msg {
    Stop,
    Plain,
    Loaded(#[expect(dead_code, reason = "for its destructor")] SendsWhenDropped),
}
impl Drop for SendsWhenDropped {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.0.send(if self.1 { Msg::Plain } else { Msg::Stop });
        }
    }
}

struct Stops(Option<SendsWhenDropped>, Diary);
impl Actor for Stops {
    type Msg = Msg;
    fn started(&mut self, ctx: &mut Context<'_, Msg>) {
        self.0 = Some(SendsWhenDropped(ctx.me(), true));
    }
    fn handle(&mut self, msg: Msg, ctx: &mut Context<'_, Msg>) {
        self.1.note("handles");
        if matches!(msg, Msg::Stop) {
            ctx.stop();
        }
    }
}

/// An actor that has stopped receives nothing, not even from its own destructor.
#[test]
fn what_an_actor_sends_to_itself_when_it_is_dropped_is_a_dead_letter() {
    same(|diary, system| {
        let a = system.spawn(Stops(None, diary.clone()));
        a.send(Msg::Plain);
        a.send(Msg::Stop);
        system.run_until_quiet();
        diary.note(system.dead_letters());
    });
}

/// Nor from the destructors of the messages that it never received.
#[test]
fn what_messages_send_when_they_are_buried_is_a_dead_letter() {
    same(|diary, system| {
        let note = diary.clone();
        let a = system.spawn(does(move |msg: Msg, ctx| {
            note.note("handles");
            if matches!(msg, Msg::Stop) {
                ctx.stop();
            }
        }));
        a.send(Msg::Plain);
        a.send(Msg::Stop);
        a.send(Msg::Loaded(SendsWhenDropped(a.clone(), true)));
        system.run_until_quiet();
        diary.note(system.dead_letters());
    });
}

/// A handler that waits for a condition looks as often as it does where somebody looks.
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

/// Faults that a handler allows befall what it sends from then on.
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

/// Where threads that panic are left to those who join them, actors are not.
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

thread_local! {
    static LOCAL: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// Handlers wait in the middle for everything that there is to wait for, and thread-local values are those of their actor.
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

struct Heavy(u32, Arc<Mutex<u32>>, Diary);
impl Drop for Heavy {
    fn drop(&mut self) {
        match self.0 {
            0 => *self.1.lock().unwrap() += 1,
            1 => self.2.note(("chose", choice::choose(3))),
            2 if !thread::panicking() => panic!("dropped"),
            3 => thread::yield_now(),
            _ => {}
        }
        self.2.note(("dropped", self.0));
    }
}

/// More messages of several senders wait in one mailbox than are kept there without letters.
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

/// Messages lock, choose, yield and panic when they are dropped, handled or not.
#[test]
fn messages_have_destructors() {
    same(|diary, system| {
        let system = system.restart(1);
        let lock = Arc::new(Mutex::new(0));
        let make = |diary: &Diary| {
            let note = diary.clone();
            move || {
                let note = note.clone();
                does(move |heavy: Heavy, ctx| {
                    note.note(("handles", heavy.0));
                    if heavy.0 == 4 {
                        ctx.stop();
                    }
                    if heavy.0 == 5 {
                        ctx.unhandled(heavy);
                    }
                })
            }
        };
        let (a, b) = (system.spawn_with(make(diary)), system.spawn_with(make(diary)));
        for n in 0..7 {
            let heavy = |n| Heavy(n, lock.clone(), diary.clone());
            a.send(heavy(n));
            b.send(heavy(choice::choose(6) as u32));
        }
        system.run_until_quiet();
        diary.note((system.dead_letters(), system.unhandled()));
    });
}

enum Q {
    Ask(u32, ReplyTo<u32>),
    Begin,
}

/// Handlers that wait for answers wait for each other; some are never answered.
#[test]
fn questions_lead_to_questions() {
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

struct Started(Diary, Option<Address<u32>>, u32);
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

/// Actors crash, panic and start anew, set timers and cancel them, and somebody outside begins when it likes.
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

/// What monitors, dead letters and unhandled messages make of an execution.
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

/// Handlers that have waited in the middle, and so kept the stack that was lent, end in all the ways that there are.
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

/// Who looks at an actor again and again does not spin if it has received in between, though that was by lot.
#[test]
fn what_is_received_by_lot_is_a_change() {
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

struct Leaves(Diary, Arc<StdMutex<Vec<Address<u32>>>>, u32);
impl Drop for Leaves {
    fn drop(&mut self) {
        let peers = self.1.lock().unwrap().clone();
        for peer in peers {
            peer.send(self.2);
        }
        self.0.note(("gone", self.2));
    }
}
impl Actor for Leaves {
    type Msg = u32;
    fn handle(&mut self, n: u32, ctx: &mut Context<'_, u32>) {
        let peers = self.1.lock().unwrap().clone();
        if n > 10 {
            ctx.send(&peers[(n % 3) as usize], n - 7);
        }
        if n == 23 {
            ctx.stop();
        }
        assert!(n != 13, "on purpose");
    }
}

/// Actors that stop, panic or are left at the end send to all others when they are dropped.
#[test]
fn actors_send_when_they_are_dropped() {
    same(|diary, system| {
        let peers = Arc::new(StdMutex::new(Vec::new()));
        for who in 0..3 {
            let a = system.spawn(Leaves(diary.clone(), peers.clone(), who));
            peers.lock().unwrap().push(a);
        }
        let all = peers.lock().unwrap().clone();
        let choose = choice::choose(3) as u32;
        for n in 0..3 {
            all[n as usize].send(30 + 7 * choose + n);
        }
        system.run_until_quiet();
        diary.note(system.dead_letters());
    });
}

/// Handlers catch panics, also what unwinds them when the execution is over.
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

struct Farewell(Diary, Arc<StdMutex<Option<Address<u32>>>>);

impl Drop for Farewell {
    fn drop(&mut self) {
        let to = self.1.lock().unwrap().take();
        to.unwrap().send(1);
        self.0.note("has sent");
    }
}

impl Actor for Farewell {
    type Msg = u32;

    fn handle(&mut self, _: u32, _: &mut Context<'_, u32>) {}
}

/// At the end of an execution actors can still send to those who are there.
#[test]
fn actors_say_farewell_at_the_end() {
    same(|diary, system| {
        let other = Arc::default();
        let first = system.spawn(Farewell(diary.clone(), Arc::clone(&other)));
        *other.lock().unwrap() = Some(system.spawn(does(|_: u32, _| ())));
        first.send(0);
        system.run_until_quiet();
    });
}
