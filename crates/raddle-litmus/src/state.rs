//! The state of a running program: plain data that can be copied, compared and hashed. Equal states have equal futures.
//!
//! So the state contains nothing that has no influence: neither the local variables of a thread that has ended, nor the order of sends where
//! it does not determine which messages can be received.

mod run;
mod step;

use raddle_engine::ids::ObjectId;

use crate::compile::{Code, StepCode};
use crate::syntax::{At, Order};

/// The state of a program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    cells: Vec<i64>,
    /// By mutex: the thread that holds it.
    holders: Vec<Option<u32>>,
    /// By channel: the messages that were not received yet; in order of sending for [`Order::Arrival`], else by name.
    queues: Vec<Vec<Message>>,
    pub(crate) threads: Vec<ThreadState>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Message {
    name: MessageName,
    value: i64,
    /// By thread: how many of its messages happen before this one. Empty if no channel is causal.
    clock: Vec<u32>,
}

/// The name of a message: its sender, and how many messages the sender had sent before. It is the same in every order of the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct MessageName {
    pub sender: u32,
    pub number: u32,
}

impl MessageName {
    /// The name as one number, as the engine stores it.
    pub fn packed(self) -> u32 {
        assert!(self.number < 1 << 16, "raddle bug: thread {} sent more than 2^16 messages", self.sender);
        self.sender << 16 | self.number
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ThreadState {
    /// The next instruction.
    at: u32,
    pub status: Status,
    locals: Vec<i64>,
    stack: Vec<i64>,
    /// How many messages it has sent.
    pub sent: u32,
    /// By thread: how many of its messages happen before this thread's next step. Empty if no channel is causal.
    clock: Vec<u32>,
    /// The first fault of the thread. Each thread stores its own, so the state does not depend on which thread failed first.
    pub fault: Option<Fault>,
}

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Status {
    /// Instructions that other threads do not observe.
    Running,
    /// The step at its next instruction.
    AtStep,
    /// A choice among so many values.
    AtChoice(u32),
    /// Nothing: it has ended.
    Ended,
}

/// A fault of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fault {
    pub what: Wrong,
    pub at: At,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wrong {
    /// An assert failed; the number is the index of its text.
    Assert(u32),
    OutOfRange {
        index: i64,
        len: u32,
    },
    NotHeld,
    DivisionByZero,
    Endless,
    NothingToChoose(i64),
    /// `final` waits, and no thread is left that could enable it.
    WaitsForEver,
    TooManyMessages,
}

impl Fault {
    pub fn message(&self, code: &Code) -> String {
        match self.what {
            Wrong::Assert(number) => format!("assertion failed: {}", code.asserts[number as usize]),
            Wrong::OutOfRange { index, len } => format!("index {index} is out of range for an array of {len}"),
            Wrong::NotHeld => "unlock of a mutex that the thread does not hold".to_owned(),
            Wrong::DivisionByZero => "division by zero".to_owned(),
            Wrong::Endless => "goes on for ever without taking a step".to_owned(),
            Wrong::NothingToChoose(count) => format!("choose({count}): the number of values must be 1 to {}", u32::MAX),
            Wrong::WaitsForEver => "waits for ever: all threads have ended".to_owned(),
            Wrong::TooManyMessages => format!("a thread can send at most {} messages", run::MAX_MESSAGES),
        }
    }
}

impl State {
    /// The state before the first instruction of any thread.
    pub(crate) fn new(code: &Code) -> Self {
        let clocks = if code.channels.contains(&Order::Causal) { code.threads.len() + 1 } else { 0 };
        let thread = |locals: &Vec<i64>| ThreadState {
            at: 0,
            status: Status::Running,
            locals: locals.clone(),
            stack: Vec::new(),
            sent: 0,
            clock: vec![0; clocks],
            fault: None,
        };
        Self {
            cells: code.cells.clone(),
            holders: vec![None; code.mutexes as usize],
            queues: vec![Vec::new(); code.channels.len()],
            threads: code.threads.iter().map(|thread_code| thread(&thread_code.locals)).collect(),
        }
    }

    /// Runs `final` on a copy, as one more thread whose steps need no decision. Returns its fault, if there is one.
    pub(crate) fn check_finale(&self, code: &Code) -> Option<Fault> {
        let finale = code.finale.as_ref()?;
        let mut state = self.clone();
        let clock = vec![0; state.threads.first().map_or(0, |thread| thread.clock.len())];
        state.threads.push(ThreadState {
            at: 0,
            status: Status::Running,
            locals: finale.locals.clone(),
            stack: Vec::new(),
            sent: 0,
            clock,
            fault: None,
        });
        let thread = self.threads.len();
        for _ in 0..run::MAX_SILENT_INSTRUCTIONS {
            state.run(code, thread);
            if state.threads[thread].status == Status::Ended {
                return state.threads[thread].fault;
            }
            let step = state.pending(code, thread);
            let message = state.deliverable(code, thread).first().copied();
            if !state.enabled(code, thread) {
                return Some(Fault { what: Wrong::WaitsForEver, at: step.at });
            }
            state.take(code, thread, message);
        }
        Some(Fault { what: Wrong::Endless, at: At::default() })
    }

    /// The pending step of a thread.
    pub(crate) fn pending(&self, code: &Code, thread: usize) -> StepCode {
        match code.thread(thread).instructions[self.threads[thread].at as usize] {
            crate::compile::Instruction::Step(step) => step,
            other => panic!("raddle bug: thread {thread} is at {other:?}, not at a step"),
        }
    }

    /// The number, among those of its kind, of the object that the pending step of a thread touches.
    fn target(&self, thread: usize, step: StepCode) -> usize {
        let stack = &self.threads[thread].stack;
        let index = step.len.map_or(0, |_| stack[stack.len() - 1 - step.verb.arguments()]);
        step.first as usize + usize::try_from(index).expect("raddle bug: an index that was not checked")
    }

    /// The thread that holds the mutex of the pending step of a thread.
    pub(crate) fn holder(&self, code: &Code, thread: usize) -> Option<u32> {
        self.holders[self.target(thread, self.pending(code, thread))]
    }
}

/// Objects are numbered: shared variables, mutexes, the head and tail of each channel, then messages by number and sender. So a message
/// has the same number in every order of the threads.
impl Code {
    pub(crate) fn thread(&self, thread: usize) -> &crate::compile::ThreadCode {
        let finale = || self.finale.as_ref().expect("raddle bug: no such thread");
        self.threads.get(thread).unwrap_or_else(finale)
    }

    fn cell(&self, cell: usize) -> ObjectId {
        ObjectId::next_of(cell)
    }

    fn mutex(&self, mutex: usize) -> ObjectId {
        ObjectId::next_of(self.cells.len() + mutex)
    }

    fn head(&self, channel: usize) -> ObjectId {
        ObjectId::next_of(self.cells.len() + self.mutexes as usize + 2 * channel)
    }

    fn tail(&self, channel: usize) -> ObjectId {
        ObjectId::next_of(self.head(channel).index() + 1)
    }

    /// The number of objects without messages, which is the number of the first message.
    pub(crate) fn fixed_objects(&self) -> usize {
        self.head(self.channels.len()).index()
    }

    fn message(&self, name: MessageName) -> ObjectId {
        let senders = self.threads.len() + 1;
        ObjectId::next_of(self.fixed_objects() + name.number as usize * senders + name.sender as usize)
    }
}
