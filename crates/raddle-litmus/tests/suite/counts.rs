//! The oracle against the published counts. Each program is small text made from its parameters.

use raddle_litmus::oracle::{self, Count};

use crate::{ROOM, program};

fn check(name: &str, text: &str, traces: u128, failing: u128) {
    let counted = oracle::traces(&program(text), ROOM).unwrap_or_else(|why| panic!("{name}: {why}"));
    assert_eq!(counted.count, Count { all: traces, failing }, "{name}\n{text}");
}

fn readers(n: u32) -> String {
    format!("shared x = 0; thread w {{ store(x, 1); }} thread r(i in 1..={n}) {{ load(x); }}")
}

fn lastzero(n: u32) -> String {
    format!(
        "shared a[{}] = 0; thread reader {{ i = {n}; while load(a[i]) != 0 {{ i = i - 1; }} }}
         thread writer(j in 1..={n}) {{ t = load(a[j - 1]); store(a[j], t + 1); }}",
        n + 1
    )
}

/// Only the inserters that are named: those of PUBLISHED.md that meet nobody are left out, for the oracle looks at every
/// state, and they multiply those without adding a trace.
fn indexer(threads: &[u32]) -> String {
    let insert = "m = 1; while m <= 4 { w = m * 11 + t; h = w * 7 % 128;
        while !cas(table[h], 0, w) { h = (h + 1) % 128; } m = m + 1; }";
    let threads = threads.iter().map(|t| format!("thread inserter(t in {t}..={t}) {{ {insert} }}\n"));
    format!("shared table[128] = 0;\n{}", threads.collect::<String>())
}

fn counters(n: u32, variables: &[&str]) -> String {
    let declared: Vec<_> = variables.iter().map(|name| format!("{name} = 0")).collect();
    let adds: String = variables.iter().map(|name| format!("add({name}, 1); ")).collect();
    format!("shared {}; thread t(i in 1..={n}) {{ {adds}}}", declared.join(", "))
}

fn lock2x(n: u32) -> String {
    format!("mutex m; thread t(i in 1..={n}) {{ lock(m); unlock(m); lock(m); unlock(m); }}")
}

fn philosophers(n: u32) -> String {
    format!(
        "mutex fork[{n}]; thread p(i in 0..={}) {{ j = (i + 1) % {n};
         lock(fork[i]); lock(fork[j]); unlock(fork[j]); unlock(fork[i]); }}",
        n - 1
    )
}

fn fib(n: u32) -> String {
    let half =
        |me: &str| format!("k = 0; while k < {n} {{ a = load(x); b = load(y); store({me}, a + b); k = k + 1; }}");
    format!("shared x = 1, y = 1; thread p {{ {} }} thread q {{ {} }}", half("x"), half("y"))
}

fn senders(n: u32, order: &str) -> String {
    format!(
        "channel c: {order}; thread s(i in 1..={n}) {{ send(c, i); }}
         thread r {{ k = 0; while k < {n} {{ recv(c); k = k + 1; }} }}"
    )
}

fn one_sender(order: &str) -> String {
    format!(
        "channel c: {order}; thread s {{ send(c, 1); send(c, 2); send(c, 3); }} thread r {{ recv(c); recv(c); recv(c); }}"
    )
}

fn two_phase_commit(n: u32) -> String {
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
