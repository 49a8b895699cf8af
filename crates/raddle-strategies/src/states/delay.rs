//! Stratified exhaustive search by a delaying explorer (Desai, Qadeer, Seshia, 2015): all that takes no deviation from
//! what the explorer would do, then all that takes one, then two, and so on, each state once.
//!
//! **Alternatives cost what they are behind.** At a point, the explorer says who goes on; a delay makes it say somebody else. What it
//! comes to n-th costs n delays; where a task can go on in several ways (messages, ways out of a wait), each further way comes when
//! the explorer has come round. A value that is drawn costs as much as it is large.
//!
//! **Strata.** In stratum `b` the search walks what has more than `(b - 1)·Δ` and at most `b·Δ` delays, depth-first. What it passes
//! by is kept for the next stratum as ways through the tree. A stratum is a
//! [stage](raddle_engine::piece::Piece::stage) of the search. A plain search of all states is [`States`](super::States).
//!
//! **States** that have been entered are not entered again; `visited.rs` tells what makes one. What the explorer knows is no part of it. Since strata come in order, a state is entered in the
//! lowest stratum that it belongs to, and what lies beyond it is not lost: it is walked or kept when the state is first
//! entered.
//!
//! **Memory**: a state takes 9.1 to 11.4 bytes, and up to 18.3 as long as there are fewer than a quarter of a million. When
//! there are as many as are allowed, later ones are entered as often as they turn up, or take the place of earlier ones;
//! nothing is lost by either. A way that is put off takes one or two bytes for each point that is new.

mod draw;
mod explorer;
mod explorers;
mod frontier;
mod hybrid;
mod level;
mod sample;
mod share;
mod strata;
mod width;

