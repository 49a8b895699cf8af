//! One execution, from its start or from a snapshot to its end.

use super::ahead::Ahead;
use super::repeat::{LIKELY, what_can_happen};
use super::{SnapshotStack, Worker};
use crate::forward::TakenChoice;
use crate::ids::StepIx;
use crate::outcome::{Failure, Outcome, Participants};
use crate::schedule::Divergence;
use crate::search::too_many_steps;
use crate::strategy::Decision;
use crate::system::{Choice, Point, System, Variant};
use crate::trace::Effect;

/// The decision at a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    pub(super) choice: Choice,
    pub(super) alternatives: u32,
    /// A hash of the point, if points are compared.
    pub(super) looks: u64,
    /// The number of steps before it.
    pub(super) steps: usize,
}

impl Chosen {
    /// The decision of a program that ran forward by itself.
    pub(super) fn forward(&TakenChoice { choice, alternatives, steps }: &TakenChoice) -> Self {
        Self { choice, alternatives, looks: 0, steps }
    }
}

impl Worker<'_> {
    /// Runs from the position `from` to the end. Shows the points on the way to the snapshots, if there are any.
    pub(super) fn walk<S: System>(
        &mut self,
        system: &mut S,
        from: usize,
        mut snapshots: Option<&mut SnapshotStack<S>>,
    ) -> Walked {
        let runs_forward = system.forward().is_some_and(|forward| forward.records_steps());
        let recorded = !self.trace.discards_steps();
        // As long as the choices are those of the latest execution, the points must be the same. A program that runs forward along the
        // prefix is compared by its steps instead.
        let compares_points = self.watch && !runs_forward;
        let mut familiar = compares_points && recorded;
        let mut depth = from;
        self.product = None;
        let uniform = self.uniform.is_some();
        let passed = if uniform { &self.path[..from] } else { &[] };
        let mut product = passed.iter().fold(1.0, |product, at| product * f64::from(at.alternatives));
        let draws = uniform && (!recorded || runs_forward);
        if recorded && runs_forward && from == 0 && !self.prefix.is_empty() {
            depth = match self.run_prefix(system) {
                Ok(depth) => depth,
                Err(walked) => return walked,
            };
            product = self.path.iter().fold(1.0, |product, at| product * f64::from(at.alternatives));
        }
        // The strategy's answer about the state, if it was asked before.
        let mut ahead = Ahead::Hidden;
        loop {
            if self.deadline.is_over() {
                self.path.truncate(depth);
                return Walked::OutOfTime;
            }
            if draws {
                depth = self.run_forward(system, depth, &mut product);
            }
            let mut known_state = None;
            let goes_on = match std::mem::replace(&mut ahead, Ahead::Hidden) {
                Ahead::New(state) => {
                    known_state = Some(state);
                    debug_assert_eq!(fingerprint(system), Some(state), "raddle bug: peeking showed another state");
                    true
                }
                Ahead::Known => false,
                _ => !self.states || depth < self.prefix.len() || self.visit_state(fingerprint(system)),
            };
            if !goes_on && !matches!(system.point(), Point::End(_)) {
                self.path.truncate(depth);
                return Walked::Pruned;
            }
            system.compute_enabled();
            let point = system.point();
            let choice = match point {
                Point::End(outcome) => {
                    self.path.truncate(depth);
                    self.product = uniform.then_some(product);
                    return Walked::To(outcome.clone());
                }
                _ if self.trace.len() >= self.search.limits.steps as usize => {
                    self.path.truncate(depth);
                    return Walked::To(too_many_steps(system, &self.trace, self.search.limits.steps));
                }
                _ if point.alternatives() == 1 && !self.every_point => Choice(0),
                _ => {
                    // A snapshot was restored here, so there is nothing to compare: it is the same point.
                    let known = from > 0 && depth == from;
                    let looks = if compares_points { self.looks(system, known_state, depth, known) } else { 0 };
                    let mut chosen = match self.decide(&system.point(), depth, familiar, looks) {
                        Ok(chosen) => chosen,
                        Err(walked) => {
                            self.path.truncate(depth);
                            return walked;
                        }
                    };
                    let mut begun = 1;
                    if self.states && self.search.forks && depth + 1 >= self.prefix.len() {
                        (ahead, begun) = self.look_ahead(system, &mut chosen);
                        if let Some(last) = self.prefix.get_mut(depth) {
                            *last = chosen.choice;
                        }
                    }
                    if familiar && self.path.get(depth).is_none_or(|before| before.choice != chosen.choice) {
                        familiar = false;
                    }
                    let over = matches!(ahead, Ahead::Over(_));
                    if let Some(snapshots) = snapshots.as_deref_mut() {
                        self.keep_copy(system, snapshots, depth, chosen.alternatives, begun, over);
                    }
                    match self.path.get_mut(depth) {
                        Some(slot) => *slot = chosen,
                        None => self.path.push(chosen),
                    }
                    depth += 1;
                    if let Ahead::Over(steps) = ahead {
                        self.path.truncate(depth);
                        return Walked::Short(steps);
                    }
                    product *= f64::from(chosen.alternatives);
                    if self.trace.discards_steps() && chosen.alternatives > 1 {
                        self.trace.choose(chosen.choice);
                    }
                    chosen.choice
                }
            };
            system.step(choice, &mut self.trace);
        }
    }

    /// Makes a snapshot at a point where so many alternatives were begun, if executions will continue from it.
    fn keep_copy<S: System>(
        &mut self,
        system: &mut S,
        snapshots: &mut SnapshotStack<S>,
        depth: usize,
        alternatives: u32,
        begun: u32,
        over: bool,
    ) {
        if snapshots.give_back(system, depth, begun - 1, over) || over || alternatives <= begun {
            return;
        }
        match self.returns {
            None => snapshots.pass(system, depth, alternatives, self.trace.mark()),
            Some(true) if depth >= self.prefix.len() => {
                snapshots.keep(system, depth, self.prefix.len(), alternatives, self.trace.mark());
            }
            Some(_) => {}
        }
        snapshots.begin_more(depth, begun - 1);
    }

    /// A hash of the point: of what can happen, and of the state if that can be seen.
    fn looks<S: System>(&self, system: &mut S, state: Option<u64>, depth: usize, known: bool) -> u64 {
        match self.path.get(depth) {
            Some(before) if known => before.looks,
            _ => appearance(&system.point()) ^ state.or_else(|| fingerprint(system)).unwrap_or(0),
        }
    }

    /// What to do at a point, or how the execution ends there.
    fn decide(&mut self, point: &Point<'_>, depth: usize, familiar: bool, looks: u64) -> Result<Chosen, Walked> {
        let alternatives = point.alternatives();
        if familiar && self.path.get(depth).is_some_and(|before| before.looks != looks) {
            return Err(Walked::To(self.different(point, depth)));
        }
        let choice = match self.prefix.get(depth) {
            // The prefix leaves the path of the latest execution, so there was nothing to compare.
            Some(choice) if choice.0 >= alternatives => return Err(Walked::To(self.different(point, depth))),
            Some(&choice) => choice,
            None => match &mut self.uniform {
                Some(rng) => Choice(rng.below(alternatives)),
                None => self.ask(point)?,
            },
        };
        assert!(
            choice.0 < alternatives,
            "raddle: the strategy `{}` chose alternative {} of {alternatives} at step {}; its `choose` must give a number below \
             `Point::alternatives()`",
            self.search.needs.name,
            choice.0,
            self.trace.len()
        );
        Ok(Chosen { choice, alternatives, looks, steps: self.trace.len() })
    }

    /// The strategy's decision at a point.
    fn ask(&mut self, point: &Point<'_>) -> Result<Choice, Walked> {
        let (choice, returns) = match self.strategy.get().choose(point, &self.trace) {
            Decision::Take(choice) => (choice, None),
            Decision::TakeAndReturn(choice) => (choice, Some(true)),
            Decision::TakeAndLeave(choice) => (choice, Some(false)),
            Decision::Prune => return Err(Walked::Pruned),
        };
        self.returns = returns;
        Ok(choice)
    }

    /// Whether the state is new to the strategy.
    pub(super) fn visit_state(&mut self, state: Option<u64>) -> bool {
        let states = self.strategy.get().states().expect("raddle bug: the strategy does not search by states any more");
        states.visit_state(state)
    }

    fn different(&self, point: &Point<'_>, depth: usize) -> Outcome {
        // Names are not known here.
        let now = what_can_happen(point, &Participants::default());
        Failure::Nondeterminism(Divergence {
            step: StepIx::next_of(self.trace.len()),
            followed: depth,
            of: self.prefix.len(),
            why: format!("the same decisions led elsewhere in an earlier execution\nnow possible: {now}\n{LIKELY}"),
        })
        .into()
    }
}

