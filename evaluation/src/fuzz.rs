//! `evaluation fuzz`: generates programs and checks every strategy against the oracle.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use raddle_litmus::conformance::{Mismatch, Mistake, OracleLimits, Reference, minimize};
use raddle_litmus::generate::{Size, generate};
use raddle_litmus::{Litmus, Program};
use raddle_strategies::{optimal, reduction};

use crate::say::{complain, say};

/// What can be said on the command line.
#[derive(Args)]
pub struct Arguments {
    /// For how long.
    #[arg(long, value_name = "N", default_value_t = 10)]
    seconds: u64,
    /// The seed of the first program; the next one has the next seed.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The most threads that a program has.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..))]
    threads: u32,
    /// About how many steps the largest programs have.
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u32).range(SMALLEST as i64..))]
    steps: u32,
    /// Puts a mistake into the reductions, to see that it is noticed.
    #[arg(long, hide = true, value_parser = mistake)]
    mistake: Option<Mistake>,
}

/// About how many steps the smallest programs have.
const SMALLEST: u32 = 4;

/// Programs with more orders than this are checked by their traces only.
const LIMITS: OracleLimits = OracleLimits { states: 100_000, traces: 1_000, orders: 600 };

const MISTAKES: [(&str, Mistake); 7] = [
    ("ignores-names", Mistake::Optimal(optimal::Mistake::IgnoresNames)),
    ("forgets-undone", Mistake::Optimal(optimal::Mistake::ForgetsUndone)),
    ("not-parsimonious", Mistake::Optimal(optimal::Mistake::NotParsimonious)),
    ("ignores-waits", Mistake::Optimal(optimal::Mistake::IgnoresWaits)),
    ("never-late", Mistake::Optimal(optimal::Mistake::NeverLate)),
    ("skips-blocked", Mistake::Others(reduction::Mistake::SkipsBlocked)),
    ("keeps-task-only", Mistake::Others(reduction::Mistake::KeepsTaskOnly)),
];

fn mistake(name: &str) -> Result<Mistake, String> {
    let known = MISTAKES.iter().find(|(known, _)| *known == name);
    known.map(|(_, mistake)| *mistake).ok_or_else(|| {
        let names: Vec<_> = MISTAKES.iter().map(|(name, _)| *name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// How far it got.
#[derive(Default)]
struct Tally {
    checked: u64,
    /// Of those, bound by bound and order by order.
    whole: u64,
    too_large: u64,
}

/// Checks programs until the time is up or a strategy is wrong, which is a failure.
pub fn run(arguments: &Arguments) -> ExitCode {
    let started = Instant::now();
    let mut tally = Tally::default();
    let mut seed = arguments.seed;
    while started.elapsed() < Duration::from_secs(arguments.seconds) {
        let litmus = generate(seed, size(seed, arguments));
        match check(&litmus, arguments.mistake) {
            None => tally.too_large += 1,
            Some((known, verdict)) => {
                tally.checked += 1;
                tally.whole += u64::from(known.bounded.is_some());
                if let Err(mismatch) = verdict {
                    say(&done(arguments.seed, seed, &tally));
                    show(seed, &litmus, &mismatch, arguments);
                    return ExitCode::FAILURE;
                }
            }
        }
        seed = seed.wrapping_add(1);
    }
    say(&done(arguments.seed, seed.wrapping_sub(1), &tally));
    say("every strategy did what the oracle says");
    ExitCode::SUCCESS
}

/// Small and large ones in turn: small ones are checked by every single order, large ones show what small ones cannot.
fn size(seed: u64, arguments: &Arguments) -> Size {
    let sizes = u64::from(arguments.steps - SMALLEST + 1);
    let steps = SMALLEST + u32::try_from(seed % sizes).expect("the largest size is a small number");
    Size { threads: arguments.threads, steps }
}

fn check(litmus: &Litmus, mistake: Option<Mistake>) -> Option<(Reference, Result<(), Mismatch>)> {
    // What a program with something left out does not declare makes it none.
    let program = Program::new(litmus, "generated").ok()?;
    let known = Reference::of(&program, LIMITS)?;
    let verdict = match mistake {
        None => known.check(&program),
        Some(mistake) => known.check_mistaken(&program, mistake),
    };
    Some((known, verdict))
}

fn done(first: u64, last: u64, tally: &Tally) -> String {
    let Tally { checked, whole, too_large } = tally;
    format!(
        "seeds {first} to {last}: {checked} programs checked, {whole} of them order by order; {too_large} too large"
    )
}

fn show(seed: u64, litmus: &Litmus, mismatch: &Mismatch, arguments: &Arguments) {
    let verdict = |less: &Litmus| check(less, arguments.mistake).and_then(|(_, verdict)| verdict.err());
    let same = |less: &Litmus| verdict(less).is_some_and(|other| other.strategy == mismatch.strategy);
    let small = minimize(litmus, same);
    let Mismatch { strategy, expected, got, .. } = verdict(&small).unwrap_or_else(|| mismatch.clone());
    complain(&format!(
        "seed {seed} (threads {}, steps {}), made smaller:",
        arguments.threads,
        size(seed, arguments).steps
    ));
    complain(&small.to_string());
    complain(&format!("strategy: {strategy}\nexpected: {expected}\ngot: {got}"));
    complain(&format!("as it was generated: {mismatch}\n{litmus}"));
}