pub use self::explorer::{DelayingExplorer, Event};
pub use self::explorers::{ProbabilisticRoundRobin, RoundRobin, RunToCompletion};
use self::frontier::{Entry, Frontier};
pub use self::hybrid::DelayHybrid;
use self::level::Level;
pub use self::sample::DelaySample;
use self::width::Width;
use super::depth_first::MOST_STATES;
use super::visited::Visited;
use raddle_engine::facts::Fact;
use raddle_engine::ids::{StepIx, TaskId};
use raddle_engine::strategy::{
    After, BacktrackTo, Bound, ByPiece, Capabilities, Decision, Equivalence, Needs, Next, Run, Sharing, Sibling, Start,
    StateSearch, Strategy, Summarize, Unit,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::{Class, Note, Trace};

/// What the ways of the next stratum may take.
const ROOM: usize = 1 << 30;

/// All states, those first that take few deviations from what an explorer does.
#[derive(Debug)]
pub struct Delay<E> {
    /// The explorer as it is before the first step.
    first: E,
    /// The last stratum has so many delays.
    most: u32,
    /// Δ: how many delays a stratum adds.
    width: Width,
    stratum: u32,
    /// What is to be run next is known.
    placed: bool,
    levels: Vec<Level<E>>,
    /// So many levels lead to what this worker was given, and are not its own.
    fixed: usize,
    /// What is left of this piece.
    now: Frontier,
    /// What is to be run next, until its level is there.
    following: Option<Entry>,
    /// What belongs to the next stratum.
    later: Vec<Frontier>,
    later_bytes: usize,
    room: usize,
    left_out: bool,
    visited: Visited,
    /// The state of the program can be seen.
    seen: bool,
    /// Choices of the latest execution.
    latest: usize,
}

impl<E: DelayingExplorer + Clone + Send + 'static> Delay<E> {
    /// With this explorer, one delay more in each stratum, until there are no states left.
    #[must_use]
    pub fn new(explorer: E) -> Self {
        Self {
            first: explorer,
            most: u32::MAX,
            width: Width::By(1),
            stratum: 0,
            placed: true,
            levels: Vec::new(),
            fixed: 0,
            now: Frontier::default(),
            following: None,
            later: Vec::new(),
            later_bytes: 0,
            room: ROOM,
            left_out: false,
            visited: Visited::new(MOST_STATES),
            seen: false,
            latest: 0,
        }
    }

    /// Nothing with more delays than this.
    #[must_use]
    pub fn up_to(self, delays: u32) -> Self {
        Self { most: delays, ..self }
    }

    /// So many delays more in each stratum.
    ///
    /// # Panics
    ///
    /// If it is 0.
    #[must_use]
    pub fn by(self, delays: u32) -> Self {
        assert!(delays > 0, "raddle: a stratum must have at least one delay more than the one before");
        Self { width: Width::By(delays), ..self }
    }

    /// Strata that end at 0, 1, 2, 4, 8 delays and so on. A search of all states has to take up again what each stratum has put off, and takes
    /// a quarter of the time or less if there are few.
    #[must_use]
    pub fn doubling(self) -> Self {
        Self { width: Width::Doubling, ..self }
    }

    /// Keeps at most so many states; what comes later is entered as often as it turns up.
    #[must_use]
    pub fn with_states(self, most: usize) -> Self {
        Self { visited: Visited::new(most), ..self }
    }

    /// When as many states are kept as may be, a new one takes the place of an old one. That is better where states turn up again
    /// soon after they were entered, if at all.
    #[must_use]
    pub fn replacing_states(self) -> Self {
        Self { visited: self.visited.replacing(), ..self }
    }

    /// The most delays that anything in this stratum has. The first one has none.
    fn bound(&self) -> u32 {
        self.width.bound(self.stratum).min(self.most)
    }

    fn last_stratum(&self) -> u32 {
        self.width.last(self.most)
    }

    /// Goes to what is to be run next of this piece.
    fn advance(&mut self) -> bool {
        self.placed = self.backtrack() || self.next_entry();
        self.placed
    }

    /// Takes the next alternative of the deepest level that has one within the bound; what is deeper is for later.
    fn backtrack(&mut self) -> bool {
        let bound = self.bound();
        let open = |level: &Level<E>| level.own && level.has_more() && level.total < bound;
        let at = (self.fixed..self.levels.len()).rev().find(|&at| open(&self.levels[at]));
        let from = at.map_or(self.fixed, |at| at + 1);
        if from < self.levels.len() {
            self.put_off_from(from);
        }
        self.levels.truncate(from);
        if let (Some(_), Some(level)) = (at, self.levels.last_mut()) {
            level.delay();
        }
        at.is_some()
    }

    /// Goes on to the next entry; what its way has in common with the latest one is known.
    fn next_entry(&mut self) -> bool {
        while let Some(entry) = self.now.take() {
            self.fixed = entry.path.len();
            let known = self.levels.iter().zip(&entry.path).take_while(|(level, choice)| level.choice() == **choice);
            self.levels.truncate(known.count());
            if entry.total > self.bound() {
                // Given back with the rest of a piece, though it was to come later.
                self.keep_entry(&entry);
                continue;
            }
            self.following = Some(entry);
            return true;
        }
        false
    }

    fn keep_entry(&mut self, entry: &Entry) {
        if self.stratum >= self.last_stratum() {
            self.left_out = true;
            return;
        }
        let mut block = Frontier::default();
        block.add_entry(entry);
        self.later_bytes += block.bytes();
        self.later.push(block);
    }

    /// The explorer as it is at the point that has been reached, after this level, or after the start.
    fn explorer_here(first: &E, latest: Option<&Level<E>>, at: &Point<'_>, so_far: &Trace) -> E {
        let (mut explorer, steps) = match latest {
            Some(level) => (level.explorer.clone(), level.steps),
            None => (first.clone(), 0),
        };
        let mut notes = so_far.notes_from(StepIx::next_of(steps)).iter().peekable();
        for (index, step) in (steps..).zip(&so_far.steps()[steps..]) {
            match (step.op.class, step.found) {
                (Class::Spawn, Some(child)) => explorer.step(&Event::Created(TaskId::next_of(child.0 as usize))),
                (Class::Finish, _) => explorer.step(&Event::Finished(step.task)),
                _ if step.alternatives > 0 => explorer.step(&Event::Stepped(step.task)),
                _ => {}
            }
            while let Some((_, note)) = notes.next_if(|note| note.0.index() <= index) {
                match note {
                    Note::Sent(to) => explorer.step(&Event::Sent(*to)),
                    Note::Hint(value) => explorer.step(&Event::Hint(*value)),
                    Note::Context(_) | Note::Contents(_) => {}
                }
            }
        }
        // Before the first point where tasks go on, nobody waits.
        let level = latest.filter(|level| !level.ready().is_empty());
        if let (Point::Actions(actions), Some(level)) = (at, level) {
            // Both are in order of creation.
            let (mut latest, mut waited) = (None, level.ready().iter().peekable());
            for action in *actions {
                while waited.next_if(|task| **task < action.task).is_some() {}
                let new = latest.replace(action.task) != Some(action.task);
                if new && waited.peek() != Some(&&action.task) {
                    explorer.step(&Event::Woken(action.task));
                }
            }
        }
        explorer
    }

    /// An execution begins.
    fn forget_latest(&mut self) {
        self.placed = false;
        self.visited.begin();
    }

    /// Whether there is something else to be done at the latest point.
    fn has_another(&self) -> bool {
        let bound = self.bound();
        self.levels.last().is_some_and(|level| level.own && level.has_more() && level.total < bound)
    }

    /// Whether the way is no longer one that was put off.
    fn is_on_its_own(&self) -> bool {
        self.following.as_ref().is_none_or(|entry| self.levels.len() > entry.path.len())
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> Delay<E> {
    /// Goes to what comes next, if it leaves the latest execution: where it does, and by which choice.
    fn backtrack_to(&mut self) -> Option<BacktrackTo> {
        if self.placed || !self.backtrack() {
            return None;
        }
        let depth = self.levels.len() - 1;
        if depth >= self.latest {
            self.placed = true;
            return None;
        }
        Some(BacktrackTo { depth, choice: Choice(self.levels[depth].choice()) })
    }

    /// Whether a later execution goes on from the latest point, if that is known. Where no delay is left, nothing more is done in
    /// this stratum.
    fn returns_here(&self) -> Option<bool> {
        let spent = self.levels.last().is_some_and(|level| level.total >= self.bound());
        (spent && self.following.is_none()).then_some(false)
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> Strategy for Delay<E> {
    fn needs(&self) -> Needs {
        Needs { equivalence: Equivalence::States, every_point: true, ..Needs::exhaustive("delay") }
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        let backtrack = self.backtrack_to();
        if backtrack.is_none() {
            if !self.placed && !self.advance() {
                return Next::Done(self.claim());
            }
            prefix.extend(self.levels.iter().map(|level| Choice(level.choice())));
        }
        self.forget_latest();
        Next::Run(Start { backtrack, ..Start::with_seed(0) })
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        let depth = self.levels.len();
        let followed = self.following.as_ref().filter(|entry| depth <= entry.path.len());
        let wanted = followed.map(|entry| (entry.path.get(depth).copied(), entry.rank));
        if wanted.is_none() && !self.seen && !self.visited.enter_after(so_far, 0) {
            return Decision::Prune;
        }
        let latest = self.levels.last();
        let new = Level::new(at, Self::explorer_here(&self.first, latest, at, so_far), so_far.len(), latest);
        self.levels.push(new);
        let level = self.levels.last_mut().expect("pushed just now");
        match wanted {
            Some((Some(choice), _)) => {
                while level.choice() != choice && level.has_more() {
                    level.delay();
                }
            }
            Some((None, rank)) => {
                while level.rank <= rank && level.has_more() {
                    level.delay();
                }
                self.following = None;
            }
            None => {}
        }
        let choice = Choice(level.choice());
        Decision::take(choice, self.returns_here())
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        self.latest = run.choices;
        self.following = None;
        // The last state is one too.
        if run.outcome.is_some() && !self.seen {
            self.visited.enter_after(run.trace, 0);
        }
        After::Next
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> Capabilities for Delay<E> {
    fn states(&mut self) -> Option<&mut dyn StateSearch> {
        Some(self)
    }

    fn sharing(&mut self) -> Sharing<'_> {
        Sharing::ByPiece(self)
    }

    fn summary(&mut self) -> Option<&dyn Summarize> {
        Some(self)
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> StateSearch for Delay<E> {
    fn visit_state(&mut self, state: Option<u64>) -> bool {
        self.seen = state.is_some();
        match state {
            Some(state) if self.is_on_its_own() => self.visited.enter_state(state),
            _ => true,
        }
    }

    fn next_sibling(&mut self) -> Sibling {
        let another = self.has_another();
        match self.levels.last_mut() {
            Some(level) if another => {
                level.delay();
                let choice = Choice(level.choice());
                Sibling::Instead { choice, returns: self.returns_here() }
            }
            _ => Sibling::None,
        }
    }

    fn new_states(&mut self) -> u64 {
        self.visited.new_states()
    }
}

impl<E: DelayingExplorer + Clone + Send + 'static> Summarize for Delay<E> {
    fn covered(&self, stage: u32) -> Option<Bound> {
        let most = self.width.bound(stage.checked_sub(1)?);
        Some(Bound { most, unit: Unit::Delay })
    }

    fn about_failure(&self) -> Option<Fact> {
        Some(Fact::FoundWith(self.levels.last().map_or(0, |level| level.total), Unit::Delay))
    }
}
