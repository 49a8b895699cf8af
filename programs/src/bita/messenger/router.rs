//! Who delivers texts.

use std::collections::{BTreeMap, BTreeSet};

use raddle::actor::{Actor, Address, Context};

use super::{Config, ToUser, UserId};

/// The messages to the router.
#[derive(Clone, Debug)]
pub enum ToRouter {
    /// From presence: a user has come.
    Joined(UserId, Address<ToUser>),
    /// From presence: a user leaves.
    Left(UserId),
    /// From a user to another.
    Text {
        /// Who writes.
        from: UserId,
        /// To whom.
        to: UserId,
    },
    /// From a user who has read a text, to the one who wrote it.
    Read {
        /// Who wrote.
        by: UserId,
    },
}

/// Knows who is on line.
#[derive(Debug)]
pub struct Router {
    config: Config,
    on_line: BTreeMap<UserId, Address<ToUser>>,
    gone: BTreeSet<UserId>,
    /// Who has written to whom before they came.
    kept: BTreeMap<UserId, Vec<UserId>>,
}

type Ctx<'a, 'b> = &'a mut Context<'b, ToRouter>;

impl Router {
    /// One who knows nobody.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let (on_line, gone, kept) = Default::default();
        Self { config, on_line, gone, kept }
    }

    fn tell(&self, user: UserId, msg: ToUser, ctx: Ctx<'_, '_>) {
        if let Some(address) = self.on_line.get(&user) {
            ctx.send(address, msg);
        }
    }

    fn joined(&mut self, user: UserId, address: Address<ToUser>, ctx: Ctx<'_, '_>) {
        self.on_line.insert(user, address);
        self.tell(user, ToUser::Welcome, ctx);
        for from in self.kept.remove(&user).unwrap_or_default() {
            self.tell(user, ToUser::Text { from }, ctx);
        }
    }

    fn left(&mut self, user: UserId, ctx: Ctx<'_, '_>) {
        if !self.config.hasty {
            self.tell(user, ToUser::GoodBye, ctx);
        }
        self.on_line.remove(&user);
        self.gone.insert(user);
        self.tell(self.config.previous(user), ToUser::FriendLeft(user), ctx);
    }

    fn text(&mut self, from: UserId, to: UserId, ctx: Ctx<'_, '_>) {
        if self.gone.contains(&to) {
            self.tell(from, ToUser::NotDelivered, ctx);
        } else if self.on_line.contains_key(&to) {
            self.tell(to, ToUser::Text { from }, ctx);
        } else {
            self.kept.entry(to).or_default().push(from);
        }
    }
}

impl Actor for Router {
    type Msg = ToRouter;

    fn handle(&mut self, msg: ToRouter, ctx: &mut Context<'_, ToRouter>) {
        match msg {
            ToRouter::Joined(user, address) => self.joined(user, address, ctx),
            ToRouter::Left(user) => self.left(user, ctx),
            ToRouter::Text { from, to } => self.text(from, to, ctx),
            ToRouter::Read { by } => self.tell(by, ToUser::Read, ctx),
        }
    }

    fn label(msg: &ToRouter) -> &'static str {
        match msg {
            ToRouter::Joined(..) => "Joined",
            ToRouter::Left(_) => "Left",
            ToRouter::Text { .. } => "Text",
            ToRouter::Read { .. } => "Read",
        }
    }
}
