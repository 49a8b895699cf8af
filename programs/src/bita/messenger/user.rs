//! Who write texts.

use raddle::actor::{Actor, Address, Context};

use super::{Config, ToPresence, ToRouter, UserId};

/// The messages to a user.
#[derive(Clone, Copy, Debug)]
pub enum ToUser {
    /// Log on.
    Start,
    /// You are on line.
    Welcome,
    /// Somebody has written.
    Text {
        /// Who.
        from: UserId,
    },
    /// What you wrote was read.
    Read,
    /// It was not, since the other one has left.
    NotDelivered,
    /// A friend has left.
    FriendLeft(UserId),
    /// You are off line: there is nothing more to hear.
    GoodBye,
}

/// Writes one text after the other; leaves when the last one was read, and everything has come that the friend before had to say.
#[derive(Debug)]
pub struct User {
    me: UserId,
    presence: Address<ToPresence>,
    router: Address<ToRouter>,
    config: Config,
    texts_left: u32,
    texts_to_come: u32,
    unread: bool,
    leaving: bool,
}

type Ctx<'a, 'b> = &'a mut Context<'b, ToUser>;

impl User {
    /// A user who is off line.
    #[must_use]
    pub fn new(me: UserId, presence: Address<ToPresence>, router: Address<ToRouter>, config: Config) -> Self {
        let texts_to_come = config.texts_of(config.previous(me));
        let texts_left = config.texts_of(me);
        Self { me, presence, router, config, texts_left, texts_to_come, unread: false, leaving: false }
    }

    fn write_or_leave(&mut self, ctx: Ctx<'_, '_>) {
        if self.unread {
            return;
        }
        if self.texts_left > 0 {
            self.texts_left -= 1;
            self.unread = true;
            ctx.send(&self.router, ToRouter::Text { from: self.me, to: self.config.next(self.me) });
        } else if self.texts_to_come == 0 && !self.leaving {
            self.leaving = true;
            ctx.send(&self.presence, ToPresence::LogOff(self.me));
        }
    }
}

impl Actor for User {
    type Msg = ToUser;

    fn handle(&mut self, msg: ToUser, ctx: &mut Context<'_, ToUser>) {
        match msg {
            ToUser::Start => {
                let me = ctx.me();
                ctx.send(&self.presence, ToPresence::LogOn(self.me, me));
            }
            ToUser::Welcome => self.write_or_leave(ctx),
            ToUser::Text { from } => {
                self.texts_to_come -= 1;
                ctx.send(&self.router, ToRouter::Read { by: from });
                self.write_or_leave(ctx);
            }
            ToUser::Read | ToUser::NotDelivered => {
                self.unread = false;
                self.write_or_leave(ctx);
            }
            ToUser::FriendLeft(_) => {}
            ToUser::GoodBye => ctx.stop(),
        }
    }

    fn label(msg: &ToUser) -> &'static str {
        match msg {
            ToUser::Start => "Start",
            ToUser::Welcome => "Welcome",
            ToUser::Text { .. } => "Text",
            ToUser::Read => "Read",
            ToUser::NotDelivered => "NotDelivered",
            ToUser::FriendLeft(_) => "FriendLeft",
            ToUser::GoodBye => "GoodBye",
        }
    }
}
