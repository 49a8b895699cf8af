//! One worker: takes pieces of the search and runs them, execution by execution.

use std::mem;
use std::time::Duration;

use super::{Found, Pace, Search, Spare, too_many_steps};
use crate::board::{Beat, Board, Commit, Job, Place, Taken, Tally, Then};
use crate::estimate::Estimate;
use crate::ids::StepIx;
use crate::outcome::{Failure, Outcome};
use crate::piece::{Learnt, Piece};
use crate::replay::Script;
use crate::schedule::Divergence;
use crate::strategy::{Bound, Claim, Decision, Given, Next, Run, Sharing, Strategy};
use crate::system::{Choice, Point, Program, System, Variant};
use crate::trace::{Effect, Trace};

/// A worker's place at a search: its strategy, its piece, and what it has done since its latest commit.
pub struct Seat<'s> {
    search: &'s Search,
    strategy: Held<'s>,
    job: Option<Job<'s>>,
    /// Counted among those who have nothing to do.
    waits: bool,
    /// The next execution and the end of the piece, where executions go by number.
    numbers: Option<(u64, u64)>,
    /// The stage that the piece belongs to.
    stage: u32,
    /// Executions it may still run before it has to ask.
    allowed: u64,
    /// Executions it has run.
    done: u64,
    /// The latest execution met that of another worker.
    met: bool,
    /// How often that may be, before it is taken to be somebody else.
    meetings: u32,
    tally: Tally,
    watch: bool,
    every_point: bool,
    wants_pending: bool,
    prefix: Vec<Choice>,
    /// Choices of the latest execution, at the points where the strategy was or could have been asked.
    path: Vec<Chosen>,
    trace: Trace,
    /// Executions and steps at which the clock is looked at again: looking costs as much as a short execution.
    next_look: (u64, u64),
    /// What comes after an execution and has not been done.
    due: Due,
    /// When to tell how far the search has come; `None` if this worker does not.
    pub(super) pace: Option<Pace>,
}

/// A strategy of the caller's or of this worker alone.
pub(super) enum Held<'s> {
    Lent(&'s mut dyn Strategy),
    Owned(Box<dyn Strategy>),
}

impl Held<'_> {
    fn get(&mut self) -> &mut dyn Strategy {
        match self {
            Held::Lent(strategy) => *strategy,
            Held::Owned(strategy) => &mut **strategy,
        }
    }
}

/// What was decided at a point.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    choice: Choice,
    alternatives: u32,
    /// What the point looked like, where that is watched.
    looks: u64,
}

/// What is still to be done after an execution; all of it at once but where workers are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    All,
    Little,
    News,
    Needs,
}

/// Whether a search is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is, for this worker.
    Over,
    /// This worker's program [can no longer be executed](Program::sound); carry on with a fresh one.
    NeedsFreshWorker,
}

/// Executions after which a worker says what it has done, though nobody asks: so much is lost with it at most.
const COMMIT_EVERY: u64 = 4_096;

/// Executions that take longer than this are looked after one by one.
const SLOW_MICROS: u128 = 100;

/// Executions that take so long call for help before there are many of them.
const ALONE_AT_MOST: Duration = Duration::from_millis(20);

impl<'s> Seat<'s> {
    pub(super) fn new(search: &'s Search, mut strategy: Held<'s>) -> Self {
        let asked = strategy.get();
        Self {
            watch: asked.revisits(),
            every_point: asked.sees_every_point(),
            wants_pending: asked.wants_pending(),
            search,
            strategy,
            job: None,
            waits: false,
            numbers: None,
            stage: 0,
            allowed: 0,
            done: 0,
            met: false,
            meetings: 1_000,
            tally: Tally::default(),
            prefix: Vec::new(),
            path: Vec::new(),
            trace: Trace::default(),
            next_look: (0, 0),
            due: Due::All,
            pace: None,
        }
    }

    pub(super) fn estimate(&mut self) -> Option<Estimate> {
        self.strategy.get().estimate()
    }

