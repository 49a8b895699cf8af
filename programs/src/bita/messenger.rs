//! An instant messenger: users log on, write texts to each other, hear when a friend has left, and log off.
//!
//! - *Presence* takes those who log on and off, and has sessions archived before they end.
//! - The *router* knows who is on line. It delivers texts, keeps those for whoever has not come yet, and tells friends who has left.
//! - The *archive* keeps sessions.

mod archive;
mod presence;
mod router;
mod user;

use raddle::actor::System;
use raddle::coverage::Criterion;

pub use self::archive::{Archive, Store};
pub use self::presence::{Presence, ToPresence};
pub use self::router::{Router, ToRouter};
pub use self::user::{ToUser, User};
use super::Program;

/// A user by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserId(pub u32);

/// How much is written, and whether there is a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Who sit in a circle: everyone writes to the next, and is the friend of the one before.
    pub users: u32,
    /// How many texts the first user writes.
    pub texts: u32,
    /// How many more each of the others writes than the one before.
    pub more: u32,
    /// The mistake: presence says good-bye to users who log off, and not the router, which may still have something for them.
    pub hasty: bool,
}

impl Config {
    /// The configuration that is evaluated.
    pub const USUAL: Self = Self { users: 5, texts: 2, more: 3, hasty: false };

    /// All of its orders can be tried.
    pub const SMALL: Self = Self { users: 2, texts: 1, more: 0, hasty: false };

    /// The same with the mistake.
    #[must_use]
    pub const fn hasty(self) -> Self {
        Self { hasty: true, ..self }
    }

    fn next(&self, user: UserId) -> UserId {
        UserId((user.0 + 1) % self.users)
    }

    fn previous(&self, user: UserId) -> UserId {
        UserId((user.0 + self.users - 1) % self.users)
    }

    /// How many texts a user writes.
    fn texts_of(&self, user: UserId) -> u32 {
        self.texts + user.0 * self.more
    }
}

/// Lets all users write what they have to say.
///
/// # Panics
///
/// If somebody has not left in the end.
pub fn run(config: Config) {
    let system = System::new().fail_on_dead_letters(true);
    let archive = system.spawn(Archive::default());
    let router = system.spawn(Router::new(config));
    let presence = system.spawn(Presence::new(router.clone(), archive.clone(), config));
    let users: Vec<_> = (0..config.users)
        .map(|number| system.spawn(User::new(UserId(number), presence.clone(), router.clone(), config)))
        .collect();
    for user in &users {
        user.send(ToUser::Start);
    }
    system.run_until_quiet();
    let sessions = system.with(&archive, |archive: &Archive| archive.sessions);
    assert_eq!(sessions, config.users, "everybody leaves in the end");
}

const CORRECT: Program = Program::correct("Messenger", || run(Config::USUAL));

/// The messenger, and a hasty one.
pub static PROGRAMS: [Program; 2] =
    [CORRECT, CORRECT.with("Messenger 1", "dead letter", Criterion::Pairs, || run(Config::USUAL.hasty()))];
