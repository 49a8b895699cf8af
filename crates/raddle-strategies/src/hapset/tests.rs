//! The predecessor sets of the paper's examples.

use std::panic::Location;

use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::system::Variant;
use raddle_engine::trace::{Access, Class, Effect, Operation, Ordered, Role, Site, Step};

use super::*;
use crate::reduction::RaceGuide;

static READ: Operation = Operation { verb: "read", class: Class::Read };
static WRITE: Operation = Operation { verb: "write", class: Class::Write };
static LOCK: Operation = Operation { verb: "lock", class: Class::Acquire };
static GET: Operation = Operation { verb: "read", class: Class::Cell };
static SET: Operation = Operation { verb: "write", class: Class::Cell };
static UNLOCK: Operation = Operation { verb: "unlock", class: Class::Release };

/// A statement of the program: its name, the task that executes it, its operation and object.
#[derive(Clone, Copy)]
struct Line {
    name: char,
    task: u32,
    op: &'static Operation,
    object: u32,
    site: Site,
}

#[track_caller]
fn line(name: char, task: u32, op: &'static Operation, object: u32) -> Line {
    Line { name, task, op, object, site: Location::caller() }
}

fn step(line: &Line) -> Step {
    let effect = if line.op.verb == "read" { Effect::Read } else { Effect::Change };
    let role = match line.op.class {
        Class::Acquire => Role::Takes,
        Class::Release => Role::Gives,
        _ => Role::Plain,
    };
    let access = Access { object: ObjectId::new(line.object), effect, role, ordered: Ordered::RELAXED };
    let alternatives = if line.op.class == Class::Cell { 0 } else { 2 };
    Step::new((TaskId::new(line.task), Variant::Ready), line.op, access, line.site, alternatives)
}

/// Returns what the guide learns from these executions: "x<y" for `y ∈ hapset[x]`.
fn learned(program: &[Line], executions: &[&str]) -> Vec<String> {
    let pool = Pool::new(Backtrack::Dpor);
    let mut guide = Guide::new(pool.clone());
    for execution in executions {
        let (mut trace, mut events) = (Trace::default(), Events::default());
        for name in execution.chars() {
            let line = program.iter().find(|line| line.name == name).expect("a statement of the program");
            trace.push(step(line));
        }
        events.follow(&trace);
        guide.observe(&trace, &events, 0, true);
    }
    let name = |statement: &Statement| {
        let is_it = |line: &&Line| line.site.line() == statement.line && line.site.column() == statement.column;
        program.iter().find(is_it).expect("it is a line of the program").name
    };
    guide.commit();
    let knowledge = pool.lock().knowledge();
    let mut pairs: Vec<_> = knowledge.pairs().map(|(of, before, _)| format!("{}<{}", name(of), name(before))).collect();
    pairs.sort();
    pairs
}

/// `p = &a` and `p = 0` in one thread, `if p != 0` and `*p = 10` in the other.
fn alloc_use_free() -> [Line; 4] {
    [line('1', 1, &WRITE, 0), line('2', 2, &READ, 0), line('3', 2, &READ, 0), line('4', 1, &WRITE, 0)]
}

#[test]
fn a_serial_execution() {
    assert_eq!(learned(&alloc_use_free(), &["1234"]), ["2<1", "4<3"]);
}

#[test]
fn atomicity_holds_in_good_executions() {
    let good = learned(&alloc_use_free(), &["1234", "142", "214"]);
    assert_eq!(good, ["1<2", "2<1", "2<4", "4<3"], "nothing ever comes right before the use but the check");
    let violated = learned(&alloc_use_free(), &["1243"]);
    assert_eq!(violated, ["2<1", "3<4", "4<2"]);
}

/// `do { lock; tmp = x; unlock } while !tmp` in one thread, `lock; x = 1; unlock` in the other.
fn busy_waiting() -> [Line; 6] {
    let first = [line('b', 1, &LOCK, 1), line('c', 1, &READ, 0), line('d', 1, &UNLOCK, 1)];
    let second = [line('f', 2, &LOCK, 1), line('g', 2, &WRITE, 0), line('h', 2, &UNLOCK, 1)];
    let [b, c, d] = first;
    let [f, g, h] = second;
    [b, c, d, f, g, h]
}

