//! The oracle against the published counts. Each program is small text made from its parameters.

use raddle_engine::search::{Limits, search};
use raddle_engine::strategy::Strategy;
use raddle_litmus::oracle::{self, Count};
use raddle_strategies::optimal::{Mistake, Optimal};
use raddle_strategies::reduction::Dpor;

use crate::{MAX_ORACLE_STATES, program};

/// The oracle and the optimal reduction agree: each trace once, and nothing pruned.
fn check(name: &str, text: &str, traces: u128, failing: u128) {
    let counts = explored(text, Optimal::new());
    assert_eq!(counts, (traces, 0, failing), "{name} with dpor\n{text}");
    let counted = oracle::traces(&program(text), MAX_ORACLE_STATES).unwrap_or_else(|why| panic!("{name}: {why}"));
    assert_eq!(counted.count, Count { all: traces, failing }, "{name}\n{text}");
}

/// The numbers of complete, pruned and failing executions.
fn explored(text: &str, mut reduction: impl Strategy) -> (u128, u64, u128) {
    let limits = Limits { keep_going: true, ..Limits::default() };
    let report = search(&mut program(text), &mut reduction, &limits);
    (report.executions.into(), report.pruned, report.failing.into())
}

pub(crate) fn readers(n: u32) -> String {
    format!("shared x = 0; thread w {{ store(x, 1); }} thread r(i in 1..={n}) {{ load(x); }}")
}

pub(crate) fn lastzero(n: u32) -> String {
    format!(
        "shared a[{}] = 0; thread reader {{ i = {n}; while load(a[i]) != 0 {{ i = i - 1; }} }}
         thread writer(j in 1..={n}) {{ t = load(a[j - 1]); store(a[j], t + 1); }}",
        n + 1
    )
}

/// Only these inserters. The published program has more, which conflict with nothing. The oracle visits every state; these
/// inserters would multiply the states without adding a trace.
pub(crate) fn indexer(threads: &[u32]) -> String {
    let insert = "m = 1; while m <= 4 { w = m * 11 + t; h = w * 7 % 128;
        while !cas(table[h], 0, w) { h = (h + 1) % 128; } m = m + 1; }";
    let threads = threads.iter().map(|t| format!("thread inserter(t in {t}..={t}) {{ {insert} }}\n"));
    format!("shared table[128] = 0;\n{}", threads.collect::<String>())
}

pub(crate) fn counters(n: u32, variables: &[&str]) -> String {
    let declared: Vec<_> = variables.iter().map(|name| format!("{name} = 0")).collect();
    let adds: String = variables.iter().map(|name| format!("add({name}, 1); ")).collect();
    format!("shared {}; thread t(i in 1..={n}) {{ {adds}}}", declared.join(", "))
}

pub(crate) fn lock2x(n: u32) -> String {
    format!("mutex m; thread t(i in 1..={n}) {{ lock(m); unlock(m); lock(m); unlock(m); }}")
}

pub(crate) fn philosophers(n: u32) -> String {
    format!(
        "mutex fork[{n}]; thread p(i in 0..={}) {{ j = (i + 1) % {n};
         lock(fork[i]); lock(fork[j]); unlock(fork[j]); unlock(fork[i]); }}",
        n - 1
    )
}

pub(crate) fn fib(n: u32) -> String {
    let half =
        |me: &str| format!("k = 0; while k < {n} {{ a = load(x); b = load(y); store({me}, a + b); k = k + 1; }}");
    format!("shared x = 1, y = 1; thread p {{ {} }} thread q {{ {} }}", half("x"), half("y"))
}

pub(crate) fn senders(n: u32, order: &str) -> String {
    format!(
        "channel c: {order}; thread s(i in 1..={n}) {{ send(c, i); }}
         thread r {{ k = 0; while k < {n} {{ recv(c); k = k + 1; }} }}"
    )
}

pub(crate) fn one_sender(order: &str) -> String {
    format!(
        "channel c: {order}; thread s {{ send(c, 1); send(c, 2); send(c, 3); }} thread r {{ recv(c); recv(c); recv(c); }}"
    )
}

