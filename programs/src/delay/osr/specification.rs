//! What the driver promises.

use raddle::actor::Monitor;

use super::Bars;

/// What can be seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The device goes on, and is dark.
    TurnedOn,
    /// The device goes off.
    TurnedOff,
    /// The switches are moved.
    Switched(Bars),
    /// The lights change.
    Lit(Bars),
    /// The power manager wants something.
    Requested,
    /// It has got it.
    Completed,
}

/// In the end the lights of a device that is on show its switches, and whatever the power manager wanted was done.
#[derive(Clone, Debug, Default, Hash)]
pub struct LightsFollow {
    on: bool,
    switches: Bars,
    lights: Bars,
    requested: bool,
}

impl Monitor for LightsFollow {
    type Event = Event;

    fn observe(&mut self, event: &Event) -> Result<(), String> {
        match *event {
            Event::TurnedOn => (self.on, self.lights) = (true, Bars::default()),
            Event::TurnedOff if !self.on => return Err("the device is turned off twice".to_owned()),
            Event::TurnedOff => self.on = false,
            Event::Switched(switches) => self.switches = switches,
            Event::Lit(lights) => self.lights = lights,
            Event::Requested => self.requested = true,
            Event::Completed => self.requested = false,
        }
        Ok(())
    }

    fn at_quiet(&self) -> Result<(), String> {
        if self.requested {
            return Err("the power manager waits for ever".to_owned());
        }
        if self.on && self.lights != self.switches {
            return Err(format!("the lights show {:?}, the switches {:?}", self.lights, self.switches));
        }
        Ok(())
    }
}
