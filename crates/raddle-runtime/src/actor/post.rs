//! The mailboxes of the running execution, without what the messages in them say, and who has sent them.

use raddle_engine::ids::{ObjectId, StepIx, TaskId};
use raddle_engine::outcome::Failure;
use raddle_engine::system::{Action, Variant};
use raddle_engine::trace::{Access, Effect, Ordered, Role, Word};

use crate::actor::address::Who;
use crate::actor::behaviour::short_name;
use crate::actor::context::Timer;
use crate::actor::delivery::Delivery;
use crate::actor::letter::{Letter, Party};
use crate::actor::rules::{Faults, Rules};
use crate::execution::{Moment, Progress, State};

/// All mailboxes of an execution, by number.
#[derive(Default)]
pub(crate) struct Posts {
    pub(crate) posts: Vec<Post>,
    /// By task.
    parties: Vec<Option<Party>>,
    /// What is left of the faults that may happen.
    pub(crate) faults: Faults,
    pub(crate) somebody_waits_for_quiet: bool,
    /// The current task looks at actors without anything happening meanwhile.
    pub(crate) checks_condition: bool,
}

/// A mailbox.
pub(crate) struct Post {
    pub(crate) who: Who,
    pub(crate) task: TaskId,
    pub(crate) rules: Rules,
    /// What its receives change.
    pub(crate) head: ObjectId,
    /// What sends to it change, where their order matters.
    pub(crate) tail: ObjectId,
    /// What is touched by all receives of a system.
    pub(crate) activity: ObjectId,
    pub(crate) faults: ObjectId,
    pub(crate) may_crash: bool,
    pub(crate) stopped: bool,
    /// In order of arrival; the contents lie in the same order in the mailbox of the user's.
    pub(crate) queue: Vec<Letter>,
    pub(crate) timers: Vec<(Timer, u64, Letter)>,
    /// How many decisions had been taken when its actor last received or began.
    pub(crate) since: u64,
}

/// What was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// The message at this place.
    Place(usize),
    /// What this timer was set for.
    Timer(Timer),
    /// Nothing: it crashes.
    Crash,
}

impl Posts {
    pub(crate) fn clear(&mut self) {
        self.posts.clear();
        self.parties.clear();
        self.faults = Faults::default();
        self.somebody_waits_for_quiet = false;
        self.checks_condition = false;
    }

    /// Lists what can be received from a mailbox.
    pub(crate) fn list_receives(&self, mail: u32, actions: &mut Vec<Action>, action: impl Fn(Variant) -> Action) {
        let post = &self.posts[mail as usize];
        let delivery = post.rules.delivery;
        if delivery == Delivery::Arrival {
            actions.extend((!post.queue.is_empty()).then(|| action(Variant::Ready)));
            return;
        }
        let can = post.queue.iter().enumerate().filter(|(at, letter)| delivery.lets(post.queue.iter(), *at, letter));
        actions.extend(can.map(|(_, letter)| action(Variant::Message(letter.number))));
    }

    /// One who sends and creates; threads are named by how they came to be numbered.
    pub(crate) fn party(&mut self, task: TaskId) -> &mut Party {
        if self.parties.len() <= task.index() {
            self.parties.resize_with(task.index() + 1, || None);
        }
        self.parties[task.index()].get_or_insert_with(|| match task {
            TaskId::MAIN => Party::default(),
            thread => Party::new(u64::from(thread.number())),
        })
    }

    pub(crate) fn set_party(&mut self, task: TaskId, party: Party) {
        self.party(task);
        self.parties[task.index()] = Some(party);
    }

    /// The mailbox of the actor that is this task.
    pub(crate) fn of(&self, task: TaskId) -> Option<&Post> {
        self.posts.iter().find(|post| post.task == task)
    }
}

