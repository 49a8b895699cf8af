//! What the terminal shows of programs of actors.

use std::collections::HashMap;
use std::time::Duration;

use raddle::Explorer;
use raddle::actor::{Actor, Address, Context, Faults, Monitor, ReplyTo, System};

/// What a cache is asked to do.
#[derive(Debug)]
enum ToCache {
    Get(&'static str, Address<ToReader>),
    Put(&'static str, u32),
    Loaded { key: &'static str, value: u32, reader: Address<ToReader> },
}

/// What a store is asked to do.
#[derive(Debug)]
enum ToStore {
    Load { key: &'static str, reader: Address<ToReader>, cache: Address<ToCache> },
    Save(&'static str, u32),
}

#[derive(Debug)]
enum ToReader {
    Value(u32),
}

/// Keeps what was read and written. What comes late from the store replaces what was written meanwhile.
struct Cache {
    store: Address<ToStore>,
    known: HashMap<&'static str, u32>,
}

impl Actor for Cache {
    type Msg = ToCache;

    fn handle(&mut self, msg: ToCache, ctx: &mut Context<'_, ToCache>) {
        match msg {
            ToCache::Get(key, reader) => match self.known.get(key) {
                Some(&value) => ctx.send(&reader, ToReader::Value(value)),
                None => {
                    let cache = ctx.me();
                    ctx.send(&self.store, ToStore::Load { key, reader, cache });
                }
            },
            ToCache::Put(key, value) => {
                self.known.insert(key, value);
                ctx.send(&self.store, ToStore::Save(key, value));
            }
            ToCache::Loaded { key, value, reader } => {
                self.known.insert(key, value);
                ctx.send(&reader, ToReader::Value(value));
            }
        }
    }

    fn describe(msg: &ToCache) -> String {
        format!("{msg:?}")
    }
}

#[derive(Default)]
struct Store(HashMap<&'static str, u32>);

impl Actor for Store {
    type Msg = ToStore;

    fn handle(&mut self, msg: ToStore, ctx: &mut Context<'_, ToStore>) {
        match msg {
            ToStore::Load { key, reader, cache } => {
                let value = self.0.get(key).copied().unwrap_or(0);
                ctx.send(&cache, ToCache::Loaded { key, value, reader });
            }
            ToStore::Save(key, value) => {
                self.0.insert(key, value);
            }
        }
    }

    fn describe(msg: &ToStore) -> String {
        format!("{msg:?}")
    }
}

#[derive(Default)]
struct Reader(Vec<u32>);

impl Actor for Reader {
    type Msg = ToReader;

    fn handle(&mut self, msg: ToReader, _: &mut Context<'_, ToReader>) {
        let ToReader::Value(value) = msg;
        self.0.push(value);
    }

    fn describe(msg: &ToReader) -> String {
        format!("{msg:?}")
    }
}

fn stale_cache() {
    let system = System::new();
    let store = system.spawn(Store::default());
    let cache = system.spawn(Cache { store, known: HashMap::new() });
    let reader = system.external(Reader::default());
    cache.send(ToCache::Get("x", reader));
    cache.send(ToCache::Put("x", 1));
    system.run_until_quiet();
    let known = system.with(&cache, |cache: &Cache| cache.known["x"]);
    assert_eq!(known, 1, "the cache forgot what was written");
}

#[test]
fn a_cache_that_forgets() {
    let report = Explorer::new().name("suite::cache::remembers").regressions(false).run(stale_cache);
    insta::assert_snapshot!(report);
}

/// What the actors below are told.
#[derive(Debug)]
enum Do {
    Ask(Address<Do>),
    Question(ReplyTo<u32>),
    Tick,
    Start,
    Announce,
    Stop,
    Forward(Address<Do>),
}

/// A worker that does a bit of everything.
#[derive(Default)]
struct Worker {
    kept: Option<ReplyTo<u32>>,
    ticks: u32,
}

struct Paid;

impl Actor for Worker {
    type Msg = Do;

    fn handle(&mut self, msg: Do, ctx: &mut Context<'_, Do>) {
        match msg {
            Do::Ask(whom) => {
                ctx.ask(&whom, Do::Question);
            }
            Do::Question(reply) => self.kept = Some(reply),
            Do::Start => {
                ctx.after(Duration::from_millis(5), Do::Tick);
                ctx.becomes("waiting");
            }
            Do::Tick => self.ticks += 1,
            Do::Announce => ctx.announce(Paid),
            Do::Stop => ctx.stop(),
            Do::Forward(to) => ctx.send(&to, Do::Tick),
        }
    }

    fn describe(msg: &Do) -> String {
        match msg {
            Do::Question(_) => "Question".to_owned(),
            other => format!("{other:?}"),
        }
    }
}

#[derive(Default)]
struct PaidOnce(bool);

impl Monitor for PaidOnce {
    type Event = Paid;

    fn observe(&mut self, _: &Paid) -> Result<(), String> {
        if std::mem::replace(&mut self.0, true) { Err("paid twice".to_owned()) } else { Ok(()) }
    }
}

#[test]
fn a_request_without_a_reply() {
    let report = Explorer::new().name("suite::asks").regressions(false).run(|| {
        let system = System::new();
        let (asks, keeps) = (system.spawn(Worker::default()), system.spawn(Worker::default()));
        asks.send(Do::Ask(keeps));
        system.run_until_quiet();
    });
    insta::assert_snapshot!(report);
}

#[test]
fn two_actors_that_ask_each_other() {
    let report = Explorer::new().name("suite::asks").regressions(false).run(|| {
        let system = System::new();
        let (left, right) = (system.spawn(Worker::default()), system.spawn(Worker::default()));
        left.send(Do::Ask(right.clone()));
        right.send(Do::Ask(left));
        system.run_until_quiet();
    });
    insta::assert_snapshot!(report);
}

#[test]
fn a_timer_a_behaviour_and_a_lost_message() {
    let report = Explorer::new().name("suite::ticks").strategy("exhaustive").regressions(false).run(|| {
        let system = System::new().faults(Faults { drop: 1, crash: 1, ..Faults::default() });
        let (from, to) = (system.spawn(Worker::default()), system.spawn_with(Worker::default));
        system.may_crash(&to);
        to.send(Do::Start);
        from.send(Do::Forward(to.clone()));
        system.run_until_quiet();
        let ticks = system.with(&to, |worker: &Worker| worker.ticks);
        assert_ne!(ticks, 0, "nothing ticked");
    });
    insta::assert_snapshot!(report);
}

#[test]
fn a_monitor_and_a_dead_letter() {
    let twice = Explorer::new().name("suite::pays").regressions(false).run(|| {
        let system = System::new().monitor(PaidOnce::default());
        for _ in 0..2 {
            system.spawn(Worker::default()).send(Do::Announce);
        }
        system.run_until_quiet();
    });
    insta::assert_snapshot!("a_violated_monitor", twice);
    let dead = Explorer::new().name("suite::stops").regressions(false).run(|| {
        let system = System::new().fail_on_dead_letters(true);
        let (from, to) = (system.spawn(Worker::default()), system.spawn(Worker::default()));
        from.send(Do::Forward(to.clone()));
        to.send(Do::Stop);
        system.run_until_quiet();
    });
    insta::assert_snapshot!("a_dead_letter", dead);
}

#[test]
fn an_actor_that_sends_for_ever() {
    struct Echo;
    impl Actor for Echo {
        type Msg = u8;
        fn handle(&mut self, n: u8, ctx: &mut Context<'_, u8>) {
            let me = ctx.me();
            ctx.send(&me, n);
        }
    }
    let report = Explorer::new().name("suite::echo").steps(20).regressions(false).run(|| {
        let system = System::new();
        system.spawn(Echo).send(1);
        system.run_until_quiet();
    });
    insta::assert_snapshot!(report);
}
