//! Drawing lots for what is received next, where nothing else can happen and nobody wants to know what does.
//!
//! How much there is to receive from each mailbox is all that has to be known: nothing is listed, named or kept. Handlers run one after
//! another on one stack that is lent to them. A handler that wants to do something else in its middle keeps that stack until it has
//! ended; then its task [takes over](After) on its own, as it does after a panic or to stop.
//!
//! An actor that receives by lot goes on asking for its mail meanwhile, until it asks for something else.

use std::any::Any;
use std::cell::RefMut;
use std::mem;
use std::panic::{self, AssertUnwindSafe};

use raddle_engine::ids::TaskId;
use raddle_engine::lots::Lots;
use raddle_engine::system::Action;

use crate::actor::behaviour::Actor;
use crate::actor::delivery::Delivery;
use crate::actor::life::{Home, known};
use crate::actor::mailbox::contents;
use crate::actor::post::{Member, Post, Posts};
use crate::actor::queue::Marks;
use crate::execution::{Execution, State};

/// Lets an actor handle the message at this place in its mailbox; gives the state back if lots can go on to be drawn.
pub(crate) type Handle =
    for<'a> fn(&'a Execution, RefMut<'a, State>, mail: usize, place: usize) -> Option<RefMut<'a, State>>;

/// How a handler ended that ran on a stack that is not its task's own.
pub(crate) enum After {
    /// By itself.
    Done,
    /// With a panic.
    Panicked(Box<dyn Any + Send>),
}

/// Mailboxes that are counted together, so that one is found among many without looking at each.
const BLOCK: usize = 8;

/// How many messages can be received from each mailbox.
#[derive(Default)]
pub(crate) struct Supply {
    counts: Vec<u32>,
    blocks: Vec<u32>,
    total: u32,
    /// It is kept up to date.
    counts_on: bool,
    /// How often that has ended.
    ended: u64,
    /// How a handler ended whose task takes over.
    pub(super) after: Option<After>,
}

impl Supply {
    /// Nothing can be received from any of so many.
    fn begin(&mut self, mailboxes: usize) {
        self.counts.clear();
        self.counts.resize(mailboxes.next_multiple_of(BLOCK), 0);
        self.blocks.clear();
        self.blocks.resize(mailboxes.div_ceil(BLOCK), 0);
        self.total = 0;
        self.counts_on = true;
    }

    /// As before the first actor.
    pub(super) fn clear(&mut self) {
        self.counts_on = false;
        mem::forget(self.after.take());
    }

    /// Whether mailboxes that change are counted anew.
    #[inline]
    pub(super) fn counts_on(&self) -> bool {
        self.counts_on
    }

    /// How many can be received in all.
    #[inline]
    pub(crate) fn total(&self) -> u32 {
        self.total
    }

    /// A mailbox has changed.
    #[inline(always)]
    pub(super) fn count(&mut self, mail: usize, post: &mut Post, marks: &mut Marks) {
        if !post.away {
            self.set(mail, post.queue.count_open(post.delivery, marks));
        }
    }

    /// The same for one whose letters are not written.
    #[inline(always)]
    fn count_bare(&mut self, mail: usize, post: &Post) {
        if !post.away {
            self.set(mail, post.open);
        }
    }

    /// From this mailbox so many can be received.
    #[inline]
    fn set(&mut self, mail: usize, count: u32) {
        let more = count.wrapping_sub(mem::replace(&mut self.counts[mail], count));
        let block = &mut self.blocks[mail / BLOCK];
        *block = block.wrapping_add(more);
        self.total = self.total.wrapping_add(more);
    }

    /// Which mailbox the one with this number is in, counted through all of them; and which it is there.
    #[inline]
    pub(crate) fn find(&self, mut number: u32) -> (usize, u32) {
        let mut block = 0;
        while number >= self.blocks[block] {
            number -= self.blocks[block];
            block += 1;
        }
        // Which it is cannot be foreseen, so all of them are looked at without a branch.
        let (mut before, mut passed, mut sum) = (0, 0, 0);
        for &count in &self.counts[block * BLOCK..][..BLOCK] {
            sum += count;
            let beyond = sum <= number;
            before = if beyond { sum } else { before };
            passed += usize::from(beyond);
        }
        (block * BLOCK + passed, number - before)
    }
}

