//! Runs one execution by given decisions: from a file, from a search, or from an attempt to shrink a schedule.

use crate::ids::StepIx;
use crate::outcome::{Outcome, Participants};
use crate::schedule::{Decided, Decisions, Divergence, Schedule};
use crate::search::{Limits, too_many_steps};
use crate::strategy::least_switching;
use crate::system::{Choice, Point, Program, System};
use crate::trace::{Step, Trace};

/// Decisions to follow.
#[derive(Clone, Debug)]
pub enum Script {
    /// By name, one for each point with several alternatives. Names stay valid in a file.
    Names(Schedule),
    /// By name as well, but a decision that does not fit is skipped.
    Hints(Schedule),
    /// By index among the alternatives, as a search stores them.
    Choices {
        /// The seed of the program's random numbers.
        seed: u64,
        /// One for each point with several alternatives.
        choices: Vec<Choice>,
    },
}

impl Script {
    fn seed(&self) -> u64 {
        match self {
            Script::Names(schedule) | Script::Hints(schedule) => schedule.seed,
            Script::Choices { seed, .. } => *seed,
        }
    }

    /// The seed of hash keys, if the script has one.
    fn hash_seed(&self) -> Option<u64> {
        match self {
            Script::Names(schedule) | Script::Hints(schedule) => schedule.hash_seed,
            Script::Choices { .. } => None,
        }
    }

    fn len(&self) -> usize {
        match self {
            Script::Names(schedule) | Script::Hints(schedule) => schedule.decisions.len(),
            Script::Choices { choices, .. } => choices.len(),
        }
    }

    /// The choice at the current point of `system`, according to the decision at `next`, which then moves on; `None` after the last
    /// decision.
    fn find<S: System>(&self, next: &mut usize, system: &S) -> Option<Result<Choice, String>> {
        *next += 1;
        match self {
            Script::Names(schedule) => Some(schedule.decisions.get(*next - 1)?.find(system)),
            Script::Hints(schedule) => loop {
                match schedule.decisions.get(*next - 1)?.find(system) {
                    Ok(choice) => return Some(Ok(choice)),
                    Err(_) => *next += 1,
                }
            },
            Script::Choices { choices, .. } => {
                let choice = *choices.get(*next - 1)?;
                let alternatives = system.point().alternatives();
                let fits = choice.0 < alternatives;
                Some(if fits { Ok(choice) } else { Err(format!("only {alternatives} alternatives are left")) })
            }
        }
    }
}

/// One execution with everything that a report needs.
#[derive(Debug)]
pub struct Record {
    /// Its steps.
    pub steps: Vec<Step>,
    /// Its tasks and objects.
    pub participants: Participants,
    /// How it ended.
    pub outcome: Outcome,
    /// Its decisions, up to the last one that was not the [default](least_switching).
    pub schedule: Schedule,
    /// How many decisions were not the default. The fewer, the easier the execution is to understand.
    pub switches: u32,
    /// Where it stopped following the given schedule.
    pub divergence: Option<Divergence>,
}

/// Runs one execution by `script`. If the script does not fit, the record says so. From there on, and after the last decision, tasks switch
/// as [rarely as possible](least_switching).
pub fn replay<P: Program>(program: &mut P, script: &Script, limits: &Limits) -> Record {
    let mut trace = Trace::default();
    if let Some(seed) = script.hash_seed() {
        program.set_hash_seed(seed);
    }
    let mut system = program.start(script.seed(), &mut trace);
    let mut taken = Decisions::default();
    let (mut next, mut switches, mut needed) = (0, 0, 0);
    let mut divergence = None;
    let diverged = |trace: &Trace, followed, why| {
        Some(Divergence { step: StepIx::next_of(trace.len()), followed, of: script.len(), why })
    };
    let outcome = loop {
        let point = system.point();
        if let Point::End(outcome) = point {
            break outcome.clone();
        }
        if trace.len() >= limits.steps as usize {
            break too_many_steps(&system, &trace, limits.steps);
        }
        let mut choice = Choice(0);
        if point.alternatives() > 1 {
            let usual = least_switching(&point, &trace);
            let wanted = if divergence.is_none() { script.find(&mut next, &system) } else { None };
            choice = match wanted {
                Some(Ok(choice)) => choice,
                Some(Err(why)) => {
                    divergence = diverged(&trace, taken.len(), why);
                    usual
                }
                None => usual,
            };
            taken.push(Decided::name(&system, choice));
            if choice != usual {
                switches += 1;
                needed = taken.len();
            }
        }
        system.advance(choice, &mut trace);
    };
    if divergence.is_none() && next < script.len() && !matches!(script, Script::Hints(_)) {
        let left = script.len() - next;
        let why = format!("the execution ended, but {left} decision{} left", if left == 1 { " was" } else { "s were" });
        divergence = diverged(&trace, taken.len(), why);
    }
    let seed = if system.caveats().drew_random { script.seed() } else { 0 };
    taken.truncate(needed);
    let hash_seed = system.describe().hash_seed();
    let schedule = Schedule { seed, hash_seed, facts: system.describe().facts(), decisions: taken };
    Record {
        steps: trace.steps().to_vec(),
        participants: system.describe().participants(),
        outcome,
        schedule,
        switches,
        divergence,
    }
}
