//! Converts the steps of an execution to the operations of the program.
//!
//! Some operations take several steps, because the strategy decides something in the middle of them: a weak compare-exchange reads first,
//! then the strategy decides whether it fails spuriously, and then it takes effect. For the reader of the report that is one operation.
//! Each operation is shown at one of its steps.

use std::collections::HashMap;

use raddle_engine::ids::TaskId;
use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Effect, Step, Word};

use super::names::Names;

/// What a task has done so far, as far as its next step depends on it.
#[derive(Default)]
struct SoFar {
    /// Its latest step.
    latest: Option<usize>,
    /// It has begun a wait of so many nanoseconds.
    timed: Option<u64>,
    /// Its compare-exchange is going to fail spuriously.
    fails_for_no_reason: bool,
}

/// The text for each step; `None` for a step of an operation that is shown at another step.
pub(super) fn operations(steps: &[Step], names: &Names) -> Vec<Option<String>> {
    let mut texts: Vec<Option<String>> = Vec::with_capacity(steps.len());
    let mut tasks: HashMap<TaskId, SoFar> = HashMap::new();
    for (index, step) in steps.iter().enumerate() {
        let so_far = tasks.entry(step.task).or_default();
        let before = so_far.latest.replace(index);
        let text = match (step.op.class, step.op.verb) {
            (Class::Choice, "fail for no reason?") => {
                so_far.fails_for_no_reason = step.found == Some(Word(1));
                if let Some(look) = before {
                    texts[look] = None;
                }
                None
            }
            (Class::Choice, "which to wake") => {
                if let Some(notify) = before {
                    texts[notify] = Some(notifies(&steps[notify], woken(step, names), names));
                }
                None
            }
            // The next step shows the result.
            (Class::Choice, verb) if verb.ends_with('?') => None,
            (Class::Wait, "begin to wait") | (Class::Finish, _) => None,
            (Class::Time, "begin a timed wait") => {
                so_far.timed = step.left.map(|left| left.0);
                None
            }
            // Dropping an end of a channel is not shown while others still use the channel.
            (Class::Write, _) if !step.access.object.is_some() => None,
            (Class::Notify, _) => Some(notifies(step, woken(step, names), names)),
            (Class::Release, "unlock to wait") => {
                so_far.timed = step.left.map(|left| left.0);
                Some(format!("unlock {} to wait", names.object(step.access.object)))
            }
            _ if std::mem::take(&mut so_far.fails_for_no_reason) => {
                Some(format!("{} {}: fails for no reason", step.op.verb, names.object(step.access.object)))
            }
            (Class::Wait | Class::Receive | Class::Time, _) => Some(waits(step, so_far.timed.take(), names)),
            _ => Some(words(step, names)),
        };
        texts.push(text);
    }
    texts
}

/// The tasks that a notification wakes.
fn woken(step: &Step, names: &Names) -> Option<String> {
    step.left.map(|task| format!("wakes {}", names.task(TaskId::next_of(task.0 as usize))))
}

/// `notify_one cv → wakes thread 4`, `notify_all cv → wakes 2 threads`, `unpark thread 1`.
fn notifies(step: &Step, woken: Option<String>, names: &Names) -> String {
    let text = format!("{} {}", step.op.verb, names.object(step.access.object));
    let several = match step.found {
        Some(Word(0)) => None,
        Some(Word(1)) => Some("wakes 1 thread".to_owned()),
        Some(Word(threads)) => Some(format!("wakes {threads} threads")),
        None => None,
    };
    match woken.or(several) {
        Some(woken) => format!("{text} → {woken}"),
        None if step.op.verb.starts_with("notify") => format!("{text} → nobody waits"),
        None => text,
    }
}

/// The end of a wait, with its length if it has one: `recv_timeout orders 1h → times out`, `wait cv: woken`, `sleep 10ms`.
fn waits(step: &Step, timed: Option<u64>, names: &Names) -> String {
    let object = step.access.object;
    let mut text = step.op.verb.to_owned();
    if timed.is_some() && matches!(text.as_str(), "recv" | "wait" | "park") {
        text.push_str("_timeout");
    }
    // A thread parks on its own token, and there is only one clock: neither is named.
    if object.is_some() && step.op.class != Class::Time && step.op.verb != "park" {
        text.push(' ');
        text.push_str(names.object(object));
    }
    if let Some(nanos) = timed {
        text.push(' ');
        text.push_str(&length_of_time(nanos));
    }
    match (step.variant, step.found) {
        (Variant::TimedOut, _) if step.op.class == Class::Time => {}
        (Variant::TimedOut, _) => text.push_str(" → times out"),
        (Variant::Spurious, _) => text.push_str(": wakes for no reason"),
        (Variant::Ready, None) if step.op.class == Class::Wait && object.is_some() && step.op.verb == "wait" => {
            text.push_str(": woken");
        }
        (Variant::Ready, None) if step.op.verb == "park" => text.push_str(": unparked"),
        (_, Some(found)) => {
            let value = names.value(object, found);
            // For a channel without room, the receiver comes first: the begin of its wait is a step.
            let begins = step.op.verb == "recv" && step.access.effect == Effect::Change && value == "empty";
            text.push_str(&if begins { ": begins to wait".to_owned() } else { format!(" → {value}") });
        }
        _ => {}
    }
    text
}

/// The task that a step has started.
pub(super) fn spawned(step: &Step, names: &Names) -> String {
    match step.found {
        Some(child) => names.task(TaskId::next_of(child.0 as usize)),
        None => names.object(step.access.object).to_owned(),
    }
}

/// The text for a step: `load x → 0`, `store x ← 1`, `fetch_add x 0 → 1`.
fn words(step: &Step, names: &Names) -> String {
    let object = step.access.object;
    let mut text = step.op.verb.to_owned();
    if step.op.class == Class::Spawn {
        return format!("{text} {}", spawned(step, names));
    }
    if object.is_some() {
        text.push_str(if text.starts_with("drop the ") { " of " } else { " " });
        text.push_str(names.object(object));
    }
    let value = |word| names.value(object, word);
    match (step.found, step.left) {
        _ if step.op.verb.starts_with("try_lock") => {}
        (Some(found), Some(left)) => text.push_str(&format!(" {} → {}", value(found), value(left))),
        (Some(found), None) => text.push_str(&format!(" → {}", value(found))),
        (None, Some(left)) => text.push_str(&format!(" ← {}", value(left))),
        (None, None) => {}
    }
    if step.op.class == Class::Update && step.access.effect == Effect::Read {
        text.push_str(" (fails)");
    }
    match step.variant {
        Variant::TimedOut => text.push_str(" → times out"),
        Variant::Spurious => text.push_str(": wakes for no reason"),
        Variant::Ready | Variant::Message(_) => {}
    }
    text
}

/// A duration: `1h`, `1min 30s`, `10ms`.
pub(super) fn length_of_time(nanos: u64) -> String {
    const SECOND: u64 = 1_000_000_000;
    let seconds = nanos / SECOND;
    if nanos == u64::MAX {
        return "for ever".to_owned();
    }
    if seconds < 60 || !nanos.is_multiple_of(SECOND) {
        return format!("{:?}", std::time::Duration::from_nanos(nanos));
    }
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s")];
    let said = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}"));
    said.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::length_of_time;

    #[test]
    fn durations() {
        let said = [10_000_000, 1_500_000_000, 60_000_000_000, 90_000_000_000, 3_600_000_000_000, u64::MAX];
        let words = ["10ms", "1.5s", "1min", "1min 30s", "1h", "for ever"];
        assert_eq!(said.map(length_of_time), words);
    }
}
