//! The mailboxes of the running execution, and who sends to them.
//!
//! What is in them lies in [stores](crate::actor::store): an execution is on one OS thread, so nobody has to lock anything to reach a
//! message. Their destructors may take operations, so nothing of the user's is dropped here.

use std::mem;
use std::ops::Range;

use raddle_engine::ids::{ObjectId, StepIx, TaskId};
use raddle_engine::outcome::Failure;
use raddle_engine::system::{Action, Variant};
use raddle_engine::trace::{Access, Effect, Note, Ordered, Role, Word};

use crate::actor::address::Who;
use crate::actor::by_lot::{Supply, Tray};
use crate::actor::context::Timer;
use crate::actor::delivery::Delivery;
use crate::actor::labels::Labels;
use crate::actor::letter::{Letter, Party};
use crate::actor::news::News;
use crate::actor::queue::{Marks, Queue};
use crate::actor::resident::Resident;
use crate::actor::row::Row;
use crate::actor::rules::{Faults, Rules};
use crate::actor::store::{Place, StoreId, Stores};
use crate::actor::tell::shorten;
use crate::execution::{Moment, Progress, State};

/// All mailboxes of an execution, by number.
#[derive(Default)]
pub(crate) struct Posts {
    pub(crate) posts: Vec<Post>,
    /// What is in them.
    pub(crate) stores: Stores,
    /// By number, the systems they belong to.
    pub(crate) troupes: Vec<Troupe>,
    /// By task.
    pub(super) members: Vec<Member>,
    pub(super) marks: Marks,
    /// What holds up what, where deliveries are causal and nobody asks for more.
    pub(crate) news: News,
    /// How much there is to receive, where nobody wants to know what.
    pub(crate) supply: Supply,
    /// The mailboxes that have changed since what can happen was last listed.
    pub(crate) changed: Vec<u32>,
    pub(crate) labels: Labels,
    pub(crate) somebody_waits_for_quiet: bool,
    /// The current task looks at actors without anything happening meanwhile.
    pub(crate) checks_condition: bool,
}

/// A system of actors, as far as its mailboxes have to know.
pub(crate) struct Troupe {
    pub(crate) rules: Rules,
    /// What is left of the faults that may happen.
    pub(crate) faults: Faults,
}

/// A task that sends or receives.
#[derive(Default)]
pub(super) struct Member {
    pub(super) party: Option<Party>,
    /// Its mailbox, if it is an actor.
    mail: Option<u32>,
}

/// A mailbox. What is needed where lots are drawn comes first, on one line of memory: where there are many mailboxes, to fetch these is
/// most of what a step takes.
#[repr(C, align(64))]
pub(crate) struct Post {
    /// The actor at [home](crate::actor::life::Home), while it handles nothing and nobody looks at it.
    pub(crate) actor: Option<Box<dyn Resident>>,
    pub(super) tray: Tray,
    pub(crate) task: TaskId,
    pub(crate) delivery: Delivery,
    /// Nothing but a message can come: no timer is set, and it may not crash.
    pub(crate) plain: bool,
    /// Where its messages lie.
    pub(crate) store: StoreId,
    /// And at which places, in the order of the letters; where there are [notes](crate::actor::news), which slots they have.
    pub(crate) row: Row,
    /// Who sent them, where that counts while lots are drawn.
    pub(super) senders: Row,
    pub(crate) timers: Vec<(Timer, u64, Letter)>,
    /// What the timers are set for.
    pub(crate) timed: Vec<(Timer, Place)>,
    /// How many decisions had been taken when its actor last received or began, but for what it received by lot.
    pub(crate) since: u64,
    pub(crate) queue: Queue,
    pub(crate) may_crash: bool,
    pub(crate) stopped: bool,
    pub(crate) troupe: u32,
    /// What its receives change.
    pub(crate) head: ObjectId,
    /// What sends to it change, where their order matters.
    pub(crate) tail: ObjectId,
    /// What is touched by all receives of a system.
    pub(crate) activity: ObjectId,
    pub(crate) faults: ObjectId,
}

