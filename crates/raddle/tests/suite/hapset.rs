//! Search by orderings that were seen: the paper's examples, what is said, and what is kept.

use std::fs;
use std::sync::Arc;

use raddle::strategy::Hapset;
use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::{Explorer, thread};

use crate::learned::Kept;

/// One thread allocates and frees, the other checks and uses; the two of those are meant to be atomic.
fn alloc_use_free() {
    let pointer = Arc::new(AtomicUsize::new(0));
    let other = pointer.clone();
    let user = thread::spawn(move || {
        if other.load(SeqCst) != 0 {
            assert_ne!(other.load(SeqCst), 0, "nothing there");
        }
    });
    let owner = thread::spawn(move || {
        pointer.store(1, SeqCst);
        pointer.store(0, SeqCst);
    });
    user.join().unwrap();
    owner.join().unwrap();
}

/// One thread waits in a loop, the other lets it go on.
fn busy_waiting() {
    let (lock, flag) = (Arc::new(Mutex::new(())), Arc::new(AtomicUsize::new(0)));
    let setter = {
        let (lock, flag) = (lock.clone(), flag.clone());
        thread::spawn(move || {
            let _held = lock.lock().unwrap();
            flag.store(1, SeqCst);
        })
    };
    let waiter = thread::spawn(move || {
        loop {
            let _held = lock.lock().unwrap();
            if flag.load(SeqCst) != 0 {
                break;
            }
        }
    });
    setter.join().unwrap();
    waiter.join().unwrap();
}

#[test]
fn random_walks_come_first_if_asked_for() {
    let run = |walks| Explorer::new().strategy("hapset").learn(walks).workers(1).run(busy_waiting);
    let (alone, taught) = (run(0), run(20));
    assert!(!alone.failed() && !taught.failed(), "{alone}\n{taught}");
    assert!(alone.executions() < 20 && taught.executions() > 20, "{alone}\n{taught}");
    assert!(taught.to_string().contains("hapset, learning from 20 random walks, seed 0"), "{taught}");
    let report = Explorer::new().strategy("random").executions(10).learn(20).run(busy_waiting);
    assert_eq!(report.executions(), 10, "others make no use of it: {report}");
}

#[test]
fn an_atomicity_violation_is_something_new() {
    let kinds = ["hapset", "hapset:all", "hapset:baseline", "hapset:preemption", "hapset:preemption:2"];
    for strategy in kinds {
        let report = Explorer::new().strategy(strategy).run(alloc_use_free);
        assert!(report.failed() && report.executions() <= 8, "{strategy}: {report}");
    }
    let report = Explorer::new().strategy("hapset:preemption:1").run(alloc_use_free);
    assert!(!report.failed(), "it takes two preemptions: {report}");
}

#[test]
fn a_loop_that_waits_ends_after_two_executions() {
    let report = Explorer::new().strategy("hapset").run(busy_waiting);
    assert_eq!(report.executions(), 2, "{report}");
    let learned = Explorer::new().strategy(Hapset::new().learn(20, 1)).run(busy_waiting);
    assert_eq!(learned.executions(), 21, "one of its own, since all orderings are known by then: {learned}");
}

