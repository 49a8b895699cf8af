//! What must hold for chain replication.

use raddle::actor::Monitor;

use super::message::{Place, Update};

/// What the tail does; announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tail {
    /// It has an update, so all nodes have.
    Stable(Place, Update),
    /// It has told a client how many updates there are.
    Answered(usize),
}

/// A client is done with all that it wanted; announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served;

/// There is one history: an update that is stable stays at its place and has no other, and every query sees all of them. To the
/// clients it looks as if there was one server that never fails.
#[derive(Clone, Debug, Default, Hash)]
pub struct OneHistory {
    history: Vec<Update>,
}

impl Monitor for OneHistory {
    type Event = Tail;

    fn observe(&mut self, event: &Tail) -> Result<(), String> {
        match event {
            Tail::Stable(place, update) => match self.history.get(*place) {
                Some(known) if known == update => Ok(()),
                Some(known) => Err(format!("{update:?} is stable at {place}, where {known:?} was")),
                None if *place > self.history.len() => Err(format!("nothing is stable before {place}")),
                None if self.history.contains(update) => Err(format!("{update:?} is stable twice")),
                None => {
                    self.history.push(update.clone());
                    Ok(())
                }
            },
            Tail::Answered(count) if *count == self.history.len() => Ok(()),
            Tail::Answered(count) => Err(format!("a query sees {count} of {} updates", self.history.len())),
        }
    }
}

/// In the end every client is done.
#[derive(Clone, Debug, Hash)]
pub struct EverybodyServed {
    waiting: u32,
}

impl EverybodyServed {
    /// None of so many clients is.
    #[must_use]
    pub fn new(clients: u32) -> Self {
        Self { waiting: clients }
    }
}

impl Monitor for EverybodyServed {
    type Event = Served;

    fn observe(&mut self, _: &Served) -> Result<(), String> {
        self.waiting = self.waiting.checked_sub(1).ok_or("a client is done twice")?;
        Ok(())
    }

    fn at_quiet(&self) -> Result<(), String> {
        if self.waiting == 0 { Ok(()) } else { Err(format!("{} clients were not served", self.waiting)) }
    }
}
