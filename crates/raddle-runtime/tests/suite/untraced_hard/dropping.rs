//! Destructors of actors and messages that send, wait and panic.

use std::sync::{Arc, Mutex as StdMutex};

use raddle_runtime::actor::{Actor, Address, Context};
use raddle_runtime::sync::Mutex;
use raddle_runtime::{choice, thread};

use super::{Diary, does, same};

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
fn a_message_that_a_dropped_actor_sends_to_itself_is_a_dead_letter() {
    same(|diary, system| {
        let a = system.spawn(Stops(None, diary.clone()));
        a.send(Msg::Plain);
        a.send(Msg::Stop);
        system.run_until_quiet();
        diary.note(system.dead_letters());
    });
}

/// Nor does it receive from the destructors of messages that it never received.
#[test]
fn messages_sent_by_destructors_of_dead_letters_are_dead_letters() {
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

/// At the end of an execution, actors can still send to those that exist.
#[test]
fn actors_can_send_at_the_end_of_an_execution() {
    same(|diary, system| {
        let other = Arc::default();
        let first = system.spawn(Farewell(diary.clone(), Arc::clone(&other)));
        *other.lock().unwrap() = Some(system.spawn(does(|_: u32, _| ())));
        first.send(0);
        system.run_until_quiet();
    });
}
