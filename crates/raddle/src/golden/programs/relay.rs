//! Actors that pass messages on, for programs of actors and for models.

use std::time::Duration;

use crate::actor::{Actor, Address, Context, Monitor};

/// What an actor is told.
#[derive(Clone, Debug, Hash)]
pub(super) enum Say {
    /// Note this number.
    Note(u32),
    /// Send this number to the last of the peers, then ask the first one to send the next number to it.
    Relay(u32),
    /// Note this number after a second.
    Later(u32),
    /// Take back what was to be noted later.
    Cancel,
    /// Note one of so many numbers.
    Choose(u32),
    /// Send this number to a new actor.
    Spawn(u32),
    /// Announce this number to the monitor.
    Announce(u32),
}

/// An actor that notes what it was told.
#[derive(Clone, Hash, Default)]
pub(super) struct Node {
    peers: Vec<Address<Say>>,
    timer: Option<crate::actor::Timer>,
    pub(super) noted: Vec<u32>,
}

impl Node {
    pub(super) fn with(peers: &[&Address<Say>]) -> Self {
        Self { peers: peers.iter().copied().cloned().collect(), ..Self::default() }
    }
}

impl Actor for Node {
    type Msg = Say;

    fn handle(&mut self, msg: Say, ctx: &mut Context<'_, Say>) {
        match msg {
            Say::Note(number) => self.noted.push(number),
            Say::Relay(number) => {
                if let Some(last) = self.peers.last() {
                    ctx.send(last, Say::Note(number));
                }
                if let [first, _, ..] = &*self.peers {
                    ctx.send(first, Say::Relay(number + 1));
                }
            }
            Say::Later(number) => self.timer = Some(ctx.after(Duration::from_secs(1), Say::Note(number))),
            Say::Cancel => self.timer.take().into_iter().for_each(|timer| ctx.cancel(timer)),
            Say::Choose(numbers) => {
                let number = ctx.choose(numbers);
                self.noted.push(number);
            }
            Say::Spawn(number) => {
                let child = ctx.spawn(Self::default());
                ctx.send(&child, Say::Note(number));
                self.peers.push(child);
            }
            Say::Announce(number) => {
                ctx.becomes("announcing");
                ctx.announce(Announced(number));
            }
        }
    }

    fn duplicate(msg: &Say) -> Option<Say> {
        Some(msg.clone())
    }
}

/// What a [`Rising`] monitor observes.
#[derive(Clone, Hash)]
pub(super) struct Announced(u32);

/// Demands that what is announced rises.
#[derive(Clone, Hash, Default)]
pub(super) struct Rising(u32);

impl Monitor for Rising {
    type Event = Announced;

    fn observe(&mut self, announced: &Announced) -> Result<(), String> {
        let before = std::mem::replace(&mut self.0, announced.0);
        if before > announced.0 { Err(format!("{} after {before}", announced.0)) } else { Ok(()) }
    }
}