    pub(super) fn covered(&mut self, stage: u32) -> Option<Bound> {
        self.strategy.get().covered(stage)
    }

    /// What the strategy has learnt, where executions go by number.
    pub(super) fn learnt(&mut self) -> Option<Learnt> {
        match self.strategy.get().sharing() {
            Sharing::ByNumber(by_number) => Some(by_number.learnt()),
            _ => None,
        }
    }

    /// Works until the search is over or the worker is spent.
    pub fn work<P: Program>(&mut self, program: &mut P) -> Status {
        loop {
            if self.job.is_none() {
                let board = &self.search.board;
                board.give_back(mem::take(&mut self.allowed));
                match board.take() {
                    Some(job) => self.take_up(job),
                    None => {
                        self.search.call_others(Spare::Over);
                        return Status::Over;
                    }
                }
            }
            self.run_one(program);
            if self.met && !self.search.stays() {
                return Status::Over;
            }
            if !program.sound() {
                return Status::NeedsFreshWorker;
            }
        }
    }

    /// Does the next little thing and does not wait for others, so that whatever can come between two of them can: for tests that
    /// play several workers on one thread.
    #[doc(hidden)]
    pub fn work_a_little<P: Program>(&mut self, program: &mut P) -> Option<Status> {
        match mem::replace(&mut self.due, Due::Little) {
            Due::News => {
                self.tell_news();
                self.due = Due::Needs;
                return None;
            }
            Due::Needs => {
                self.see_needs();
                return None;
            }
            Due::All | Due::Little => {}
        }
        let board = &self.search.board;
        if self.job.is_none() {
            board.give_back(mem::take(&mut self.allowed));
            match board.try_take() {
                Taken::Piece(job) => {
                    if mem::replace(&mut self.waits, false) {
                        board.hungry(-1);
                    }
                    self.take_up(job);
                    return None;
                }
                Taken::NotNow => {
                    if !mem::replace(&mut self.waits, true) {
                        board.hungry(1);
                    }
                    return None;
                }
                Taken::Never => return Some(Status::Over),
            }
        }
        self.run_one(program);
        None
    }

    fn run_one<P: Program>(&mut self, program: &mut P) {
        self.met = false;
        if !self.may_run() {
            return self.leave();
        }
        if self.numbers.is_some_and(|(next, end)| next >= end) {
            return self.finish(Then::Done(Claim::Sampled));
        }
        self.prefix.clear();
        match self.strategy.get().begin(&mut self.prefix) {
            Next::Run { seed } => self.execute(program, seed),
            Next::Done(claim) if self.numbers.is_some() => self.finish(Then::AllDone(claim)),
            Next::Done(claim) => self.finish(Then::Done(claim)),
        }
    }

    fn take_up(&mut self, mut job: Job<'s>) {
        let piece = mem::replace(&mut job.piece, Piece::Whole);
        self.numbers = None;
        self.stage = piece.stage();
        match (piece, self.strategy.get().sharing()) {
            (Piece::Numbers { from, to }, Sharing::ByNumber(by_number)) => {
                by_number.jump(from);
                self.numbers = Some((from, to));
            }
            (piece, Sharing::ByPiece(by_piece)) => by_piece.place(piece),
            _ => {}
        }
        self.job = Some(job);
    }

    /// Whether the budget allows one more execution.
    fn may_run(&mut self) -> bool {
        if self.allowed == 0 {
            self.allowed = self.search.board.allow();
        }
        if self.allowed == 0 {
            return false;
        }
        let steps = self.tally.steps;
        let limit = self.search.limits.time;
        if (limit.is_none() && self.pace.is_none()) || (self.done < self.next_look.0 && steps < self.next_look.1) {
            return true;
        }
        let elapsed = self.search.started.elapsed();
        let slow = elapsed.as_micros() > u128::from(self.done) * SLOW_MICROS;
        self.next_look = (self.done + if slow { 1 } else { 64 }, steps + 4_096);
        if self.pace.as_mut().is_some_and(|pace| pace.is_due(elapsed)) {
            let own = self.strategy.get().estimate();
            self.search.tell(&self.tally, own);
        }
        // However little time there is, something is to be said of the program.
        let spent = self.done > 0 && limit.is_some_and(|limit| elapsed >= limit);
        if spent {
            self.search.board.stop();
        }
        !spent
    }