/// A hash of the state of the program, if it can be seen.
pub(super) fn fingerprint<S: System>(system: &mut S) -> Option<u64> {
    system.snapshots()?.fingerprint()
}

/// How a walk ended.
pub(super) enum Walked {
    To(Outcome),
    Pruned,
    /// It was pruned, and would have ended so many steps later.
    Short(usize),
    /// The time of the search was over in the middle of it, so it has no result.
    OutOfTime,
}

impl Walked {
    pub(super) fn failed(&self) -> bool {
        self.kind().is_some()
    }

    /// The kind of its failure.
    pub(super) fn kind(&self) -> Option<&'static str> {
        match self {
            Self::To(Outcome::Failed(failure)) => Some(failure.kind()),
            _ => None,
        }
    }
}

/// A hash of the visible part of a point. Equal programs have equal points after equal decisions.
pub(super) fn appearance(point: &Point<'_>) -> u64 {
    let fold = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    match point {
        Point::Actions(actions) => actions.iter().fold(1, |hash, action| {
            let who = u64::from(action.task.number()) << 34 | variant_number(action.variant);
            let site = u64::from(action.site.line()) << 40 ^ u64::from(action.site.column()) << 32;
            let what = u64::from(action.object.number()) << 1 | u64::from(action.effect == Effect::Change);
            let op = (std::ptr::from_ref(action.op).addr() as u64).rotate_left(16);
            fold(hash, who.rotate_left(9) ^ what ^ site ^ op)
        }),
        Point::Data { task, choices, .. } => fold(fold(2, u64::from(task.number())), u64::from(*choices)),
        Point::End(_) => 0,
    }
}

fn variant_number(variant: Variant) -> u64 {
    match variant {
        Variant::Ready => 0,
        Variant::TimedOut => 1,
        Variant::Spurious => 2,
        Variant::Message(message) => 3 + u64::from(message),
    }
}
