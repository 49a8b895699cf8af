//! A program as it is run: each thread a list of instructions for a small stack machine, with all names resolved. The
//! only instructions others can notice are [`Instruction::Step`]s.

mod body;

use std::collections::HashMap;

use crate::error::LitmusError;
use crate::syntax::{At, Binary, Litmus, Order, Thread, Unary, Verb};

/// A program with its names resolved.
#[derive(Debug)]
pub(crate) struct Code {
    /// What the shared variables start as.
    pub cells: Vec<i64>,
    pub mutexes: u32,
    pub channels: Vec<Order>,
    pub threads: Vec<ThreadCode>,
    pub finale: Option<ThreadCode>,
    /// The texts of the asserts' conditions.
    pub asserts: Vec<String>,
}

/// What a thread does.
#[derive(Debug)]
pub(crate) struct ThreadCode {
    /// `writer(3)`.
    pub label: String,
    /// What the local variables start as.
    pub locals: Vec<i64>,
    pub instructions: Vec<Instruction>,
}

/// One instruction of the stack machine. Reaching the end of the list ends the thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Instruction {
    Push(i64),
    /// Pushes a local variable.
    Get(u32),
    /// Pops into a local variable.
    Set(u32),
    Drop,
    /// Makes anything but 0 a 1.
    Truth,
    Unary(Unary),
    Binary(Binary, At),
    Jump(u32),
    /// Pops, and jumps if it was 0.
    JumpIfZero(u32),
    /// Pops a condition; the number is that of its text.
    Assert(u32, At),
    /// Pops the number of values, pushes the one that was chosen.
    Choose(At),
    /// Pops the index, if it has one, and the arguments above it; pushes the value, if it gives one.
    Step(StepCode),
}

/// A step, as far as it is known before the thread runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepCode {
    pub verb: Verb,
    /// The number of its target among those of its kind; of the array's first element where there is an index.
    pub first: u32,
    /// How long the array is, where there is an index.
    pub len: Option<u32>,
    pub at: At,
}

/// What a declared name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Shared,
    Mutex,
    Channel,
}

impl Kind {
    fn of(verb: Verb) -> Self {
        match verb {
            Verb::Lock | Verb::Unlock | Verb::TryLock => Self::Mutex,
            Verb::Send | Verb::Recv => Self::Channel,
            _ => Self::Shared,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Shared => "a shared variable",
            Self::Mutex => "a mutex",
            Self::Channel => "a channel",
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Declared {
    kind: Kind,
    first: u32,
    len: Option<u32>,
}

/// Everything that has a name outside the threads.
#[derive(Default)]
struct Names(HashMap<String, Declared>);

impl Names {
    fn declare(&mut self, name: &str, at: At, declared: Declared) -> Result<(), LitmusError> {
        match self.0.insert(name.to_owned(), declared) {
            None => Ok(()),
            Some(_) => Err(LitmusError::Twice { at, name: name.to_owned() }),
        }
    }
}

/// Elements of all arrays together.
const MOST_OBJECTS: usize = 1 << 18;

/// More than this cannot be told apart in the names of messages.
const MOST_THREADS: usize = 1 << 15;

/// Instructions and local variables of all threads together.
const MOST_INSTRUCTIONS: usize = 1 << 20;

/// Adds so many objects that are declared at this place, unless there are too many then.
fn count(objects: &mut usize, len: Option<u32>, at: At) -> Result<(), LitmusError> {
    *objects += len.unwrap_or(1) as usize;
    if *objects <= MOST_OBJECTS {
        return Ok(());
    }
    let why =
        format!("more than {MOST_OBJECTS} shared variables, mutexes and channels, with each element of their arrays");
    Err(LitmusError::misused(at, why))
}

/// Resolves names and lays out the instructions.
pub(crate) fn compile(litmus: &Litmus) -> Result<Code, LitmusError> {
    let mut names = Names::default();
    let mut code = Code {
        cells: Vec::new(),
        mutexes: 0,
        channels: Vec::new(),
        threads: Vec::new(),
        finale: None,
        asserts: Vec::new(),
    };
    let mut objects = 0;
    for shared in &litmus.shared {
        count(&mut objects, shared.len, shared.at)?;
        let first = code.cells.len() as u32;
        names.declare(&shared.name, shared.at, Declared { kind: Kind::Shared, first, len: shared.len })?;
        code.cells.extend((0..shared.len.unwrap_or(1)).map(|_| shared.first));
    }
    for mutex in &litmus.mutexes {
        count(&mut objects, mutex.len, mutex.at)?;
        names.declare(&mutex.name, mutex.at, Declared { kind: Kind::Mutex, first: code.mutexes, len: mutex.len })?;
        code.mutexes += mutex.len.unwrap_or(1);
    }
    for channel in &litmus.channels {
        count(&mut objects, channel.len, channel.at)?;
        let first = code.channels.len() as u32;
        names.declare(&channel.name, channel.at, Declared { kind: Kind::Channel, first, len: channel.len })?;
        code.channels.extend((0..channel.len.unwrap_or(1)).map(|_| channel.order));
    }
    let mut instructions = 0;
    for thread in &litmus.threads {
        instructions += add_threads(thread, &names, &mut code, MOST_INSTRUCTIONS - instructions)?;
    }
    if let Some(finale) = &litmus.finale {
        let (locals, instructions) = body::compile(finale, None, &names, &mut code.asserts, true)?;
        code.finale = Some(ThreadCode { label: "final".to_owned(), locals: vec![0; locals], instructions });
    }
    Ok(code)
}

/// Adds a thread, or one for each number of its range, and returns how many instructions and local variables they have, at most
/// `most`.
fn add_threads(thread: &Thread, names: &Names, code: &mut Code, most: usize) -> Result<usize, LitmusError> {
    let (locals, instructions) = body::compile(&thread.body, thread.range.as_ref(), names, &mut code.asserts, false)?;
    let numbers = thread.range.as_ref().map_or(1, |range| range.from.abs_diff(range.to) as usize + 1);
    if code.threads.len() + numbers > MOST_THREADS {
        return Err(LitmusError::misused(thread.at, format!("more than {MOST_THREADS} threads")));
    }
    let added = numbers.saturating_mul(locals + instructions.len());
    if added > most {
        let why = format!("more than {MOST_INSTRUCTIONS} instructions and local variables in all threads together");
        return Err(LitmusError::misused(thread.at, why));
    }
    let Some(range) = &thread.range else {
        code.threads.push(ThreadCode { label: thread.name.clone(), locals: vec![0; locals], instructions });
        return Ok(added);
    };
    for number in range.from..=range.to {
        let mut locals = vec![0; locals];
        locals[0] = number;
        let label = format!("{}({number})", thread.name);
        code.threads.push(ThreadCode { label, locals, instructions: instructions.clone() });
    }
    Ok(added)
}
