//! Mistakes in programs of actors. Each has a clear error, or is a failure that is reported and bounded.

use std::time::Duration;

use raddle_engine::outcome::Failure;
use raddle_engine::search::Limits;
use raddle_runtime::actor::{Actor, Address, Context, Delivery, Faults, Monitor, ReplyTo, System};
use raddle_runtime::sync::{Arc, Mutex};
use raddle_runtime::threads::Settings;
use raddle_runtime::time::Instant;
use raddle_runtime::{choice, thread};
use raddle_strategies::samplers::round_robin::RoundRobin;
use raddle_strategies::tree::exhaustive::Exhaustive;

use crate::acts::{Act, Acts, Explodes, act, note, noted};
use crate::explore::{Seen, fails, panics_with, passes, run_with};

#[test]
fn an_actor_of_another_system_is_not_reached() {
    let sends = panics_with(|| {
        let (one, two) = (System::new(), System::new());
        let (a, b) = (one.spawn(Acts::default()), two.spawn(Acts::default()));
        a.send(act(move |_, ctx| ctx.send(&b, note(1))));
        one.run_until_quiet();
    });
    assert!(sends.contains("Acts#1 sends to Acts#1, which belongs to another system"), "{sends}");
    let asks = panics_with(|| {
        let (one, two) = (System::new(), System::new());
        let (a, b) = (one.spawn(Acts::default()), two.spawn(Acts::default()));
        a.send(act(move |_, ctx| ctx.ask(&b, |reply: ReplyTo<()>| act(move |_, _| reply.reply(())))));
        one.run_until_quiet();
    });
    assert!(asks.contains("Acts#1 belongs to another system"), "{asks}");
    let looks = panics_with(|| {
        let (one, two) = (System::new(), System::new());
        noted(&one, &two.spawn(Acts::default()));
    });
    assert!(looks.contains("belongs to another system"), "{looks}");
}

#[test]
fn an_actor_of_an_execution_that_is_over_is_not_reached() {
    let kept = Arc::new(std::sync::Mutex::new(None));
    let message = panics_with(move || {
        let system = System::new();
        let worker = system.spawn(Acts::default());
        let old = kept.lock().unwrap().replace(worker);
        // So that there is a second execution.
        let _ = choice::flip();
        if let Some(old) = old {
            old.send(note(1));
        }
    });
    assert!(message.contains("Acts#1 belongs to an execution that is over"), "{message}");
}

/// Nor can its system be used: another system may have its number now, or none.
#[test]
fn a_system_of_an_execution_that_is_over_is_not_asked() {
    type Old = (System, Address<Act>);
    let uses: [fn(&Old); 6] = [
        |old| old.0.run_until_quiet(),
        |old| assert!(!old.0.run_until(|| false)),
        |old| old.0.shutdown(),
        |old| drop(noted(&old.0, &old.1)),
        |old| old.0.may_crash(&old.1),
        |old| drop(old.0.spawn(Acts::default())),
    ];
    for (number, used) in uses.into_iter().enumerate() {
        let kept = std::sync::Mutex::new(None::<Old>);
        let message = panics_with(move || {
            let old = kept.lock().unwrap().take();
            // So that there is a second execution, which has hardly anything.
            let _ = choice::flip();
            if let Some(old) = old {
                return used(&old);
            }
            let system = System::new();
            let workers: Vec<_> = (0..5).map(|_| system.spawn(Acts::default())).collect();
            *kept.lock().unwrap() = Some((system, workers[4].clone()));
        });
        assert!(message.contains("belongs to an execution that is over"), "{number}: {message}");
    }
}

#[test]
fn a_timer_in_the_past_is_refused() {
    let message = panics_with(|| {
        let system = System::new();
        system.spawn(Acts::default()).send(act(|_, ctx| {
            let then = Instant::now();
            thread::sleep(Duration::from_millis(5));
            ctx.at(then, note(0));
        }));
        system.run_until_quiet();
    });
    assert!(message.contains("Acts#1 sets a timer in the past"), "{message}");
    // Now is not past.
    passes(|| {
        let system = System::new();
        let worker = system.spawn(Acts::default());
        worker.send(act(|_, ctx| {
            ctx.at(Instant::now(), note(1));
        }));
        system.run_until_quiet();
        assert_eq!(noted(&system, &worker), [1]);
    });
}