    fn execute<P: Program>(&mut self, program: &mut P, seed: u64) {
        self.trace.clear();
        let mut system = program.start(seed, &mut self.trace);
        let outcome = match self.walk(&mut system) {
            Walked::To(outcome) => Some(outcome),
            Walked::Pruned => None,
        };
        if matches!(&outcome, Some(Outcome::Failed(failure)) if self.meets_another(failure)) {
            return;
        }
        let pending = if self.wants_pending { system.pending() } else { Vec::new() };
        self.strategy.get().end(&Run { outcome: outcome.as_ref(), trace: &self.trace, pending: &pending });
        self.tally.guessed += u64::from(system.left_out());
        self.tally.drew += u64::from(system.drew_random());
        self.tally.irreducible += u64::from(system.irreducible());
        self.tally.steps += self.trace.len() as u64;
        self.tally.longest = self.tally.longest.max(self.trace.len() as u64);
        let number = self.numbers.as_mut().map(|(next, _)| mem::replace(next, *next + 1));
        let probing = self.strategy.get().probing();
        self.tally.probes += u64::from(probing);
        self.tally.executions += u64::from(!probing && outcome.is_some());
        self.tally.pruned += u64::from(!probing && outcome.is_none());
        if let Some(Outcome::Failed(failure)) = outcome {
            self.tally.failing += u64::from(!probing);
            if self.tally.found.is_none() {
                let seed = if system.drew_random() { seed } else { 0 };
                let remark = self.strategy.get().remark();
                self.tally.found = Some(Found { remark, probe: probing, ..self.found(*failure, seed, number) });
            }
        }
        drop(system);
        self.done += 1;
        self.allowed = self.allowed.saturating_sub(u64::from(!probing));
        if self.due == Due::Little {
            self.due = Due::News;
        } else {
            self.tell_news();
            self.see_needs();
        }
    }

    /// Whether the execution only failed because it met that of another worker at something that outlives both. Then what was
    /// done since the latest commit does not count, and the piece goes back.
    fn meets_another(&mut self, failure: &Failure) -> bool {
        self.met = matches!(failure, Failure::HeldElsewhere { .. }) && self.search.workers > 1 && self.meetings > 0;
        if self.met {
            self.meetings -= 1;
            self.tally = Tally::default();
            self.give_up();
        }
        self.met
    }

    /// Gives back the piece as it was at the latest commit.
    pub(super) fn give_up(&mut self) {
        if self.job.is_none() {
            return;
        }
        if let Sharing::ByPiece(by_piece) = self.strategy.get().sharing() {
            by_piece.lost();
        }
        self.job = None;
    }

    fn found(&self, failure: Failure, seed: u64, number: Option<u64>) -> Found {
        let real = self.path.iter().filter(|chosen| chosen.alternatives > 1);
        let choices = real.map(|chosen| chosen.choice).collect();
        let after = number.map_or(self.tally.run(), |number| number + 1);
        let script = Script::Choices { seed, choices };
        Found { failure, script, after, number, stage: self.stage, remark: None, probe: false }
    }

    /// Tells, after an execution, what it means for others.
    fn tell_news(&mut self) {
        let search = self.search;
        if search.workers > 1 {
            self.call_others_if_long();
            if let (Sharing::ByPiece(by_piece), Some(job)) = (self.strategy.get().sharing(), &mut self.job) {
                let news = by_piece.news();
                if !news.is_empty() {
                    search.board.offer(job, news);
                }
            }
        }
    }

