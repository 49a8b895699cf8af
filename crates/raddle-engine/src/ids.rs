//! The indices by which one execution speaks of its tasks, objects and steps.
//!
//! They are dense and given out in order of creation, so tables are plain vectors. They mean nothing outside the
//! execution they come from: what has to survive a re-run is said by [name](crate::schedule::TaskName).

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(u32);

        impl $name {
            /// The one with this place in the order of creation.
            #[inline]
            #[must_use]
            pub const fn new(index: u32) -> Self {
                Self(index)
            }

            /// Its place in the order of creation, for indexing a table.
            #[inline]
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Its place in the order of creation.
            #[inline]
            #[must_use]
            pub const fn number(self) -> u32 {
                self.0
            }

            /// The index of the next entry of a table that has `len` entries.
            ///
            /// # Panics
            ///
            /// If the table has more than four billion entries.
            #[inline]
            #[must_use]
            pub fn next_of(len: usize) -> Self {
                Self(u32::try_from(len).expect("raddle bug: more than 2^32 entries in one execution"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

index! {
    /// A thread, an async task or an actor: something that takes steps one after another.
    TaskId
}
index! {
    /// What a step touches: a lock, an atomic, a channel, a mailbox, a cell.
    ObjectId
}
index! {
    /// A step's place in its execution.
    StepIx
}

/// Numbers from here on, up to twice this, are those of messages.
const MESSAGES: u32 = 1 << 30;

impl TaskId {
    /// The task that every execution starts with.
    pub const MAIN: Self = Self(0);
}

impl ObjectId {
    /// Stands where a step touches no object, such as a yield.
    pub const NONE: Self = Self(u32::MAX);

    /// The message with this place among those that `sender` has sent.
    ///
    /// Messages are numbered apart from other objects, and the same in whichever order others send theirs. Beyond some ten
    /// thousand messages of many senders, numbers are used again; messages that share one are taken to depend on one another.
    #[must_use]
    pub const fn message(sender: TaskId, ordinal: u32) -> Self {
        let (sender, ordinal) = (sender.0 as u64, ordinal as u64);
        let diagonal = sender + ordinal;
        let pair = diagonal * (diagonal + 1) / 2 + ordinal;
        Self(MESSAGES | (pair & (MESSAGES as u64 - 1)) as u32)
    }

    /// Its place among the messages, if it is one.
    #[must_use]
    pub const fn as_message(self) -> Option<u32> {
        if self.0 & !(MESSAGES - 1) == MESSAGES { Some(self.0 & (MESSAGES - 1)) } else { None }
    }

    /// Whether this is a real object.
    #[must_use]
    pub const fn is_some(self) -> bool {
        self.0 != u32::MAX
    }
}
