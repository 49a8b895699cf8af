//! The tables of the running execution.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use raddle_engine::caveats::Caveats;
use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::Outcome;
use raddle_engine::rng::Rng;
use raddle_engine::system::Variant;
use raddle_engine::trace::{Access, Class, Effect, Hold, Note, Operation, Ordered, Role, Site, Step, Trace};

use crate::actor::{Posts, Story};
use crate::coroutine::act::Act;
use crate::coroutine::{Job, Lane};
use crate::execution::budget::{BUDGET, BUDGET_KIND};
use crate::execution::frames::Contexts;
use crate::execution::object::{Kind, Object, word_as_number};
use crate::execution::spin::{MOST_ROUNDS, Spin};
use crate::execution::task::{Status, Task};
use crate::execution::{Ask, Moment, Progress};
use crate::sync::statics::Kept;
use crate::time::CLOCK;

/// How programs are to be run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Stack of each task, where the program does not say otherwise.
    pub stack_bytes: usize,
    /// How many waits of one execution may end for no reason.
    pub spurious: u32,
    /// Whether a panic that ends a spawned thread is left to whoever joins it.
    pub isolate_panics: bool,
    /// Whether panics of tasks are printed where they happen, with a backtrace if the environment asks for one.
    pub print_panics: bool,
    /// Whether the execution is run to be shown: messages and what becomes of them are kept in words.
    pub tell: bool,
    /// How many of the calls that led to an operation are found out, beside the place of the operation itself; 0 for nothing of
    /// that.
    pub context: usize,
    /// What becomes of threads that still wait when nothing can happen any more and the test's function has returned.
    pub leaked_threads: LeakedThreads,
    /// When a wait that has a time may end by it.
    pub timeouts: Timeouts,
    /// How many tasks a search may abandon, and how many it has; shared by all of its workers.
    pub most_abandoned: u64,
    /// See there.
    pub abandoned: Arc<AtomicU64>,
    /// Threads that are not under control were there when a worker ended; shared by all workers of a search.
    pub uncontrolled: Arc<AtomicBool>,
    /// What earlier executions have shown.
    pub facts: Facts,
    /// What executions show that is not among the facts; shared by all workers of a search.
    pub learned: Arc<Mutex<Facts>>,
    /// The search cannot begin again, so it goes by these facts to its end, and what executions show beyond them limits what is proved.
    pub keeps_facts: bool,
    /// Feeds the keys of hash maps.
    pub hash_seed: u64,
}

/// What executions have shown of the program, and by which later ones have other points than earlier ones. A search keeps to what
/// was known when it began; if it learns more, it has to begin again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Somebody asks whether a thread is finished, so the end of a thread is a step of its own. It is not for programs that never
    /// ask: nobody can tell there when a thread ends.
    pub thread_ends: bool,
    /// Loops that were seen to go round and round without anything changing, by the places where they look again.
    pub spins: BTreeSet<Spot>,
}

impl Facts {
    /// Adds what `other` knows; says whether that is more.
    pub fn add(&mut self, other: &Self) -> bool {
        let before = (self.thread_ends, self.spins.len());
        self.thread_ends |= other.thread_ends;
        self.spins.extend(other.spins.iter().cloned());
        before != (self.thread_ends, self.spins.len())
    }

    /// Writes them as a schedule begins with them; nothing is allocated.
    pub(crate) fn write(&self, to: &mut dyn fmt::Write) -> fmt::Result {
        if self.thread_ends {
            write!(to, "+{THREAD_ENDS}")?;
        }
        self.spins.iter().try_for_each(|spot| write!(to, "+{}", spot.0))
    }

    /// In words that schedules can keep.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let ends = self.thread_ends.then(|| THREAD_ENDS.to_owned());
        ends.into_iter().chain(self.spins.iter().map(|spot| spot.0.clone())).collect()
    }

    /// What such words say.
    #[must_use]
    pub fn of_words(words: &[String]) -> Self {
        let spots = words.iter().filter(|word| *word != THREAD_ENDS);
        Self { thread_ends: words.iter().any(|word| word == THREAD_ENDS), spins: spots.cloned().map(Spot).collect() }
    }
}

