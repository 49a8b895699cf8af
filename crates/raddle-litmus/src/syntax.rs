//! A program as it is written: declarations, threads, statements, expressions. [`Display`](std::fmt::Display) gives text
//! that parses to the same program (see `print.rs`).

use std::fmt;

/// A place in the text, counted from 1. Zero where a program was not read from a text.
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
    /// What a search is expected to find.
    pub expectations: Vec<Expectation>,
    /// Integers that all threads see.
    pub shared: Vec<Shared>,
    /// Locks.
    pub mutexes: Vec<Mutex>,
    /// Channels.
    pub channels: Vec<Channel>,
    /// The threads, in the order in which they are numbered.
    pub threads: Vec<Thread>,
    /// What is checked after all threads have ended.
    pub finale: Option<Vec<Statement>>,
}

impl Litmus {
    /// The expected number of `what`, if the program states one.
    #[must_use]
    pub fn expected(&self, what: &Expected) -> Option<u64> {
        self.expectations.iter().find(|e| e.what == *what).map(|e| e.count)
    }
}

/// A number a search has to come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The number of what.
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
    /// Executions that the named strategy gives up half-way.
    Blocked(String),
}

/// `shared x = 0` or `shared a[6] = 0`.
#[derive(Clone, Debug)]
pub struct Shared {
    /// Its name.
    pub name: String,
    /// How many there are, for an array.
    pub len: Option<u32>,
    /// What it starts as; each element, for an array.
    pub first: i64,
    /// Where it is declared.
    pub at: At,
}

/// `mutex m` or `mutex forks[3]`.
#[derive(Clone, Debug)]
pub struct Mutex {
    /// Its name.
    pub name: String,
    /// How many there are, for an array.
    pub len: Option<u32>,
    /// Where it is declared.
    pub at: At,
}

/// `channel c`, `channel c: causal` or `channel c[2]: unordered`.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// How many there are, for an array.
    pub len: Option<u32>,
    /// Which message a receive may take.
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
    /// Any that its sender sent before its others.
    PerSender,
    /// Any with no other that was sent causally before it.
    Causal,
    /// Any.
    Unordered,
}

impl Order {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Arrival, Self::PerSender, Self::Causal, Self::Unordered];

    /// As it is written.
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
    /// The local variable that tells the threads of a range apart.
    pub range: Option<Range>,
    /// What it does.
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

/// Something a thread does.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `name = value;`
    Assign {
        /// The local variable.
        name: String,
        /// Its new value.
        value: Expression,
        /// Where.
        at: At,
    },
    /// `load(x);`
    Evaluate(Expression),
    /// `assert condition;`
    Assert {
        /// What must not be 0.
        condition: Expression,
        /// Where.
        at: At,
    },
    /// `if condition { … } else { … }`
    If {
        /// Which way to go.
        condition: Expression,
        /// If it is not 0.
        then: Vec<Statement>,
        /// If it is 0.
        otherwise: Vec<Statement>,
    },
    /// `while condition { … }`
    While {
        /// Whether to go round once more.
        condition: Expression,
        /// What to do each time.
        body: Vec<Statement>,
    },
}

/// Something that has a value: a 64-bit integer, which wraps around.
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

/// An operator before its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `-`
    Negate,
    /// `!`: 1 for 0, 0 for anything else.
    Not,
}

/// An operator between its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum Binary {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Plus,
    Minus,
    Times,
    Divided,
    Remainder,
}

impl Binary {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Or,
        Self::And,
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::AtMost,
        Self::Greater,
        Self::AtLeast,
        Self::Plus,
        Self::Minus,
        Self::Times,
        Self::Divided,
        Self::Remainder,
    ];

    /// As it is written.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Divided => "/",
            Self::Remainder => "%",
        }
    }

    /// How tightly it binds, from 0; comparisons do not associate, the others do to the left.
    #[must_use]
    pub const fn level(self) -> usize {
        match self {
            Self::Or => 0,
            Self::And => 1,
            Self::Equal | Self::NotEqual | Self::Less | Self::AtMost | Self::Greater | Self::AtLeast => COMPARISONS,
            Self::Plus | Self::Minus => 3,
            Self::Times | Self::Divided | Self::Remainder => 4,
        }
    }
}

/// The level of comparisons.
pub(crate) const COMPARISONS: usize = 2;
/// The level of what binds most tightly: operators before their operand.
pub(crate) const TIGHTEST: usize = 5;

/// A step where it is evaluated, or a choice.
#[derive(Clone, Debug)]
pub struct Call {
    /// Which.
    pub verb: Verb,
    /// What it is done to; none for `choose`.
    pub target: Option<Target>,
    /// What it is done with.
    pub arguments: Vec<Expression>,
    /// Where.
    pub at: At,
}

/// A shared variable, mutex or channel, or an element of an array of them.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// Which element.
    pub index: Option<Expression>,
    /// Where.
    pub at: At,
}

/// What can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum Verb {
    Load,
    Store,
    Cas,
    Add,
    Lock,
    Unlock,
    TryLock,
    Send,
    Recv,
    Choose,
}

impl Verb {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Load,
        Self::Store,
        Self::Cas,
        Self::Add,
        Self::Lock,
        Self::Unlock,
        Self::TryLock,
        Self::Send,
        Self::Recv,
        Self::Choose,
    ];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Cas => "cas",
            Self::Add => "add",
            Self::Lock => "lock",
            Self::Unlock => "unlock",
            Self::TryLock => "trylock",
            Self::Send => "send",
            Self::Recv => "recv",
            Self::Choose => "choose",
        }
    }

    /// How many values it is given, besides its target.
    #[must_use]
    pub const fn arguments(self) -> usize {
        match self {
            Self::Load | Self::Lock | Self::Unlock | Self::TryLock | Self::Recv => 0,
            Self::Store | Self::Add | Self::Send | Self::Choose => 1,
            Self::Cas => 2,
        }
    }

    /// Whether it has a value.
    #[must_use]
    pub const fn gives(self) -> bool {
        !matches!(self, Self::Store | Self::Lock | Self::Unlock | Self::Send)
    }
}
