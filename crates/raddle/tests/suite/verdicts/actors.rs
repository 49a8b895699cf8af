//! Actors.

use raddle::actor::{Actor, Address, Context, Monitor, System};

use super::table::{self, Row, fails, nothing, verified};

/// Keeps what it is sent, in the order in which it comes.
#[derive(Default)]
struct Log(Vec<u32>);

impl Actor for Log {
    type Msg = u32;

    fn handle(&mut self, n: u32, _: &mut Context<'_, u32>) {
        self.0.push(n);
    }
}

/// Passes on what it is sent.
struct Forward(Address<u32>);

impl Actor for Forward {
    type Msg = u32;

    fn handle(&mut self, n: u32, ctx: &mut Context<'_, u32>) {
        ctx.send(&self.0, n);
    }
}

/// Stops at the first message.
struct Stops;

impl Actor for Stops {
    type Msg = u32;

    fn handle(&mut self, _: u32, ctx: &mut Context<'_, u32>) {
        ctx.stop();
    }
}

/// Announces what it is sent.
struct Announces;

impl Actor for Announces {
    type Msg = u32;

    fn handle(&mut self, n: u32, ctx: &mut Context<'_, u32>) {
        ctx.announce(n);
    }
}

/// Numbers must come in growing order.
#[derive(Default)]
struct Growing(u32);

impl Monitor for Growing {
    type Event = u32;

    fn observe(&mut self, n: &u32) -> Result<(), String> {
        let before = std::mem::replace(&mut self.0, *n);
        if before < *n { Ok(()) } else { Err(format!("{n} after {before}")) }
    }
}

/// Sends a number by each of two forwarders to one log, and returns what that has seen.
fn forwarded() -> Vec<u32> {
    let system = System::new();
    let log = system.spawn(Log::default());
    for n in [1, 2] {
        system.spawn(Forward(log.clone())).send(n);
    }
    system.run_until_quiet();
    system.with(&log, |log: &Log| log.0.clone())
}

const ROWS: &[Row] = &[
    verified("two senders", 2, || assert_eq!(forwarded().iter().sum::<u32>(), 3)),
    fails("which of two comes first", "panic", || assert_eq!(forwarded(), [1, 2])),
    nothing("one sender", || {
        let system = System::new();
        let log = system.spawn(Log::default());
        log.send(1);
        log.send(2);
        system.run_until_quiet();
        assert_eq!(system.with(&log, |log: &Log| log.0.clone()), [1, 2]);
    }),
    // Each log sees its own messages only.
    verified("two senders and two receivers", 1, || {
        let system = System::new();
        let logs = [1, 2].map(|n| {
            let log = system.spawn(Log::default());
            system.spawn(Forward(log.clone())).send(n);
            log
        });
        system.run_until_quiet();
        assert!(logs.iter().all(|log| system.with(log, |log: &Log| log.0.len() == 1)));
    }),
    verified("three senders", 6, || {
        let system = System::new();
        let log = system.spawn(Log::default());
        for n in 1..=3 {
            system.spawn(Forward(log.clone())).send(n);
        }
        system.run_until_quiet();
        assert_eq!(system.with(&log, |log: &Log| log.0.len()), 3);
    }),
    fails("a message to one that has stopped", "dead letter", || {
        let system = System::new().fail_on_dead_letters(true);
        let stops = system.spawn(Stops);
        for n in [1, 2] {
            system.spawn(Forward(stops.clone())).send(n);
        }
        system.run_until_quiet();
    }),
    fails("a monitor that sees another order", "violated monitor", || {
        let system = System::new().monitor(Growing::default());
        for n in [1, 2] {
            system.spawn(Announces).send(n);
        }
        system.run_until_quiet();
    }),
    fails("a message from a thread of std", "uncontrolled thread", || {
        let system = System::new();
        let log = system.spawn(Log::default());
        let _ = std::thread::spawn(move || log.send(1)).join();
        system.run_until_quiet();
    }),
];

#[test]
fn actors() {
    table::check(ROWS);
}
