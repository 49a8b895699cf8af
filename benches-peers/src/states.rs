//! All states of the same protocols, by Raddle and by stateright: how many there are, how many a second, and what memory each takes.

mod apart;
#[cfg(feature = "raddle")]
mod on_raddle;
mod on_stateright;
mod party;
mod paxos;
mod ping_pong;
mod two_phase;

pub use apart::Order;

#[cfg(feature = "raddle")]
pub use on_raddle::ring;

use self::apart::Answer;
use self::party::{Cast, Party};
use crate::experiment::{Comparison, Metric};
use crate::library::Missing;
use crate::measure::{Effort, Figure};
#[cfg(feature = "raddle")]
use raddle_strategies::states::States;
use std::fmt;
use std::str::FromStr;

/// A protocol and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// With so many resource managers.
    TwoPhase(usize),
    /// Two proposers that begin so many ballots.
    Paxos([usize; 2]),
    /// Three pairs, with balls that are hit so often.
    PingPong(u32),
}

/// What is measured.
pub const PROTOCOLS: [Protocol; 4] =
    [Protocol::TwoPhase(4), Protocol::TwoPhase(5), Protocol::Paxos([1, 1]), Protocol::PingPong(60)];

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Protocol::TwoPhase(resources) => write!(f, "2pc-{resources}"),
            Protocol::Paxos([one, other]) => write!(f, "paxos-{one}{other}"),
            Protocol::PingPong(most) => write!(f, "ping-pong-{most}"),
        }
    }
}

impl FromStr for Protocol {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, size) = text.rsplit_once('-').unwrap_or((text, ""));
        match (name, size.parse::<u8>()) {
            ("2pc", Ok(resources @ 1..=16)) => Ok(Protocol::TwoPhase(resources.into())),
            ("paxos", Ok(ballots @ 0..=99)) => Ok(Protocol::Paxos([ballots / 10, ballots % 10].map(usize::from))),
            ("ping-pong", Ok(most)) => Ok(Protocol::PingPong(most.into())),
            _ => Err(format!("there is no protocol `{text}`; there are: 2pc-N, paxos-NM, ping-pong-N")),
        }
    }
}

/// Someone who searches all states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Searcher {
    /// `states`: a plain depth-first search.
    Raddle,
    /// `delay:doubling`, the default: with round robin, strata of twice as many delays each.
    RaddleDoubling,
    /// `delay`: with round robin and one delay more in each stratum.
    RaddleStrata,
    StaterightDfs,
    StaterightBfs,
}

impl Searcher {
    pub const ALL: [Searcher; 5] = [
        Searcher::Raddle,
        Searcher::RaddleDoubling,
        Searcher::RaddleStrata,
        Searcher::StaterightDfs,
        Searcher::StaterightBfs,
    ];

    /// In the order of [`ALL`](Self::ALL).
    const NAMES: &'static [&'static str] =
        &["raddle-dfs", "raddle-doubling", "raddle-strata", "stateright-dfs", "stateright-bfs"];

    fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Why it is not asked to search, if it is not.
    fn obstacle(self, protocol: Protocol) -> Option<Missing> {
        match (self, protocol) {
            (Searcher::Raddle | Searcher::RaddleDoubling | Searcher::RaddleStrata, _) if !cfg!(feature = "raddle") => {
                Some(Missing {
                    label: "not built".into(),
                    reason: "not built: built without the feature `raddle`".to_owned(),
                })
            }
            (Searcher::RaddleStrata, Protocol::TwoPhase(6..)) => Some(Missing {
                label: "not measured".into(),
                reason: "not measured: raddle-strata takes more than a minute".to_owned(),
            }),
            _ => None,
        }
    }

    /// Searches; how many distinct states there are.
    fn search(self, protocol: Protocol) -> u64 {
        match protocol {
            Protocol::TwoPhase(resources) => self.count(two_phase::cast(resources)),
            Protocol::Paxos(ballots) => self.count(paxos::cast(ballots)),
            Protocol::PingPong(most) => self.count(ping_pong::cast(3, most)),
        }
    }

    fn count<P: Party>(self, cast: Cast<P>) -> u64 {
        match self {
            #[cfg(feature = "raddle")]
            Searcher::Raddle => on_raddle::count(cast, &mut States::default()),
            #[cfg(feature = "raddle")]
            Searcher::RaddleDoubling => on_raddle::count(cast, &mut on_raddle::by_strata().doubling()),
            #[cfg(feature = "raddle")]
            Searcher::RaddleStrata => on_raddle::count(cast, &mut on_raddle::by_strata()),
            #[cfg(not(feature = "raddle"))]
            Searcher::Raddle | Searcher::RaddleDoubling | Searcher::RaddleStrata => {
                panic!("built without the feature `raddle`")
            }
            Searcher::StaterightDfs => on_stateright::depth_first(cast),
            Searcher::StaterightBfs => on_stateright::breadth_first(cast),
        }
    }
}