/// The word for the fact that somebody asks whether threads are finished.
const THREAD_ENDS: &str = "ends";

/// A place in the source, as it is written in schedules: the same in every build of the same source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot(pub String);

impl From<Site> for Spot {
    fn from(site: Site) -> Self {
        let file = site.file().rsplit(['/', '\\']).next().unwrap_or_default();
        let name: String = file.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        Self(format!("{name}.{}.{}", site.line(), site.column()))
    }
}

/// What threads are that still wait when nothing can happen any more and the test's function has returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeakedThreads {
    /// A deadlock: nobody can wake them.
    #[default]
    Fail,
    /// Left behind, as they are when a process ends, if they wait to be given something and not for one another.
    Allow,
}

/// When a wait that has a time may end by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timeouts {
    /// At any moment, since a real thread can be slow.
    #[default]
    Any,
    /// Only when nothing else can happen.
    Late,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            stack_bytes: 2 << 20,
            spurious: 1,
            isolate_panics: false,
            print_panics: false,
            tell: false,
            context: 0,
            leaked_threads: LeakedThreads::default(),
            timeouts: Timeouts::default(),
            most_abandoned: 1_000_000,
            abandoned: Arc::default(),
            uncontrolled: Arc::default(),
            facts: Facts::default(),
            learned: Arc::default(),
            keeps_facts: false,
            hash_seed: 0,
        }
    }
}

/// Steps that a task may take in a row while others could go on. A scheduler that lets one go on for longer is not one that
/// exists, and loops that wait for others would never end under it.
const PATIENCE: u32 = 10_000;

/// As many of those steps as a yield counts for, if the task has changed something since it yielded before: it asks that others go
/// first.
const YIELD_WEIGHT: u32 = 200;

/// A task that has been created and not yet begun.
pub(crate) struct Newborn {
    pub(crate) task: TaskId,
    pub(crate) job: Job,
    pub(crate) stack_bytes: usize,
}

