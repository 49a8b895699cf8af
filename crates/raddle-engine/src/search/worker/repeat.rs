//! Runs an execution again, from its start and with the same decisions, and compares it step by step with the first run.
//!
//! A program that depends on a clock, on hash order, on its own random numbers or on state from an earlier run may behave differently when
//! it is run again. No result of a search holds for such a program, so this is a failure.
//!
//! - The first execution of every search is repeated [`FIRST`] times.
//! - A search that may end with a proof repeats some of its other executions [`LATER`] times: those whose number is a power of two, a
//!   [share](SHARE) drawn at random, and the last one.
//!
//! Repeats are not counted as executions. The values that each step found and left are compared as well. Two different values may still
//! mean the same to the program, if both are addresses: [`Program::same_word`] decides.

use std::mem;

use super::Worker;
use super::walk::{appearance, fingerprint};
use crate::ids::{StepIx, TaskId};
use crate::outcome::{Failure, Outcome, Participants};
use crate::rng::Rng;
use crate::schedule::Divergence;
use crate::system::{Action, Choice, Point, Program, System};
use crate::trace::{Step, Trace, Word};

/// How often the first execution is repeated.
const FIRST: u32 = 20;

/// How often another execution is repeated.
const LATER: u32 = 2;

/// One of so many executions is repeated, if the search may end with a proof.
const SHARE: u64 = 64;

/// If executions continue from snapshots, a repeat takes many times as long as an execution. Then one of so many executions, for each of
/// its decisions, is repeated.
const SHARE_OF_COPIES: u64 = 16;

/// Likely causes, for the report.
pub(super) const LIKELY: &str = "Does the program depend on a clock, random numbers, addresses, hash order, or state outside Raddle's control? If it iterates \
     a std HashMap or HashSet, use raddle::collections.";

/// Which executions of a worker are repeated.
#[derive(Debug)]
pub(super) struct Repeats {
    /// The first execution of this worker is the first of the search.
    first: bool,
    /// The search may end with a proof.
    later: bool,
    rng: Rng,
    /// The execution with this number is repeated.
    next: u64,
    /// The latest execution and its seed, if it was not repeated.
    latest: Option<LastExecution>,
}

/// An execution that can be repeated. The worker has its decisions and steps.
#[derive(Clone, Debug)]
pub(super) struct LastExecution {
    seed: u64,
    /// `None` if it was pruned.
    outcome: Option<Outcome>,
}

impl Repeats {
    pub(super) fn new(later: bool) -> Self {
        Self { first: false, later, rng: Rng::new(0), next: 0, latest: None }
    }

    /// Switches to an execution outside the search, or back. The latest execution stays the latest.
    pub(super) fn replace_latest(&mut self, latest: Option<LastExecution>) -> Option<LastExecution> {
        mem::replace(&mut self.latest, latest)
    }

    /// How often the execution with this number is to be repeated.
    fn due(&mut self, number: u64, decisions: usize, copies: bool) -> u32 {
        if self.first && number == 0 {
            return FIRST;
        }
        if !self.later || (number < self.next && !number.is_power_of_two()) {
            return 0;
        }
        let share = if copies { SHARE.max(SHARE_OF_COPIES * decisions as u64) } else { SHARE };
        // Between one and two times the share, so that one of so many is repeated on average.
        self.next = number + 1 + u64::from(self.rng.below(u32::try_from(2 * share).unwrap_or(u32::MAX)));
        LATER
    }
}

/// The result of comparing two runs.
enum Compared {
    Same,
    Differs(Failure),
    /// The run was interrupted by something that is not the program's fault.
    NotToTheEnd,
}

/// What a repeated run has to do.
struct Reference<'a> {
    steps: Vec<Step>,
    /// Hashes of the points, as far as they are known.
    points: Option<Vec<u64>>,
    choices: &'a [Choice],
    outcome: Option<&'a Outcome>,
    /// The values that were found behind locks, and the steps that found them.
    contents: Vec<(StepIx, Word)>,
    /// The steps of the first run were recorded.
    recorded: bool,
}

