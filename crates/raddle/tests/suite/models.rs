//! Models, tried as users would: by settings and strategies as any other test, with reports that tell what happened.

use std::time::Duration;

use raddle::actor::{Actor, Address, Context, Delivery, Faults, Monitor};
use raddle::model::{Model, Setup};
use raddle::{Explorer, Report};

/// What a register is asked to do.
#[derive(Clone, Debug, Hash)]
enum ToRegister {
    Read(Address<ToClient>),
    Write(u32),
}

#[derive(Clone, Debug, Hash)]
enum ToClient {
    Begin,
    Value(u32),
}

#[derive(Clone, Hash)]
struct Register(u32);

impl Actor for Register {
    type Msg = ToRegister;

    fn handle(&mut self, msg: ToRegister, ctx: &mut Context<'_, ToRegister>) {
        match msg {
            ToRegister::Read(client) => ctx.send(&client, ToClient::Value(self.0)),
            ToRegister::Write(value) => self.0 = value,
        }
    }

    fn describe(msg: &ToRegister) -> String {
        format!("{msg:?}")
    }
}

/// Adds one to what it has read. What another has written meanwhile is lost.
#[derive(Clone, Hash)]
struct Client(Address<ToRegister>);

impl Actor for Client {
    type Msg = ToClient;

    fn handle(&mut self, msg: ToClient, ctx: &mut Context<'_, ToClient>) {
        match msg {
            ToClient::Begin => ctx.send(&self.0, ToRegister::Read(ctx.me())),
            ToClient::Value(value) => ctx.send(&self.0, ToRegister::Write(value + 1)),
        }
    }

    fn describe(msg: &ToClient) -> String {
        format!("{msg:?}")
    }
}

fn counting(clients: u32) -> Model {
    Model::new(|m| {
        let register = m.spawn(Register(0));
        for _ in 0..clients {
            let client = m.spawn(Client(register.clone()));
            m.send(&client, ToClient::Begin);
        }
    })
    .finally(move |state| {
        let sum = state.actors::<Register>().next().expect("it never stops").0;
        assert_eq!(sum, clients, "an increment was lost");
    })
}

fn lost_update() -> Model {
    counting(2)
}