// The first messages are still on the first line.
const _: () = assert!(mem::offset_of!(Post, row) == 40);

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
    /// As before the first actor. What is still in mailboxes belongs to tasks that were left behind, and is left with them.
    pub(crate) fn clear(&mut self) {
        for post in self.posts.drain(..) {
            mem::forget(post.actor);
        }
        self.stores.clear();
        self.troupes.clear();
        self.members.clear();
        self.changed.clear();
        self.supply.clear();
        self.somebody_waits_for_quiet = false;
        self.checks_condition = false;
    }

    /// Lists what can be received from a mailbox.
    #[inline]
    pub(crate) fn list_receives(&mut self, mail: u32, actions: &mut Vec<Action>, action: impl Fn(Variant) -> Action) {
        let post = &mut self.posts[mail as usize];
        if post.queue.len() == 0 {
            return;
        }
        let delivery = post.delivery;
        if delivery == Delivery::Arrival {
            return actions.push(action(Variant::Ready));
        }
        post.queue.each_open(delivery, &mut self.marks, |number| actions.push(action(Variant::Message(number))));
    }

    /// Lists them in the place of what was listed there.
    #[inline]
    pub(crate) fn relist(
        &mut self,
        mail: u32,
        actions: &mut Vec<Action>,
        listed: Range<usize>,
        action: impl Fn(Variant) -> Action,
    ) {
        let post = &mut self.posts[mail as usize];
        let delivery = post.delivery;
        let only = match post.queue.len() {
            0 => None,
            _ if delivery == Delivery::Arrival => Some(Variant::Ready),
            _ => post.queue.only().map(Variant::Message),
        };
        let mut at = listed.start;
        match only {
            Some(variant) if listed.len() == 1 => return actions[at] = action(variant),
            Some(variant) if listed.is_empty() => return actions.insert(at, action(variant)),
            None if post.queue.len() == 0 => {}
            _ => post.queue.each_open(delivery, &mut self.marks, |number| {
                let action = action(only.unwrap_or(Variant::Message(number)));
                if at < listed.end {
                    actions[at] = action
                } else {
                    actions.insert(at, action)
                }
                at += 1;
            }),
        }
        for gone in (at..listed.end).rev() {
            actions.remove(gone);
        }
    }

    #[inline]
    fn member(&mut self, task: TaskId) -> &mut Member {
        if self.members.len() <= task.index() {
            self.members.resize_with(task.index() + 1, Member::default);
        }
        &mut self.members[task.index()]
    }

    /// One who sends and creates; threads are named by how they came to be numbered.
    #[inline]
    pub(crate) fn party(&mut self, task: TaskId) -> &mut Party {
        self.member(task).party.get_or_insert_with(|| match task {
            TaskId::MAIN => Party::default(),
            thread => Party::new(u64::from(thread.number())),
        })
    }

    /// Adds the mailbox of a new actor.
    pub(crate) fn add(&mut self, post: Post, party: Party, creator: TaskId) {
        self.news.create(creator, post.task);
        let mail = u32::try_from(self.posts.len()).expect("raddle bug: more than 2^32 actors");
        *self.member(post.task) = Member { party: Some(party), mail: Some(mail) };
        self.posts.push(post);
    }

    /// Whoever receives a letter where deliveries are causal and steps are only counted knows what its sender knew.
    pub(super) fn read_counted(&mut self, mail: usize, taken: Taken, letter: &Letter) {
        let post = &mut self.posts[mail];
        let task = post.task;
        if !self.news.keeps(post.delivery) {
            self.party(task).read(letter, Delivery::Causal);
        } else if let Taken::Place(_) = taken {
            self.news.receive(letter.number, task);
            self.news.let_go(&mut post.queue, letter.number);
        }
    }

    /// The mailbox of the actor that is this task.
    #[inline]
    pub(crate) fn of(&self, task: TaskId) -> Option<&Post> {
        Some(&self.posts[self.members.get(task.index())?.mail? as usize])
    }

    /// The rules that a mailbox is under.
    #[inline]
    pub(crate) fn troupe(&self, mail: usize) -> &Troupe {
        &self.troupes[self.posts[mail].troupe as usize]
    }

    /// Whether whoever receives from this mailbox may crash instead.
    pub(crate) fn may_crash(&self, mail: usize) -> bool {
        self.posts[mail].may_crash && self.troupe(mail).faults.crash > 0
    }
}

impl Drop for Posts {
    fn drop(&mut self) {
        self.clear();
    }
}