/// Everything an execution is, but for its stacks.
pub(crate) struct State {
    /// No two executions of a process have the same.
    pub(crate) number: u64,
    pub(crate) settings: Settings,
    pub(crate) tasks: Vec<Task>,
    /// By task; kept from one execution to the next, so there may be more of them than tasks.
    pub(super) spins: Vec<Spin>,
    /// Those that have not ended, in order of creation.
    pub(crate) alive: Vec<TaskId>,
    pub(crate) objects: Vec<Object>,
    pub(crate) current: TaskId,
    pub(crate) newborn: VecDeque<Newborn>,
    /// With more tasks than this, the execution ends.
    pub(crate) most_tasks: usize,
    /// Lent by the search while tasks run.
    pub(crate) trace: Trace,
    /// How many alternatives the next step to be recorded had.
    pub(crate) alternatives: u32,
    /// What others can do may be different since it was last listed.
    pub(crate) stale: bool,
    /// A task was created or has ended.
    pub(crate) unsettled: bool,
    /// Plain memory was touched, so that races are to be looked for.
    pub(crate) cells_touched: bool,
    /// The current task has asked for one of so many values.
    pub(crate) data: Option<(u32, Site, &'static Operation)>,
    pub(crate) drawn: u32,
    pub(crate) outcome: Option<Outcome>,
    /// Somebody has asked whether a thread is finished.
    pub(crate) looked_at_thread_end: bool,
    /// The execution has ended, and what is left of it is run on.
    pub(crate) finishing: bool,
    /// Nothing is decided any more: actors that wait for messages end, and what is left is abandoned.
    pub(crate) over: bool,
    /// A task was left in the middle of a panic hook: this OS thread can panic no more.
    pub(crate) spoiled: bool,
    /// Tasks that unwind, as far as that has to be known: as soon as one of them is paused in the middle of it.
    pub(crate) unwinding: Vec<TaskId>,
    /// The task that stepped last and how long it has been going on while others could have.
    streak: (TaskId, u32),
    /// A task that has gone on for so long that it is somebody else's turn.
    pub(super) resting: Option<TaskId>,
    /// Tasks spin and nothing else can happen.
    pub(crate) livelock: bool,
    /// How many tasks are stalled.
    pub(super) stalled: u32,
    /// What this execution did that limits what it proves.
    pub(crate) caveats: Caveats,
    /// Places of loops that are known to spin, or known not to be; found out once for each place.
    known_loops: Vec<(Site, bool)>,
    /// Places of loops that have gone round so often in this execution that they are taken to spin.
    pub(crate) new_spins: Vec<Site>,
    /// Changes made by anyone to anything.
    pub(super) changes: u64,
    /// How far the clock moves when somebody spins on it and nothing else can happen.
    pub(super) clock_leap: u64,
    seed: u64,
    /// The program's own random numbers, from the first that is drawn on.
    rng: Option<Rng>,
    /// Keys of hash maps were drawn.
    pub(crate) made_hash_keys: bool,
    /// Mailboxes, and who sends to them.
    pub(crate) actors: Posts,
    /// What is to be said of actors, if the execution is run to be shown.
    pub(crate) story: Option<Box<Story>>,
    /// What was listed last are plain operations of those who are ready, and what can be received; nothing else can happen.
    pub(crate) plain_list: bool,
    /// A task has looked at something, so that it may come to spin.
    pub(crate) somebody_looked: bool,
    /// Steps are only counted in this execution.
    pub(crate) counts_only: bool,
    /// How many decisions were taken on who goes on.
    pub(crate) turns: u64,
    /// Values of `static`s, which start afresh in each execution; `None` where one was taken out again.
    pub(crate) statics: Vec<Option<Kept>>,
    /// The calls that led to what tasks ask for, if that is to be found out.
    pub(crate) contexts: Option<Box<Contexts>>,
}

static TASK_END: Kind = Kind { noun: "thread", show: word_as_number };
static TASK_SIGNAL: Kind = Kind { noun: "token", show: word_as_number };

impl Default for State {
    fn default() -> Self {
        Self {
            number: 0,
            settings: Settings::default(),
            tasks: Vec::new(),
            spins: Vec::new(),
            alive: Vec::new(),
            objects: Vec::new(),
            current: TaskId::MAIN,
            newborn: VecDeque::new(),
            most_tasks: usize::MAX,
            trace: Trace::default(),
            alternatives: 0,
            stale: true,
            unsettled: false,
            cells_touched: false,
            data: None,
            drawn: 0,
            outcome: None,
            looked_at_thread_end: false,
            finishing: false,
            over: false,
            spoiled: false,
            unwinding: Vec::new(),
            streak: (TaskId::MAIN, 0),
            resting: None,
            livelock: false,
            stalled: 0,
            caveats: Caveats::default(),
            known_loops: Vec::new(),
            new_spins: Vec::new(),
            changes: 0,
            clock_leap: 1,
            seed: 0,
            rng: None,
            made_hash_keys: false,
            actors: Posts::default(),
            story: None,
            plain_list: false,
            somebody_looked: false,
            counts_only: false,
            turns: 0,
            statics: Vec::new(),
            contexts: None,
        }
    }
}

impl State {
    /// As before the first step of an execution, keeping the memory of the tables.
    pub(crate) fn begin(&mut self, number: u64, seed: u64) {
        self.number = number;
        self.tasks.clear();
        self.alive.clear();
        self.objects.clear();
        self.current = TaskId::MAIN;
        self.newborn.clear();
        self.alternatives = 0;
        self.stale = true;
        self.cells_touched = false;
        self.data = None;
        self.outcome = None;
        self.looked_at_thread_end = false;
        self.finishing = false;
        self.over = false;
        self.unwinding.clear();
        self.streak = (TaskId::MAIN, 0);
        self.resting = None;
        self.livelock = false;
        self.stalled = 0;
        self.caveats = Caveats::default();
        self.new_spins.clear();
        self.changes = 0;
        self.clock_leap = 1_000_000;
        self.seed = seed;
        self.rng = None;
        self.made_hash_keys = false;
        self.somebody_looked = false;
        self.counts_only = self.trace.counts_only();
        self.turns = 0;
        self.actors.clear();
        self.actors.sets.begin(self.counts_only);
        self.story = self.settings.tell.then(Box::default);
        self.plain_list = false;
        self.contexts.iter_mut().for_each(|contexts| contexts.begin());
        let clock = self.add_object(&crate::time::CLOCK_KIND, 0);
        assert_eq!(clock, CLOCK, "raddle bug: the clock is not the first object");
        let budget = self.add_object(&BUDGET_KIND, u64::from(self.settings.spurious));
        assert_eq!(budget, BUDGET, "raddle bug: the budget is not the second object");
    }

