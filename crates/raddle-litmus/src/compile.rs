//! Compiles a program: each thread becomes a list of instructions for a small stack machine, with all names resolved. Other threads can
//! only observe [`Instruction::Step`]s.

mod body;

use std::collections::HashMap;

use crate::error::LitmusError;
use crate::syntax::{At, Binary, Litmus, Order, Thread, Unary, Verb};

/// A program with its names resolved.
#[derive(Debug)]
pub(crate) struct Code {
    /// The initial values of the shared variables.
    pub cells: Vec<i64>,
    pub mutexes: u32,
    pub channels: Vec<Order>,
    pub threads: Vec<ThreadCode>,
    pub finale: Option<ThreadCode>,
    /// The texts of the conditions of all asserts.
    pub asserts: Vec<String>,
}

/// A compiled thread.
#[derive(Debug)]
pub(crate) struct ThreadCode {
    /// For example `writer(3)`.
    pub label: String,
    /// The initial values of the local variables.
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
    /// Replaces any value but 0 by 1.
    Truth,
    Unary(Unary),
    Binary(Binary, At),
    Jump(u32),
    /// Pops a value, and jumps if it is 0.
    JumpIfZero(u32),
    /// Pops a condition; the number is the index of its text.
    Assert(u32, At),
    /// Pops the number of values, pushes the one that was chosen.
    Choose(At),
    /// Pops the arguments, and the index below them, if there is one; pushes the result, if there is one.
    Step(StepCode),
}

/// A step, as far as it is known at compile time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepCode {
    pub verb: Verb,
    /// The number of its target among those of its kind; with an index, the number of the array's first element.
    pub first: u32,
    /// With an index, the length of the array.
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

/// The largest number of elements of all arrays together.
const MAX_OBJECTS: usize = 1 << 18;

/// The largest number of threads: the names of messages distinguish no more.
const MAX_THREADS: usize = 1 << 15;

/// The largest number of instructions and local variables of all threads together.
const MAX_INSTRUCTIONS: usize = 1 << 20;

/// Counts objects that are declared at this place. Fails if there are too many.
fn count(objects: &mut usize, len: Option<u32>, at: At) -> Result<(), LitmusError> {
    *objects += len.unwrap_or(1) as usize;
    if *objects <= MAX_OBJECTS {
        return Ok(());
    }
    let why =
        format!("more than {MAX_OBJECTS} shared variables, mutexes and channels, with each element of their arrays");
    Err(LitmusError::misused(at, why))
}

/// Resolves names and generates the instructions.
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
        instructions += add_threads(thread, &names, &mut code, MAX_INSTRUCTIONS - instructions)?;
    }
    if let Some(finale) = &litmus.finale {
        let (locals, instructions) = body::compile(finale, None, &names, &mut code.asserts, true)?;
        code.finale = Some(ThreadCode { label: "final".to_owned(), locals: vec![0; locals], instructions });
    }
    Ok(code)
}

/// Adds a thread, or one for each number of its range. Returns how many instructions and local variables they have, which is at most
/// `most`.
fn add_threads(thread: &Thread, names: &Names, code: &mut Code, most: usize) -> Result<usize, LitmusError> {
    let (locals, instructions) = body::compile(&thread.body, thread.range.as_ref(), names, &mut code.asserts, false)?;
    let numbers = thread.range.as_ref().map_or(1, |range| range.from.abs_diff(range.to) as usize + 1);
    if code.threads.len() + numbers > MAX_THREADS {
        return Err(LitmusError::misused(thread.at, format!("more than {MAX_THREADS} threads")));
    }
    let added = numbers.saturating_mul(locals + instructions.len());
    if added > most {
        let why = format!("more than {MAX_INSTRUCTIONS} instructions and local variables in all threads together");
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
