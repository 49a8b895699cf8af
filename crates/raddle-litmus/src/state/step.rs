//! The steps that other threads can observe, and their accesses, which determine dependence.
//!
//! | step | accesses |
//! |---|---|
//! | `load`, failed `cas` | reads the variable |
//! | `store`, `add`, `cas` | changes it |
//! | `lock`, `unlock` | changes the mutex, and takes or gives it |
//! | `trylock` | changes the mutex; reads it if it fails |
//! | `send` | changes and gives the message, and offers it where receives choose; to a channel in order of arrival, changes the channel's tail first |
//! | `recv` | changes the channel's head; changes and takes the message |

use raddle_engine::ids::ObjectId;
use raddle_engine::trace::{Access, Delivery, Effect, Offer, Ordered, Role};

use super::{Message, MessageName, State, Status};
use crate::compile::{Code, StepCode};
use crate::syntax::{Order, Verb};

/// The result of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    /// Its main access, which is known before the step is taken.
    pub access: Access,
    /// A further access.
    pub more: Option<Access>,
    pub found: Option<i64>,
    pub left: Option<i64>,
    /// The step changes something only if it finds this value.
    pub wants: Option<i64>,
}

impl Taken {
    fn of(access: Access) -> Self {
        Self { access, more: None, found: None, left: None, wants: None }
    }
}

fn access(object: ObjectId, effect: Effect, role: Role) -> Access {
    Access { object, effect, role, ordered: Ordered::RELAXED }
}

impl State {
    /// True if the pending step of a thread is enabled.
    pub(crate) fn enabled(&self, code: &Code, thread: usize) -> bool {
        let step = self.pending(code, thread);
        match step.verb {
            Verb::Lock => self.holders[self.target(thread, step)].is_none(),
            Verb::Recv => !self.queues[self.target(thread, step)].is_empty(),
            _ => true,
        }
    }

    /// The main access of the pending step of a thread, as far as it is known before the step is taken.
    pub(crate) fn announced(&self, code: &Code, thread: usize) -> Access {
        let step = self.pending(code, thread);
        let target = self.target(thread, step);
        match step.verb {
            Verb::Load => access(code.cell(target), Effect::Read, Role::Plain),
            Verb::Store | Verb::Cas | Verb::Add => access(code.cell(target), Effect::Change, Role::Plain),
            Verb::Lock => access(code.mutex(target), Effect::Change, Role::Takes),
            Verb::Unlock => access(code.mutex(target), Effect::Change, Role::Gives),
            Verb::TryLock => access(code.mutex(target), Effect::Change, Role::Plain),
            Verb::Send if code.channels[target] == Order::Arrival => {
                access(code.tail(target), Effect::Change, Role::Plain)
            }
            Verb::Send => access(code.message(self.next_message(thread)), Effect::Change, Role::Gives),
            Verb::Recv if code.channels[target] == Order::Arrival => {
                access(code.head(target), Effect::Change, Role::Waits)
            }
            Verb::Recv => access(code.head(target), Effect::Change, Role::Plain),
            Verb::Choose => panic!("raddle bug: a choice is no step"),
        }
    }

    fn next_message(&self, thread: usize) -> MessageName {
        MessageName { sender: thread as u32, number: self.threads[thread].sent }
    }

    /// The messages that a thread can receive now, in order of their names; none if it is not at a `recv`.
    pub(crate) fn deliverable(&self, code: &Code, thread: usize) -> Vec<MessageName> {
        let step = self.pending(code, thread);
        if step.verb != Verb::Recv {
            return Vec::new();
        }
        let channel = self.target(thread, step);
        let queue = &self.queues[channel];
        let before = |a: &Message, b: &Message| b.clock[a.name.sender as usize] > a.name.number;
        let can = |(place, message): &(usize, &Message)| match code.channels[channel] {
            Order::Arrival => *place == 0,
            Order::PerSender => *place == 0 || queue[place - 1].name.sender != message.name.sender,
            Order::Causal => !queue.iter().any(|other| before(other, message)),
            Order::Unordered => true,
        };
        queue.iter().enumerate().filter(can).map(|(_, message)| message.name).collect()
    }