impl Worker<'_> {
    /// Called for the worker that runs the first execution of the search.
    pub(in crate::search) fn repeat_first(&mut self) {
        self.repeats.first = true;
    }

    /// Called after each execution, when its system is gone. Repeats it if it is its turn.
    pub(super) fn repeat_if_due<P: Program>(
        &mut self,
        program: &mut P,
        seed: u64,
        outcome: Option<Outcome>,
        copies: bool,
    ) -> Option<Failure> {
        let recorded = !self.trace.discards_steps();
        // A program that is known to behave differently each time needs no second run.
        let known = |failure: &Failure| outlives(failure) || matches!(failure, Failure::Nondeterminism(_));
        if outcome.as_ref().and_then(Outcome::failure).is_some_and(known) {
            return None;
        }
        let latest = LastExecution { seed, outcome };
        let times = self.repeats.due(self.walked, self.path.len(), copies);
        if times == 0 || !self.repeats_help(program) {
            self.repeats.latest = (self.repeats.later && recorded).then_some(latest);
            return None;
        }
        self.repeats.latest = None;
        self.repeat(program, &latest, times)
    }

    /// Called before a worker reports that nothing is left. Repeats the last execution, if that has not happened.
    pub(super) fn repeat_last<P: Program>(&mut self, program: &mut P) {
        let Some(latest) = self.repeats.latest.take() else { return };
        if self.repeats_help(program)
            && let Some(failure) = self.repeat(program, &latest, LATER)
        {
            self.note_nondeterminism(failure, latest.seed, None, false);
        }
    }

    /// Counts a failure of an execution that had been counted as good, or as failing in another way.
    pub(super) fn note_nondeterminism(&mut self, failure: Failure, seed: u64, number: Option<u64>, probing: bool) {
        if self.tally.found.is_none() {
            self.tally.failing += u64::from(!probing);
        }
        self.tally.found = Some(super::Found { probe: probing, ..self.found(failure, seed, number) });
    }

    fn repeats_help<P: Program>(&self, program: &P) -> bool {
        self.search.limits.repeats && !program.is_deterministic()
    }

    fn repeat<P: Program>(&mut self, program: &mut P, latest: &LastExecution, times: u32) -> Option<Failure> {
        let first = mem::take(&mut self.trace);
        let choices: Vec<_> = self.path.iter().map(|at| at.choice).collect();
        let mut reference = Reference {
            steps: first.steps().to_vec(),
            contents: first.contents().collect(),
            points: None,
            choices: &choices,
            outcome: latest.outcome.as_ref(),
            recorded: !first.discards_steps(),
        };
        let mut differs = None;
        for _ in 0..times {
            let spent = self.search.limits.time.is_some_and(|limit| self.search.started.elapsed() >= limit);
            if spent || !program.sound() {
                break;
            }
            let mut trace = Trace::default();
            let mut points = Vec::new();
            match self.run_again(program, latest.seed, &reference, &mut trace, &mut points) {
                Compared::Differs(failure) => {
                    differs = Some(failure);
                    break;
                }
                Compared::NotToTheEnd => {}
                Compared::Same => {
                    reference.points = Some(points);
                    if !mem::replace(&mut reference.recorded, true) {
                        reference.steps = trace.steps().to_vec();
                        reference.contents = trace.contents().collect();
                    }
                }
            }
        }
        self.trace = first;
        differs
    }

    /// Runs the execution and compares it with the earlier runs. Adds the hashes of the points to `points`.
    fn run_again<P: Program>(
        &self,
        program: &mut P,
        seed: u64,
        reference: &Reference<'_>,
        trace: &mut Trace,
        points: &mut Vec<u64>,
    ) -> Compared {
        let mut system = program.start(seed, trace);
        let (mut compared, mut depth) = (0, 0);
        loop {
            system.compute_enabled();
            match system.point() {
                // Another worker holds something that outlives executions. That is not the program's fault.
                Point::End(outcome) if is_held(outcome) && self.search.workers > 1 => return Compared::NotToTheEnd,
                // Something outlives executions, and the report can name it.
                Point::End(Outcome::Failed(failure)) if outlives(failure) => {
                    return Compared::Differs((**failure).clone());
                }
                _ => {}
            }
            let followed = depth;
            let at = |step| ComparedAt { step, followed, of: reference.choices.len() };
            if reference.recorded {
                let steps = trace.steps();
                let same = |at: usize| reference.steps.get(at).is_some_and(|step| same_step(program, step, &steps[at]));
                if let Some(step) = (compared..steps.len()).find(|&at| !same(at)) {
                    let sides = [reference.steps.get(step), steps.get(step)];
                    return Compared::Differs(
                        at(step).parted(sides.map(|step| describe(step, &system.describe().participants()))),
                    );
                }
                compared = steps.len();
                if reference.outcome.is_none() && compared >= reference.steps.len() {
                    return Compared::Same;
                }
            }
            let state = fingerprint(&mut system).unwrap_or(0);
            let point = system.point();
            let ended = match &point {
                Point::End(outcome) => Some((*outcome).clone()),
                _ if trace.len() >= self.search.limits.steps as usize => {
                    Some(super::super::too_many_steps(&system, trace, self.search.limits.steps))
                }
                _ => None,
            };
            if let Some(outcome) = ended {
                if reference.recorded
                    && let Some(failure) =
                        compare_contents(program, reference, trace, &system.describe().participants(), &at)
                {
                    return Compared::Differs(failure);
                }
                let differs = Self::compare_ends(reference, trace, &outcome, &at(trace.len()));
                return differs.map_or(Compared::Same, Compared::Differs);
            }
            let looks = appearance(&point) ^ state;
            let known = reference.points.as_ref().map(|points_before| points_before.get(points.len()).copied());
            points.push(looks);
            let alternatives = point.alternatives();
            let choice = if alternatives == 1 && !self.every_point {
                Some(Choice(0))
            } else {
                depth += 1;
                reference.choices.get(depth - 1).copied().filter(|choice| choice.0 < alternatives)
            };
            match choice {
                Some(choice) if known.is_none_or(|known| known == Some(looks)) => system.step(choice, trace),
                _ => {
                    let cast = system.describe().participants();
                    let before = match reference.steps.get(trace.len()) {
                        step if reference.recorded => describe(step, &cast),
                        _ => "another state".to_owned(),
                    };
                    let now = what_can_happen(&point, &cast);
                    return Compared::Differs(at(trace.len()).parted([before, now]));
                }
            }
        }
    }

    /// Compares the steps of an execution with those of the one before it, as far as both have the same choices. Returns the first step that
    /// differs.
    pub(super) fn first_difference(&self) -> Option<usize> {
        let both = self.earlier.steps().iter().zip(self.trace.steps()).take(self.shared);
        both.enumerate().find(|(_, (first, again))| !same_operation(first, again)).map(|(step, _)| step)
    }

    /// The failure of an execution that begins with the same choices as the one before it, and does something else at a step.
    pub(super) fn parted_at<S: System>(&self, system: &S, step: usize) -> Outcome {
        let cast = system.describe().participants();
        let at = ComparedAt { step, followed: self.path.len(), of: self.prefix.len() };
        let earlier = self.earlier.steps()[..self.shared].get(step);
        let first = earlier.map_or_else(|| "other alternatives".to_owned(), |step| describe(Some(step), &cast));
        at.parted([first, describe(self.trace.steps().get(step), &cast)]).into()
    }

    /// Compares how two runs ended.
    fn compare_ends(reference: &Reference<'_>, trace: &Trace, outcome: &Outcome, at: &ComparedAt) -> Option<Failure> {
        let kind = |outcome: &Outcome| outcome.failure().map(Failure::kind);
        let side = |outcome: Option<&Outcome>| match outcome {
            Some(Outcome::Completed) => "the execution ends well".to_owned(),
            Some(Outcome::Failed(failure)) => format!("the execution ends with a failure: {}", failure.kind()),
            None => "the execution goes on".to_owned(),
        };
        if reference.recorded
            && let Some(step) = reference.steps.get(trace.len())
        {
            return Some(at.parted([describe(Some(step), &Participants::default()), side(Some(outcome))]));
        }
        let same = reference.outcome.is_none_or(|before| kind(before) == kind(outcome));
        (!same).then(|| at.parted([side(reference.outcome), side(Some(outcome))]))
    }
}