/// From so many messages on, letters are written: to compare all senders with each other takes longer.
const MANY: u32 = 16;

/// A mailbox whose letters are not written.
impl Post {
    /// One more message is there; says where.
    #[inline(always)]
    fn put_bare(&mut self, sender: TaskId) -> usize {
        self.waiting += 1;
        match self.delivery {
            Delivery::PerSender => {
                self.open += u32::from(!self.senders.contains(&sender));
                self.senders.push_back(sender);
                if self.waiting > MANY {
                    self.write_letters();
                    self.bare = false;
                }
            }
            Delivery::Arrival => self.open = 1,
            Delivery::Unordered | Delivery::Causal => self.open += 1,
        }
        self.waiting as usize - 1
    }

    /// The one is received that comes after so many others that can be; says where it was.
    #[inline(always)]
    fn take_bare(&mut self, nth: u32) -> usize {
        self.waiting -= 1;
        match self.delivery {
            Delivery::PerSender => {
                let place = if nth == 0 { 0 } else { self.place_of_bare(nth) };
                let sender = if place == 0 { self.senders.pop_front() } else { self.senders.remove(place) };
                let another = sender.is_some_and(|sender| self.senders.contains(&sender));
                self.open -= u32::from(!another);
                place
            }
            Delivery::Arrival => {
                self.open = self.waiting.min(1);
                0
            }
            Delivery::Unordered | Delivery::Causal => {
                self.open -= 1;
                nth as usize
            }
        }
    }

    /// Where the message is that comes after so many others that are the first of their senders.
    fn place_of_bare(&self, nth: u32) -> usize {
        let is_first = |place: &usize| !self.senders.iter().take(*place).any(|sender| *sender == self.senders[*place]);
        let place = (0..self.senders.len()).filter(is_first).nth(nth as usize);
        place.expect("raddle bug: fewer messages can be received than were counted")
    }

    fn write_letters(&mut self) {
        let unknown = (self.senders.len()..self.waiting as usize).map(|_| TaskId::MAIN);
        self.queue.refill(self.senders.iter().copied().chain(unknown));
    }
}

impl State {
    /// Begins to count where what was listed is there to be received, all of it, and steps are only counted.
    #[inline]
    pub(crate) fn begin_supply(&mut self, actions: &[Action]) -> bool {
        self.counts_only && self.plain_list && !self.actors.posts.is_empty() && self.begin_supply_of_mail(actions)
    }

    fn begin_supply_of_mail(&mut self, actions: &[Action]) -> bool {
        if self.contexts.is_some() || self.story.is_some() {
            return false;
        }
        let Posts { posts, troupes, marks, supply, .. } = &mut self.actors;
        let mail = |task: TaskId| self.tasks[task.index()].asks.as_ref().and_then(|ask| ask.mail);
        // Whoever is looked at cannot receive, and is told so; and who waits for the next message sees each.
        let waited_for = |post: &Post| self.objects[post.activity.index()].waiting_unseen > 0;
        let at_home = |post: &Post| mail(post.task).is_none() || post.actor.is_some() && !waited_for(post);
        // Also those who have no mail yet: others may send to them while lots are drawn.
        if !actions.iter().all(|action| mail(action.task).is_some()) || !posts.iter().all(at_home) {
            return false;
        }
        supply.begin(posts.len());
        for action in actions {
            let mail = mail(action.task).map_or(0, |mail| mail as usize);
            supply.set(mail, supply.counts[mail] + 1);
        }
        for post in posts {
            post.away = mail(post.task).is_none();
            let faulty = troupes[post.troupe as usize].faults.befall_messages();
            post.by_lot = !post.stopped && !faulty && post.delivery != Delivery::Causal;
            post.bare = post.by_lot && post.queue.is_plain();
            post.waiting = post.queue.len() as u32;
            post.open = post.queue.count_open(post.delivery, marks);
            post.senders.clear();
            if post.bare && post.delivery == Delivery::PerSender {
                post.senders.extend(post.queue.senders());
            }
        }
        true
    }