    /// Adds an object that belongs to no value of the user's.
    pub(crate) fn add_object(&mut self, kind: &'static Kind, word: u64) -> ObjectId {
        self.objects.push(Object::of_the_runtime(kind, word));
        ObjectId::next_of(self.objects.len() - 1)
    }

    /// Adds a task, created by the current one.
    pub(crate) fn add_task(&mut self, label: Option<String>) -> TaskId {
        let task = TaskId::next_of(self.tasks.len());
        let (ordinal, let_go) = match self.tasks.get_mut(self.current.index()) {
            Some(parent) => {
                parent.children += 1;
                (parent.children, parent.let_go)
            }
            None => (0, false),
        };
        let end = self.add_object(&TASK_END, 0);
        let signal = self.add_object(&TASK_SIGNAL, 0);
        match self.spins.get_mut(task.index()) {
            Some(spin) => spin.begin(),
            None => self.spins.push(Spin::default()),
        }
        self.stale = true;
        self.unsettled = true;
        self.tasks.push(Task { let_go, ..Task::new(self.current, ordinal, label, end, signal) });
        task
    }

    pub(crate) fn task(&mut self) -> &mut Task {
        &mut self.tasks[self.current.index()]
    }

    /// Finds out by which calls the current task has come to what it is about to ask for, if anybody wants to know.
    #[inline(always)]
    pub(crate) fn take_context(&mut self, lane: &Lane) {
        if let Some(contexts) = &mut self.contexts {
            contexts.take(self.current, lane);
        }
    }

    /// Whether the current task unwinds because of a panic. The standard library knows that of the OS thread only, which is
    /// the same but for tasks that run while another is paused in the middle of unwinding.
    #[inline]
    pub(crate) fn unwinds(&self) -> bool {
        std::thread::panicking() && (self.unwinding.is_empty() || self.unwinding.contains(&self.current))
    }

    /// The current task has panicked and begins to unwind.
    #[cold]
    pub(crate) fn note_unwinding(&mut self) {
        if !self.unwinding.is_empty() && !self.unwinding.contains(&self.current) {
            self.unwinding.push(self.current);
        }
    }

    /// The current task is about to pause. If it does so in the middle of unwinding, the OS thread counts as panicking while others
    /// run, so it has to be remembered who it is that unwinds.
    #[inline(always)]
    pub(crate) fn note_if_unwinding(&mut self) {
        if std::thread::panicking() || !self.unwinding.is_empty() {
            self.note_who_unwinds();
        }
    }

    #[cold]
    fn note_who_unwinds(&mut self) {
        if !std::thread::panicking() {
            // Whoever was unwinding has caught its panic since.
            self.unwinding.clear();
        } else if self.unwinding.is_empty() {
            self.unwinding.push(self.current);
        }
    }

    /// A task that was created is about to run for the first time.
    pub(crate) fn begin_task(&mut self, task: TaskId) {
        self.tasks[task.index()].status = Status::Alive;
        self.alive.push(task);
        self.current = task;
    }

    /// The current task has ended, or cannot go on any more.
    pub(crate) fn end_task(&mut self, task: TaskId) {
        self.tasks[task.index()].status = Status::Finished;
        if let Some(at) = self.alive.iter().rposition(|&t| t == task) {
            self.alive.remove(at);
        }
        self.unwinding.retain(|&t| t != task);
        self.stale = true;
        self.unsettled = true;
    }

    /// The program's own random numbers.
    pub(crate) fn rng(&mut self) -> &mut Rng {
        self.caveats.drew_random = true;
        self.rng.get_or_insert_with(|| Rng::new(self.seed))
    }

    /// The seed of the program's random numbers, if it has drawn any; else 0.
    pub(crate) fn seed_if_drawn(&self) -> u64 {
        if self.rng.is_some() { self.seed } else { 0 }
    }

