//! The programs that are searched: litmus texts, threads, actors on threads, and models. Small, so that most searches of them end.

mod actors;
mod mixed;
mod models;
mod relay;
mod threads;

use std::path::Path;

use raddle_litmus::{Litmus, Program};

use crate::model::Model;

/// A program, and how far a search of it goes.
pub(super) struct Subject {
    pub(super) name: &'static str,
    pub(super) body: GoldenBody,
    /// At most this many executions.
    pub(super) executions: u64,
    /// At most this many steps in one execution.
    pub(super) steps: u32,
}

/// What is run.
pub(super) enum GoldenBody {
    /// What a litmus text says.
    Litmus(Program),
    /// What a test does, in threads and actors.
    Threads(fn()),
    /// How a model is made.
    Model(fn() -> Model),
}

/// Enough for many systematic searches of these programs to end, and for samplers to have learned from the first 32.
const EXECUTIONS: u64 = 40;

/// Of one program, as many executions as it takes until the strategies that probe have probed, and the portfolio has sampled.
const MANY_EXECUTIONS: u64 = 1_150;

/// More than any execution here takes.
const STEPS: u32 = 200;

const LITMUS: [(&str, u64); 10] = [
    ("cas-increment-3", MANY_EXECUTIONS),
    ("choose-late", EXECUTIONS),
    ("lastzero-5", EXECUTIONS),
    ("optimal-example", EXECUTIONS),
    ("philosophers-3", EXECUTIONS),
    ("store-buffering", EXECUTIONS),
    ("three-of-four-causal", EXECUTIONS),
    ("trylock-2", EXECUTIONS),
    ("two-by-two-unordered", EXECUTIONS),
    ("two-phase-commit-3", EXECUTIONS),
];

/// The text of a litmus file.
fn read(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../litmus/{name}.litmus"));
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn litmus(name: &'static str, text: &str, executions: u64) -> Subject {
    let program = Program::new(&Litmus::parse(text).expect("it is well written"), name).expect("it can be run");
    Subject { name, body: GoldenBody::Litmus(program), executions, steps: STEPS }
}

/// All programs.
pub(super) fn all() -> Vec<Subject> {
    let subject = |name, body| Subject { name, body, executions: EXECUTIONS, steps: STEPS };
    let threads =
        threads::ALL.into_iter().chain(actors::ALL).map(|(name, body)| subject(name, GoldenBody::Threads(body)));
    let models = models::ALL.into_iter().map(|(name, make)| subject(name, GoldenBody::Model(make)));
    let files = LITMUS.into_iter().map(|(name, executions)| litmus(name, &read(name), executions));
    let mixed = mixed::ALL.into_iter().map(|(name, text)| litmus(name, text, EXECUTIONS));
    files.chain(mixed).chain(threads).chain(models).collect()
}