    /// What can happen is listed from here on.
    #[cold]
    pub(crate) fn end_supply(&mut self) {
        self.write_letters();
        let Posts { posts, supply, .. } = &mut self.actors;
        supply.counts_on = false;
        supply.ended += 1;
        for post in posts {
            let (received, sent) = (mem::take(&mut post.received), mem::take(&mut post.sent));
            let head = &mut self.objects[post.head.index()];
            head.word = post.queue.len() as u64;
            head.version += if post.delivery == Delivery::Arrival { received } else { received + sent };
            self.objects[post.activity.index()].word += u64::from(received);
            (post.by_lot, post.bare) = (false, false);
        }
    }

    /// Messages that were only counted get letters.
    pub(crate) fn write_letters(&mut self) {
        self.actors.posts.iter_mut().filter(|post| post.bare).for_each(Post::write_letters);
    }

    /// How a handler ended that ran elsewhere, and whose: the current task goes on from there.
    pub(super) fn take_over(&mut self, mail: usize) -> Option<(After, Box<dyn Any + Send>)> {
        let after = self.actors.supply.after.take()?;
        self.take_back_ask();
        self.task().act = None;
        let home = self.actors.posts[mail].actor.take();
        Some((after, home.expect("raddle bug: a handler ended and left nobody at home")))
    }

    /// Whether the current task has to go on by itself, on its own stack.
    pub(crate) fn has_to_take_over(&self) -> bool {
        self.actors.supply.after.is_some()
    }

    /// Whether nothing can happen but that somebody receives, after an actor has done so and asks for its mail as before.
    #[inline]
    pub(crate) fn still_counts(&self) -> bool {
        let odd = self.stale | self.unsettled | self.cells_touched | self.outcome.is_some();
        !odd && self.actors.supply.total > 0
    }

    /// Lets the letter be received that is drawn; says how to handle it, in which mailbox, and where it was.
    #[inline]
    fn receive_by_lot(&mut self, lots: &mut Lots) -> Option<(Handle, usize, usize)> {
        if !lots.go_on(self.trace.len()) {
            return None;
        }
        let Posts { posts, members, marks, supply, .. } = &mut self.actors;
        let alternatives = supply.total;
        let (mail, nth) = supply.find(lots.draw(alternatives).0);
        let post = &mut posts[mail];
        let place = if post.bare {
            let place = post.take_bare(nth);
            supply.count_bare(mail, post);
            place
        } else {
            let place = post.queue.place_of_open(post.delivery, marks, nth);
            if post.delivery == Delivery::Causal {
                read(members, post, place);
            } else {
                post.queue.remove(place);
            }
            supply.count(mail, post, marks);
            place
        };
        post.since = self.turns + 1;
        post.received += 1;
        let (task, handle) = (post.task, post.handle);
        self.begin_turn(task, alternatives);
        self.note_change();
        self.trace.count();
        Some((handle, mail, place))
    }

    /// Sends a message in a step that is only counted; says where its contents go.
    pub(crate) fn send_blindly(&mut self, mail: usize) -> usize {
        self.note_change();
        self.trace.count();
        let letter = self.write_blank_letter(mail);
        let Post { head, delivery, .. } = self.actors.posts[mail];
        if delivery != Delivery::Arrival && !self.actors.supply.counts_on() {
            // Who looks at the mailbox again and again sees the change, as where the step is kept.
            let head = &mut self.objects[head.index()];
            head.version += 1;
            self.stale |= head.watched;
        }
        self.put_letter(mail, letter)
    }