#[test]
fn an_actor_that_asks_itself_gets_an_error() {
    let message = panics_with(|| {
        let system = System::new();
        system.spawn(Acts::default()).send(act(|_, ctx| {
            let me = ctx.me();
            ctx.ask(&me, |reply: ReplyTo<()>| act(move |_, _| reply.reply(())));
        }));
        system.run_until_quiet();
    });
    assert!(message.contains("Acts#1 asks itself, and would wait for ever"), "{message}");
}

#[test]
fn a_dropped_request_panics_the_actor_that_asked() {
    let ask_one_that = |stops: bool| {
        move || {
            let system = System::new();
            let (asks, asked) = (system.spawn(Acts::default()), system.spawn(Acts::default()));
            if stops {
                asked.send(act(|_, ctx| ctx.stop()));
            }
            asks.send(act(move |_, ctx| {
                ctx.ask(&asked, |reply: ReplyTo<()>| act(move |_, _| drop(reply)));
            }));
            system.run_until_quiet();
        }
    };
    for stops in [false, true] {
        let message = panics_with(ask_one_that(stops));
        assert_eq!(message, "raddle: Acts#1 asked Acts#2, and the request was dropped without a reply", "{stops}");
    }
}

#[test]
fn an_actor_that_stops_answers_or_drops_the_request() {
    let message = panics_with(|| {
        let system = System::new();
        let (asks, asked) = (system.spawn(Acts::default()), system.spawn(Acts::default()));
        asks.send(act(move |_, ctx| {
            ctx.ask(&asked, |reply: ReplyTo<()>| {
                act(move |_, ctx| {
                    ctx.stop();
                    drop(reply);
                })
            });
        }));
        system.run_until_quiet();
    });
    assert!(message.contains("dropped without a reply"), "{message}");
    // A reply that was given before counts, whatever happens later.
    passes(|| {
        let system = System::new();
        let (asks, asked) = (system.spawn(Acts::default()), system.spawn(Acts::default()));
        asks.send(act(move |me, ctx| {
            me.log.push(ctx.ask(&asked, |reply| {
                act(move |_, ctx| {
                    reply.reply(7);
                    ctx.stop();
                })
            }));
        }));
        system.run_until_quiet();
        assert_eq!(noted(&system, &asks), [7]);
    });
}

#[test]
fn a_handler_that_waits_for_a_lock_of_another_actor_goes_on_when_it_can() {
    let lock_in_turn = |both: bool| {
        move || {
            let system = System::new();
            let (left, right) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
            for turn in [false, true] {
                let (first, second) =
                    if turn && both { (right.clone(), left.clone()) } else { (left.clone(), right.clone()) };
                system.spawn(Acts::default()).send(act(move |_, _| {
                    let mut first = first.lock().unwrap();
                    *first += 1;
                    *second.lock().unwrap() += *first;
                }));
            }
            system.run_until_quiet();
        }
    };
    passes(lock_in_turn(false));
    let failure = fails(lock_in_turn(true));
    let Failure::Deadlock { waiting } = &failure else { panic!("{failure:?}") };
    let stuck: Vec<u32> = waiting.iter().map(|w| w.task.number()).collect();
    assert_eq!(stuck, [0, 1, 2], "both actors, and whoever waits for quiet");
}

#[test]
fn a_destructor_that_panics_is_a_failure_like_any_other() {
    let stops = panics_with(|| {
        let system = System::new();
        system.spawn(Acts::default()).send(act(|me, ctx| {
            me.kept.push(Box::new(Explodes));
            ctx.stop();
        }));
        system.run_until_quiet();
    });
    assert_eq!(stops, "the destructor panics");
    // The panic of the actor is reported, and not that of its destructor.
    let panics = panics_with(|| {
        let system = System::new();
        system.spawn(Acts::default()).send(act(|me, _| {
            me.kept.push(Box::new(Explodes));
            panic!("the handler panics");
        }));
        system.run_until_quiet();
    });
    assert_eq!(panics, "the handler panics");
}

