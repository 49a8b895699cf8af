//! What may go wrong with a model, and what is said then.

use raddle::Explorer;
use raddle::actor::{Actor, Context, Delivery, Monitor};
use raddle::model::{Model, Setup};

/// Sends itself what it was told, less one.
#[derive(Clone, Hash)]
struct Countdown(u32);

impl Actor for Countdown {
    type Msg = u32;

    fn handle(&mut self, n: u32, ctx: &mut Context<'_, u32>) {
        self.0 += 1;
        if n > 0 {
            ctx.send(&ctx.me(), n - 1);
        }
    }
}

fn countdowns(actors: u32) -> Model {
    Model::new(|m| {
        for _ in 0..actors {
            let actor = m.spawn(Countdown(0));
            m.send(&actor, 5);
        }
    })
}

#[test]
fn walks_that_are_only_counted_leave_copies_of_others_alone() {
    for workers in 1..4 {
        // As a value, the portfolio does not begin with a search of its own that would end with a proof.
        let portfolio = raddle::strategy::Portfolio::new(0);
        let report = Explorer::new().strategy(portfolio).workers(workers).executions(2_000).run_model(|| countdowns(3));
        assert!(!report.failed() && report.executions() == 2_000, "{workers}: {report}");
    }
}

#[test]
fn reduction_claims_no_proof_for_always() {
    let model = || countdowns(2).always(|state| assert!(state.waiting() <= 2));
    let report = Explorer::new().strategy("dpor").run_model(model);
    assert!(!report.failed() && !report.verified(), "{report}");
    assert!(report.to_string().contains("what must always hold in a model"), "{report}");
    for strategy in ["delay", "states", "exhaustive"] {
        assert!(Explorer::new().strategy(strategy).run_model(model).verified(), "{strategy}");
    }
}

#[test]
fn a_model_without_an_end_is_searched_as_well() {
    #[derive(Clone, Hash)]
    struct Wheel(u32);
    impl Actor for Wheel {
        type Msg = ();
        fn handle(&mut self, (): (), ctx: &mut Context<'_, ()>) {
            self.0 = (self.0 + 1) % 50;
            ctx.send(&ctx.me(), ());
        }
    }
    let wheel = || {
        Model::new(|m| {
            let wheel = m.spawn(Wheel(0));
            m.send(&wheel, ());
        })
        .finally(|_| panic!("it never ends"))
    };
    let report = Explorer::new().strategy("states").run_model(wheel);
    // The first message is another's.
    assert!(report.verified() && report.states() == 51, "{report}");
    assert!(report.to_string().contains("what must hold in the end was never asked"), "{report}");
    let stops = move || wheel().always(|state| assert!(state.actors::<Wheel>().all(|wheel| wheel.0 < 49), "too far"));
    assert!(Explorer::new().strategy("states").run_model(stops).to_string().contains("too far"));
}

struct Served;

/// Does what the word says.
#[derive(Clone, Hash)]
struct Odd;

impl Actor for Odd {
    type Msg = &'static str;

    fn handle(&mut self, what: &'static str, ctx: &mut Context<'_, &'static str>) {
        match what {
            "panic" => panic!("this is to be seen"),
            "announce" => ctx.announce(Served),
            "choose" => assert!(raddle::choose(2) < 2),
            _ => {}
        }
    }

    fn describe(what: &&'static str) -> String {
        assert!(*what != "panic", "cannot be described");
        (*what).to_owned()
    }
}

/// Cannot stand what it hears.
#[derive(Clone, Hash)]
struct Nervous;

impl Monitor for Nervous {
    type Event = Served;

    fn observe(&mut self, _: &Served) -> Result<(), String> {
        panic!("not that")
    }

    fn at_quiet(&self) -> Result<(), String> {
        Err("nobody served".to_owned())
    }
}

#[test]
fn panics_of_checks_are_reported() {
    let told = |what: &'static str| {
        let model = move || {
            Model::new(|m: &mut Setup| {
                m.monitor(Nervous);
                let odd = m.spawn(Odd);
                m.send(&odd, what);
            })
        };
        Explorer::new().run_model(model).to_string()
    };
    let text = told("panic");
    assert!(text.contains("this is to be seen") && text.contains("(describing it panics)"), "{text}");
    let text = told("announce");
    assert!(text.contains("panic in Odd#1") && text.contains("not that"), "{text}");
    let text = told("choose");
    assert!(text.contains("was called in a model, which cannot wait; use `ctx.choose`"), "{text}");
    let text = told("nothing");
    assert!(text.contains("nobody served\n  when nothing was left to happen"), "{text}");
}

#[test]
fn a_handler_that_does_not_do_the_same_twice_is_found_out() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    #[derive(Clone, Hash)]
    struct Fickle(u32);
    impl Actor for Fickle {
        type Msg = u32;
        fn handle(&mut self, _: u32, _: &mut Context<'_, u32>) {
            self.0 = COUNT.fetch_add(1, Ordering::SeqCst) % 3;
        }
    }
    let report = Explorer::new().strategy("exhaustive").workers(1).run_model(|| {
        Model::new(|m: &mut Setup| {
            m.delivery(Delivery::Arrival);
            let fickle = [m.spawn(Fickle(0)), m.spawn(Fickle(0)), m.spawn(Fickle(0))];
            (0..4).for_each(|n| fickle.iter().for_each(|to| m.send(to, n)));
        })
    });
    assert!(report.to_string().contains("Does the program depend on"), "{report}");
}

/// Cannot be copied, or not be hashed, once it has received so many messages.
struct Fragile {
    received: u32,
    copies: u32,
    hashes: u32,
}

impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert!(self.received < self.copies, "no copy of {}", self.received);
        Self { ..*self }
    }
}

impl std::hash::Hash for Fragile {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        assert!(self.received < self.hashes, "no hash of {}", self.received);
        self.received.hash(hasher);
    }
}

impl Actor for Fragile {
    type Msg = ();

    fn handle(&mut self, (): (), _: &mut Context<'_, ()>) {
        self.received += 1;
    }
}

#[test]
fn a_panic_of_clone_or_hash_is_a_failure_with_a_report() {
    for (copies, hashes, expected) in [(0, 9, "no copy of 0"), (2, 9, "no copy of 2"), (9, 2, "no hash of 2")] {
        let fragile = move || {
            Model::new(move |m: &mut Setup| {
                let fragile = m.spawn(Fragile { received: 0, copies, hashes });
                (0..4).for_each(|_| m.send(&fragile, ()));
            })
        };
        for strategy in ["delay:doubling", "states", "dpor", "random"] {
            let report = Explorer::new().strategy(strategy).run_model(fragile).to_string();
            // In an untraced run nobody asks for hashes, and an actor is copied once, before it receives anything.
            let unasked = strategy == "random" && (hashes == 2 || copies == 2);
            let told = report.contains(expected) && report.contains("receive () from the model");
            assert!(told != unasked, "{strategy}: {report}");
        }
    }
}