    /// The same in a handler that was let go on by lot; `None` if that is not so, or there is more to the message.
    #[inline(always)]
    pub(crate) fn send_by_lot(&mut self, mail: usize) -> Option<(&mut Post, usize)> {
        if !self.actors.posts[mail].by_lot {
            return None;
        }
        self.note_change();
        self.trace.count();
        let Posts { posts, supply, marks, .. } = &mut self.actors;
        let post = &mut posts[mail];
        post.sent += 1;
        if post.bare {
            let place = post.put_bare(self.current);
            supply.count_bare(mail, post);
            return Some((post, place));
        }
        let place = post.queue.put_blank(post.delivery, self.current, false);
        supply.count(mail, post, marks);
        Some((post, place))
    }
}

impl Execution {
    /// Draws lots and lets handlers run, on the stack of the caller, as long as that goes.
    pub(crate) fn draw_lots(&self) {
        let mut state = self.state.borrow_mut();
        loop {
            // The lots are free again before the handler runs, which may keep this stack.
            let received = state.receive_by_lot(&mut self.lots.borrow_mut());
            let Some((handle, mail, place)) = received else { return };
            self.handles.set(state.current);
            match handle(self, state, mail, place) {
                Some(again) => state = again,
                None => return,
            }
        }
    }
}

/// Whoever receives the letter at this place knows what its sender knew.
#[cold]
fn read(members: &mut [Member], post: &mut Post, place: usize) {
    let letter = post.queue.take_at(place);
    if let Some(party) = members.get_mut(post.task.index()).and_then(|member| member.party.as_mut()) {
        party.read(&letter, post.delivery);
    }
}

/// Handles a message by lot.
pub(crate) fn handle<'a, A: Actor>(
    execution: &'a Execution,
    mut state: RefMut<'a, State>,
    mail: usize,
    place: usize,
) -> Option<RefMut<'a, State>> {
    let begun = state.actors.supply.ended;
    let post = &mut state.actors.posts[mail];
    let mut home: Box<Home<A>> = known(post.actor.take().expect("raddle bug: a letter for nobody"));
    let ended = panic::catch_unwind(AssertUnwindSafe(|| {
        let queue = &mut contents::<A::Msg>(&mut state.actors.posts[mail]).queue;
        let msg = if place == 0 { queue.pop_front() } else { queue.remove(place) };
        let msg = msg.expect("raddle bug: a letter without contents");
        drop(state);
        home.handle(msg);
    }));
    let mut state = execution.state.borrow_mut();
    let again = ended.is_ok() && !home.handling.wants_more() && state.actors.supply.ended == begun;
    let post = &mut state.actors.posts[mail];
    post.actor = Some(home);
    if again && post.timers.is_empty() && !post.may_crash {
        let counts = state.still_counts();
        debug_assert!(!counts || state.counted_as_listed(), "raddle bug: mail was counted wrongly");
        return counts.then_some(state);
    }
    state.actors.supply.after = Some(match ended {
        Ok(()) => After::Done,
        Err(payload) => After::Panicked(payload),
    });
    None
}

#[cfg(test)]
mod tests {
    use raddle_engine::rng::Rng;

    use super::*;

    #[test]
    fn each_is_found_where_it_is() {
        let mut rng = Rng::new(3);
        for mailboxes in [1, 2, 15, 16, 17, 33, 100] {
            let (mut supply, mut counts) = (Supply::default(), vec![0; mailboxes]);
            supply.begin(mailboxes);
            for _ in 0..200 {
                let mail = rng.below(mailboxes as u32) as usize;
                counts[mail] = rng.below(4);
                supply.set(mail, counts[mail]);
                let all = counts.iter().enumerate().flat_map(|(mail, &count)| (0..count).map(move |nth| (mail, nth)));
                let found: Vec<_> = (0..supply.total()).map(|number| supply.find(number)).collect();
                assert_eq!(found, all.collect::<Vec<_>>(), "{counts:?}");
            }
        }
    }
}
