//! Actors in executions and outside.

use std::sync::Arc as StdArc;
use std::time::Duration;

use raddle_engine::outcome::Failure;
use raddle_engine::search::Limits;
use raddle_engine::strategy::Strategy;
use raddle_runtime::actor::{Actor, Address, Context, Delivery, Faults, ReplyTo, System};
use raddle_runtime::sync::{Arc, Mutex};
use raddle_runtime::thread;
use raddle_runtime::threads::{Settings, Threads};
use raddle_runtime::time::Instant;
use raddle_strategies::optimal::Optimal;
use raddle_strategies::samplers::random::Random;
use raddle_strategies::samplers::round_robin::RoundRobin;
use raddle_strategies::tree::exhaustive::Exhaustive;

use crate::explore::{Seen, exhaustive, fails, panics_with, passes, run_with};
use crate::model::{ORDERS, Order, random_program, set_up_random};
use crate::traces;

/// Does what its messages say.
#[derive(Default)]
pub(crate) struct Worker {
    log: Vec<u32>,
    kept: Option<ReplyTo<u32>>,
}

#[derive(Debug)]
pub(crate) enum Do {
    Note(u32),
    Forward(Address<Do>, u32),
    Ask(Address<Do>),
    Double(u32, ReplyTo<u32>),
    Keep(#[expect(dead_code, reason = "only the way back is kept")] u32, ReplyTo<u32>),
    AskForEver(Address<Do>),
    Later(u64, u32),
    LaterNever(u64, u32),
    Past,
    Fail,
    Stop,
    Strange,
    Create(u32),
    Again,
    Announce(u32),
}

impl Actor for Worker {
    type Msg = Do;

    fn handle(&mut self, msg: Do, ctx: &mut Context<'_, Do>) {
        match msg {
            Do::Note(n) => self.log.push(n),
            Do::Forward(to, n) => ctx.send(&to, Do::Note(n)),
            Do::Ask(whom) => {
                let answer = ctx.ask(&whom, |reply| Do::Double(21, reply));
                self.log.push(answer);
            }
            Do::Double(n, reply) => reply.reply(2 * n),
            Do::Keep(_, reply) => self.kept = Some(reply),
            Do::AskForEver(whom) => {
                let answer = ctx.ask(&whom, |reply| Do::Keep(1, reply));
                self.log.push(answer);
            }
            Do::Later(ms, n) => {
                ctx.after(Duration::from_millis(ms), Do::Note(n));
            }
            Do::LaterNever(ms, n) => {
                let timer = ctx.after(Duration::from_millis(ms), Do::Note(n));
                ctx.cancel(timer);
            }
            Do::Past => {
                let then = Instant::now();
                thread::sleep(Duration::from_millis(5));
                ctx.at(then, Do::Note(0));
            }
            Do::Fail => panic!("the worker fails"),
            Do::Stop => ctx.stop(),
            strange @ Do::Strange => ctx.unhandled(strange),
            Do::Create(n) => {
                let child = ctx.spawn(Worker::default());
                ctx.send(&child, Do::Note(n));
                ctx.becomes("parent");
            }
            Do::Again => {
                let me = ctx.me();
                ctx.send(&me, Do::Again);
            }
            Do::Announce(n) => ctx.announce(n),
        }
    }

    fn label(msg: &Do) -> &'static str {
        match msg {
            Do::Note(_) => "Note",
            Do::Forward(..) => "Forward",
            _ => "other",
        }
    }

    fn duplicate(msg: &Do) -> Option<Do> {
        match msg {
            Do::Note(n) => Some(Do::Note(*n)),
            _ => None,
        }
    }
}

pub(crate) fn log(system: &System, worker: &Address<Do>) -> Vec<u32> {
    system.with(worker, |worker: &Worker| worker.log.clone())
}

