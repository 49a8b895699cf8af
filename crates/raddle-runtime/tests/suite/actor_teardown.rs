//! Destructors of actors and messages that send, create and wait at the end of an execution, in every kind of ending: what they send is a
//! dead letter or is never received, and nothing else happens.

mod free;

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;

use raddle_engine::search::{Limits, Report};
use raddle_engine::strategy::Strategy;
use raddle_runtime::actor::{Actor, Address, Context, Delivery, Faults, ReplyTo, System};
use raddle_runtime::sync::{LazyLock, Mutex};
use raddle_runtime::threads::Settings;
use raddle_runtime::{choice, thread, thread_local};
use raddle_strategies::samplers::random::Random;
use raddle_strategies::tree::exhaustive::Exhaustive;
use raddle_strategies::watched::Watched;

use crate::explore::run_with;
use crate::model::ORDERS;
use crate::untraced::{Walked, assert_same};

/// How an execution ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    MainEnds,
    Quiet,
    Fails,
    MainFails,
    StepLimit,
    Deadlock,
    Stops,
    Restarts,
    Crashes,
    Shutdown,
    InHandlers,
    DeadLetters,
}

const ENDS: [End; 12] = [
    End::MainEnds,
    End::Quiet,
    End::Fails,
    End::MainFails,
    End::StepLimit,
    End::Deadlock,
    End::Stops,
    End::Restarts,
    End::Crashes,
    End::Shutdown,
    End::InHandlers,
    End::DeadLetters,
];

/// What a destructor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Send,
    SendLoaded,
    Spawn,
    Thread,
    Lock,
    Choose,
    Reply,
    Look,
    Wait,
    Settle,
    Shutdown,
}

const LASTS: [Last; 11] = [
    Last::Send,
    Last::SendLoaded,
    Last::Spawn,
    Last::Thread,
    Last::Lock,
    Last::Choose,
    Last::Reply,
    Last::Look,
    Last::Wait,
    Last::Settle,
    Last::Shutdown,
];

type Log = Arc<StdMutex<Vec<Vec<String>>>>;

struct Shared {
    log: Log,
    last: Last,
    system: System,
    peers: StdMutex<Vec<Address<Msg>>>,
    replies: StdMutex<Vec<ReplyTo<u32>>>,
    lock: Mutex<u32>,
}

impl Shared {
    fn note(&self, what: String) {
        self.log.lock().unwrap().last_mut().unwrap().push(what);
    }

    fn peers(&self) -> Vec<Address<Msg>> {
        self.peers.lock().unwrap().clone()
    }

    fn loaded(self: &Arc<Self>, who: &'static str) -> Loaded {
        self.note(format!("made {who}"));
        Loaded(self.clone(), who)
    }

    fn once(self: &Arc<Self>) -> Once {
        self.note("made once".to_owned());
        Once(self.clone())
    }

    fn last(self: &Arc<Self>) {
        match self.last {
            Last::Send => self.peers().iter().for_each(|peer| peer.send(Msg::Plain)),
            Last::SendLoaded => {
                self.peers().iter().for_each(|peer| peer.send(Msg::Once(self.once())));
            }
            Last::Spawn => {
                let child = self.system.spawn(Bearer { shared: self.clone(), load: None, twin: None });
                child.send(Msg::Once(self.once()));
            }
            Last::Thread => {
                let once = self.once();
                drop(thread::spawn(move || drop(once)));
            }
            Last::Lock => *self.lock.lock().unwrap_or_else(|e| e.into_inner()) += 1,
            Last::Choose => self.note(format!("chose {}", choice::choose(3))),
            Last::Reply => {
                let replies = std::mem::take(&mut *self.replies.lock().unwrap());
                replies.into_iter().for_each(|reply| reply.reply(1));
            }
            Last::Look => self.peers().iter().for_each(|peer| self.system.with(peer, |_: &Bearer| ())),
            Last::Wait => {
                self.note("waits".to_owned());
                self.system.run_until_quiet();
            }
            Last::Settle => {
                let system = System::new();
                let child = system.spawn(Bearer { shared: self.clone(), load: None, twin: None });
                child.send(Msg::Once(self.once()));
                system.run_until(|| true);
            }
            Last::Shutdown => {
                self.note("waits".to_owned());
                self.system.shutdown();
            }
        }
    }
}