impl State {
    /// Whether what the current task does now is one with its latest step: it is an actor that has taken no other since it received,
    /// or nothing has begun yet.
    pub(crate) fn is_one_step(&self) -> bool {
        let begun = self.turns > 0 || self.tasks.len() > self.actors.posts.len() + 1;
        let by_lot = self.actors.supply.latest == Some((self.current, self.turns));
        !begun || by_lot || self.actors.of(self.current).is_some_and(|post| post.since == self.turns)
    }

    /// Keeps an access of the latest step to something that nobody waits for.
    #[inline]
    pub(crate) fn also_touch(&mut self, object: ObjectId, effect: Effect, role: Role, ordered: Ordered) {
        self.trace.touch(Access { object, effect, role, ordered });
    }

    /// A new object of the current task that is given and taken, such as a message to a channel.
    pub(crate) fn next_message(&mut self) -> ObjectId {
        let task = self.current;
        self.actors.party(task).next_message(task)
    }

    /// Writes the next message of the current task to a mailbox.
    #[inline]
    pub(crate) fn write_letter<M>(&mut self, mail: usize, msg: &M, label: &'static str) -> Letter {
        let (task, delivery) = (self.current, self.actors.posts[mail].delivery);
        if self.discards_steps {
            return self.write_blank_letter(mail);
        }
        let kind = self.actors.labels.type_of_message(msg, label);
        let mut letter = self.actors.party(task).write(task, delivery, label, kind);
        if delivery.offered().is_some() {
            letter.number = self.actors.posts[mail].queue.free_number(letter.number);
        }
        letter
    }

    /// The same where steps are only counted, so that nobody asks for names.
    #[inline]
    pub(super) fn write_blank_letter(&mut self, mail: usize) -> Letter {
        let (task, delivery) = (self.current, self.actors.posts[mail].delivery);
        if delivery != Delivery::Causal || self.actors.has_news(delivery) {
            return Letter::blank(task, 0);
        }
        let number = self.actors.posts[mail].queue.next_number();
        self.actors.party(task).write_blank(task, delivery, number)
    }

    /// Puts a letter into a mailbox; says where its contents go.
    #[inline]
    pub(crate) fn put_letter(&mut self, mail: usize, letter: Letter) -> usize {
        let Posts { posts, supply, marks, news, changed, .. } = &mut self.actors;
        let post = &mut posts[mail];
        self.trace.note(Note::Sent(post.task));
        let place = if news.keeps(post.delivery) {
            news.put(&mut post.queue, letter.sender, letter.delayed).0
        } else if self.discards_steps && post.delivery != Delivery::Causal {
            post.queue.put_blank(post.delivery, letter.sender, letter.delayed)
        } else {
            post.queue.put(post.delivery, letter)
        };
        if supply.counts_on() {
            supply.count(mail, post, marks);
            post.tray.sent += 1;
        } else {
            self.objects[post.head.index()].word = post.queue.len() as u64;
            changed.push(mail as u32);
        }
        place
    }
}

impl Moment<'_> {
    /// The receive of a mailbox takes effect; `contents` is told what is received.
    #[inline]
    pub(crate) fn receive<R>(&mut self, mail: usize, contents: impl FnOnce(&mut State, Taken) -> R) -> R {
        self.progress(Progress::Changed);
        let (variant, turns) = (self.variant(), self.state.turns);
        let Posts { posts, troupes, changed, .. } = &mut self.state.actors;
        let post = &mut posts[mail];
        let delivery = post.delivery;
        post.since = turns;
        let (activity, task) = (post.activity, post.task);
        let (taken, letter) = match variant {
            Variant::Ready => post.take(None),
            Variant::Message(number) => post.take(Some(number)),
            Variant::TimedOut => post.take_timer(),
            Variant::Spurious => {
                troupes[post.troupe as usize].faults.crash -= 1;
                (Taken::Crash, None)
            }
        };
        let (faults, tail) = (post.faults, post.tail);
        // What was received may have been late, or have overtaken what was: another that comes first makes a difference.
        let looks_behind = delivery == Delivery::Arrival && troupes[post.troupe as usize].rules.faults.delay > 0;
        self.state.objects[post.head.index()].word = post.queue.len() as u64;
        changed.push(mail as u32);
        let object = &mut self.state.objects[activity.index()];
        object.word += 1;
        self.state.unsettled |= object.waiting_unseen > 0;
        if self.state.trace.discards_steps() {
            if let Some(letter) = letter.filter(|_| delivery == Delivery::Causal) {
                self.state.actors.read_counted(mail, taken, &letter);
            }
            return contents(self.state, taken);
        }
        self.state.also_touch(activity, Effect::Read, Role::Gives, Ordered::BOTH);
        if looks_behind {
            self.state.also_touch(tail, Effect::Read, Role::Plain, Ordered::RELAXED);
        }
        match letter {
            Some(letter) => {
                self.found(letter.name);
                self.state.also_touch(letter.object(), Effect::Change, Role::Takes, Ordered::ACQUIRE);
                let receiver = self.state.actors.party(task);
                receiver.read(&letter, delivery);
                let step = StepIx::next_of(self.state.trace.len() - 1);
                let receipt = letter.receipt(step, receiver.name);
                self.state.trace.receive(receipt);
            }
            None => self.state.also_touch(faults, Effect::Change, Role::Plain, Ordered::RELAXED),
        }
        contents(self.state, taken)
    }
}

