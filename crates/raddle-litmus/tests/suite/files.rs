//! The programs in `litmus/` have the counts they say they have.

use std::fs;
use std::path::Path;

use raddle_litmus::oracle::{self, Uncounted};
use raddle_litmus::syntax::Expected;
use raddle_litmus::{Litmus, Program};

use crate::ROOM;

/// Too many states for the oracle; the same programs in a smaller form are in `counts.rs`.
const TOO_LARGE: [&str; 1] = ["indexer-13.litmus"];

#[test]
fn expectations_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
    let (mut seen, mut both) = (0, 0);
    for entry in fs::read_dir(&folder).expect("the folder is in the repository") {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("names are plain").to_owned();
        let text = fs::read_to_string(&path).expect("the file can be read");
        let litmus = Litmus::parse(&text).unwrap_or_else(|error| panic!("{name}:{error}"));
        let program = Program::new(&litmus, &name).unwrap_or_else(|error| panic!("{name}:{error}"));
        let traces = litmus.expected(&Expected::Traces).unwrap_or_else(|| panic!("{name} says no count"));
        seen += 1;
        let large = TOO_LARGE.contains(&name.as_str());
        match oracle::traces(&program, if large { 100 } else { ROOM }) {
            Ok(counted) => {
                assert_eq!(counted.count.all, traces.into(), "{name}");
                assert_eq!(counted.count.failing, litmus.expected(&Expected::Failing).unwrap_or(0).into(), "{name}");
                if let Ok(orders) = oracle::orders(&program, 4_000) {
                    assert_eq!(orders.count, counted.count, "{name}");
                    both += 1;
                }
            }
            Err(why) => assert!(large && matches!(why, Uncounted::TooLarge(_)), "{name}: {why}"),
        }
    }
    assert!(seen >= 50 && both >= 40, "only {seen} programs in {}, {both} counted twice", folder.display());
}