impl State {
    /// Whether what the current task does now is one with its latest step: it is an actor that has taken no other since it received,
    /// or nothing has begun yet.
    pub(crate) fn is_one_step(&self) -> bool {
        let begun = self.turns > 0 || self.tasks.len() > self.actors.posts.len() + 1;
        !begun || self.actors.of(self.current).is_some_and(|post| post.since == self.turns)
    }

    /// Keeps an access of the latest step to something that nobody waits for.
    pub(crate) fn also_touch(&mut self, object: ObjectId, effect: Effect, role: Role, ordered: Ordered) {
        self.trace.touch(Access { object, effect, role, ordered });
        self.stale = true;
    }

    /// Puts a letter into a mailbox; returns where.
    pub(crate) fn put_letter(&mut self, mail: usize, letter: Letter) -> usize {
        let post = &mut self.actors.posts[mail];
        let len = post.queue.len();
        let place = post.rules.delivery.place_for_next(post.queue.last_mut(), len);
        post.queue.insert(place, letter);
        self.objects[post.head.index()].word = len as u64 + 1;
        self.stale = true;
        place
    }
}

impl Moment<'_> {
    /// The receive of a mailbox takes effect.
    pub(crate) fn receive(&mut self, mail: usize) -> Taken {
        self.progress(Progress::Changed);
        let (variant, turns) = (self.variant(), self.state.turns);
        let step = StepIx::next_of(self.state.trace.len() - 1);
        let post = &mut self.state.actors.posts[mail];
        post.since = turns;
        let (activity, faults, head, task) = (post.activity, post.faults, post.head, post.task);
        let delivery = post.rules.delivery;
        let (taken, letter) = match variant {
            Variant::Spurious => (Taken::Crash, None),
            Variant::TimedOut => {
                let due = post.timers.iter().enumerate().min_by_key(|(_, timer)| timer.1).map(|(at, _)| at);
                let (timer, _, letter) = post.timers.remove(due.expect("raddle bug: a timer went off that is not set"));
                (Taken::Timer(timer), Some(letter))
            }
            Variant::Ready => (Taken::Place(0), Some(post.queue.remove(0))),
            Variant::Message(number) => {
                let place = post.queue.iter().position(|letter| letter.number == number);
                let place = place.expect("raddle bug: the message is gone");
                (Taken::Place(place), Some(post.queue.remove(place)))
            }
        };
        let left = post.queue.len() as u64;
        self.state.objects[head.index()].word = left;
        self.state.objects[activity.index()].word += 1;
        self.state.unsettled |= self.state.objects[activity.index()].waiting_unseen > 0;
        self.state.also_touch(activity, Effect::Read, Role::Gives, Ordered::BOTH);
        match letter {
            Some(letter) => {
                self.found(letter.name);
                self.state.also_touch(letter.object(), Effect::Change, Role::Takes, Ordered::ACQUIRE);
                let receiver = self.state.actors.party(task);
                receiver.read(&letter, delivery);
                let receipt = letter.receipt(step, receiver.name);
                self.state.trace.receive(receipt);
            }
            None => {
                self.state.actors.faults.crash -= 1;
                self.state.also_touch(faults, Effect::Change, Role::Plain, Ordered::RELAXED);
            }
        }
        taken
    }
}

impl Post {
    /// When the first of its timers goes off.
    pub(crate) fn first_due(&self) -> Option<u64> {
        self.timers.iter().map(|timer| timer.1).min()
    }

    /// A number that no letter here has.
    pub(crate) fn free_number(&self, mut number: u32) -> u32 {
        while self.queue.iter().any(|letter| letter.number == number) {
            number = number.wrapping_add(1);
        }
        number
    }
}

/// What is said of a message to an actor that has stopped.
pub(crate) fn dead_letter(task: TaskId, to: Who, label: &'static str) -> Failure {
    Failure::DeadLetter { task, message: format!("a {} was sent to {to}, which has stopped", short_name(label)) }
}

/// Shows a message by its name.
pub(crate) fn show_name(Word(name): Word) -> String {
    format!("{:08x}", name as u32)
}
