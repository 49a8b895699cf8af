//! If the strategy has an order of its own, the reported failure does not depend on the number of workers.

use raddle_engine::rng::Rng;
use raddle_engine::search::{Limits, Search, SnapshotStack, Status, Worker};
use raddle_engine::strategy::{Sharing, Strategy};
use raddle_strategies::portfolio::Portfolio;
use raddle_strategies::samplers::pct::Pct;
use raddle_strategies::samplers::pos::Pos;
use raddle_strategies::samplers::random::Random;
use raddle_strategies::samplers::surw::Surw;
use raddle_strategies::tree::exhaustive::Exhaustive;

use crate::workers::Maker;

type BySeed = fn(u64) -> Box<dyn Strategy>;

/// The failure that a search by so many workers reports. The other workers join as in a real search: after the first worker has run alone
/// for a while, and has learned what it can.
fn first_failure(make: Maker<'_>, text: &str, turns: u64, workers: usize) -> Option<(u64, String)> {
    let mut program = crate::program(text);
    let limits = Limits { executions: Some(100_000), ..Limits::default() };
    let mut first = make();
    let alone = match first.sharing() {
        Sharing::ByNumber(by_number) => by_number.warm_up().max(200),
        _ => 200,
    };
    let search = Search::new(&mut *first, &limits, workers);
    let mut all_workers = vec![Some((search.worker(&mut *first), SnapshotStack::default()))];
    let mut rng = Rng::new(turns);
    for turn in 0.. {
        // An execution takes three turns; taking a piece takes at most three.
        if turn == 3 * (alone + 5) {
            all_workers.extend((1..workers).map(|_| Some((search.join()?, SnapshotStack::default()))));
        }
        let at = rng.below(all_workers.len() as u32) as usize;
        let turn =
            |(worker, snapshots): &mut (Worker<'_>, SnapshotStack<_>)| worker.work_a_little(&mut program, snapshots);
        let over = all_workers[at].as_mut().and_then(turn) == Some(Status::Over);
        if over {
            all_workers[at] = None;
        }
        if all_workers.iter().all(Option::is_none) {
            break;
        }
    }
    let found = search.close(Vec::new()).found?;
    Some((found.after, format!("{:?} {:?}", found.script, found.failure)))
}

#[test]
fn the_first_failure_does_not_depend_on_the_worker() {
    // Fails if the first threads of so many, from the last one down, take their steps in that order: one execution in 720, and so on. The
    // last thread can take three of these steps at once. So several subtrees of the root contain failing executions, and the first in
    // depth-first order is not the first that several workers reach.
    let stairs = |steps: u32, short_cut: &str| {
        format!(
            "shared x = 0; thread t(i in 0..=6) {{ s = cas(x, 6 - i, 7 - i); }} {short_cut}
             final {{ assert load(x) < {steps}; }}"
        )
    };
    let strategies: [(u32, &str, BySeed); 7] = [
        (6, "", |seed| Box::new(Random::new(seed))),
        (6, "", |seed| Box::new(Pct::new(seed, 3))),
        (6, "", |seed| Box::new(Pos::new(seed))),
        (6, "", |seed| Box::new(Surw::new(seed))),
        (6, "", |seed| Box::new(Portfolio::new(seed))),
        (7, "", |seed| Box::new(Portfolio::new(seed))),
        (6, "thread z { s = cas(x, 0, 3); }", |_| Box::new(Exhaustive::depth_first())),
    ];
    let mut shared = 0;
    for (steps, short_cut, make) in strategies {
        let text = stairs(steps, short_cut);
        for seed in 0..10 {
            let make = || make(seed);
            let alone = first_failure(&make, &text, 0, 1).expect("it fails");
            for (workers, turns) in [(2, seed), (5, seed)] {
                let several = first_failure(&make, &text, turns, workers).expect("it fails");
                let name = make().name();
                assert_eq!(several.1, alone.1, "{name}, seed {seed}, {workers} workers, {} and {}", several.0, alone.0);
                shared += u64::from(alone.0 > 1_000);
            }
        }
    }
    assert!(shared > 20, "only {shared} were found by several");
}