pub(crate) fn two_phase_commit(n: u32) -> String {
    format!(
        "channel votes: unordered; thread participant(i in 1..={n}) {{ send(votes, choose(2)); }}
         thread coordinator {{ k = 0; yes = 0; while k < {n} {{ yes = yes + recv(votes); k = k + 1; }} }}"
    )
}

#[test]
fn shared_memory() {
    for (n, traces) in [(2, 4), (3, 8), (6, 64), (8, 256)] {
        check("readers", &readers(n), traces, 0);
    }
    for (n, traces) in [(1, 2), (2, 5), (3, 12), (4, 28), (5, 64), (6, 144)] {
        check("lastzero", &lastzero(n), traces, 0);
    }
    for (threads, traces) in [(&[0, 1, 2, 3][..], 1), (&[0, 11], 8), (&[0, 11, 1, 12], 64)] {
        check("indexer", &indexer(threads), traces, 0);
    }
    for (n, traces) in [(1, 1), (2, 2), (3, 6), (4, 24), (5, 120)] {
        check("ainc", &counters(n, &["x"]), traces, 0);
    }
    for (n, traces) in [(2, 4), (3, 36), (4, 576)] {
        check("binc", &counters(n, &["x", "y"]), traces, 0);
    }
    for (n, traces) in [(1, 3), (2, 19), (3, 141), (4, 1107)] {
        check("fib", &fib(n), traces, 0);
    }
}

#[test]
fn locks() {
    for (n, traces) in [(2, 6), (3, 90)] {
        check("lock2x", &lock2x(n), traces, 0);
    }
    for (n, traces) in [(2, 3), (3, 7), (4, 15)] {
        check("philosophers", &philosophers(n), traces, 1);
    }
}

#[test]
fn messages() {
    for order in ["unordered", "per-sender", "causal", "arrival"] {
        for (n, traces) in [(1, 1), (2, 2), (3, 6), (4, 24)] {
            check(order, &senders(n, order), traces, 0);
        }
    }
    for (order, traces) in [("unordered", 6), ("per-sender", 1), ("causal", 1), ("arrival", 1)] {
        check(order, &one_sender(order), traces, 0);
    }
    for (n, traces) in [(1, 2), (2, 8), (3, 48)] {
        check("two-phase commit", &two_phase_commit(n), traces, 0);
    }
}

#[test]
fn larger_programs_with_reduction_alone() {
    let dpor = |text: &str| explored(text, Optimal::new());
    assert_eq!(dpor(&readers(10)), (1024, 0, 0));
    for (n, traces) in [(7, 320), (8, 704), (10, 3328)] {
        assert_eq!(dpor(&lastzero(n)), (traces, 0, 0), "lastzero({n})");
    }
    for (n, traces) in [(12, 8), (13, 64), (14, 512), (15, 4096)] {
        let threads: Vec<_> = (0..n).collect();
        assert_eq!(dpor(&indexer(&threads)), (traces, 0, 0), "indexer({n})");
    }
}

#[test]
fn published_counts_of_blocked_executions() {
    let source = explored(&lastzero(5), Dpor::source());
    assert_eq!(source, (64, 33, 0), "lastzero(5) with source sets");
    let example = "shared x = 0, y = 0, z = 0; thread p { store(x, 1); } thread q { store(y, 1); }
        thread r { if load(y) == 0 { store(z, 1); } }
        thread s { if load(z) == 1 { if load(y) == 0 { store(x, 2); } } }";
    assert_eq!(explored(example, Dpor::source()), (5, 5, 0), "the example of POPL 2014 with source sets");
    assert_eq!(explored(example, Optimal::new()), (5, 0, 0));
}

#[test]
fn traces_of_depend_4_are_repeated_where_schedules_come_in_any_order() {
    let text =
        "shared x = 0, y = 0, z = 0; thread a { store(z, 1); } thread b { store(x, 1); } thread c { store(y, 1); }
        thread d { if load(x) == 1 { if load(y) == 1 { load(z); } } } thread e { if load(y) == 1 { load(z); } }
        thread f { store(x, 2); }";
    assert_eq!(explored(text, Optimal::new()), (30, 0, 0));
    for (mistake, executions) in [(Mistake::IgnoresNames, 34), (Mistake::NotParsimonious, 187)] {
        assert_eq!(explored(text, Optimal::new().with_mistake(mistake)).0, executions, "{mistake:?}");
    }
}
