//! The same programs of actors in executions and on threads. They have the same result.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use raddle_runtime::actor::{Actor, Context, ReplyTo, System};

use crate::acts::{Acts, Explodes, act, note, noted};
use crate::explore::passes;

/// Checks that no order of `body` fails, and that it passes on threads as well.
#[track_caller]
fn passes_everywhere(body: impl Fn() + Send + Sync + Copy + 'static) {
    passes(body);
    body();
}

#[test]
fn asking_creating_and_stopping() {
    passes_everywhere(|| {
        let system = System::new();
        let (asks, answers) = (system.spawn(Acts::default()), system.spawn(Acts::default()));
        let asked = answers.clone();
        asks.send(act(move |me, ctx| {
            let answer = ctx.ask(&asked, |reply: ReplyTo<u32>| act(move |_, _| reply.reply(21)));
            me.log.push(2 * answer);
            let child = ctx.spawn(Acts::default());
            let parent = ctx.me();
            ctx.send(&child, act(move |_, ctx| ctx.send(&parent, note(7))));
        }));
        system.run_until_quiet();
        assert_eq!(noted(&system, &asks), [42, 7]);
        answers.send(act(|_, ctx| ctx.stop()));
        answers.send(note(1));
        system.run_until_quiet();
        answers.send(note(2));
        assert_eq!(system.dead_letters(), 2);
    });
}

#[test]
fn supervision() {
    passes_everywhere(|| {
        let system = System::new().restart(2);
        let worker = system.spawn_with(Acts::default);
        for message in [note(1), act(|_, _| panic!("once")), note(2), act(|_, _| panic!("twice")), note(3)] {
            worker.send(message);
        }
        system.run_until_quiet();
        assert_eq!(noted(&system, &worker), [3]);
    });
}

#[test]
fn timers_in_the_order_of_their_times() {
    passes_everywhere(|| {
        let system = System::new();
        let worker = system.spawn(Acts::default());
        worker.send(act(|_, ctx| {
            ctx.after(Duration::from_millis(30), note(2));
            ctx.after(Duration::from_millis(1), note(1));
            // The test does not wait for a cancelled timer.
            let never = ctx.after(Duration::from_secs(1 << 40), note(3));
            ctx.cancel(never);
        }));
        system.run_until_quiet();
        assert_eq!(noted(&system, &worker), [1, 2]);
    });
}

#[test]
fn unhandled_messages_are_counted() {
    struct Closed;
    impl Actor for Closed {
        type Msg = u8;
        fn handle(&mut self, msg: u8, ctx: &mut Context<'_, u8>) {
            ctx.unhandled(msg);
        }
    }
    passes_everywhere(|| {
        let system = System::new();
        let closed = system.spawn(Closed);
        (0..3).for_each(|n| closed.send(n));
        system.run_until_quiet();
        assert_eq!(system.unhandled(), 3);
    });
}

/// The panic that reaches the thread that waits for quiet.
fn told(system: &System) -> String {
    let payload = panic::catch_unwind(AssertUnwindSafe(|| system.run_until_quiet())).expect_err("somebody panics");
    payload.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn panics_reach_the_thread_that_waits_and_nothing_hangs() {
    let system = System::new();
    let worker = system.spawn(Acts::default());
    worker.send(act(|_, _| panic!("in a handler")));
    assert_eq!(told(&system), "in a handler");

    let worker = system.spawn(Acts::default());
    worker.send(act(|me, ctx| {
        me.kept.push(Box::new(Explodes));
        ctx.stop();
    }));
    assert_eq!(told(&system), "the destructor panics");

    let system = System::new().restart(3);
    let first = std::sync::atomic::AtomicBool::new(true);
    let worker = system.spawn_with(move || {
        assert!(first.swap(false, std::sync::atomic::Ordering::SeqCst), "it cannot be made again");
        Acts::default()
    });
    worker.send(act(|_, _| panic!("once")));
    assert_eq!(told(&system), "it cannot be made again");

    let (asks, asked) = (system.spawn(Acts::default()), system.spawn(Acts::default()));
    asks.send(act(move |_, ctx| ctx.ask(&asked, |reply: ReplyTo<()>| act(move |_, _| drop(reply)))));
    assert!(told(&system).ends_with("and the request was dropped without a reply"));

    let asks = system.spawn(Acts::default());
    asks.send(act(|_, ctx| {
        let me = ctx.me();
        ctx.ask(&me, |reply: ReplyTo<()>| act(move |_, _| reply.reply(())));
    }));
    assert!(told(&system).contains("asks itself"));
}

#[test]
fn an_actor_without_addresses_ends() {
    let (alive, ended) = mpsc::channel::<()>();
    let system = System::new();
    let worker = system.spawn(Acts::default());
    worker.send(act(move |me, ctx| {
        me.kept.push(Box::new(alive));
        // It still has its own address, and its timer is waited for.
        ctx.after(Duration::from_millis(1), note(1));
    }));
    drop(worker);
    // Its channel is disconnected when the actor is dropped.
    assert!(ended.recv().is_err());
}

#[test]
fn a_shutdown_ends_actors_that_have_each_others_addresses() {
    let alive = Arc::new(());
    let system = System::new();
    let nodes: Vec<_> = (0..3).map(|_| system.spawn(Acts::default())).collect();
    for node in &nodes {
        let (peers, alive) = (nodes.clone(), alive.clone());
        node.send(act(move |me, _| me.kept.extend([Box::new(peers) as _, Box::new(alive) as _])));
    }
    system.shutdown();
    assert_eq!(Arc::strong_count(&alive), 1, "all of them are gone");
    nodes[0].send(note(1));
    assert_eq!(system.dead_letters(), 1);
    system.shutdown();
}

#[test]
fn everything_is_dropped_at_the_end_of_an_execution() {
    let alive = Arc::new(());
    let held = alive.clone();
    passes(move || {
        let system = System::new();
        let nodes: Vec<_> = (0..2).map(|_| system.spawn(Acts::default())).collect();
        for node in &nodes {
            let (peers, alive) = (nodes.clone(), held.clone());
            node.send(act(move |me, _| me.kept.extend([Box::new(peers) as _, Box::new(alive) as _])));
            let alive = held.clone();
            node.send(act(move |_, ctx| {
                ctx.after(Duration::from_millis(1), act(move |_, _| drop(alive)));
            }));
        }
        // The test ends while messages wait, timers are set, and actors have each other's addresses.
    });
    assert_eq!(Arc::strong_count(&alive), 1, "everything was dropped");
}