impl FromStr for Searcher {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|searcher| searcher.name() == text);
        known.ok_or_else(|| format!("nobody called `{text}` searches states; there are: {}", Self::NAMES.join(", ")))
    }
}

/// States, states a second and bytes a state, side by side. The lowest of several rounds; who searches takes turns.
pub fn compare(protocol: Protocol, effort: &Effort, mut show: impl FnMut(Comparison)) {
    let mut best: [Result<Option<Answer>, Missing>; 5] = [const { Ok(None) }; 5];
    for _ in 0..effort.rounds {
        for (searcher, best) in Searcher::ALL.into_iter().zip(&mut best) {
            let Ok(before) = best else { continue };
            if let Some(missing) = searcher.obstacle(protocol) {
                *best = Err(missing);
                continue;
            }
            let broken = |reason| Missing { label: "broke down".into(), reason: format!("broke down: {reason}") };
            let answer = Order { searcher, protocol }.carry_out().map_err(broken);
            *best = answer.map(|answer| Some(before.take().map_or(answer, |before| before.better(answer))));
        }
    }
    let answers = best.map(|best| best.map(|answer| answer.expect("there is at least one round")));
    let counts: Vec<u64> = answers.iter().flatten().map(|answer| answer.states).collect();
    assert!(counts.windows(2).all(|pair| pair[0] == pair[1]), "{protocol} has different states on each: {counts:?}");
    let mut give = |metric, figure: fn(&Answer) -> f64| {
        let figures: Vec<Figure> =
            answers.iter().map(|answer| answer.as_ref().map(figure).map_err(Clone::clone)).collect();
        show(Comparison { program: protocol.to_string(), metric, columns: Searcher::NAMES, figures });
    };
    give(Metric::States, |answer| answer.states as f64);
    give(Metric::StatesPerSecond, |answer| answer.states as f64 / answer.cpu.as_secs_f64());
    give(Metric::BytesPerState, |answer| answer.peak_bytes as f64 / answer.states as f64);
}

#[cfg(all(test, feature = "raddle"))]
mod tests {
    use super::*;

    #[test]
    fn all_searchers_find_the_same_states() {
        // A ball that is hit four times has five states, and there are three of them.
        for (protocol, expected) in [
            (Protocol::PingPong(4), Some(5 * 5 * 5)),
            (Protocol::TwoPhase(2), None),
            (Protocol::TwoPhase(3), Some(2_660)),
            (Protocol::Paxos([1, 0]), None),
        ] {
            let counts = Searcher::ALL.map(|searcher| searcher.search(protocol));
            let expected = expected.unwrap_or(counts[2]);
            assert_eq!(counts, [expected; 5], "{protocol}");
        }
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        for protocol in PROTOCOLS {
            assert_eq!(protocol.to_string().parse(), Ok(protocol));
        }
        for searcher in Searcher::ALL {
            assert_eq!(searcher.name().parse(), Ok(searcher));
        }
        assert!("3pc-2".parse::<Protocol>().is_err());
    }
}
