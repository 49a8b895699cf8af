//! The tables of the running execution.

use std::collections::VecDeque;

use raddle_engine::caveats::Caveats;
use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::outcome::Outcome;
use raddle_engine::rng::Rng;
use raddle_engine::trace::{Operation, Site, Trace};

use crate::actor::{Posts, Story};
use crate::coroutine::{Job, Lane};
use crate::execution::budget::{BUDGET, BUDGET_KIND};
use crate::execution::frames::Contexts;
use crate::execution::object::{Kind, Object, word_as_number};
use crate::execution::spin::Spin;
use crate::execution::task::{Status, Task};
use crate::execution::{Ask, Settings};
use crate::sync::statics::Kept;
use crate::time::CLOCK;

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
    pub(super) streak: (TaskId, u32),
    /// A task that has gone on for so long that it is somebody else's turn.
    pub(super) resting: Option<TaskId>,
    /// Tasks spin and nothing else can happen.
    pub(crate) livelock: bool,
    /// How many tasks are stalled.
    pub(super) stalled: u32,
    /// What this execution did that limits what it proves.
    pub(crate) caveats: Caveats,
    /// Places of loops that are known to spin, or known not to be; found out once for each place.
    pub(super) known_loops: Vec<(Site, bool)>,
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
    pub(crate) discards_steps: bool,
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
            discards_steps: false,
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
        self.discards_steps = self.trace.discards_steps();
        self.turns = 0;
        self.actors.clear();
        self.actors.sets.begin(self.discards_steps);
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
}
