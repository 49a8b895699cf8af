//! What must hold for the log.

use std::collections::BTreeMap;

use raddle::actor::Monitor;

use super::{Command, Entry, Slot};

/// A replica has seen a majority for this; announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// Where.
    pub slot: Slot,
    /// What.
    pub entry: Entry,
}

/// A replica has executed a command; announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// Which replica.
    pub by: u32,
    /// Which command.
    pub command: Command,
}

/// Nothing else is chosen for a slot for which something was.
#[derive(Clone, Debug, Default, Hash)]
pub struct OneLog {
    log: BTreeMap<Slot, Entry>,
}

impl Monitor for OneLog {
    type Event = Chosen;

    fn observe(&mut self, Chosen { slot, entry }: &Chosen) -> Result<(), String> {
        match self.log.insert(*slot, entry.clone()) {
            Some(before) if before != *entry => Err(format!("{entry:?} is chosen for {slot}, and {before:?} was")),
            _ => Ok(()),
        }
    }
}

/// All replicas execute the same commands in the same order, each of them once, and in the end all there are.
#[derive(Clone, Debug, Hash)]
pub struct SameOrder {
    commands: u32,
    order: Vec<Command>,
    /// How many of these each replica has executed.
    executed: Vec<usize>,
}

impl SameOrder {
    /// None of so many replicas has executed any of so many commands.
    #[must_use]
    pub fn new(replicas: u32, commands: u32) -> Self {
        Self { commands, order: Vec::new(), executed: vec![0; replicas as usize] }
    }
}

impl Monitor for SameOrder {
    type Event = Executed;

    fn observe(&mut self, Executed { by, command }: &Executed) -> Result<(), String> {
        let place = &mut self.executed[*by as usize];
        if self.order[..*place].contains(command) {
            return Err(format!("replica {by} executes {command:?} twice"));
        }
        match self.order.get(*place) {
            Some(known) if known != command => {
                return Err(format!("replica {by} executes {command:?} where another has executed {known:?}"));
            }
            Some(_) => {}
            None => self.order.push(command.clone()),
        }
        *place += 1;
        Ok(())
    }

    fn at_quiet(&self) -> Result<(), String> {
        match self.executed.iter().position(|executed| *executed < self.commands as usize) {
            Some(by) => Err(format!("replica {by} has executed {} of {} commands", self.executed[by], self.commands)),
            None => Ok(()),
        }
    }
}