/// Compares the values that two runs found behind locks.
fn compare_contents<P: Program>(
    program: &P,
    reference: &Reference<'_>,
    trace: &Trace,
    cast: &Participants,
    at: &impl Fn(usize) -> ComparedAt,
) -> Option<Failure> {
    let differ = |pair: &(&(StepIx, Word), (StepIx, Word))| {
        let (before, now) = (pair.0.1, pair.1.1);
        before != now && !program.same_word(before, now)
    };
    let (before, (step, now)) = reference.contents.iter().zip(trace.contents()).find(differ)?;
    let what = describe(trace.steps().get(step.index()), cast);
    Some(at(step.index()).parted([before.1, now].map(|word| format!("{what}, and the value is {}", word.0))))
}

fn is_held(outcome: &Outcome) -> bool {
    matches!(outcome.failure(), Some(Failure::HeldElsewhere { .. }))
}

/// Whether a failure explains why executions differ: something outlives them, or a thread is not under control.
fn outlives(failure: &Failure) -> bool {
    matches!(failure, Failure::HeldElsewhere { .. } | Failure::Leak { .. } | Failure::Uncontrolled { .. })
}

/// The first difference of two runs.
struct ComparedAt {
    step: usize,
    followed: usize,
    of: usize,
}

impl ComparedAt {
    fn parted(&self, [first, again]: [String; 2]) -> Failure {
        Failure::Nondeterminism(Divergence {
            step: StepIx::next_of(self.step),
            followed: self.followed,
            of: self.of,
            why: format!(
                "the same execution was run twice, and the runs part here\nfirst run: {first}\nsecond run: {again}\n{LIKELY}"
            ),
        })
    }
}

