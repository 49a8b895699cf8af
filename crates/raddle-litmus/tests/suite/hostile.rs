//! Saved searches that were edited: they are refused, or the search resumes without a crash. The result of such a search does not
//! matter.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_engine::board::Remains;
use raddle_litmus::Program;
use raddle_litmus::oracle::Watched;
use raddle_strategies::optimal::Optimal;
use raddle_strategies::reduction::Dpor;
use raddle_strategies::tree::exhaustive::Exhaustive;
use raddle_strategies::tree::preemption::Preemption;
use serde_json::Value;

use crate::counts::{fib, lastzero};
use crate::program;
use crate::workers::{Maker, Play, play};

/// The places in a JSON text that can be changed: all of them, but only the first two of a list.
fn places(value: &Value, at: &mut String, found: &mut Vec<String>) {
    found.push(at.clone());
    let mut below = |key: &str, value: &Value| {
        let length = at.len();
        at.push('/');
        at.push_str(key);
        places(value, at, found);
        at.truncate(length);
    };
    match value {
        Value::Array(list) => list.iter().take(2).enumerate().for_each(|(key, value)| below(&key.to_string(), value)),
        Value::Object(map) => map.iter().for_each(|(key, value)| below(key, value)),
        _ => {}
    }
}

/// Other values for such a place.
fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(number) => {
            let number = number.as_u64().expect("only whole numbers are written");
            let changed = [0, number.saturating_sub(1), number.saturating_add(1), u64::from(u32::MAX), u64::MAX];
            changed.into_iter().filter(|&it| it != number).map(Value::from).collect()
        }
        Value::Array(list) if !list.is_empty() => {
            let shorter = list[1..].to_vec();
            let longer = list.iter().chain(list.last()).cloned().collect();
            let backwards = list.iter().rev().cloned().collect();
            vec![Value::Array(Vec::new()), Value::Array(shorter), Value::Array(longer), Value::Array(backwards)]
        }
        Value::Bool(it) => vec![Value::Bool(!it)],
        Value::String(text) => vec![Value::from(""), Value::from(format!("{text}ff")), Value::from("ffff")],
        Value::Object(_) => vec![Value::Null],
        _ => Vec::new(),
    }
}

/// Changes one place after another, and resumes what is not refused. Returns how many were refused, and how many were not.
fn changed(make: Maker<'_>, program: &Program, executions: u64) -> (u32, u32) {
    let how = Play { seed: 3, workers: 3, lost: 0 };
    let (_, remains) = play(make, None, Some(executions), &mut Watched::new(program.clone()), how);
    let written = serde_json::to_value(&remains).expect("what is left can be written down");
    let read = |value: Value| serde_json::from_value::<Remains>(value).ok().filter(|it| it.fits(&mut *make()));
    assert!(read(written.clone()).is_some(), "what was written is right");
    let mut found = Vec::new();
    places(&written, &mut String::new(), &mut found);
    let (mut refused, mut taken) = (0, 0);
    for place in found {
        for other in others(written.pointer(&place).expect("just found")) {
            let mut value = written.clone();
            *value.pointer_mut(&place).expect("just found") = other.clone();
            let Some(remains) = read(value) else {
                refused += 1;
                continue;
            };
            taken += 1;
            let again = || play(make, Some(remains), Some(12), &mut Watched::new(program.clone()), how);
            assert!(catch_unwind(AssertUnwindSafe(again)).is_ok(), "{} with {place} = {other}", make().name());
        }
    }
    (refused, taken)
}

#[test]
fn what_was_changed_is_refused_or_does_no_harm() {
    let makers: [(Maker<'_>, u64); 8] = [
        (&|| Box::new(Optimal::new()), 17),
        (&|| Box::new(Dpor::source()), 17),
        (&|| Box::new(Dpor::classic()), 17),
        (&|| Box::new(Exhaustive::depth_first()), 17),
        (&|| Box::new(Exhaustive::depth_first().deviations(3)), 9),
        (&|| Box::new(Exhaustive::random(1)), 9),
        (&|| Box::new(Preemption::unbounded()), 17),
        (&|| Box::new(Preemption::up_to(1)), 9),
    ];
    for (make, executions) in makers {
        let (mut refused, mut taken) = (0, 0);
        for text in [lastzero(3), fib(3)] {
            let (more_refused, more_taken) = changed(make, &program(&text), executions);
            (refused, taken) = (refused + more_refused, taken + more_taken);
        }
        assert!(refused > 20 && taken > 20, "{}: {refused} refused, {taken} not", make().name());
    }
}
