//! The programs of the paper on learned ordering constraints: how each bug is found, and that nothing is found where nothing is wrong.

#[path = "suite/held.rs"]
mod held;

use programs::hapset::{KINDS, bugs, correct};
use programs::sctbench;
use raddle::strategy::Hapset;

use self::held::{Found, explore, kind};

/// One line for each bug.
static FOUND: [Found; 16] = [
    Found::by("thrift", "random", 1, 200),
    Found::by("aget", "random", 1, 50),
    Found::by("pbzip2", "dpor", 1, 50),
    Found::by("pbzip2_f", "dpor", 1, 50),
    Found::by("pfscan", "random", 1, 200),
    Found::by("MysqlLog", "random", 1, 50),
    Found::by("NodeState", "dpor", 1, 50),
    Found::by("LoadScript", "dpor", 1, 50),
    Found::by("SeekToItem", "dpor", 1, 50),
    Found::by("UpdateTimer", "dpor", 1, 50),
    Found::by("FileTransport", "dpor", 1, 50),
    Found::by("CreateThread", "dpor", 1, 50),
    Found::by("ReadWriteProc", "dpor", 1, 50),
    Found::by("OpenInputStream", "dpor", 1, 50),
    Found::by("HttpConnect", "dpor", 1, 50),
    Found::by("TimerThread", "dpor", 1, 50),
];

#[test]
fn every_bug_is_found_and_is_what_it_should_be() {
    held::every_bug_is_found(bugs(), &FOUND);
}

/// More executions than it takes, and far fewer than there are orders.
#[test]
fn the_guided_search_finds_every_bug() {
    for program in bugs() {
        let report = raddle::Explorer::new().strategy("hapset").executions(200).run(program.run);
        assert_eq!(report.failure().map(raddle::Failure::kind), program.failure, "{}: {report}", program.label);
    }
}

/// These are found near the root, and once all that is deep was run, the way there has nothing new in it.
#[test]
fn what_is_nearest_to_the_root_has_its_turn() {
    for label in ["queue", "twostage_20", "IWSQWithState", "StateWSQ"] {
        let program = sctbench::bugs().find(|program| program.label == label).expect("it is one of them");
        let search =
            |hapset: Hapset| raddle::Explorer::new().strategy(hapset).workers(1).executions(100).run(program.run);
        let report = search(Hapset::new());
        assert_eq!(report.failure().map(raddle::Failure::kind), program.failure, "{label}: {report}");
        let report = search(Hapset::new().deepest_first());
        assert!(!report.failed(), "{label}: {report}");
    }
}

#[test]
fn taking_turns_shows_no_bug() {
    held::turns_show_only(&[], bugs().chain(correct()));
}

#[test]
fn bugs_are_there_with_any_number_of_threads() {
    held::families_are_alike(bugs().chain(correct()), |family| [family.least, family.most]);
}

#[test]
fn each_bug_is_of_a_kind() {
    let labels: Vec<_> = bugs().map(|program| program.label).collect();
    assert_eq!(labels, KINDS.map(|(label, _)| label));
    // Whatever it is about, a bug of these programs shows as a wrong result or as threads that wait for ever.
    for (program, (label, about)) in bugs().zip(KINDS) {
        assert!(about != "deadlock" || program.failure == Some("deadlock"), "{label}");
    }
}

/// Those with more than ten thousand orders are left out.
static VERIFIED: [&str; 13] = [
    "aget_ok",
    "pfscan_ok",
    "MysqlLog_ok",
    "NodeState_ok",
    "LoadScript_ok",
    "SeekToItem_ok",
    "UpdateTimer_ok",
    "FileTransport_ok",
    "CreateThread_ok",
    "ReadWriteProc_ok",
    "OpenInputStream_ok",
    "HttpConnect_ok",
    "TimerThread_ok",
];

#[test]
fn correct_programs_pass() {
    held::correct_programs_pass(correct(), &VERIFIED);
}

/// The fewest preemptions that show a bug, where a search of so few ends soon. An atomicity violation takes one; it is two switches of
/// threads, the second of which is free where the other thread ends.
#[test]
fn bugs_need_so_many_preemptions() {
    let needed = [
        ("aget", 1),
        ("pfscan", 1),
        ("MysqlLog", 1),
        ("NodeState", 1),
        ("LoadScript", 1),
        ("SeekToItem", 1),
        ("UpdateTimer", 1),
        ("FileTransport", 1),
        ("CreateThread", 1),
        ("ReadWriteProc", 1),
        ("OpenInputStream", 0),
        ("HttpConnect", 1),
        ("TimerThread", 2),
    ];
    for (label, fewest) in needed {
        let program = bugs().find(|program| program.label == label).expect("the table is about these programs");
        let search = |bound: u32| explore(program, &format!("preemption:{bound}"), 0, 10_000);
        assert_eq!(kind(&search(fewest)), program.failure, "{label}");
        if let Some(fewer) = fewest.checked_sub(1) {
            let report = search(fewer);
            assert!(!report.failed() && report.executions() < 10_000, "{label}: {report}");
        }
    }
}