/// Threads that take turns at a lock.
fn turns(threads: usize) {
    let lock = Arc::new(Mutex::new(0));
    let turn = |_| {
        let lock = lock.clone();
        thread::spawn(move || {
            *lock.lock().unwrap() += 1;
            *lock.lock().unwrap() += 1;
        })
    };
    let threads: Vec<_> = (0..threads).map(turn).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn executions_hardly_grow_with_the_number_of_threads() {
    assert_eq!(Explorer::new().strategy("dpor").run(|| turns(3)).executions(), 90);
    // Of 6, 90, 2,520, 113,400 and 7,484,400.
    let grows_like_the_square = |times: u64, hapset: fn() -> Hapset| {
        let run = |threads| Explorer::new().strategy(hapset()).run(move || turns(threads)).executions();
        let counts: Vec<_> = (2..=6).map(run).collect();
        assert!((2..).zip(&counts).all(|(threads, &count)| count <= times * threads * threads), "{counts:?}");
    };
    grows_like_the_square(1, || Hapset::new().deepest_first());
    // What is nearest to the root is planned before what is deep has been learned, and all that is planned is run.
    grows_like_the_square(4, Hapset::new);
}

#[test]
fn a_selection_is_no_proof_and_says_so() {
    let report = Explorer::new().strategy("hapset").name("suite::turns").set("out", "").run(|| turns(2));
    insta::assert_snapshot!(report.to_string());
    assert!(!report.verified());
    let all = Explorer::new().strategy("hapset:all").run(|| turns(2));
    assert!(all.verified(), "{all}");
    assert!(all.to_string().contains("verified: every order is covered, in "), "{all}");
    let stopped = Explorer::new().strategy("hapset").executions(1).run(|| turns(2));
    assert!(stopped.to_string().contains("no failure in 1 order (a selection, stopped early: hapset)"), "{stopped}");
}

/// Threads that do different things to two cells and a lock: 200 executions and more, so that other workers come in.
fn mixed() {
    let (lock, cells) = (Arc::new(Mutex::new(0)), Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]));
    let thread = |who: usize| {
        let (lock, cells) = (lock.clone(), cells.clone());
        thread::spawn(move || {
            let first = cells[who % 2].load(SeqCst);
            *lock.lock().unwrap() += first;
            cells[(who + 1) % 2].store(first + 1, SeqCst);
            cells[who % 2].fetch_add(1, SeqCst);
        })
    };
    let threads: Vec<_> = (0..3).map(thread).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn several_workers_are_guided_and_see_all_of_the_rest() {
    let alone = Explorer::new().strategy("dpor").run(mixed);
    assert!(alone.verified() && alone.executions() > 300, "{alone}");
    for workers in [2, 4] {
        let all = Explorer::new().strategy("hapset:all").workers(workers).run(mixed);
        assert!(all.verified() && all.executions() >= alone.executions(), "{all}");
        for strategy in ["hapset", "hapset:baseline", "hapset:preemption", "hapset:preemption:2"] {
            let report = Explorer::new().strategy(strategy).workers(workers).run(mixed);
            assert!(!report.failed() && !report.verified(), "{report}");
            assert!(report.to_string().contains("ordering had been seen"), "{report}");
            let failing = Explorer::new().strategy(strategy).workers(workers).run(alloc_use_free);
            assert!(failing.failed() || strategy.ends_with(":1"), "{strategy}: {failing}");
        }
    }
}

#[test]
fn knowledge_is_used_by_the_next_search() {
    let kept = Kept::new("known_the_next_time");
    assert_eq!(kept.run(busy_waiting).executions(), 2);
    assert_eq!(kept.run(busy_waiting).executions(), 1, "all orderings are known");
    // What a search has learned on the way to a failure is not, so it is found again.
    let kept = Kept::new("found_the_next_time");
    assert!(kept.run(alloc_use_free).failed());
    assert!(kept.run(alloc_use_free).failed());
    assert!(!kept.file().exists());
}

#[test]
fn knowledge_of_another_build_or_a_stopped_search_is_not_used() {
    let kept = Kept::new("not_relied_on");
    let stopped = kept.explorer().executions(1).run(busy_waiting);
    assert!(stopped.executions() == 1 && !kept.file().exists(), "{stopped}");
    kept.run(busy_waiting);
    let text = fs::read_to_string(kept.file()).unwrap();
    let (before, rest) = text.split_once("\"build\":").unwrap();
    let (_, after) = rest.split_once(',').unwrap();
    fs::write(kept.file(), format!("{before}\"build\":7,{after}")).unwrap();
    assert_eq!(kept.run(busy_waiting).executions(), 2, "another build");
    assert_eq!(kept.run(busy_waiting).executions(), 1, "the same one again");
}