    /// Takes the pending step of a thread; `message` is the one that a `recv` takes.
    pub(crate) fn take(&mut self, code: &Code, thread: usize, message: Option<MessageName>) -> Taken {
        let step = self.pending(code, thread);
        let target = self.target(thread, step);
        let mut taken = Taken::of(self.announced(code, thread));
        let state = &mut self.threads[thread];
        let mut arguments = [0; 2];
        for argument in arguments[..step.verb.arguments()].iter_mut().rev() {
            *argument = state.stack.pop().expect("raddle bug: a step without its argument");
        }
        if step.len.is_some() {
            state.stack.pop();
        }
        state.at += 1;
        state.status = Status::Running;
        let gives = match step.verb {
            Verb::Load | Verb::Store | Verb::Cas | Verb::Add => self.take_cell(step, target, arguments, &mut taken),
            Verb::Lock | Verb::Unlock | Verb::TryLock => self.take_mutex(step, target, thread, &mut taken),
            Verb::Send => {
                self.send(code, thread, target, arguments[0], &mut taken);
                0
            }
            Verb::Recv => {
                let message = message.expect("raddle bug: a receive without a message");
                self.receive(code, thread, target, message, &mut taken)
            }
            Verb::Choose => panic!("raddle bug: a choice is no step"),
        };
        if step.verb.gives() {
            self.threads[thread].stack.push(gives);
        }
        taken
    }

    fn take_cell(&mut self, step: StepCode, target: usize, [first, second]: [i64; 2], taken: &mut Taken) -> i64 {
        let cell = &mut self.cells[target];
        let old = *cell;
        taken.found = Some(old);
        taken.wants = (step.verb == Verb::Cas).then_some(first);
        let (new, gives) = match step.verb {
            Verb::Store => (Some(first), 0),
            Verb::Add => (Some(old.wrapping_add(first)), old),
            Verb::Cas if old == first => (Some(second), 1),
            Verb::Cas => (None, 0),
            _ => (None, old),
        };
        match new {
            Some(new) => *cell = new,
            None => taken.access.effect = Effect::Read,
        }
        taken.left = new;
        gives
    }

    fn take_mutex(&mut self, step: StepCode, target: usize, thread: usize, taken: &mut Taken) -> i64 {
        let holder = &mut self.holders[target];
        taken.found = Some(i64::from(holder.is_some()));
        taken.wants = (step.verb == Verb::TryLock).then_some(0);
        match step.verb {
            Verb::Unlock => *holder = None,
            _ if holder.is_none() => *holder = Some(thread as u32),
            _ => {
                taken.access.effect = Effect::Read;
                return 0;
            }
        }
        1
    }

    fn send(&mut self, code: &Code, thread: usize, channel: usize, value: i64, taken: &mut Taken) {
        let name = self.next_message(thread);
        let sender = &mut self.threads[thread];
        let message = Message { name, value, clock: sender.clock.clone() };
        sender.sent += 1;
        if let Some(own) = sender.clock.get_mut(thread) {
            *own += 1;
        }
        let queue = &mut self.queues[channel];
        if code.channels[channel] == Order::Arrival {
            taken.more = Some(access(code.message(name), Effect::Change, Role::Gives));
            queue.push(message);
        } else {
            let delivery = match code.channels[channel] {
                Order::Arrival | Order::Unordered => Delivery::Unordered,
                Order::PerSender => Delivery::PerSender,
                Order::Causal => Delivery::Causal,
            };
            let offer = Offer { message: name.packed(), delivery, late: false };
            taken.more = Some(access(code.head(channel), Effect::Read, Role::Offers(offer)));
            let place = queue.partition_point(|other| other.name < name);
            queue.insert(place, message);
        }
        taken.left = Some(value);
    }

    fn receive(&mut self, code: &Code, thread: usize, channel: usize, name: MessageName, taken: &mut Taken) -> i64 {
        let queue = &mut self.queues[channel];
        let place = queue.iter().position(|message| message.name == name).expect("raddle bug: the message is gone");
        let message = queue.remove(place);
        taken.more = Some(access(code.message(name), Effect::Change, Role::Takes));
        let receiver = &mut self.threads[thread];
        for (mine, theirs) in receiver.clock.iter_mut().zip(&message.clock) {
            *mine = (*mine).max(*theirs);
        }
        if let Some(known) = receiver.clock.get_mut(name.sender as usize) {
            *known = (*known).max(name.number + 1);
        }
        taken.found = Some(message.value);
        message.value
    }
}
