//! The same on threads, outside of any execution.

use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use raddle_runtime::actor::{Address, System};

use crate::acts::{Act, Acts, act, note};

/// Long enough for everything that ends at all.
const LONG: Duration = Duration::from_secs(60);

/// Checks that `body` ends.
#[track_caller]
fn ends<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, ended) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let result = panic::catch_unwind(AssertUnwindSafe(body));
        drop(done.send(result));
    });
    let result = ended.recv_timeout(LONG).expect("it ends");
    thread.join().expect("it has ended");
    result.unwrap_or_else(|payload| panic::resume_unwind(payload))
}

/// Does something when it is dropped.
struct Last(Option<Box<dyn FnOnce() + Send>>);

fn last(run: impl FnOnce() + Send + 'static) -> Last {
    Last(Some(Box::new(run)))
}

impl Drop for Last {
    fn drop(&mut self) {
        if let Some(run) = self.0.take() {
            run();
        }
    }
}

fn keep(kept: Last) -> Act {
    act(move |me, _| me.kept.push(Box::new(kept)))
}

/// Two actors, each of which sends to both when it is dropped, as does a message.
fn pair(system: &System) -> [Address<Act>; 2] {
    let pair = [system.spawn_with(Acts::default), system.spawn_with(Acts::default)];
    for one in &pair {
        let peers = pair.clone();
        one.send(keep(last(move || peers.iter().for_each(|peer| peer.send(note(1))))));
        let peers = pair.clone();
        let message = last(move || peers.iter().for_each(|peer| peer.send(note(2))));
        one.send(act(move |_, _| drop(message)));
    }
    pair
}

fn told(system: &System) -> Option<String> {
    let told = panic::catch_unwind(AssertUnwindSafe(|| system.run_until_quiet()));
    told.err().map(|payload| payload.downcast_ref::<String>().cloned().unwrap_or_default())
}

#[test]
fn messages_to_stopped_actors_are_dead_letters() {
    ends(|| {
        for first in 0..2 {
            let system = System::new();
            let pair = pair(&system);
            system.run_until_quiet();
            pair[first].send(act(|_, ctx| ctx.stop()));
            system.run_until_quiet();
            assert_eq!(system.dead_letters(), 1, "what it has sent to itself");
            pair[1 - first].send(act(|_, _| panic!("on purpose")));
            assert_eq!(told(&system).as_deref(), Some("on purpose"));
            system.shutdown();
            assert_eq!(system.dead_letters(), 3, "what the other has sent to both");
        }
        let system = System::new().restart(1);
        let pair = pair(&system);
        pair[0].send(act(|_, _| panic!("once")));
        system.shutdown();
        drop(pair);
    });
}

/// A handler panics, and the destructor of its message sends to an actor that has stopped, which is a failure: it is reported, and the
/// process continues.
#[test]
fn dead_letters_in_the_middle_of_a_panic() {
    let told = ends(|| {
        let system = System::new().fail_on_dead_letters(true);
        let (gone, fails) = (system.spawn(Acts::default()), system.spawn(Acts::default()));
        gone.send(act(|_, ctx| ctx.stop()));
        system.run_until_quiet();
        fails.send(act(move |_, _| {
            let _sends = last(move || gone.send(note(1)));
            panic!("on purpose");
        }));
        told(&system).expect("somebody panics")
    });
    assert!(told.contains("was sent to Acts#1, which has stopped"), "{told:?}");
}

/// An actor that waits for quiet in a handler or a destructor does not wait for itself.
#[test]
fn actors_wait_for_quiet() {
    let system = System::new();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (inside, into) = (system.clone(), heard.clone());
    ends(move || {
        let waits = inside.spawn(Acts::default());
        let (system, note) = (inside.clone(), into.clone());
        waits.send(act(move |me, ctx| {
            system.run_until_quiet();
            note.lock().unwrap().push("quiet");
            assert!(!system.run_until(|| false), "that is never so");
            note.lock().unwrap().push("until");
            let (system, note) = (system.clone(), note.clone());
            me.kept.push(Box::new(last(move || {
                system.run_until_quiet();
                note.lock().unwrap().push("destructor");
            })));
            ctx.stop();
        }));
        inside.run_until_quiet();
        let (system, note) = (inside.clone(), into.clone());
        // Two of them stop all actors, and each other.
        for _ in 0..2 {
            let (system, note) = (system.clone(), note.clone());
            inside.spawn(Acts::default()).send(act(move |_, _| {
                system.shutdown();
                note.lock().unwrap().push("shutdown");
            }));
        }
        inside.run_until_quiet();
    });
    assert_eq!(*heard.lock().unwrap(), ["quiet", "until", "destructor", "shutdown", "shutdown"]);
}
