//! Programs with known bugs, written as ordinary users of `raddle`, and what is known of each exactly.
//!
//! The small ones share memory through atomics only, one step per access, and start all their threads before any of them
//! steps, so that their orders can be counted and the chance of a random walk worked out.

#![forbid(unsafe_code)]

pub mod bita;
pub mod delay;
pub mod eta;
pub mod small;

/// What is known of a program.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// What it is called in the literature.
    pub name: &'static str,
    /// The program.
    pub body: fn(),
    /// The chance that one uniform random walk shows the bug.
    pub chance: f64,
}

/// The programs whose figures are known exactly.
pub const EXACT: [Known; 7] = [
    Known { name: "lazy01", body: small::lazy01, chance: 1.0 / 3.0 },
    Known { name: "token_ring", body: small::token_ring, chance: 1.0 / 6.0 },
    Known { name: "deadlock01", body: small::deadlock01, chance: 0.5 },
    Known { name: "bluetooth_driver", body: small::bluetooth_driver, chance: 0.0967 },
    Known { name: "twostage", body: small::twostage, chance: 1.0 / 64.0 },
    Known { name: "reorder_3", body: small::reorder_3, chance: 0.0494 },
    Known { name: "philosophers", body: small::philosophers_3, chance: 1.0 / 3.0 },
];