#[test]
fn random_programs_do_the_same_as_tasks_and_in_models() {
    let mut compared = 0;
    for seed in 0..6 {
        for delivery in ORDERS {
            for draws in [false, true] {
                let limits = Limits { executions: Some(20_000), keep_going: true, ..Limits::default() };
                let mut model = random_program(seed, delivery, draws);
                let whole = raddle_engine::search::search(&mut model, &mut Exhaustive::depth_first(), &limits);
                if !whole.verified() {
                    continue;
                }
                let body = move || {
                    let mut system = System::new().delivery(delivery).monitor(Order::default());
                    set_up_random(&mut system, seed, draws);
                    system.run_until_quiet();
                };
                let what = format!("seed {seed}, {delivery:?}, draws: {draws}");
                let report = run_with(&Settings::default(), &mut Exhaustive::depth_first(), limits, body);
                assert_eq!(report.executions, whole.executions, "{what}");
                let traces = traces::count(&mut model).expect("it was counted just now");
                let mut threads = Threads::new(StdArc::new(body), &Settings::default());
                let (reduced, seen) = traces::reduced(&mut threads, Box::new(Optimal::new()));
                assert_eq!(seen, traces, "{what}: traces under control");
                assert!(draws || reduced.executions == traces, "{what}: {} for {traces}", reduced.executions);
                compared += 1;
            }
        }
    }
    assert!(compared > 30, "{compared}");
}

#[test]
fn messages_are_received_in_the_delivery_order() {
    for (delivery, orders) in ORDERS.into_iter().zip([6, 3, 3, 2]) {
        let seen = Seen::default();
        let out = seen.clone();
        passes(move || {
            let system = System::new().delivery(delivery);
            let (from, to) = (system.spawn(Worker::default()), system.spawn(Worker::default()));
            from.send(Do::Forward(to.clone(), 1));
            from.send(Do::Forward(to.clone(), 2));
            if delivery != Delivery::Unordered {
                to.send(Do::Note(3));
                system.run_until_quiet();
            } else {
                from.send(Do::Forward(to.clone(), 3));
                system.run_until_quiet();
            }
            out.note(log(&system, &to));
        });
        // In order of arrival, the messages of the test come first.
        let orders = if delivery == Delivery::Arrival { 1 } else { orders };
        assert_eq!(seen.len(), orders, "{delivery:?}");
    }
}

#[test]
fn threads_and_actors_share_one_execution() {
    let seen = Seen::default();
    let out = seen.clone();
    passes(move || {
        let system = System::new().delivery(Delivery::Arrival);
        let worker = system.spawn(Worker::default());
        let lock = Arc::new(Mutex::new(0));
        let (theirs, also) = (worker.clone(), lock.clone());
        let sender = thread::spawn(move || {
            *also.lock().unwrap() += 1;
            theirs.send(Do::Note(1));
        });
        let before = *lock.lock().unwrap();
        worker.send(Do::Note(2));
        sender.join().unwrap();
        system.run_until_quiet();
        out.note((before, log(&system, &worker)));
    });
    // In either case, the order of the lock does not determine the order of the sends.
    assert_eq!(seen.len(), 4);
}

#[test]
fn asking_waits_for_the_reply_and_nothing_else() {
    let seen = Seen::default();
    let out = seen.clone();
    passes(move || {
        let system = System::new();
        let (a, b) = (system.spawn(Worker::default()), system.spawn(Worker::default()));
        a.send(Do::Ask(b));
        a.send(Do::Note(1));
        system.run_until_quiet();
        out.note(log(&system, &a));
    });
    seen.are([vec![42, 1]]);
}

#[test]
fn a_request_without_a_reply_is_a_deadlock_that_names_both_actors() {
    let failure = fails(|| {
        let system = System::new();
        let (a, b) = (system.spawn(Worker::default()), system.spawn(Worker::default()));
        a.send(Do::AskForEver(b));
        system.run_until_quiet();
    });
    let Failure::Deadlock { waiting } = failure else { panic!("{failure:?}") };
    assert_eq!(waiting.len(), 2, "{waiting:?}");
    assert_eq!(waiting[0].task.number(), 0, "the test waits until all is quiet");
    assert_eq!((waiting[1].task.number(), waiting[1].held_by[0].0.number()), (1, 2));
}

#[test]
fn timers_go_off_in_order_and_move_the_clock() {
    let seen = Seen::default();
    let out = seen.clone();
    passes(move || {
        let start = Instant::now();
        let system = System::new();
        let worker = system.spawn(Worker::default());
        worker.send(Do::Later(20, 2));
        worker.send(Do::Later(10, 1));
        worker.send(Do::LaterNever(15, 3));
        system.run_until_quiet();
        out.note((log(&system, &worker), start.elapsed().as_millis()));
    });
    // The first may go off before the second is set.
    seen.are([(vec![1, 2], 20), (vec![2, 1], 30)]);
}