    /// Keys for a hash map that the current task makes. They follow from the seed, the task and how many it has made before, and
    /// not from what other tasks do.
    pub(crate) fn hash_keys(&mut self) -> [u64; 2] {
        self.made_hash_keys = true;
        let name = Task::name(&self.tasks, self.current);
        let task = &mut self.tasks[self.current.index()];
        task.hash_keys += 1;
        let parts = name.0.iter().map(|&ordinal| u64::from(ordinal)).chain([u64::MAX, task.hash_keys]);
        let mut rng = parts.fold(Rng::new(self.settings.hash_seed), |mut rng, part| Rng::new(rng.bits() ^ part));
        [rng.bits(), rng.bits()]
    }

    /// What the current task has looked at.
    pub(crate) fn spin(&mut self) -> &mut Spin {
        &mut self.spins[self.current.index()]
    }

    pub(crate) fn now(&self) -> u64 {
        self.objects[CLOCK.index()].word
    }

    #[inline]
    pub(crate) fn is_ready(&self, ask: &Ask) -> bool {
        ask.ready.is_none_or(|ready| ready(self.objects[ask.object.index()].word, ask.key))
    }

    /// The task is not stalled any more, if it was.
    pub(super) fn go_on(&mut self, task: TaskId) {
        self.stalled -= u32::from(self.spins[task.index()].go_on());
    }

    /// The current task wants to do something and is about to hand control back.
    #[inline(always)]
    pub(crate) fn ask(&mut self, ask: &Ask, act: Act) {
        if self.counts_only {
            self.take_back_ask();
        }
        let task = &mut self.tasks[self.current.index()];
        task.asks = Some(*ask);
        task.act = Some(act);
        if !ask.object.is_some() {
            if ask.op.class == Class::Yield {
                self.judge_yielding(ask.site);
            }
            return;
        }
        let object = &mut self.objects[ask.object.index()];
        object.waiting += u32::from(ask.ready.is_some());
        object.waiting_unseen += u32::from(ask.unseen);
        let looks = matches!(
            ask.op.class,
            Class::Read | Class::Update | Class::Acquire | Class::Send | Class::Receive | Class::Wait | Class::Time
        );
        if looks {
            let spin = &mut self.spins[self.current.index()];
            if let Some(rounds) = spin.looks_again(ask.object, object.version, ask.site) {
                self.judge_spinning(ask.site, rounds);
            }
        }
    }

    /// An actor that received [by lot](Self::receive_by_lot) and waits for something else now does not ask for its mail any more.
    #[inline]
    pub(crate) fn take_back_ask(&mut self) {
        if let Some(ask) = self.tasks[self.current.index()].asks.take_if(|ask| ask.mail.is_some()) {
            self.objects[ask.object.index()].waiting -= 1;
        }
    }

    /// Where a task stands.
    pub(crate) fn status(&self, task: TaskId) -> Status {
        self.tasks[task.index()].status
    }

    /// Whether a task is an actor that waits for messages.
    pub(crate) fn waits_for_mail(&self, task: TaskId) -> bool {
        self.tasks[task.index()].asks.as_ref().is_some_and(|ask| ask.mail.is_some())
    }

    /// An actor does not wait for messages any more; it becomes the current task.
    pub(crate) fn stop_asking(&mut self, task: TaskId) {
        self.current = task;
        self.take_back_ask();
        self.tasks[task.index()].act = None;
    }

    /// Decides whether the current task, which has looked so often in a row at something unchanged and is about to look again, stalls.
    fn judge_spinning(&mut self, site: Site, rounds: u32) {
        if !self.spins_at(site, rounds) {
            return;
        }
        let spin = &mut self.spins[self.current.index()];
        spin.stall_until_change();
        self.stalled += 1;
        for watched in spin.watched() {
            self.objects[watched.index()].watched = true;
        }
    }

    /// The same for a task that is about to yield.
    fn judge_yielding(&mut self, site: Site) {
        let others = self.turns_of_others(self.current);
        if let Some(rounds) = self.spins[self.current.index()].yields_again(site, others)
            && self.spins_at(site, rounds)
        {
            self.spins[self.current.index()].stall_until_step(others);
            self.stalled += 1;
        }
    }

