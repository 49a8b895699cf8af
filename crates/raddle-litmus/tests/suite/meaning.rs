//! The semantics of the language.

use raddle_engine::ids::StepIx;
use raddle_engine::outcome::Failure;
use raddle_engine::strategy::least_switching;
use raddle_engine::system::{Point, System};
use raddle_engine::trace::{Effect, Role, Trace};
use raddle_litmus::Execution;
use raddle_litmus::oracle::{self, Uncounted};

use crate::{MAX_ORACLE_STATES, program};

/// Runs a program with the fewest switches.
fn run(text: &str) -> (Execution, Trace) {
    let mut execution = program(text).begin();
    let mut trace = Trace::default();
    while !matches!(execution.point(), Point::End(_)) {
        let choice = least_switching(&execution.point(), &trace);
        execution.advance(choice, &mut trace);
    }
    (execution, trace)
}

/// The failure, with line and column.
fn failure(text: &str) -> String {
    let (execution, _) = run(text);
    let Point::End(outcome) = execution.point() else {
        panic!("it has not ended");
    };
    match outcome.failure() {
        None => "none".to_owned(),
        Some(Failure::Panic { message, place: Some(place), .. }) => format!("{message} at {place}"),
        Some(other) => other.kind().to_owned(),
    }
}

#[test]
fn expressions_have_the_usual_meaning() {
    let holds = [
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "7 - 2 - 1 == 4",
        "-7 / 2 == -3 && -7 % 2 == -1",
        "!0 == 1 && !5 == 0 && - - 3 == 3",
        "1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 != 2",
        "0 || 7",
        "(3 && 4) == 1 && (0 || 0) == 0",
        "1 || 0 && 0",
        "(5 > 3) + 1 == 2",
        "9223372036854775807 + 1 < 0",
    ];
    for condition in holds {
        assert_eq!(failure(&format!("thread t {{ assert {condition}; }}")), "none", "{condition}");
        let negated = format!("thread t {{ assert !({condition}); }}");
        assert!(failure(&negated).starts_with("t: assertion failed: !("), "{condition}");
    }
}

#[test]
fn steps_are_taken_left_to_right_and_only_where_evaluated() {
    let text = "shared x = 1, y = 0; thread t {
        v = add(x, 1) * 10 + add(x, 1);
        assert v == 12;
        w = load(y) && add(x, 100);
        u = load(x) || add(x, 100);
        assert load(x) == 3 && w == 0 && u == 1;
        a = cas(x, 3, load(x) + 1);
        b = cas(x, 3, 9);
        assert a && !b && load(x) == 4;
    }";
    assert_eq!(failure(text), "none");
    let (_, trace) = run(text);
    let verbs: Vec<_> = trace.steps().iter().map(|step| step.op.verb).collect();
    assert_eq!(verbs.join(" "), "add add load load load load cas cas load");
}

#[test]
fn control_flow() {
    let text = "shared a[4] = 0; thread t(n in 3..=3) {
        i = 0; while i < n { store(a[i], i * i); i = i + 1; }
        if load(a[2]) == 5 { r = 1; } else if load(a[2]) == 4 { r = 2; } else { r = 3; }
        assert r == 2; assert s == 0; if 0 { s = 1; }
    } final { assert load(a[0]) + load(a[1]) + load(a[2]) == 5; }";
    assert_eq!(failure(text), "none");
}

#[test]
fn what_cannot_be_done_fails_with_its_place() {
    let cases = [
        ("thread t { assert 1 == 2; }", "t: assertion failed: 1 == 2 at test:1:12"),
        (
            "shared a[2] = 0; thread t(i in 2..=2) { load(a[i]); }",
            "t(2): index 2 is out of range for an array of 2 at test:1:41",
        ),
        ("shared a[2] = 0; thread t { load(a[-1]); }", "t: index -1 is out of range for an array of 2 at test:1:29"),
        ("mutex m; thread t { unlock(m); }", "t: unlock of a mutex that the thread does not hold at test:1:21"),
        ("thread t { a = 1 / 0; }", "t: division by zero at test:1:18"),
        ("thread t { a = 1 % 0; }", "t: division by zero at test:1:18"),
        ("thread t { while 1 == 1 { } }", "t: goes on for ever without taking a step at test:1:20"),
        ("thread t { a = choose(0); }", "t: choose(0): the number of values must be 1 to 4294967295 at test:1:16"),
        ("mutex m; thread t { lock(m); lock(m); }", "deadlock"),
        ("channel c; thread t { recv(c); }", "deadlock"),
        (
            "shared x = 1; thread t { } final { assert load(x) == 2; }",
            "final: assertion failed: load(x) == 2 at test:1:36",
        ),
        (
            "mutex m; thread t { lock(m); } final { lock(m); }",
            "final: waits for ever: all threads have ended at test:1:40",
        ),
    ];
    for (text, message) in cases {
        assert_eq!(failure(text), message, "{text}");
    }
}

#[test]
fn a_failed_assert_does_not_end_the_execution() {
    let text = "shared x = 0; thread a { assert 0; store(x, 1); } thread b { store(x, 2); }";
    let counted = oracle::traces(&program(text), MAX_ORACLE_STATES).expect("it is small");
    assert_eq!((counted.count.all, counted.count.failing), (2, 2));
}

#[test]
fn accesses_are_exact() {
    let text = "shared x = 0; mutex m; channel c; channel d: unordered;
        thread t { cas(x, 0, 1); cas(x, 0, 1); load(x); add(x, 1); lock(m); trylock(m); unlock(m); trylock(m);
        send(c, 1); send(d, 2); recv(d); recv(c); }";
    let (_, trace) = run(text);
    let shown = |step: usize| {
        let all = trace.accesses(StepIx::new(step as u32)).map(|access| {
            let effect = if access.effect == Effect::Change { "change" } else { "read" };
            let role = match access.role {
                Role::Alone => "alone",
                Role::Plain => "",
                Role::Settled => " settled",
                Role::Takes => " takes",
                Role::Gives => " gives",
                Role::Timed => " timed",
                Role::Waits => " waits",
                Role::Offers(_) => " offers",
            };
            format!("{effect} {}{role}", access.object.number())
        });
        all.collect::<Vec<_>>().join(", ")
    };
    // x is 0, m is 1, c has head 2 and tail 3, d has head 4 and tail 5; two threads could send (`final` counts), so
    // the messages of the only one are 6 and 8.
    let accesses: Vec<_> = (0..trace.len()).map(shown).collect();
    assert_eq!(
        accesses,
        [
            "change 0",
            "read 0",
            "read 0",
            "change 0",
            "change 1 takes",
            "read 1",
            "change 1 gives",
            "change 1",
            "change 3, change 6 gives",
            "change 8 gives, read 4 offers",
            "change 4, change 8 takes",
            "change 2 waits, change 6 takes",
        ]
    );
}

#[test]
fn endless_programs_are_not_counted() {
    let waits = program("shared x = 0; thread a { while !load(x) { } } thread b { store(x, 1); }");
    assert_eq!(oracle::traces(&waits, MAX_ORACLE_STATES).map(|counted| counted.count), Err(Uncounted::Endless));
    assert_eq!(oracle::executions(&waits, MAX_ORACLE_STATES).map(|counted| counted.count), Err(Uncounted::Endless));
}

#[test]
fn a_receiver_that_goes_without_is_seen() {
    let text = "channel c; thread s { send(c, 1); } thread r(i in 1..=2) { recv(c); }";
    let counted = oracle::traces(&program(text), MAX_ORACLE_STATES).expect("it is small");
    assert_eq!((counted.count.all, counted.count.failing), (2, 2));
}