    /// Sees, after an execution, what others need.
    fn see_needs(&mut self) {
        let search = self.search;
        if self.tally.found.is_some() && !search.limits.keep_going {
            self.commit(Given::Nothing);
        }
        match search.board.beat() {
            Beat::GoOn if self.tally.run() >= COMMIT_EVERY => self.commit(Given::Nothing),
            Beat::GoOn => {}
            Beat::Share => self.share(),
            Beat::Failing if self.may_come_first() => {}
            Beat::Failing | Beat::Stop => self.leave(),
        }
    }

    fn call_others_if_long(&mut self) {
        let search = self.search;
        let slow = || self.done.is_power_of_two() && search.started.elapsed() > ALONE_AT_MOST;
        let warm = self.numbers.is_none() || self.done >= search.alone_for;
        if self.done == search.alone_for || (warm && slow()) {
            let copy = |strategy: &mut dyn Strategy| match strategy.sharing() {
                Sharing::Alone => None,
                Sharing::ByNumber(by_number) => Some(by_number.copy()),
                Sharing::ByPiece(by_piece) => Some(by_piece.copy()),
            };
            let copies = (1..search.workers).filter_map(|_| copy(self.strategy.get())).collect();
            search.call_others(Spare::Ready(copies));
        }
    }

    /// Whether what is left of this piece may have a failure that should be reported instead of the one that was found.
    fn may_come_first(&mut self) -> bool {
        match self.search.board.first_failing() {
            Some(Place::Number(failing)) => self.numbers.is_some_and(|(next, _)| next < failing),
            Some(Place::Choices(choices)) => match self.strategy.get().sharing() {
                Sharing::ByPiece(by_piece) => by_piece.may_precede(&choices),
                _ => false,
            },
            None => true,
        }
    }

    /// Gives some of the work to others.
    fn share(&mut self) {
        if let Sharing::ByPiece(by_piece) = self.strategy.get().sharing() {
            match by_piece.give() {
                Given::Nothing => {}
                given => self.commit(given),
            }
        }
    }

    /// Says what was done, and goes on.
    fn commit(&mut self, given: Given) {
        let then = match self.rest() {
            Some(piece) => Then::GoesOn(piece),
            None => Then::Done(self.claim()),
        };
        self.say(given, then);
    }

    /// Leaves what is left to others, or for later.
    fn leave(&mut self) {
        let then = match self.rest() {
            Some(piece) => Then::Leaves(piece),
            None => Then::Done(self.claim()),
        };
        self.say(Given::Nothing, then);
    }

    fn finish(&mut self, then: Then) {
        self.say(Given::Nothing, then);
    }

    fn say(&mut self, given: Given, then: Then) {
        let Some(mut job) = self.job.take() else { return };
        let goes_on = matches!(then, Then::GoesOn(_));
        if let (Sharing::ByPiece(by_piece), Then::Done(_)) = (self.strategy.get().sharing(), &then) {
            let news = by_piece.news();
            if !news.is_empty() {
                self.search.board.offer(&mut job, news);
            }
        }
        let (later, claim) = match self.strategy.get().sharing() {
            Sharing::ByPiece(by_piece) => (by_piece.put_off(), by_piece.claim()),
            _ => (Vec::new(), Claim::Exhausted),
        };
        let tally = mem::take(&mut self.tally);
        self.next_look.1 = 0;
        self.search.board.commit(&mut job, Commit { tally, given, later, claim, then });
        self.job = goes_on.then_some(job);
    }

    fn rest(&mut self) -> Option<Piece> {
        match (self.numbers, self.strategy.get().sharing()) {
            (Some((next, end)), _) => (next < end).then_some(Piece::Numbers { from: next, to: end }),
            (None, Sharing::ByPiece(by_piece)) => by_piece.rest(),
            (None, _) => Some(Piece::Whole),
        }
    }

    fn claim(&mut self) -> Claim {
        match self.strategy.get().sharing() {
            Sharing::ByPiece(by_piece) => by_piece.claim(),
            _ => Claim::Sampled,
        }
    }