    /// How often others than `task` were chosen to go on.
    pub(super) fn turns_of_others(&self, task: TaskId) -> u64 {
        self.turns - self.tasks[task.index()].turns
    }

    /// What limits what this execution proves.
    pub(crate) fn caveats(&self) -> Caveats {
        let mut caveats = self.caveats.clone();
        if self.settings.keeps_facts {
            caveats.assumed_spins.extend(&self.new_spins);
            // Orders in which a thread has not quite ended were left out.
            caveats.guessed_spin |= self.looked_at_thread_end && !self.settings.facts.thread_ends;
        }
        caveats
    }

    /// What this execution has shown of the program that it was not told; `None` if nothing.
    #[inline]
    pub(crate) fn new_facts(&self) -> Option<Facts> {
        let thread_ends = self.looked_at_thread_end && !self.settings.facts.thread_ends;
        if self.settings.keeps_facts || !thread_ends && self.new_spins.is_empty() {
            return None;
        }
        Some(Facts { thread_ends, spins: self.new_spins.iter().map(|&site| Spot::from(site)).collect() })
    }

    /// Whether a loop that has gone round so often at `site` is taken to spin.
    fn spins_at(&mut self, site: Site, rounds: u32) -> bool {
        let known = match self.known_loops.iter().find(|known| std::ptr::eq(known.0, site)) {
            Some(known) => known.1,
            None => {
                let spins = self.settings.facts.spins.contains(&Spot::from(site));
                self.known_loops.push((site, spins));
                spins
            }
        };
        let places = if known { &mut self.caveats.assumed_spins } else { &mut self.new_spins };
        let spins = known || rounds >= MOST_ROUNDS;
        if spins && !places.iter().any(|place| std::ptr::eq(*place, site)) {
            places.push(site);
        }
        spins
    }

