//! The tables of the running execution.

use std::collections::VecDeque;

use raddle_engine::caveats::Caveats;
use raddle_engine::ids::{ObjectId, TaskId};
use raddle_engine::order::Races;
use raddle_engine::outcome::Outcome;
use raddle_engine::rng::Rng;
use raddle_engine::trace::{Operation, Site, Trace};

use crate::actor::{Mailboxes, Story};
use crate::coroutine::{Job, RunningFiber};
use crate::execution::budget::{BUDGET, BUDGET_KIND};
use crate::execution::frames::Contexts;
use crate::execution::object::{Kind, Object, word_as_number};
use crate::execution::spin::Spin;
use crate::execution::task::{Status, Task};
use crate::execution::{Ask, Settings};
use crate::sync::statics::StaticValue;
use crate::time::CLOCK;
use crate::uncontrolled;

/// A task that was created and has not begun yet.
pub(crate) struct Newborn {
    pub(crate) task: TaskId,
    pub(crate) job: Job,
    pub(crate) stack_bytes: usize,
}

/// The state of an execution, without the stacks of its tasks.
pub(crate) struct State {
    /// Identifies the execution in this process.
    pub(crate) number: u64,
    /// How often threads without a worker had used objects when the execution began.
    pub(crate) outside_uses: u64,
    pub(crate) settings: Settings,
    pub(crate) tasks: Vec<Task>,
    /// By task. The memory is used again in the next execution, so there may be more entries than tasks.
    pub(super) spins: Vec<Spin>,
    /// The tasks that have begun and not ended, in order of creation.
    pub(crate) alive: Vec<TaskId>,
    pub(crate) objects: Vec<Object>,
    pub(crate) current: TaskId,
    pub(crate) newborn: VecDeque<Newborn>,
    /// If the program creates more tasks than this, the execution ends.
    pub(crate) most_tasks: usize,
    /// The search lends its trace to the execution while tasks run.
    pub(crate) trace: Trace,
    /// The index of the action that was taken last; `None` if the list of actions is not from before it.
    pub(crate) taken: Option<usize>,
    /// How many alternatives there were for the next step to be recorded; 0 if it is no decision.
    pub(crate) alternatives: u32,
    /// True if the actions of any task may have changed since they were last listed.
    pub(crate) stale: bool,
    /// An object that has changed since the actions were last listed, and that tasks wait for. Their actions may have changed.
    pub(super) waited_for: ObjectId,
    /// True while the program runs forward: the task that pauses draws the next action.
    pub(crate) draws: bool,
    /// True if a task was created or has ended, or an invisible operation may be enabled.
    pub(crate) unsettled: bool,
    /// True if a task has accessed a cell, so that race detection needs the trace.
    pub(crate) cells_touched: bool,
    /// Finds data races. There from the first access to a cell on.
    races: Option<Box<Races>>,
    /// The choice that the current task has asked for: the number of values, where, and which operation.
    pub(crate) data: Option<(u32, Site, &'static Operation)>,
    /// The value that the strategy has chosen.
    pub(crate) drawn: u32,
    pub(crate) outcome: Option<Outcome>,
    /// True if something depends on whether a thread has returned: see [`Facts::thread_ends`](super::facts::Facts::thread_ends).
    pub(crate) looked_at_thread_end: bool,
    /// True if the outcome is known and the remaining tasks run to their ends.
    pub(crate) finishing: bool,
    /// True if no decisions are made any more: actors that wait for messages end, and the remaining tasks are abandoned.
    pub(crate) over: bool,
    /// True if a task was abandoned in the middle of a panic hook. This OS thread can then not panic again.
    pub(crate) spoiled: bool,
    /// The tasks that are unwinding. Maintained from when one of them pauses in the middle of unwinding.
    pub(crate) unwinding: Vec<TaskId>,
    /// The task of the latest step, and how many steps it has taken in a row while another task was enabled.
    pub(super) streak: (TaskId, u32),
    /// A task that has taken too many steps in a row. It waits until another task has taken one.
    pub(super) resting: Option<TaskId>,
    /// True if tasks spin and no other action is enabled.
    pub(crate) livelock: bool,
    /// How many tasks are stalled.
    pub(super) stalled: u32,
    /// What limits the claims of a search that has run this execution.
    pub(crate) caveats: Caveats,
    /// For places of loops: whether they are known to spin. A cache of the facts.
    pub(super) known_loops: Vec<(Site, bool)>,
    /// Places of loops that were found to spin in this execution.
    pub(crate) new_spins: Vec<Site>,
    /// The number of changes of any object by any task.
    pub(super) changes: u64,
    /// How far the clock moves next if a task spins on it and no other action is enabled.
    pub(super) clock_stride: u64,
    seed: u64,
    /// The generator of the program's random numbers. Made when the program draws the first.
    rng: Option<Rng>,
    /// True if the program has made keys of hash maps.
    pub(crate) made_hash_keys: bool,
    /// The mailboxes, and which tasks send to them.
    pub(crate) actors: Mailboxes,
    /// What a report says about actors, if the execution is run to be shown.
    pub(crate) story: Option<Box<Story>>,
    /// True if the latest list has only operations that are ready and receives, no timeouts or crashes.
    pub(crate) plain_list: bool,
    /// True if a task has looked at an object, so that spin detection is needed.
    pub(crate) somebody_looked: bool,
    /// True if the trace counts the steps of this execution without recording them.
    pub(crate) discards_steps: bool,
    /// How often a task was chosen.
    pub(crate) turns: u64,
    /// The values of `static`s that this execution has made. `None` if the program has taken a value out again.
    pub(crate) statics: Vec<Option<StaticValue>>,
    /// The contexts of the operations that tasks ask for, if the settings ask for contexts.
    pub(crate) contexts: Option<Box<Contexts>>,
}

static TASK_END: Kind = Kind { noun: "thread", show: word_as_number };
static TASK_SIGNAL: Kind = Kind { noun: "token", show: word_as_number };

impl Default for State {
    fn default() -> Self {
        Self {
            number: 0,
            outside_uses: 0,
            settings: Settings::default(),
            tasks: Vec::new(),
            spins: Vec::new(),
            alive: Vec::new(),
            objects: Vec::new(),
            current: TaskId::MAIN,
            newborn: VecDeque::new(),
            most_tasks: usize::MAX,
            trace: Trace::default(),
            taken: None,
            alternatives: 0,
            stale: true,
            waited_for: ObjectId::NONE,
            draws: false,
            unsettled: false,
            cells_touched: false,
            races: None,
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
            clock_stride: 1,
            seed: 0,
            rng: None,
            made_hash_keys: false,
            actors: Mailboxes::default(),
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
    /// Resets the state for a new execution. The memory of the tables is used again.
    pub(crate) fn begin(&mut self, number: u64, seed: u64) {
        self.number = number;
        self.outside_uses = uncontrolled::outside_uses();
        self.tasks.clear();
        self.alive.clear();
        self.objects.clear();
        self.current = TaskId::MAIN;
        self.newborn.clear();
        self.taken = None;
        self.alternatives = 0;
        self.stale = true;
        self.draws = false;
        self.cells_touched = false;
        if let Some(races) = &mut self.races {
            races.begin(&self.trace);
        }
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
        self.clock_stride = 1_000_000;
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

    /// Adds an object that belongs to no value of the program.
    pub(crate) fn add_object(&mut self, kind: &'static Kind, word: u64) -> ObjectId {
        self.objects.push(Object::of_the_runtime(kind, word));
        ObjectId::next_of(self.objects.len() - 1)
    }

    /// Adds a task that the current task creates.
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

    /// Finds the context of the operation that the current task is about to ask for, if the settings ask for contexts.
    #[inline(always)]
    pub(crate) fn take_context(&mut self, fiber: &RunningFiber) {
        if let Some(contexts) = &mut self.contexts {
            contexts.find(self.current, fiber);
        }
    }

    /// Called when a task is about to run for the first time.
    pub(crate) fn begin_task(&mut self, task: TaskId) {
        self.tasks[task.index()].status = Status::Alive;
        self.alive.push(task);
        self.current = task;
    }

    /// Called when the task has ended, or can never go on.
    pub(crate) fn end_task(&mut self, task: TaskId) {
        self.tasks[task.index()].status = Status::Finished;
        if self.alive.last() == Some(&task) {
            self.alive.pop();
        } else {
            self.alive.retain(|&t| t != task);
        }
        self.unwinding.retain(|&t| t != task);
        self.stale = true;
        self.unsettled = true;
    }

    /// The generator of the program's random numbers.
    pub(crate) fn rng(&mut self) -> &mut Rng {
        self.caveats.drew_random = true;
        self.rng.get_or_insert_with(|| Rng::new(self.seed))
    }

    /// The seed of the program's random numbers, if it has drawn any; else 0.
    pub(crate) fn seed_if_drawn(&self) -> u64 {
        if self.rng.is_some() { self.seed } else { 0 }
    }

    /// Makes keys for a hash map of the current task. They depend on the seed, the task and how many keys it has made before, and not on
    /// what other tasks do.
    pub(crate) fn hash_keys(&mut self) -> [u64; 2] {
        self.made_hash_keys = true;
        let name = Task::name(&self.tasks, self.current);
        let task = &mut self.tasks[self.current.index()];
        task.hash_keys += 1;
        let parts = name.0.iter().map(|&ordinal| u64::from(ordinal)).chain([u64::MAX, task.hash_keys]);
        let mut rng = parts.fold(Rng::new(self.settings.hash_seed), |mut rng, part| Rng::new(rng.bits() ^ part));
        [rng.bits(), rng.bits()]
    }

    /// Spin detection of the current task.
    pub(crate) fn spin(&mut self) -> &mut Spin {
        &mut self.spins[self.current.index()]
    }

    pub(crate) fn now(&self) -> u64 {
        self.objects[CLOCK.index()].word
    }

    #[inline]
    pub(crate) fn is_ready(&self, ask: &Ask) -> bool {
        is_ready(&self.objects, ask)
    }

    /// Removes the receive that the current actor asks for. Its latest message was received [without a trace](Self::receive_at_random), and now
    /// its handler asks for another operation.
    #[inline]
    pub(crate) fn take_back_ask(&mut self) {
        if let Some(ask) = self.tasks[self.current.index()].asks.take_if(|ask| ask.mail.is_some()) {
            self.objects[ask.object.index()].waiting -= 1;
        }
    }

    /// Looks for data races among the latest steps, if a task has accessed a cell and steps are recorded. A race ends the execution.
    #[inline(always)]
    pub(crate) fn find_races(&mut self) {
        if self.cells_touched && !self.discards_steps {
            let races = self.races.get_or_insert_with(|| Box::new(Races::of(&self.trace)));
            if let Some(race) = races.follow(&self.trace) {
                self.outcome = Some(race.into());
            }
        }
    }

    /// Whether no task has done anything that has to be looked at before the next action can be chosen.
    #[inline]
    pub(crate) fn nothing_but_steps(&self) -> bool {
        !self.unsettled && self.outcome.is_none() && self.data.is_none() && self.actors.mailboxes.is_empty()
    }

    /// Whether a task has begun, and whether it has ended.
    pub(crate) fn status(&self, task: TaskId) -> Status {
        self.tasks[task.index()].status
    }

    /// Whether a task is an actor that waits for messages.
    pub(crate) fn waits_for_mail(&self, task: TaskId) -> bool {
        self.tasks[task.index()].asks.as_ref().is_some_and(|ask| ask.mail.is_some())
    }

    /// Makes an actor the current task and removes the receive that it asks for.
    pub(crate) fn stop_asking(&mut self, task: TaskId) {
        self.current = task;
        self.take_back_ask();
        self.tasks[task.index()].act = None;
    }

    /// Takes the value of the `static` that was made last and is still there.
    pub(crate) fn take_last_static(&mut self) -> Option<StaticValue> {
        self.statics.iter_mut().rev().find_map(Option::take)
    }

    /// A task whose next operation is invisible and enabled.
    pub(crate) fn unseen_and_ready(&self) -> Option<TaskId> {
        let can =
            |task: &&TaskId| self.tasks[task.index()].asks.as_ref().is_some_and(|ask| ask.unseen && self.is_ready(ask));
        self.alive.iter().find(can).copied()
    }
}

/// Whether an operation is enabled, given what the objects are like.
#[inline(always)]
pub(super) fn is_ready(objects: &[Object], ask: &Ask) -> bool {
    ask.ready.is_none_or(|ready| ready(objects[ask.object.index()].word, ask.key))
}
