//! Where sessions are kept.

use raddle::actor::{Actor, Address, Context};

use super::{ToPresence, UserId};

/// What the archive hears: keep the session of a user, and say so.
#[derive(Clone, Debug)]
pub struct Store {
    /// Whose.
    pub user: UserId,
    /// Who wants to know.
    pub presence: Address<ToPresence>,
}

/// Keeps sessions.
#[derive(Debug, Default)]
pub struct Archive {
    /// How many.
    pub sessions: u32,
}

impl Actor for Archive {
    type Msg = Store;

    fn handle(&mut self, Store { user, presence }: Store, ctx: &mut Context<'_, Store>) {
        self.sessions += 1;
        ctx.send(&presence, ToPresence::Stored(user));
    }

    fn label(_: &Store) -> &'static str {
        "Store"
    }
}