/// Does something when it is dropped.
struct Loaded(Arc<Shared>, &'static str);

impl Drop for Loaded {
    fn drop(&mut self) {
        let Self(shared, who) = self;
        let done = panic::catch_unwind(AssertUnwindSafe(|| shared.last()));
        let said = match &done {
            Ok(()) => "done".to_owned(),
            Err(payload) => match (payload.downcast_ref::<String>(), payload.downcast_ref::<&str>()) {
                (Some(text), _) => text.clone(),
                (_, Some(text)) => (*text).to_owned(),
                _ => "unwound".to_owned(),
            },
        };
        shared.note(format!("{who}: {said}"));
        if let Err(payload) = done
            && !thread::panicking()
        {
            panic::resume_unwind(payload);
        }
    }
}

/// Sends once more.
struct Once(Arc<Shared>);

impl Drop for Once {
    fn drop(&mut self) {
        let sent = panic::catch_unwind(AssertUnwindSafe(|| {
            self.0.peers().iter().for_each(|peer| peer.send(Msg::Plain));
        }));
        self.0.note(match &sent {
            Ok(()) => "once: done".to_owned(),
            Err(payload) => format!("once: {:?}", payload.downcast_ref::<String>()),
        });
    }
}

enum Msg {
    Plain,
    Once(#[expect(dead_code, reason = "for its destructor")] Once),
    Loaded(#[expect(dead_code, reason = "for its destructor")] Loaded),
    Timer,
    Local,
    Fail,
    Stop,
    Again,
    Hold,
    Ask,
    Question(ReplyTo<u32>),
}

thread_local! {
    static LOCAL: std::cell::RefCell<Option<Loaded>> = const { std::cell::RefCell::new(None) };
}

static KEPT: LazyLock<StdMutex<Vec<Loaded>>> = LazyLock::new(StdMutex::default);

struct Bearer {
    shared: Arc<Shared>,
    #[expect(dead_code, reason = "for its destructor")]
    load: Option<Loaded>,
    /// The actor that it asks.
    twin: Option<Address<Msg>>,
}

impl Actor for Bearer {
    type Msg = Msg;

    fn handle(&mut self, msg: Msg, ctx: &mut Context<'_, Msg>) {
        match msg {
            Msg::Plain | Msg::Once(_) | Msg::Loaded(_) => {}
            Msg::Timer => {
                ctx.after(Duration::from_millis(5), Msg::Loaded(self.shared.loaded("timer")));
            }
            Msg::Local => {
                let local = self.shared.loaded("local");
                LOCAL.with_borrow_mut(|kept| *kept = Some(local));
            }
            Msg::Fail => panic!("on purpose"),
            Msg::Stop => ctx.stop(),
            Msg::Again => {
                let me = ctx.me();
                ctx.send(&me, Msg::Again);
            }
            Msg::Hold => {
                let _here = self.shared.loaded("frame");
                let _held = self.shared.lock.lock().unwrap();
                thread::park();
            }
            Msg::Ask => {
                if let Some(twin) = &self.twin {
                    ctx.ask(twin, Msg::Question);
                }
            }
            Msg::Question(reply) => self.shared.replies.lock().unwrap().push(reply),
        }
    }
}

fn program(log: &Log, delivery: Delivery, end: End, last: Last, small: bool) {
    log.lock().unwrap().push(Vec::new());
    let mut system = System::new().delivery(delivery);
    system = match end {
        End::Restarts => system.restart(1),
        End::Crashes => system.faults(Faults { crash: 2, ..Faults::default() }),
        End::DeadLetters => system.fail_on_dead_letters(true),
        _ => system,
    };
    let shared = Arc::new(Shared {
        log: log.clone(),
        last,
        system: system.clone(),
        peers: StdMutex::default(),
        replies: StdMutex::default(),
        lock: Mutex::new(0),
    });
    let actors = if small { 2 } else { 3 };
    for _ in 0..actors {
        let (shared, twin) = (shared.clone(), shared.peers().pop());
        let kept = shared.clone();
        let make = move || Bearer { shared: kept.clone(), load: Some(kept.loaded("state")), twin: twin.clone() };
        let actor = system.spawn_with(make);
        if end == End::Crashes {
            system.may_crash(&actor);
        }
        shared.peers.lock().unwrap().push(actor);
    }
    let peers = shared.peers();
    let _mine = (!small).then(|| shared.loaded("main"));
    if !small {
        KEPT.lock().unwrap().push(shared.loaded("static"));
        peers[0].send(Msg::Local);
        // If timers are set, the run is not untraced.
        if end != End::StepLimit {
            peers[1].send(Msg::Timer);
        }
        peers[2].send(Msg::Loaded(shared.loaded("message")));
        if last == Last::Reply {
            peers[1].send(Msg::Ask);
        }
    }
    peers[0].send(Msg::Loaded(shared.loaded("message")));
    match end {
        End::MainEnds => return,
        End::Quiet => {}
        End::Fails | End::Restarts => peers[1].send(Msg::Fail),
        End::MainFails => panic!("on purpose"),
        End::StepLimit => peers[0].send(Msg::Again),
        End::Deadlock => {
            let _held = shared.lock.lock().unwrap();
            let _never = shared.lock.lock();
        }
        End::Stops | End::DeadLetters => peers.iter().for_each(|peer| peer.send(Msg::Stop)),
        End::Crashes => peers[1].send(Msg::Plain),
        End::Shutdown => return system.shutdown(),
        End::InHandlers => peers.iter().for_each(|peer| peer.send(Msg::Hold)),
    }
    system.run_until_quiet();
}

fn run(strategy: &mut dyn Strategy, limits: Limits, what: (Delivery, End, Last), small: bool) -> Walked<Vec<String>> {
    let log = Log::default();
    let written = log.clone();
    let (delivery, end, last) = what;
    let report = run_with(&Settings::default(), strategy, limits, move || program(&log, delivery, end, last, small));
    let written = std::mem::take(&mut *written.lock().unwrap());
    (report, written)
}

/// Checks that no destructor got an unexpected result, and that each ran as often as it had to.
#[track_caller]
fn assert_sane(case: &impl std::fmt::Debug, (report, log): &(Report, Vec<Vec<String>>)) {
    let bug = |text: &String| text.contains("raddle bug") || text.contains("already");
    // A task that is in a deadlock, has ended the execution with a failure, or waits for quiet at the end, is abandoned without its
    // destructors. So is a task that runs for very long.
    let ends = format!("{case:?}");
    let abandons = ["Deadlock", "InHandlers", "DeadLetters", "StepLimit"].iter().any(|end| ends.contains(end));
    let waits = log.iter().flatten().any(|text| text == "waits") || abandons;
    for (number, notes) in log.iter().enumerate() {
        assert!(!notes.iter().any(bug), "{case:?}, execution {number}: {notes:#?}");
        for who in ["state", "message", "timer", "local", "frame", "main", "static", "once"] {
            let made = notes.iter().filter(|text| **text == format!("made {who}")).count();
            let dropped = notes.iter().filter(|text| text.starts_with(&format!("{who}: "))).count();
            assert!(made == dropped || waits && made > dropped, "{who}, {case:?}, execution {number}: {notes:#?}");
        }
    }
    if let Some(found) = &report.found {
        assert!(!format!("{found:?}").contains("raddle bug"), "{case:?}: {found:?}");
    }
}

#[test]
fn destructors_run_at_the_end_of_walks() {
    // The first value of a static lives forever.
    let first = Limits { executions: Some(1), ..Limits::default() };
    run(&mut Random::new(1), first, (Delivery::Arrival, End::Quiet, Last::Choose), false);
    for (end, last) in ENDS.into_iter().flat_map(|end| LASTS.map(|last| (end, last))) {
        for delivery in ORDERS {
            let what = (delivery, end, last);
            let limits = Limits { executions: Some(8), keep_going: true, steps: 60, ..Limits::default() };
            let unseen = run(&mut Random::new(1), limits.clone(), what, false);
            assert_sane(&("unseen", what), &unseen);
            let watched = &mut Watched::new(Box::new(Random::new(1)), |_: &mut dyn Strategy, _: &_| ());
            let seen = run(watched, limits, what, false);
            assert_sane(&("seen", what), &seen);
            if matches!(last, Last::Wait | Last::Shutdown) {
                // An abandoned task makes the worker unusable, and failures are not repeated.
                let counts = |report: &Report| (report.executions, report.failing, report.steps);
                assert_eq!(counts(&unseen.0), counts(&seen.0), "{what:?}");
            } else {
                assert_same(&what, unseen, seen);
            }
        }
    }
}

#[test]
fn destructors_run_at_the_end_of_all_orders() {
    for (end, last) in ENDS.into_iter().flat_map(|end| LASTS.map(|last| (end, last))) {
        for delivery in ORDERS {
            let what = (delivery, end, last);
            let limits = Limits { executions: Some(40), keep_going: true, steps: 40, ..Limits::default() };
            assert_sane(&("all", what), &run(&mut Exhaustive::depth_first(), limits, what, true));
        }
    }
}

/// Starts a thread that would drop another of its kind.
struct Endless(Arc<StdMutex<u64>>);

impl Drop for Endless {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
        let next = Endless(self.0.clone());
        drop(thread::spawn(move || drop(next)));
    }
}

impl Actor for Endless {
    type Msg = ();

    fn handle(&mut self, (): (), _: &mut Context<'_, ()>) {}
}

/// Threads that destructors start without end are abandoned, and the next execution begins.
#[test]
fn destructors_start_threads_without_end() {
    let dropped = Arc::new(StdMutex::new(0));
    let counted = dropped.clone();
    let limits = Limits { executions: Some(3), ..Limits::default() };
    let report = run_with(&Settings::default(), &mut Random::new(1), limits, move || {
        let system = System::new();
        system.spawn(Endless(dropped.clone())).send(());
        system.run_until_quiet();
    });
    assert_eq!((report.executions, report.failing), (3, 0));
    assert!(*counted.lock().unwrap() > 3, "some of them are dropped");
}
