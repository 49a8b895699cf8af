//! Who lets users in and out.

use std::collections::BTreeMap;

use raddle::actor::{Actor, Address, Context};

use super::{Config, Store, ToRouter, ToUser, UserId};

/// What presence hears.
#[derive(Clone, Debug)]
pub enum ToPresence {
    /// A user comes.
    LogOn(UserId, Address<ToUser>),
    /// A user wants to leave.
    LogOff(UserId),
    /// From the archive: the session is kept.
    Stored(UserId),
}

/// Knows who has a session.
#[derive(Debug)]
pub struct Presence {
    router: Address<ToRouter>,
    archive: Address<Store>,
    config: Config,
    sessions: BTreeMap<UserId, Address<ToUser>>,
}

impl Presence {
    /// One with nobody there.
    #[must_use]
    pub fn new(router: Address<ToRouter>, archive: Address<Store>, config: Config) -> Self {
        Self { router, archive, config, sessions: BTreeMap::new() }
    }
}

impl Actor for Presence {
    type Msg = ToPresence;

    fn handle(&mut self, msg: ToPresence, ctx: &mut Context<'_, ToPresence>) {
        match msg {
            ToPresence::LogOn(user, address) => {
                self.sessions.insert(user, address.clone());
                ctx.send(&self.router, ToRouter::Joined(user, address));
            }
            ToPresence::LogOff(user) => {
                let presence = ctx.me();
                ctx.send(&self.archive, Store { user, presence });
            }
            ToPresence::Stored(user) => {
                let address = self.sessions.remove(&user).expect("only those leave who have come");
                ctx.send(&self.router, ToRouter::Left(user));
                if self.config.hasty {
                    ctx.send(&address, ToUser::GoodBye);
                }
            }
        }
    }

    fn label(msg: &ToPresence) -> &'static str {
        match msg {
            ToPresence::LogOn(..) => "LogOn",
            ToPresence::LogOff(_) => "LogOff",
            ToPresence::Stored(_) => "Stored",
        }
    }
}