#[test]
fn an_actor_created_by_one_that_dies_lives() {
    passes(|| {
        let system = System::new().restart(1);
        let out = system.spawn(Acts::default());
        let to = out.clone();
        let parent = system.spawn_with(Acts::default);
        parent.send(act(move |_, ctx| {
            let child = ctx.spawn(Acts::default());
            ctx.send(&child, act(move |_, ctx| ctx.send(&to, note(1))));
            panic!("the parent dies");
        }));
        system.run_until_quiet();
        assert_eq!(noted(&system, &out), [1]);
    });
}

#[test]
fn restarts_come_to_an_end() {
    struct Fragile;
    impl Actor for Fragile {
        type Msg = ();
        fn started(&mut self, _: &mut Context<'_, ()>) {
            panic!("it does not even start");
        }
        fn handle(&mut self, (): (), _: &mut Context<'_, ()>) {}
    }
    for most in [0, 1, 3] {
        let made = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let count = made.clone();
        let message = panics_with(move || {
            count.store(0, std::sync::atomic::Ordering::SeqCst);
            let count = count.clone();
            let system = System::new().restart(most);
            system.spawn_with(move || {
                count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                Fragile
            });
            system.run_until_quiet();
        });
        assert_eq!(message, "it does not even start");
        assert_eq!(made.load(std::sync::atomic::Ordering::SeqCst), most + 1);
    }
}

#[test]
fn without_a_budget_there_are_no_faults() {
    let seen = Seen::default();
    let out = seen.clone();
    let orders = passes(move || {
        let system = System::new().faults(Faults::default());
        let (from, to) = (system.spawn(Acts::default()), system.spawn_with(Acts::default));
        system.may_crash(&to);
        let there = to.clone();
        from.send(act(move |_, ctx| (1..=3).for_each(|n| ctx.send(&there, note(n)))));
        system.run_until_quiet();
        out.note(noted(&system, &to));
    });
    seen.are([vec![1, 2, 3]]);
    assert_eq!(orders, 1);
}

#[test]
fn a_budget_of_one_system_is_not_spent_by_another() {
    let seen = Seen::default();
    let out = seen.clone();
    passes(move || {
        let (lossy, safe) = (System::new().faults(Faults { drop: 1, ..Faults::default() }), System::new());
        let got = [&lossy, &safe].map(|system| {
            let (from, to) = (system.spawn(Acts::default()), system.spawn(Acts::default()));
            let there = to.clone();
            from.send(act(move |_, ctx| ctx.send(&there, note(1))));
            system.run_until_quiet();
            noted(system, &to).len()
        });
        out.note(got);
    });
    seen.are([[1, 1], [0, 1]]);
}

#[test]
fn a_monitor_that_panics_is_violated_even_where_actors_restart() {
    struct Fussy;
    impl Monitor for Fussy {
        type Event = u32;
        fn observe(&mut self, n: &u32) -> Result<(), String> {
            assert!(*n < 2, "{n} is too much");
            Ok(())
        }
    }
    let failure = fails(|| {
        let system = System::new().restart(5).monitor(Fussy);
        system.spawn_with(Acts::default).send(act(|_, ctx| ctx.announce(2_u32)));
        system.run_until_quiet();
    });
    let expected = "the monitor panicked: 2 is too much";
    assert!(matches!(&failure, Failure::Violation { message, .. } if message == expected), "{failure:?}");
}

#[test]
fn an_actor_that_sends_for_ever_reaches_the_limit_in_every_delivery_order() {
    for delivery in [Delivery::Unordered, Delivery::PerSender, Delivery::Causal, Delivery::Arrival] {
        let limits = Limits { steps: 300, ..Limits::default() };
        let report = run_with(&Settings::default(), &mut RoundRobin::default(), limits, move || {
            fn again(_: &mut Acts, ctx: &mut Context<'_, Act>) {
                let me = ctx.me();
                ctx.send(&me, act(again));
            }
            let system = System::new().delivery(delivery);
            system.spawn(Acts::default()).send(act(again));
            system.run_until_quiet();
        });
        let failure = report.found.expect("it never ends").failure;
        assert!(matches!(failure, Failure::TooManySteps { bound: 300, .. }), "{delivery:?}: {failure:?}");
    }
}

#[test]
fn looking_at_an_actor_that_cannot_be_seen_has_a_clear_error() {
    let busy = panics_with(|| {
        let system = System::new();
        let (asks, keeps) = (system.spawn(Acts::default()), system.spawn(Acts::default()));
        asks.send(act(move |_, ctx| {
            ctx.ask(&keeps, |reply: ReplyTo<()>| act(move |me, _| me.kept.push(Box::new(reply))));
        }));
        system.run_until(|| noted(&system, &asks).len() > 5);
    });
    assert!(busy.contains("Acts#1 is in the middle of a handler"), "{busy}");
    let gone = panics_with(|| {
        let system = System::new();
        let stops = system.spawn(Acts::default());
        stops.send(act(|_, ctx| ctx.stop()));
        system.run_until_quiet();
        noted(&system, &stops);
    });
    assert!(gone.contains("Acts#1 has stopped"), "{gone}");
    let late = panics_with(|| {
        let system = System::new();
        let _worker = system.spawn(Acts::default());
        drop(system.delivery(Delivery::Arrival));
    });
    assert!(late.contains("before its first actor"), "{late}");
}

#[test]
fn threads_and_actors_may_wait_for_each_other() {
    let seen = Seen::default();
    let out = seen.clone();
    passes(move || {
        let system = System::new();
        let worker = system.spawn(Acts::default());
        let (sender, receiver) = raddle_runtime::sync::mpsc::channel();
        worker.send(act(move |me, _| me.log.push(receiver.recv().unwrap())));
        let thread = thread::spawn(move || sender.send(5).unwrap());
        system.run_until_quiet();
        thread.join().unwrap();
        out.note(noted(&system, &worker));
    });
    seen.are([vec![5]]);
}

#[test]
fn an_external_actor_can_start_at_any_time() {
    struct User(Address<Act>);
    impl Actor for User {
        type Msg = ();
        fn started(&mut self, ctx: &mut Context<'_, ()>) {
            ctx.send(&self.0, note(9));
        }
        fn handle(&mut self, (): (), _: &mut Context<'_, ()>) {}
    }
    let orders = |external: bool| {
        let seen = Seen::default();
        let out = seen.clone();
        passes(move || {
            // In this delivery order it matters when a message is sent.
            let system = System::new().delivery(Delivery::Arrival);
            let worker = system.spawn(Acts::default());
            if external {
                drop(system.external(User(worker.clone())))
            } else {
                drop(system.spawn(User(worker.clone())))
            }
            worker.send(act(|me, ctx| {
                me.log.push(1);
                let me = ctx.me();
                ctx.send(&me, note(2));
            }));
            system.run_until_quiet();
            out.note(noted(&system, &worker));
        });
        seen
    };
    orders(true).are([vec![1, 2, 9], vec![1, 9, 2]]);
    assert_eq!(orders(false).len(), 1);
}

#[test]
fn a_system_that_was_shut_down_takes_no_messages() {
    let report = run_with(&Settings::default(), &mut Exhaustive::depth_first(), Limits::default(), || {
        let system = System::new();
        let worker = system.spawn(Acts::default());
        worker.send(note(1));
        system.shutdown();
        assert_eq!(noted(&system, &worker), [1]);
        worker.send(note(2));
        assert_eq!(system.dead_letters(), 1);
    });
    assert!(report.verified(), "{report:?}");
}