    fn walk<S: System>(&mut self, system: &mut S) -> Walked {
        // As long as the choices are those of the latest execution, the points must look as they did there.
        let mut familiar = self.watch;
        let mut depth = 0;
        let uniform = self.strategy.get().walks_uniformly();
        let mut product = 1.0;
        loop {
            let point = system.point();
            let choice = match point {
                Point::End(outcome) => {
                    self.path.truncate(depth);
                    if uniform {
                        self.tally.walks.add(product);
                    }
                    return Walked::To(outcome.clone());
                }
                _ if self.trace.len() >= self.search.limits.steps as usize => {
                    self.path.truncate(depth);
                    return Walked::To(too_many_steps(system, &self.trace, self.search.limits.steps));
                }
                _ if point.alternatives() == 1 && !self.every_point => Choice(0),
                _ => {
                    let alternatives = point.alternatives();
                    let looks = if self.watch { appearance(&point) } else { 0 };
                    if familiar && depth < self.path.len() && self.path[depth].looks != looks {
                        self.path.truncate(depth);
                        return Walked::To(self.different(&point, depth));
                    }
                    let choice = match self.prefix.get(depth) {
                        // The way to somewhere else than the latest execution went, so that nothing was compared.
                        Some(choice) if choice.0 >= alternatives => {
                            self.path.truncate(depth);
                            return Walked::To(self.different(&point, depth));
                        }
                        Some(&choice) => choice,
                        None => match self.strategy.get().choose(&point, &self.trace) {
                            Decision::Take(choice) => choice,
                            Decision::Prune => {
                                self.path.truncate(depth);
                                return Walked::Pruned;
                            }
                        },
                    };
                    assert!(
                        choice.0 < alternatives,
                        "raddle bug: strategy {} chose {choice:?} of {alternatives}",
                        self.search.name
                    );
                    if familiar && self.path.get(depth).is_none_or(|before| before.choice != choice) {
                        familiar = false;
                    }
                    match self.path.get_mut(depth) {
                        Some(slot) => *slot = Chosen { choice, alternatives, looks },
                        None => self.path.push(Chosen { choice, alternatives, looks }),
                    }
                    depth += 1;
                    product *= f64::from(alternatives);
                    choice
                }
            };
            system.advance(choice, &mut self.trace);
        }
    }

    fn different(&self, point: &Point<'_>, depth: usize) -> Outcome {
        let now = match point {
            Point::Actions(actions) => {
                let list: Vec<_> = actions
                    .iter()
                    .map(|a| format!("{} by task {} at {}", a.op.verb, a.task.number(), a.site))
                    .collect();
                format!("one of: {}", list.join("; "))
            }
            Point::Data { choices, site, .. } => format!("a value out of {choices} at {site}"),
            Point::End(_) => "the end".to_owned(),
        };
        Failure::Nondeterminism(Divergence {
            step: StepIx::next_of(self.trace.len()),
            followed: depth,
            of: self.prefix.len(),
            why: format!(
                "the same decisions led elsewhere in an earlier execution; now possible: {now}. Does the program depend on \
                 time, random numbers, addresses, hash order or state outside Raddle's control?"
            ),
        })
        .into()
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        // Nobody is to wait for a worker that panics.
        if std::thread::panicking() {
            self.search.board.stop();
            self.search.call_others(Spare::Over);
        }
        if self.waits {
            self.search.board.hungry(-1);
        }
        self.give_up();
    }
}

enum Walked {
    To(Outcome),
    Pruned,
}

/// A hash of what can be seen of a point: equal programs show equal points after equal decisions.
fn appearance(point: &Point<'_>) -> u64 {
    let fold = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    match point {
        Point::Actions(actions) => actions.iter().fold(1, |hash, action| {
            let who = u64::from(action.task.number()) << 34 | variant_number(action.variant);
            let site = u64::from(action.site.line()) << 32 | u64::from(action.site.column());
            let what = u64::from(action.object.number()) << 1 | u64::from(action.effect == Effect::Change);
            fold(fold(fold(hash, who), what), site ^ std::ptr::from_ref(action.op).addr() as u64)
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
