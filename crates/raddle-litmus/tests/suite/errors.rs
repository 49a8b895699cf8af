//! Error messages for texts that are no programs.

use raddle_litmus::{Litmus, Program};

fn mistake(text: &str) -> String {
    let checked = Litmus::parse(text).and_then(|litmus| Program::new(&litmus, "test"));
    checked.map_or_else(|error| error.to_string(), |_| format!("nothing is wrong with {text}"))
}

#[test]
fn mistakes_name_their_place_and_what_was_expected() {
    let cases = [
        ("shared x = 0", "1:13: expected `,` or `;`, found the end of the file"),
        ("shared x = y;", "1:12: expected a number, found `y`"),
        ("shared = 0;", "1:8: expected a name, found `=`"),
        ("shared thread = 0;", "1:8: expected a name, found `thread`"),
        ("lock m;", "1:1: expected `shared`, `mutex`, `channel`, `thread` or `final`, found `lock`"),
        ("channel c: fifo;", "1:12: expected `arrival`, `per-sender`, `causal` or `unordered`, found `fifo`"),
        (
            "channel c: per_sender;",
            "1:12: expected `arrival`, `per-sender`, `causal` or `unordered`, found `per_sender`",
        ),
        ("channel c: per-thread;", "1:16: expected `sender`, found `thread`"),
        ("mutex m[0];", "1:9: an array has 1 to 65536 elements, not 0"),
        ("thread t", "1:9: expected `(` or `{`, found the end of the file"),
        ("thread t(i in 1..3) {}", "1:16: expected `..=`, found `..`"),
        ("thread t(i of 1..=3) {}", "1:12: expected `in`, found `of`"),
        ("thread t(i in 3..=1) {}", "1:10: a range has 1 to 65536 numbers: 3..=1"),
        ("thread t {\n  x = ;\n}", "2:7: expected a value, found `;`"),
        ("thread t {\n  a = 1\n}", "3:1: expected `;`, found `}`"),
        ("thread t { if { } }", "1:15: expected a condition, found `{`"),
        ("thread t { a = (1; }", "1:18: expected `)`, found `;`"),
        ("thread t { a = 1 < 2 < 3; }", "1:22: comparisons cannot be chained: use parentheses"),
        (
            "thread t { a = 99999999999999999999; }",
            "1:16: expected a number that fits in 64 bits, found `99999999999999999999`",
        ),
        ("thread t { a = 1 # 2; }", "1:18: expected a name, a number or an operator, found `#`"),
        (
            "thread t { swap(x, 1); }",
            "1:12: expected one of `load`, `store`, `cas`, `add`, `lock`, `unlock`, `trylock`, `send`, `recv`, `choose`, found `swap`",
        ),
        ("shared x = 0; thread t { cas(x, 1); }", "1:34: expected `,`, found `)`"),
        ("shared x = 0; thread t { load(x, 1); }", "1:32: expected `)`, found `,`"),
        ("thread t { lock(3); }", "1:17: expected the name of a mutex, found `3`"),
        ("thread t { a = 1;", "1:18: expected a statement or `}`, found the end of the file"),
        ("final { } final { }", "1:11: `final` is declared twice"),
        ("//! trace: 3\n", "1:4: expected `traces: N`, `failing: N` or `blocked(strategy): N`, found `trace: 3`"),
    ];
    for (text, message) in cases {
        assert_eq!(mistake(text), message, "{text}");
    }
}

#[test]
fn names_must_mean_what_they_are_used_for() {
    let cases = [
        ("shared x = 0; mutex x;", "1:21: `x` is declared twice"),
        ("thread t { load(x); }", "1:17: unknown name `x`: declare it with `shared`"),
        ("thread t { lock(m); }", "1:17: unknown name `m`: declare it with `mutex`"),
        ("thread t { recv(c); }", "1:17: unknown name `c`: declare it with `channel`"),
        ("thread t { a = b; }", "1:16: unknown name `b`: this thread never gives it a value"),
        ("shared x = 0; thread t { x = 1; }", "1:26: `x` is a shared variable, not a local variable: use `store`"),
        ("shared x = 0; thread t { a = x; }", "1:30: `x` is shared: read it with `load(x)`"),
        ("mutex m; thread t { a = m; }", "1:25: `m` is a mutex, not a value"),
        ("mutex m; thread t(m in 1..=2) { }", "1:19: `m` is a mutex, not a local variable"),
        ("mutex m; thread t { load(m); }", "1:26: `load` needs a shared variable; `m` is a mutex"),
        ("shared x = 0; thread t { load(x[0]); }", "1:31: `x` is not an array"),
        ("shared a[2] = 0; thread t { load(a); }", "1:34: `a` is an array of 2: say which, as in `a[0]`"),
        ("shared a[2] = 0; thread t { load(a[2]); }", "1:34: `a` has elements 0 to 1, not 2"),
        (
            "shared x = 0; thread t { a = store(x, 1); }",
            "1:30: `store` has no value: it stands on its own, as in `store(x, 1);`",
        ),
        ("final { a = choose(2); }", "1:13: `final` takes no part in the search: nothing to choose there"),
    ];
    for (text, message) in cases {
        assert_eq!(mistake(text), message, "{text}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let text = format!("thread t {{ a = {}1; }}", "(".repeat(100_000));
    assert!(mistake(&text).ends_with("nested more than 200 levels deep"));
    let text = format!("thread t {{ a = {}1; }}", "!".repeat(100_000));
    assert!(mistake(&text).ends_with("nested more than 200 levels deep"));
    let text = format!("thread t {{ {}", "if 1 { } else ".repeat(50_000));
    assert!(mistake(&text).ends_with("nested more than 200 levels deep"));
}

#[test]
fn long_chains_are_refused() {
    let said = "more than 1000 operators in one chain: split it over several statements";
    let chain = |operators: usize| format!("1{}", "+1".repeat(operators));
    let longest = format!("thread t {{ a = {}; }}", chain(1_000));
    assert!(mistake(&longest).starts_with("nothing is wrong"));
    assert!(Litmus::parse(&longest).is_ok_and(|litmus| litmus.to_string().matches('+').count() == 1_000));
    assert!(mistake(&format!("thread t {{ a = {}; }}", chain(50_000))).ends_with(said));
    // Each of these chains is short enough, but they are nested.
    let nested = (0..9).fold("1".to_owned(), |inner, _| format!("({inner}){}", "*1".repeat(150)));
    assert!(mistake(&format!("thread t {{ a = {nested}; }}")).ends_with(said));
    let called = format!("shared x[2]; thread t {{ a = load(x[{}]){}; }}", chain(600), "+1".repeat(600));
    assert!(mistake(&called).ends_with(said));
}

#[test]
fn programs_that_would_take_much_memory_are_refused() {
    let arrays: String = (0..5).map(|i| format!("shared a{i}[65536]; ")).collect();
    assert!(mistake(&arrays).contains("more than 262144 shared variables, mutexes and channels"));
    assert!(mistake("thread t(i in 1..=32769) { }").ends_with("more than 32768 threads"));
    assert!(mistake(&"thread t { } ".repeat(32_769)).ends_with("more than 32768 threads"));
    let long = format!("thread t(i in 1..=30000) {{ {} }}", "a = 1; ".repeat(100));
    assert!(mistake(&long).ends_with("more than 1048576 instructions and local variables in all threads together"));
    let text = " ".repeat((1 << 20) + 1);
    assert_eq!(mistake(&text), "1:1: a program has at most 1048576 bytes, this one has 1048577");
}