    /// Lets an operation take effect and keeps it as a step.
    #[inline(always)]
    pub(crate) fn record<R>(&mut self, ask: &Ask, variant: Variant, act: impl FnOnce(&mut Moment<'_>) -> R) -> R {
        let task = self.current;
        if self.alternatives > 0 {
            self.tasks[task.index()].let_go = false;
        } else if ask.unseen {
            self.tasks[task.index()].let_go = true;
        }
        // What a wait asks for is not touched if it ends by time.
        let effect = if variant == Variant::TimedOut { Effect::Read } else { ask.effect };
        self.trace.push(Step {
            task,
            variant,
            op: ask.op,
            access: Access { object: ask.object, effect, role: role(ask, variant), ordered: ask.ordered },
            found: None,
            left: None,
            hold: Hold::Unchanged,
            wants: None,
            site: ask.site,
            alternatives: std::mem::take(&mut self.alternatives),
            more: 0,
        });
        if let Some(contexts) = &mut self.contexts
            && let Some(context) = contexts.use_up(task)
        {
            self.trace.note(Note::Context(context));
        }
        let progress = match ask.effect {
            Effect::Change if variant == Variant::Ready => Progress::Changed,
            _ => Progress::Looked,
        };
        let before = if ask.object.is_some() { self.objects[ask.object.index()].word } else { 0 };
        let mut moment = Moment { state: self, object: ask.object, variant, progress };
        let result = act(&mut moment);
        let progress = moment.progress;
        if ask.object.is_some() {
            let after = self.objects[ask.object.index()].word;
            if before != after {
                self.spins[self.current.index()].replaced(ask.object, before, after);
            }
        }
        if ask.deadline.is_some() {
            self.trace.touch(end_of_timed_wait(variant));
        }
        self.note_progress(ask, progress);
        result
    }

    #[inline(always)]
    fn note_progress(&mut self, ask: &Ask, progress: Progress) {
        let spin = &mut self.spins[self.current.index()];
        if ask.object.is_some() {
            let object = &mut self.objects[ask.object.index()];
            match progress {
                Progress::Looked => {
                    self.somebody_looked = true;
                    spin.looked(ask.object, object.version, ask.site);
                }
                Progress::Neutral => {}
                Progress::Changed => {
                    object.version += 1;
                    self.changes += 1;
                    spin.changed();
                }
            }
            // Operations of these kinds touch their object only; others may move whom they like.
            self.cells_touched |= ask.op.class == Class::Cell;
            let alone = matches!(
                ask.op.class,
                Class::Read | Class::Write | Class::Update | Class::Cell | Class::Acquire | Class::Release
            );
            self.stale |= !ask.posts && (!alone || object.waiting > 0) || object.watched;
            self.unsettled |= object.waiting_unseen > 0;
        }
    }

    /// The current task has changed a mailbox, which nobody spins on.
    #[inline]
    pub(crate) fn note_change(&mut self) {
        self.changes += 1;
        if self.somebody_looked {
            self.spins[self.current.index()].changed();
        }
    }

    /// A task goes on that was one of so many; what it asked for is done elsewhere.
    #[inline]
    pub(crate) fn begin_turn(&mut self, task: TaskId, alternatives: u32) {
        self.current = task;
        self.turns += 1;
        self.tasks[task.index()].turns += 1;
        if alternatives > 1 || self.resting.is_some() {
            self.note_turn(task, Class::Receive);
        }
    }

    /// Takes away the latest value of a `static` that is still there.
    pub(crate) fn last_kept(&mut self) -> Option<Kept> {
        self.statics.iter_mut().rev().find_map(Option::take)
    }

    /// A task that needs no decision to go on.
    pub(crate) fn unseen_and_ready(&self) -> Option<TaskId> {
        let can =
            |task: &&TaskId| self.tasks[task.index()].asks.as_ref().is_some_and(|ask| ask.unseen && self.is_ready(ask));
        self.alive.iter().find(can).copied()
    }

    /// A task that goes on and on while others could rests until one of them has stepped.
    #[inline]
    fn note_turn(&mut self, task: TaskId, class: Class) {
        if self.streak.0 != task || self.resting.is_some() {
            self.streak = (task, 0);
            self.stale |= self.resting.take().is_some();
        }
        let yields = class == Class::Yield && self.spins[task.index()].changes_as_it_yields();
        self.streak.1 += if yields { YIELD_WEIGHT } else { 1 };
        if self.streak.1 > PATIENCE {
            self.resting = Some(task);
            self.stale = true;
            self.caveats.guessed_spin = true;
        }
    }

    /// A task was chosen to go on by one of its ways out: what it asked for takes effect.
    #[inline(always)]
    pub(crate) fn take_effect(&mut self, task: TaskId, variant: Variant) {
        self.current = task;
        let chosen = &mut self.tasks[task.index()];
        let (Some(ask), Some(act)) = (chosen.asks.take(), chosen.act.take()) else {
            unreachable!("raddle bug: a task that asks for nothing was chosen");
        };
        if ask.ready.is_some() {
            let object = &mut self.objects[ask.object.index()];
            object.waiting -= 1;
            object.waiting_unseen -= u32::from(ask.unseen);
        }
        self.turns += 1;
        self.tasks[task.index()].turns += 1;
        if self.alternatives > 1 || self.resting.is_some() {
            self.note_turn(task, ask.op.class);
        }
        if let Variant::Message(_) = variant {
            self.go_on(task);
        } else if variant != Variant::Ready {
            self.stale = true;
            self.go_on(task);
            if variant == Variant::TimedOut {
                self.move_clock(ask.deadline.expect("raddle bug: a wait without a time timed out"));
            }
        }
        self.record(&ask, variant, |moment| act.call(moment));
    }
}

/// What the end of a wait with a time is to the clock: it moves, or it is not held back by that time any more.
fn end_of_timed_wait(variant: Variant) -> Access {
    let effect = if variant == Variant::TimedOut { Effect::Change } else { Effect::Read };
    Access { object: CLOCK, effect, role: Role::Timed, ordered: Ordered::RELAXED }
}

/// A wait that ends by time or for no reason takes nothing that was given.
#[inline]
pub(super) fn role(ask: &Ask, variant: Variant) -> Role {
    match variant {
        Variant::TimedOut | Variant::Spurious => Role::Plain,
        Variant::Ready | Variant::Message(_) => ask.role,
    }
}
