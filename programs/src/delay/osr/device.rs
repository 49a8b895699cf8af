//! The board.

use raddle::actor::{Actor, Address, Context};

use super::{Bars, Event, ToDriver};

/// The messages to the device.
#[derive(Clone, Debug, Hash)]
pub enum ToDevice {
    /// From the driver: wake up.
    PowerOn,
    /// From the driver: nothing more will come.
    PowerOff,
    /// From the driver: begin a transfer.
    SetLights(Bars),
    /// From the device's own clock: the transfer is through.
    TransferThrough(Bars),
    /// Somebody moves the switches.
    MoveSwitches(Bars),
}

/// Reports its switches and shows what it is told, while it is on. Its switches can be moved at any time.
#[derive(Clone, Debug, Hash)]
pub struct Device {
    driver: Address<ToDriver>,
    on: bool,
    switches: Bars,
}

impl Device {
    /// A device that is off.
    #[must_use]
    pub fn new(driver: Address<ToDriver>) -> Self {
        Self { driver, on: false, switches: Bars::default() }
    }
}

impl Actor for Device {
    type Msg = ToDevice;

    fn handle(&mut self, msg: ToDevice, ctx: &mut Context<'_, ToDevice>) {
        match msg {
            ToDevice::PowerOn => {
                self.on = true;
                ctx.announce(Event::TurnedOn);
                ctx.send(&self.driver, ToDriver::DeviceOn(self.switches));
            }
            ToDevice::PowerOff => {
                self.on = false;
                ctx.announce(Event::TurnedOff);
                ctx.send(&self.driver, ToDriver::DeviceOff);
            }
            ToDevice::SetLights(lights) => {
                assert!(self.on, "a transfer to a device that is off");
                let me = ctx.me();
                ctx.send(&me, ToDevice::TransferThrough(lights));
            }
            ToDevice::TransferThrough(lights) => {
                if self.on {
                    ctx.announce(Event::Lit(lights));
                }
                ctx.send(&self.driver, ToDriver::TransferDone(lights));
            }
            ToDevice::MoveSwitches(switches) => {
                self.switches = switches;
                ctx.announce(Event::Switched(switches));
                if self.on {
                    ctx.send(&self.driver, ToDriver::SwitchesChanged(switches));
                }
            }
        }
    }

    fn label(msg: &ToDevice) -> &'static str {
        match msg {
            ToDevice::PowerOn => "PowerOn",
            ToDevice::PowerOff => "PowerOff",
            ToDevice::SetLights(_) => "SetLights",
            ToDevice::TransferThrough(_) => "TransferThrough",
            ToDevice::MoveSwitches(_) => "MoveSwitches",
        }
    }
}