#[test]
fn mistakes_have_clear_messages() {
    let other = panics_with(|| {
        let (one, two) = (System::new(), System::new());
        let (a, b) = (one.spawn(Worker::default()), two.spawn(Worker::default()));
        a.send(Do::Forward(b, 1));
        one.run_until_quiet();
    });
    assert!(other.contains("Worker#1") && other.contains("another system"), "{other}");
    let past = panics_with(|| {
        let system = System::new();
        system.spawn(Worker::default()).send(Do::Past);
        system.run_until_quiet();
    });
    assert!(past.contains("a timer in the past"), "{past}");
    let endless =
        run_with(&Settings::default(), &mut RoundRobin::default(), Limits { steps: 500, ..Limits::default() }, || {
            let system = System::new();
            system.spawn(Worker::default()).send(Do::Again);
            system.run_until_quiet();
        });
    let failure = endless.found.expect("it never ends").failure;
    assert!(matches!(failure, Failure::TooManySteps { bound: 500, .. }), "{failure:?}");
}

#[test]
fn panics_are_failures_unless_actors_are_restarted() {
    let message = panics_with(|| {
        let system = System::new();
        system.spawn(Worker::default()).send(Do::Fail);
        system.run_until_quiet();
    });
    assert_eq!(message, "the worker fails");
    passes(|| {
        let system = System::new().restart(1);
        let worker = system.spawn_with(Worker::default);
        [Do::Note(1), Do::Fail, Do::Note(2)].into_iter().for_each(|order| worker.send(order));
        system.run_until_quiet();
        assert_eq!(log(&system, &worker), [2]);
    });
}

#[test]
fn dead_and_unhandled_messages_are_counted_or_fail() {
    let run = |strict: bool| {
        move || {
            let system = System::new().fail_on_dead_letters(strict).fail_on_unhandled(strict);
            let (a, b) = (system.spawn(Worker::default()), system.spawn(Worker::default()));
            if strict {
                b.send(Do::Stop);
                b.send(Do::Note(1));
            } else {
                [Do::Stop, Do::Note(1), Do::Note(2)].into_iter().for_each(|order| a.send(order));
                b.send(Do::Strange);
            }
            system.run_until_quiet();
            assert_eq!((system.dead_letters(), system.unhandled()), (2, 1));
        }
    };
    passes(run(false));
    assert!(matches!(fails(run(true)), Failure::DeadLetter { .. }));
    let unhandled = fails(|| {
        let system = System::new().fail_on_unhandled(true);
        system.spawn(Worker::default()).send(Do::Strange);
        system.run_until_quiet();
    });
    assert!(matches!(&unhandled, Failure::Unhandled { message, .. } if message.contains("Worker#1")), "{unhandled:?}");
}

#[test]
fn faults_are_choices_within_their_budget() {
    let outcomes = |faults: Faults| {
        let seen = Seen::default();
        let out = seen.clone();
        passes(move || {
            let system = System::new().faults(faults);
            let (from, to) = (system.spawn(Worker::default()), system.spawn_with(Worker::default));
            system.may_crash(&to);
            from.send(Do::Forward(to.clone(), 1));
            from.send(Do::Forward(to.clone(), 2));
            system.run_until_quiet();
            out.note(log(&system, &to));
        });
        seen
    };
    outcomes(Faults::default()).are([vec![1, 2]]);
    outcomes(Faults { drop: 1, ..Faults::default() }).are([vec![1, 2], vec![1], vec![2]]);
    outcomes(Faults { duplicate: 1, ..Faults::default() }).are([vec![1, 2], vec![1, 1, 2], vec![1, 2, 2]]);
    outcomes(Faults { delay: 1, ..Faults::default() }).are([vec![1, 2], vec![2, 1]]);
    outcomes(Faults { crash: 1, ..Faults::default() }).are([vec![1, 2], vec![2], vec![]]);
}

