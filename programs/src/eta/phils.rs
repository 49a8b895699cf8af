//! Dining philosophers as actors, one meal each. Everybody takes the left fork first, so all can end up with one fork each, waiting
//! for ever.

use std::collections::VecDeque;

use raddle::actor::{Actor, Address, Context, Stage};

/// The messages to a philosopher.
#[derive(Clone, Debug, Hash)]
pub enum Table {
    /// Dinner is served.
    Start,
    /// This fork is yours.
    Grant,
}

/// The messages to a fork.
#[derive(Clone, Debug, Hash)]
pub enum Wish {
    /// Somebody wants the fork.
    Request(Address<Table>),
    /// Its holder is done.
    Release,
}

/// Lies on the table, or is held while others wait.
#[derive(Clone, Debug, Default, Hash)]
pub struct Fork {
    held: bool,
    waiting: VecDeque<Address<Table>>,
}

impl Actor for Fork {
    type Msg = Wish;

    fn handle(&mut self, wish: Wish, ctx: &mut Context<'_, Wish>) {
        match wish {
            Wish::Request(who) if self.held => self.waiting.push_back(who),
            Wish::Request(who) => {
                self.held = true;
                ctx.send(&who, Table::Grant);
            }
            Wish::Release => match self.waiting.pop_front() {
                Some(next) => ctx.send(&next, Table::Grant),
                None => self.held = false,
            },
        }
    }

    fn label(wish: &Wish) -> &'static str {
        match wish {
            Wish::Request(_) => "Request",
            Wish::Release => "Release",
        }
    }
}

/// Takes the left fork, then the right one, then eats.
#[derive(Clone, Debug, Hash)]
pub struct Philosopher {
    left: Address<Wish>,
    right: Address<Wish>,
    has_left: bool,
    /// Whether there was a meal.
    pub has_eaten: bool,
}

impl Actor for Philosopher {
    type Msg = Table;

    fn handle(&mut self, msg: Table, ctx: &mut Context<'_, Table>) {
        let me = ctx.me();
        match msg {
            Table::Start => ctx.send(&self.left, Wish::Request(me)),
            Table::Grant if !self.has_left => {
                self.has_left = true;
                ctx.send(&self.right, Wish::Request(me));
            }
            Table::Grant => {
                self.has_eaten = true;
                ctx.send(&self.left, Wish::Release);
                ctx.send(&self.right, Wish::Release);
            }
        }
    }

    fn label(msg: &Table) -> &'static str {
        match msg {
            Table::Start => "Start",
            Table::Grant => "Grant",
        }
    }
}

/// A round table for `n`.
pub fn set_up(stage: &mut impl Stage, n: u32) {
    let forks: Vec<_> = (0..n).map(|_| stage.spawn(Fork::default())).collect();
    let left_and_right = forks.iter().zip(forks.iter().cycle().skip(1));
    let philosophers: Vec<_> = left_and_right
        .map(|(left, right)| {
            let (left, right) = (left.clone(), right.clone());
            stage.spawn(Philosopher { left, right, has_left: false, has_eaten: false })
        })
        .collect();
    for philosopher in &philosophers {
        stage.send(philosopher, Table::Start);
    }
}