#[test]
fn a_file_that_is_broken_is_reported_and_set_aside() {
    let kept = Kept::new("broken");
    kept.run(busy_waiting);
    let whole = fs::read(kept.file()).unwrap();
    let aside = kept.file().with_extension("json.corrupt");
    let changed: Vec<u8> = whole.iter().map(|&byte| if byte == b'1' { b'2' } else { byte }).collect();
    let of_another = String::from_utf8(whole.clone()).unwrap().replace("suite::broken", "suite::token");
    let broken: [&[u8]; 6] =
        [b"", b"\xff\xfe", &whole[..whole.len() / 2], b"{}\n{}\n", &changed, of_another.as_bytes()];
    for text in broken {
        fs::write(kept.file(), text).unwrap();
        let report = kept.run(busy_waiting);
        assert_eq!(report.executions(), 2, "{report}");
        assert!(report.to_string().contains("learned.json, cannot be used"), "{report}");
        assert_eq!(fs::read(&aside).unwrap(), text);
        fs::remove_file(&aside).unwrap();
        let again = kept.run(busy_waiting);
        assert!(again.executions() == 1 && !again.to_string().contains("cannot be used"), "{again}");
    }
}

#[test]
fn a_crash_in_the_middle_of_writing_leaves_the_old_file() {
    let kept = Kept::new("crashed");
    kept.run(busy_waiting);
    let whole = fs::read(kept.file()).unwrap();
    // Files are written under another name first. Whoever crashed has left some of that, and somebody else may be at it still.
    fs::write(kept.out.join(".suite-crashed.learned.json.1-0.tmp"), &whole[..10]).unwrap();
    let report = kept.run(busy_waiting);
    assert!(report.executions() == 1 && !report.to_string().contains("cannot be used"), "{report}");
    assert!(fs::read(kept.file()).unwrap().len() >= whole.len() - 10);
}

#[test]
fn a_resumed_search_has_its_knowledge() {
    let sittings = |strategy: &'static str, name: &'static str, each: u64| {
        let kept = Kept::new(name);
        for sitting in 1.. {
            let explorer = Explorer::new().strategy(strategy).executions(each).workers(1).resume(true);
            let explorer = explorer.name(format!("suite::{name}")).regressions(false);
            let report = explorer.set("out", kept.out.to_str().unwrap()).run(mixed);
            if !report.to_string().contains("the next run continues it") {
                return (report, sitting);
            }
        }
        unreachable!("the numbers end before a search does")
    };
    for strategy in ["hapset", "hapset:baseline", "hapset:preemption"] {
        let (whole, _) = sittings(strategy, "in_one_sitting", 1_000_000);
        let (parts, needed) = sittings(strategy, "in_some_sittings", 7);
        assert!(needed > 1, "{parts}");
        assert_eq!(parts.verdict_line(), whole.verdict_line(), "{strategy}");
    }
    let (all, needed) = sittings("hapset:all", "all_in_some_sittings", 100);
    assert!(all.verified() && needed > 3, "{all}");
}

/// Tests of one name at the same time, each of which does something that the others do not.
#[test]
fn knowledge_of_simultaneous_searches_is_merged() {
    let flags = |at: usize| {
        let flag = Arc::new(AtomicUsize::new(0));
        let other = flag.clone();
        let setter = thread::spawn(move || match at {
            0 => other.store(1, SeqCst),
            1 => drop(other.swap(1, SeqCst)),
            _ => drop(other.fetch_add(1, SeqCst)),
        });
        flag.load(SeqCst);
        setter.join().unwrap();
    };
    for _ in 0..20 {
        let kept = Kept::new("at_once");
        std::thread::scope(|scope| {
            for at in 0..3 {
                let explorer = Explorer::new().strategy("hapset").name("suite::at_once").regressions(false);
                let explorer = explorer.set("out", kept.out.to_str().unwrap());
                scope.spawn(move || explorer.run(move || flags(at)));
            }
        });
        let text = fs::read_to_string(kept.file()).unwrap();
        let has = |verb: &str| text.contains(&format!("\"verb\":\"{verb}\""));
        assert!(has("store") && has("swap") && has("fetch_add") && has("load"), "{text}");
        assert_eq!(fs::read_dir(&kept.out).unwrap().count(), 2, "nothing else is left there but the lock");
    }
}