#[test]
fn a_condition_is_checked_after_each_message() {
    passes(|| {
        let system = System::new();
        let worker = system.spawn(Worker::default());
        (1..=3).for_each(|n| worker.send(Do::Note(n)));
        let mut lengths = Vec::new();
        let two = || {
            lengths.push(log(&system, &worker).len());
            lengths.last() == Some(&2)
        };
        assert!(system.run_until(two));
        assert_eq!(lengths, [0, 1, 2], "it is looked at after each message");
        assert!(!system.run_until(|| false));
        assert_eq!(log(&system, &worker), [1, 2, 3]);
    });
}

#[test]
fn outside_an_execution_actors_run_on_threads() {
    let system = System::new().restart(1);
    let (a, b) = (system.spawn(Worker::default()), system.spawn_with(Worker::default));
    a.send(Do::Ask(b.clone()));
    a.send(Do::Forward(b.clone(), 7));
    a.send(Do::Later(1, 8));
    a.send(Do::LaterNever(1, 9));
    a.send(Do::Create(5));
    system.run_until_quiet();
    assert_eq!(log(&system, &a), [42, 8]);
    assert_eq!(log(&system, &b), [7]);
    b.send(Do::Fail);
    b.send(Do::Note(1));
    system.run_until_quiet();
    assert_eq!(log(&system, &b), [1], "it was made anew");
    b.send(Do::Stop);
    system.run_until_quiet();
    b.send(Do::Note(1));
    assert_eq!(system.dead_letters(), 1);
    assert!(system.run_until(|| true));
}

#[test]
fn a_panic_of_an_actor_on_a_thread_reaches_the_thread_that_waits() {
    let system = System::new();
    system.spawn(Worker::default()).send(Do::Fail);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| system.run_until_quiet()));
    assert!(panicked.is_err());
}

#[test]
fn every_strategy_runs_actors() {
    let body = || {
        let system = System::new();
        let [a, b, c] = [0; 3].map(|_| system.spawn(Worker::default()));
        a.send(Do::Forward(c.clone(), 1));
        b.send(Do::Forward(c.clone(), 2));
        system.run_until_quiet();
        assert_eq!(log(&system, &c), [1, 2]);
    };
    let fails = |strategy: &mut dyn Strategy, executions: u64| {
        let limits = Limits { executions: Some(executions), ..Limits::default() };
        run_with(&Settings::default(), strategy, limits, body).found.is_some()
    };
    assert!(!fails(&mut RoundRobin::default(), 1));
    assert!(fails(&mut Random::new(1), 100));
    assert!(fails(&mut Exhaustive::depth_first(), 1_000));
    assert!(traces::ALGORITHMS.into_iter().map(|make| make()).all(|mut dpor| fails(&mut dpor, 100)));
    assert!(exhaustive(&Settings::default(), body).found.is_some());
}

/// Round robin receives in the order of sending, whatever the names of the messages are.
#[test]
fn round_robin_receives_in_the_order_of_sending() {
    let report = run_with(&Settings::default(), &mut RoundRobin::default(), Limits::default(), || {
        let system = System::new();
        let senders: Vec<_> = (0..8).map(|_| system.spawn(Worker::default())).collect();
        let receiver = system.spawn(Worker::default());
        for (n, sender) in (0..).zip(&senders) {
            sender.send(Do::Forward(receiver.clone(), n));
        }
        system.run_until_quiet();
        assert_eq!(log(&system, &receiver), [0, 1, 2, 3, 4, 5, 6, 7]);
    });
    assert!(report.found.is_none(), "{report:?}");
}

/// A crash or a timer depends on more than the objects of one step.
#[test]
fn reduction_claims_no_proof_where_actors_have_timers() {
    struct Ticks;
    impl Actor for Ticks {
        type Msg = bool;
        fn handle(&mut self, first: bool, ctx: &mut Context<'_, bool>) {
            if first {
                ctx.after(Duration::from_millis(5), false);
            }
        }
    }
    let run = |first: bool| {
        let body = move || {
            let system = System::new();
            let ticks = system.spawn(Ticks);
            ticks.send(first);
            system.run_until_quiet();
        };
        run_with(&Settings::default(), &mut Optimal::new(), Limits::default(), body)
    };
    assert!(run(false).verified());
    let timed = run(true);
    assert!(timed.found.is_none() && !timed.verified() && timed.caveats.reduction_unproven > 0, "{timed:?}");
}