/// Whether a step was the same operation in both runs.
fn same_operation(first: &Step, again: &Step) -> bool {
    let what = |step: &Step| {
        let Step { task, variant, op, access, hold, alternatives, .. } = *step;
        (task, variant, std::ptr::from_ref(op), access.object, access.effect, hold, alternatives)
    };
    what(first) == what(again) && (std::ptr::eq(first.site, again.site) || *first.site == *again.site)
}

/// Whether a step did the same in both runs.
fn same_step<P: Program>(program: &P, first: &Step, again: &Step) -> bool {
    let same_word = |first: Option<Word>, again: Option<Word>| match (first, again) {
        (Some(first), Some(again)) => first == again || program.same_word(first, again),
        (first, again) => first == again,
    };
    same_operation(first, again)
        && same_word(first.found, again.found)
        && same_word(first.left, again.left)
        && same_word(first.wants, again.wants)
}

/// The alternatives at a point, as text.
pub(super) fn what_can_happen(point: &Point<'_>, cast: &Participants) -> String {
    match point {
        Point::Actions(actions) => {
            let action = |a: &Action| format!("{}: {} at {}", name_in(cast, a.task), a.op.verb, a.site);
            format!("one of: {}", actions.iter().map(action).collect::<Vec<_>>().join("; "))
        }
        Point::Data { choices, site, .. } => format!("a value out of {choices} at {site}"),
        Point::End(_) => "the end".to_owned(),
    }
}

fn name_in(cast: &Participants, task: TaskId) -> String {
    cast.tasks.get(task.index()).map(super::execute::name_of).unwrap_or_else(|| format!("task {}", task.number()))
}

/// A step, as text.
fn describe(step: Option<&Step>, cast: &Participants) -> String {
    let Some(step) = step else { return "the execution ends".to_owned() };
    let task = name_in(cast, step.task);
    let object = cast.objects.get(step.access.object.index()).filter(|_| step.access.object.is_some());
    let show = |word: Word| object.map_or_else(|| word.0.to_string(), |object| (object.show)(word));
    let mut text = format!("{task}: {}", step.op.verb);
    if let Some(object) = object {
        text += &format!(" {} number {}", object.noun, step.access.object.number());
        text += &object.made.map(|made| format!(" (made at {made})")).unwrap_or_default();
    }
    text += &step.found.map(|word| format!(", finds {}", show(word))).unwrap_or_default();
    text += &step.left.map(|word| format!(", leaves {}", show(word))).unwrap_or_default();
    if step.alternatives > 1 {
        text += &format!(", one of {} alternatives", step.alternatives);
    }
    text + &format!(", at {}", step.site)
}
