//! The operators of expressions, and the operations that threads call.

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

    /// The symbol in the text.
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

    /// How tightly it binds, from 0. Comparisons do not associate; the others associate to the left.
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
/// The level of unary operators, which bind most tightly.
pub(crate) const TIGHTEST: usize = 5;
/// An operation.
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

    /// The name in the text.
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

    /// The number of arguments, without the target.
    #[must_use]
    pub const fn arguments(self) -> usize {
        match self {
            Self::Load | Self::Lock | Self::Unlock | Self::TryLock | Self::Recv => 0,
            Self::Store | Self::Add | Self::Send | Self::Choose => 1,
            Self::Cas => 2,
        }
    }

    /// True if it has a value.
    #[must_use]
    pub const fn gives(self) -> bool {
        !matches!(self, Self::Store | Self::Lock | Self::Unlock | Self::Send)
    }
}
