//! The syntax tree of a program: declarations, threads, statements, expressions. [`Display`](std::fmt::Display) gives text that parses to the
//! same program (see `print.rs`).

mod operators;

use std::fmt;

pub use self::operators::{Binary, Unary, Verb};
pub(crate) use self::operators::{COMPARISONS, TIGHTEST};

/// A place in the text, counted from 1. Zero if the program was not read from a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A whole program.
#[derive(Clone, Debug, Default)]
pub struct Litmus {
    /// The expected results of a search.
    pub expectations: Vec<Expectation>,
    /// Integers that all threads share.
    pub shared: Vec<Shared>,
    /// Locks.
    pub mutexes: Vec<Mutex>,
    /// Channels.
    pub channels: Vec<Channel>,
    /// The threads, in the order in which they are numbered.
    pub threads: Vec<Thread>,
    /// Statements that run after all threads have ended.
    pub finale: Option<Vec<Statement>>,
}

impl Litmus {
    /// The expected number of `what`, if the program states one.
    #[must_use]
    pub fn expected(&self, what: &Expected) -> Option<u64> {
        self.expectations.iter().find(|e| e.what == *what).map(|e| e.count)
    }
}

/// An expected result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// What is counted.
    pub what: Expected,
    /// The number.
    pub count: u64,
}

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expected {
    /// Classes of equivalent executions.
    Traces,
    /// Those that fail.
    Failing,
    /// Executions that the named strategy prunes.
    Blocked(String),
}

/// `shared x = 0` or `shared a[6] = 0`.
#[derive(Clone, Debug)]
pub struct Shared {
    /// Its name.
    pub name: String,
    /// The length of an array.
    pub len: Option<u32>,
    /// The initial value; of each element, for an array.
    pub first: i64,
    /// Where it is declared.
    pub at: At,
}

/// `mutex m` or `mutex forks[3]`.
#[derive(Clone, Debug)]
pub struct Mutex {
    /// Its name.
    pub name: String,
    /// The length of an array.
    pub len: Option<u32>,
    /// Where it is declared.
    pub at: At,
}

/// `channel c`, `channel c: causal` or `channel c[2]: unordered`.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// The length of an array.
    pub len: Option<u32>,
    /// Which messages a receive may take.
    pub order: Order,
    /// Where it is declared.
    pub at: At,
}

/// Which of the waiting messages a receive may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The one that was sent first.
    #[default]
    Arrival,
    /// The first waiting message of any sender.
    PerSender,
    /// Any message such that no waiting message causally precedes it.
    Causal,
    /// Any.
    Unordered,
}

impl Order {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Arrival, Self::PerSender, Self::Causal, Self::Unordered];

    /// The name in the text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrival => "arrival",
            Self::PerSender => "per-sender",
            Self::Causal => "causal",
            Self::Unordered => "unordered",
        }
    }
}

/// A thread, or one for each number of a range.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// The local variable that distinguishes the threads of a range.
    pub range: Option<Range>,
    /// The statements.
    pub body: Vec<Statement>,
    /// Where it is declared.
    pub at: At,
}

/// `i in 1..=5`.
#[derive(Clone, Debug)]
pub struct Range {
    /// The local variable.
    pub name: String,
    /// The first number.
    pub from: i64,
    /// The last number.
    pub to: i64,
    /// Where it is written.
    pub at: At,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `name = value;`
    Assign {
        /// The local variable.
        name: String,
        /// Its new value.
        value: Expression,
        /// The place.
        at: At,
    },
    /// `load(x);`
    Evaluate(Expression),
    /// `assert condition;`
    Assert {
        /// Must not be 0.
        condition: Expression,
        /// The place.
        at: At,
    },
    /// `if condition { … } else { … }`
    If {
        /// The condition.
        condition: Expression,
        /// Runs if the condition is not 0.
        then: Vec<Statement>,
        /// Runs if the condition is 0.
        otherwise: Vec<Statement>,
    },
    /// `while condition { … }`
    While {
        /// The condition.
        condition: Expression,
        /// Runs as long as the condition is not 0.
        body: Vec<Statement>,
    },
}

/// An expression. Its value is a 64-bit integer, which wraps around.
#[derive(Clone, Debug)]
pub enum Expression {
    /// A number, not negative.
    Number(i64),
    /// A local variable.
    Local(String, At),
    /// `-e` or `!e`.
    Unary(Unary, Box<Expression>),
    /// `e + e` and the like.
    Binary(Binary, Box<Expression>, Box<Expression>, At),
    /// A step, or `choose`.
    Call(Box<Call>),
}

/// A step, or a choice.
#[derive(Clone, Debug)]
pub struct Call {
    /// The operation.
    pub verb: Verb,
    /// The object that it touches; none for `choose`.
    pub target: Option<Target>,
    /// The arguments.
    pub arguments: Vec<Expression>,
    /// The place.
    pub at: At,
}

/// A shared variable, mutex or channel, or an element of an array of them.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// The index of the element.
    pub index: Option<Expression>,
    /// The place.
    pub at: At,
}
