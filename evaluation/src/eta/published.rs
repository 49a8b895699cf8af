//! What the paper on Eta reports (its Tables 1 and 2), and the programs by their names there.

use std::fmt;
use std::time::Duration;

use programs::eta::{Counted, Eta, TABLE};

/// A row of the paper's tables.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// The program, with the numbers of its executions and traces.
    pub counted: Counted,
    /// Time for one execution when all are run.
    pub per_execution: Duration,
    /// Executions of its reduction.
    pub reduced: u64,
}

/// Executions, seconds, and executions of its reduction. Of Phils(3) the paper ran a part, in an hour.
const TIMES: [(u64, f64, u64); 9] = [
    (1_946, 12.6, 289),
    (10_933, 75.2, 765),
    (18_275, 133.8, 1_235),
    (82_719, 623.2, 12_216),
    (239_466, 1_885.6, 25_887),
    (150, 0.8, 44),
    (379_077, 3_600.0, 67_192),
    (2_048, 18.2, 1_024),
    (65_536, 912.8, 32_768),
];

/// All rows, in the paper's order.
pub fn rows() -> impl Iterator<Item = Published> {
    TABLE.into_iter().zip(TIMES).map(|(counted, (executions, seconds, reduced))| Published {
        counted,
        per_execution: Duration::from_secs_f64(seconds / executions as f64),
        reduced,
    })
}

/// A program as the paper writes it: `Store(2,2,2,3)`.
#[derive(Clone, Copy, Debug)]
pub struct Name(pub Eta);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Eta::Store(front_ends, back_ends, clients, requests) => {
                write!(f, "Store({front_ends},{back_ends},{clients},{requests})")
            }
            Eta::Phils(n) => write!(f, "Phils({n})"),
            Eta::PingPong(n) => write!(f, "PingPong({n})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's own range: 6.5 to 14 ms, but for the smallest program, whose 0.8 s are rounded.
    #[test]
    fn times_belong_to_their_rows() {
        for row in rows().filter(|row| row.counted.executions > 150) {
            let ms = row.per_execution.as_secs_f64() * 1e3;
            assert!((6.4..14.0).contains(&ms), "{}: {ms} ms", Name(row.counted.program));
            assert!(row.reduced < row.counted.executions);
        }
    }
}