impl Posts {
    /// Puts a message that is there into a mailbox, at this place among its letters.
    #[inline]
    pub(crate) fn put_in<M: Send + 'static>(&mut self, mail: usize, at: usize, msg: &mut Option<M>) {
        let post = &mut self.posts[mail];
        post.row.insert(at, self.stores.get(post.store).put_from(msg).0);
    }

    /// Takes out the message that is at this place among the letters.
    #[inline]
    pub(crate) fn take_out<M: Send + 'static>(&mut self, mail: usize, at: usize) -> M {
        let post = &mut self.posts[mail];
        self.stores.get(post.store).take(Place(post.row.remove(at)))
    }

    /// Takes out all messages of a mailbox, but for those of timers.
    pub(crate) fn take_all<M: Send + 'static>(&mut self, mail: usize) -> Vec<M> {
        let post = &mut self.posts[mail];
        debug_assert!(!self.supply.counts_on(), "raddle bug: a mailbox is cleared while lots are drawn");
        let store = self.stores.get(post.store);
        post.row.take_all().into_iter().map(|place| store.take(Place(place))).collect()
    }

    /// Keeps what a timer is set for.
    pub(crate) fn put_timed<M: Send + 'static>(&mut self, mail: usize, timer: Timer, msg: M) {
        let post = &mut self.posts[mail];
        post.timed.push((timer, self.stores.get(post.store).put(msg)));
    }

    /// Takes out what these timers of a mailbox are set for.
    pub(crate) fn take_timed<M: Send + 'static>(&mut self, mail: usize, is_one: impl Fn(Timer) -> bool) -> Vec<M> {
        let post = &mut self.posts[mail];
        let store = self.stores.get(post.store);
        post.timed.extract_if(.., |timed| is_one(timed.0)).map(|(_, place)| store.take(place)).collect()
    }
}

impl Post {
    #[inline]
    fn take(&mut self, number: Option<u32>) -> (Taken, Option<Letter>) {
        let (place, letter) = self.queue.take(number);
        (Taken::Place(place), Some(letter))
    }

    /// The first of its timers goes off.
    #[cold]
    fn take_timer(&mut self) -> (Taken, Option<Letter>) {
        let due = self.timers.iter().enumerate().min_by_key(|(_, timer)| timer.1).map(|(at, _)| at);
        let due = due.expect("raddle bug: a timer went off that is not set");
        let (timer, _, letter) = self.change_timers(|timers| timers.remove(due));
        (Taken::Timer(timer), Some(letter))
    }

    /// Sets timers, or takes some away.
    pub(crate) fn change_timers<R>(&mut self, change: impl FnOnce(&mut Vec<(Timer, u64, Letter)>) -> R) -> R {
        let changed = change(&mut self.timers);
        self.plain = self.timers.is_empty() && !self.may_crash;
        changed
    }

    /// When the first of its timers goes off.
    #[inline]
    pub(crate) fn first_due(&self) -> Option<u64> {
        self.timers.iter().map(|timer| timer.1).min()
    }
}

/// What is said of a message to an actor that has stopped.
pub(crate) fn dead_letter(task: TaskId, to: Who, text: &str) -> Failure {
    Failure::DeadLetter { task, message: format!("{} was sent to {to}, which has stopped", shorten(text)) }
}

/// Shows a message by its name.
pub(crate) fn show_name(Word(name): Word) -> String {
    format!("{:08x}", name as u32)
}