/// A report without what depends on the strategy.
fn story(report: &Report) -> String {
    let text = report.to_string();
    let lines = text.lines().skip(1).filter(|line| !line.starts_with("replay:"));
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

#[test]
fn a_failure_is_told_message_by_message() {
    let report =
        Explorer::new().name("suite::models::lost_update").regressions(false).workers(1).run_model(lost_update);
    insta::assert_snapshot!("a_lost_update_of_a_model", report);
}

#[test]
fn every_strategy_finds_it_and_the_schedule_is_the_failure_again() {
    let all = [
        "portfolio",
        "random",
        "pct",
        "pos",
        "surw",
        "exhaustive",
        "exhaustive:breadth-first",
        "dpor",
        "dpor-source",
        "dpor-classic",
        "preemption",
        "hapset",
        "delay",
        "delay:rtc",
        "states",
        "delay-sample",
        "delay-hybrid",
        "receive-order",
        "irs",
    ];
    for strategy in all {
        let found = Explorer::new().strategy(strategy).coverage(false).run_model(lost_update);
        assert!(found.failed(), "{strategy}: {found}");
        let text = found.schedule().expect("it fails").to_string();
        let again = Explorer::new().replay(&text).run_model(lost_update);
        assert_eq!(again.executions(), 1, "{strategy}");
        assert_eq!(again.failure(), found.failure(), "{strategy}");
        assert_eq!(story(&again), story(&found), "{strategy}");
    }
}

#[test]
fn what_cannot_fail_is_verified_by_all_states_without_being_asked() {
    let report = Explorer::new().run_model(|| counting(1));
    assert!(report.verified(), "{report}");
    assert_eq!(report.states(), 5);
    for (strategy, workers) in [("delay", 1), ("delay", 3), ("states", 1), ("states", 3)] {
        let report = Explorer::new().strategy(strategy).workers(workers).run_model(|| passed_on(3));
        assert!(report.verified(), "{strategy}: {report}");
        assert_eq!(report.states(), 4 * 4 * 4, "{strategy} on {workers}");
    }
}

/// So many who are told three things each, which they do not pass on.
fn passed_on(receivers: u32) -> Model {
    #[derive(Clone, Hash)]
    struct Heap(u32);
    impl Actor for Heap {
        type Msg = u32;
        fn handle(&mut self, n: u32, _: &mut Context<'_, u32>) {
            self.0 += n;
        }
    }
    Model::new(|m| {
        for _ in 0..receivers {
            let heap = m.spawn(Heap(0));
            (0..3).for_each(|_| m.send(&heap, 1));
        }
    })
}

#[test]
fn settings_hold_for_models_too() {
    let report = Explorer::new().strategy("random").executions(7).run_model(|| passed_on(2));
    assert_eq!(report.executions(), 7);
    let report = Explorer::new().strategy("exhaustive").keep_going(true).run_model(lost_update);
    assert!(report.failing() > 1 && report.failing() < report.executions(), "{report}");
    let report = Explorer::new().time(Duration::from_secs(3_600)).strategy("dpor").run_model(|| passed_on(3));
    assert!(report.verified() && report.executions() == 1, "{report}");
    let report = Explorer::new().strategy("random").steps(3).run_model(|| passed_on(2));
    assert!(report.to_string().contains("too many steps"), "{report}");
}

#[test]
#[should_panic(expected = "which is not a strategy (did you mean `states`?)")]
fn a_wrong_setting_is_told() {
    let _ = Explorer::new().strategy("state").run_model(lost_update);
}

#[test]
#[should_panic(expected = "add the monitors of a model before its first actor")]
fn a_model_that_cannot_be_made_says_why() {
    let _ = Explorer::new().run_model(|| {
        Model::new(|m| {
            m.spawn(Register(0));
            m.monitor(Once(false));
        })
    });
}

#[test]
fn a_schedule_of_another_model_does_not_fit() {
    let report = Explorer::new().replay("v1:9").run_model(lost_update);
    assert!(report.to_string().contains("the schedule does not fit"), "{report}");
}

#[raddle::test]
fn a_function_that_returns_a_model_is_a_test_of_it() -> Model {
    passed_on(2)
}

#[raddle::test(strategy = "dpor")]
fn a_model_may_not_come_about() -> Result<Model, std::num::ParseIntError> {
    Ok(counting("1".parse()?))
}

#[raddle::test(regressions = false)]
#[should_panic(expected = "an increment was lost")]
fn a_failing_model_panics_with_what_it_said() -> Model {
    lost_update()
}

/// Must hear of something once.
#[derive(Clone, Hash)]
struct Once(bool);

struct Served;

impl Monitor for Once {
    type Event = Served;

    fn observe(&mut self, _: &Served) -> Result<(), String> {
        if std::mem::replace(&mut self.0, true) { Err("served twice".to_owned()) } else { Ok(()) }
    }
}

#[derive(Clone, Debug, Hash)]
enum ToWaiter {
    Order,
    Late,
    Help,
}

/// Serves at once, and again when its timer goes off, which it forgets to cancel.
#[derive(Clone, Hash)]
struct Waiter {
    rounds: u32,
}

impl Actor for Waiter {
    type Msg = ToWaiter;

    fn handle(&mut self, msg: ToWaiter, ctx: &mut Context<'_, ToWaiter>) {
        match msg {
            ToWaiter::Order => {
                ctx.after(Duration::from_secs(1), ToWaiter::Late);
                ctx.becomes("waiting");
                let helper = ctx.spawn(Waiter { rounds: 1 });
                ctx.send(&helper, ToWaiter::Help);
                if ctx.choose(3) == 2 {
                    ctx.announce(Served);
                }
            }
            ToWaiter::Late => ctx.announce(Served),
            ToWaiter::Help => ctx.stop(),
        }
        self.rounds += 1;
    }

    fn describe(msg: &ToWaiter) -> String {
        format!("{msg:?}")
    }
}

fn served(faults: Faults) -> impl Fn() -> Model {
    move || {
        Model::new(|m: &mut Setup| {
            m.delivery(Delivery::PerSender);
            m.faults(faults);
            m.monitor(Once(false));
            let waiter = m.external(Waiter { rounds: 0 });
            m.may_crash(&waiter);
            m.send(&waiter, ToWaiter::Order);
        })
    }
}

#[test]
fn timers_behaviours_creations_values_and_monitors_are_told() {
    let report = Explorer::new()
        .name("suite::models::served")
        .regressions(false)
        .workers(1)
        .run_model(served(Faults::default()));
    insta::assert_snapshot!("a_timer_that_goes_off_in_a_model", report);
}

#[test]
fn faults_are_told() {
    let lost = Faults { drop: 1, duplicate: 1, delay: 1, crash: 1 };
    let told = |report: &Report, words: &str| assert!(report.to_string().contains(words), "{words}: {report}");
    let check = |faults: Faults, words: &str| {
        let report = Explorer::new().strategy("exhaustive").run_model(move || {
            let wanted = faults;
            Model::new(|m: &mut Setup| {
                m.faults(wanted);
                let register = m.spawn(Register(0));
                m.may_crash(&register);
                let client = m.spawn(Client(register));
                m.send(&client, ToClient::Begin);
            })
            .always(move |state| {
                let sum = state.actors::<Register>().next().map_or(7, |register| register.0);
                assert!(state.waiting() < 2 && sum < 7, "this is to be seen");
            })
            .finally(|state| assert_eq!(state.actors::<Register>().next().map_or(1, |register| register.0), 1))
        });
        told(&report, words);
        let rows = |words: &str| report.to_string().matches(words).count();
        assert!(rows("(fault)") == 1 && rows("send Read") == usize::from(words.contains("twice")), "{report}");
    };
    check(Faults { duplicate: 0, delay: 0, crash: 0, ..lost }, "Read(Client#1) to Register#1 is lost (fault)");
    check(Faults { drop: 0, delay: 0, crash: 0, ..lost }, "Read(Client#1) to Register#1 arrives twice (fault)");
    check(Faults { drop: 0, delay: 0, duplicate: 0, ..lost }, "crashes and does not come back (fault)");
}

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
        let report =
            Explorer::new().strategy("portfolio").workers(workers).executions(2_000).run_model(|| countdowns(3));
        assert!(!report.failed() && report.executions() == 2_000, "{workers}: {report}");
    }
}

#[test]
fn what_must_always_hold_is_not_proved_by_reduction() {
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
fn panics_of_what_only_looks_are_told() {
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
