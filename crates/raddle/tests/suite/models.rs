//! Models, tried as users would: by settings and strategies as any other test, with reports that tell what happened.

use std::time::Duration;

use raddle::actor::{Actor, Address, Context, Delivery, Faults, Monitor};
use raddle::model::{Model, Setup};
use raddle::{Explorer, Report};

use crate::replay::story;

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

#[test]
fn a_failure_is_shown_message_by_message() {
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
        "delay:doubling",
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
fn a_correct_model_is_verified_by_default() {
    let report = Explorer::new().run_model(|| counting(1));
    assert!(report.verified(), "{report}");
    assert_eq!(report.states(), 5);
    for (strategy, workers) in
        [("delay", 1), ("delay", 3), ("delay:doubling", 1), ("delay:doubling", 3), ("states", 1), ("states", 3)]
    {
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
fn a_wrong_setting_is_reported() {
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
fn a_function_that_makes_a_model_may_return_a_result() -> Result<Model, std::num::ParseIntError> {
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
fn timers_behaviours_creations_values_and_monitors_are_shown() {
    let report = Explorer::new()
        .name("suite::models::served")
        .regressions(false)
        .workers(1)
        .run_model(served(Faults::default()));
    insta::assert_snapshot!("a_timer_that_goes_off_in_a_model", report);
}

#[test]
fn faults_are_shown() {
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
