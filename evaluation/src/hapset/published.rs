//! Samplers on SCTBench, as their own artifacts report: mean schedules to the first bug over 20 trials.

/// A program and what is reported of it: SURW, PCT with depth 3, POS, random walks.
pub struct Published {
    pub program: &'static str,
    pub surw: &'static str,
    pub pct: &'static str,
    pub pos: &'static str,
    pub random: &'static str,
}

/// The table.
pub static SAMPLERS: [Published; 6] = [
    Published { program: "reorder_10", surw: "17", pct: "3225 (16/20)", pos: "0/20", random: "0/20" },
    Published { program: "reorder_20", surw: "6", pct: "3005", pos: "0/20", random: "0/20" },
    Published { program: "twostage_20", surw: "6", pct: "159", pos: "156", random: "0/20" },
    Published { program: "twostage_100", surw: "454", pct: "7466 (3/20)", pos: "6674 (3/20)", random: "0/20" },
    Published { program: "stringbuffer-jdk1.4", surw: "8", pct: "281", pos: "23", random: "2243 (19/20)" },
    Published { program: "WorkStealQueue", surw: "6", pct: "48", pos: "12", random: "–" },
];
