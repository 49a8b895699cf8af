//! The state of a running program: plain data that can be copied, compared and hashed. Equal states have equal futures.
//!
//! To that end what does not matter is not kept: the local variables of a thread that has ended, the order in which
//! messages were sent where it does not decide which of them can be received.

mod run;
mod step;

use raddle_engine::ids::ObjectId;

use crate::compile::{Code, StepCode};
use crate::syntax::{At, Order};

/// Where a program is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    cells: Vec<i64>,
    /// Who holds each mutex.
    holders: Vec<Option<u32>>,
    /// What was sent to each channel and not received: in order of sending for [`Order::Arrival`], else by name.
    queues: Vec<Vec<Message>>,
    pub(crate) threads: Vec<ThreadState>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Message {
    name: MessageName,
    value: i64,
    /// How many messages of each thread its sender knew of. Empty if no channel is causal.
    clock: Vec<u32>,
}

/// A message by who sent it and how many that thread had sent before: the same in whichever order the threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct MessageName {
    pub sender: u32,
    pub number: u32,
}

impl MessageName {
    /// As the engine knows it.
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
    /// How many messages of each thread it knows of. Empty if no channel is causal.
    clock: Vec<u32>,
    /// The first thing that went wrong in it. Kept by thread, so that it does not depend on which thread failed first.
    pub fault: Option<Fault>,
}

/// What a thread is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Status {
    /// Something that nobody notices.
    Running,
    /// The step at its next instruction.
    AtStep,
    /// To be given one of so many values.
    AtChoice(u32),
    /// Nothing more.
    Ended,
}

/// What went wrong in a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fault {
    pub what: Wrong,
    pub at: At,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Wrong {
    /// An assert; the number is that of its text.
    Assert(u32),
    OutOfRange {
        index: i64,
        len: u32,
    },
    NotHeld,
    DivisionByZero,
    Endless,
    NothingToChoose(i64),
    /// In `final`, where nobody is left who could help.
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
            Wrong::TooManyMessages => format!("a thread can send at most {} messages", run::MOST_MESSAGES),
        }
    }
}

impl State {
    /// Before the first instruction of any thread.
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

    /// What `final` finds wrong, if anything. Runs it on a copy, as one more thread whose steps need no decision.
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
        for _ in 0..run::PATIENCE {
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

    /// The step a thread is at.
    pub(crate) fn pending(&self, code: &Code, thread: usize) -> StepCode {
        match code.thread(thread).instructions[self.threads[thread].at as usize] {
            crate::compile::Instruction::Step(step) => step,
            other => panic!("raddle bug: thread {thread} is at {other:?}, not at a step"),
        }
    }

    /// The number, among those of its kind, of what the step a thread is at will touch.
    fn target(&self, thread: usize, step: StepCode) -> usize {
        let stack = &self.threads[thread].stack;
        let index = step.len.map_or(0, |_| stack[stack.len() - 1 - step.verb.arguments()]);
        step.first as usize + usize::try_from(index).expect("raddle bug: an index that was not checked")
    }

    /// Who holds the mutex that the step a thread is at is about.
    pub(crate) fn holder(&self, code: &Code, thread: usize) -> Option<u32> {
        self.holders[self.target(thread, self.pending(code, thread))]
    }
}

/// Objects are numbered: shared variables, mutexes, the head and tail of each channel, then messages by number and sender,
/// so that a message has the same number in whichever order the threads run.
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

    /// The number of the first message's object, and so the number of all other objects.
    pub(crate) fn fixed_objects(&self) -> usize {
        self.head(self.channels.len()).index()
    }

    fn message(&self, name: MessageName) -> ObjectId {
        let senders = self.threads.len() + 1;
        ObjectId::next_of(self.fixed_objects() + name.number as usize * senders + name.sender as usize)
    }
}