#[test]
fn the_number_of_loop_rounds_does_not_matter() {
    let all = ["b<f", "c<g", "f<b", "g<c"];
    assert_eq!(learned(&busy_waiting(), &["fghbcd"]), ["b<f", "c<g"]);
    assert_eq!(learned(&busy_waiting(), &["bcdfghbcd"]), all);
    assert_eq!(learned(&busy_waiting(), &["bcdbcdbcdbcdfghbcd"]), all);
    assert_eq!(learned(&busy_waiting(), &["fghbcd", "bcdfghbcd"]), all);
}

#[test]
fn reads_and_different_objects_have_no_orderings() {
    let program = [line('r', 1, &READ, 0), line('s', 2, &READ, 0), line('w', 3, &WRITE, 0), line('x', 4, &WRITE, 9)];
    assert_eq!(learned(&program, &["rsx"]), [""; 0]);
    // Each other task gives one predecessor, whatever lies between, if there is a conflict.
    assert_eq!(learned(&program, &["wrsx"]), ["r<w", "s<w"]);
    assert_eq!(learned(&program, &["rsw"]), ["w<r", "w<s"]);
}

#[test]
fn tasks_that_try_are_distinguished_from_tasks_that_wait() {
    let lock = [line('l', 1, &LOCK, 0), line('u', 1, &UNLOCK, 0)];
    let others = [line('t', 2, &READ, 0), line('m', 3, &LOCK, 0), line('v', 3, &UNLOCK, 0)];
    let program: Vec<_> = lock.into_iter().chain(others).collect();
    assert_eq!(learned(&program, &["ltu"]), ["t<l", "u<t"]);
    assert_eq!(learned(&program, &["lut"]), ["t<u"]);
    assert_eq!(learned(&program, &["lumv"]), ["m<l"]);
}

/// Sections of one lock, in which plain memory is read and written.
fn sections() -> Vec<Line> {
    let first = [line('l', 1, &LOCK, 0), line('r', 1, &GET, 5), line('w', 1, &SET, 5), line('u', 1, &UNLOCK, 0)];
    let second = [line('m', 2, &LOCK, 0), line('s', 2, &GET, 5), line('x', 2, &SET, 6), line('v', 2, &UNLOCK, 0)];
    first.into_iter().chain(second).collect()
}

#[test]
fn accesses_to_plain_memory_are_learned_as_well() {
    assert_eq!(learned(&sections(), &["lrwumsv"]), ["m<l", "s<w"]);
    assert_eq!(learned(&sections(), &["msvlrwu"]), ["l<m"], "its own read lies between the other's and the write");
    assert_eq!(learned(&sections(), &["msvlwu"]), ["l<m", "w<s"]);
    assert_eq!(learned(&sections(), &["lrumsv"]), ["m<l"], "two that only read");
    assert_eq!(learned(&sections(), &["lrwumxv"]), ["m<l"], "other memory");
}

/// True if the reversal of the race of the two locks is new after these executions. The first execution is observed once more.
fn locks_are_new(executions: &[&str]) -> bool {
    let (program, mut guide) = (sections(), Guide::new(Pool::new(Backtrack::Dpor)));
    for execution in executions.iter().chain(&executions[..1]) {
        let (mut trace, mut events) = (Trace::default(), Events::default());
        for name in execution.chars() {
            trace.push(step(program.iter().find(|line| line.name == name).expect("a statement of the program")));
        }
        events.follow(&trace);
        guide.observe(&trace, &events, 0, true);
    }
    // The locks are the first and the third decision.
    guide.is_new(0, 2, usize::MAX)
}

#[test]
fn plain_memory_tells_whether_a_reversal_is_new() {
    assert!(locks_are_new(&["lwumsv"]), "the locks themselves are");
    assert!(!locks_are_new(&["lumv", "mvlu"]));
    assert!(locks_are_new(&["lwumsv", "mvlu"]), "the read was never right before the write");
    assert!(!locks_are_new(&["lwumsv", "msvlwu"]));
    assert!(!locks_are_new(&["lrwumsv", "mvlu"]), "two reads would come together");
    assert!(!locks_are_new(&["lwumxv", "mvlu"]), "other memory");
}
