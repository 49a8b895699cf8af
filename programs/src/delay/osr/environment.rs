//! Who uses the device: the operating system, and somebody's fingers.

use raddle::actor::{Actor, Address, Context};

use super::{Bars, Event, ToDevice, ToDriver, ToSettleTimer};

/// The messages to the power manager.
#[derive(Clone, Debug, Hash)]
pub enum ToPowerManager {
    /// A device was plugged in: hand it to the driver and turn it on.
    Start {
        /// The device.
        device: Address<ToDevice>,
        /// A timer for the driver.
        timer: Address<ToSettleTimer>,
    },
    /// From the driver: what was asked for last is done.
    Done,
}

/// Turns the device on, then off and on again some times, each when the last is done.
#[derive(Clone, Debug, Hash)]
pub struct PowerManager {
    driver: Address<ToDriver>,
    on: bool,
    waiting: bool,
    left: u32,
}

impl PowerManager {
    /// For so many power cycles.
    #[must_use]
    pub fn new(driver: Address<ToDriver>, cycles: u32) -> Self {
        Self { driver, on: false, waiting: false, left: 2 * cycles + 1 }
    }
}

impl Actor for PowerManager {
    type Msg = ToPowerManager;

    fn handle(&mut self, msg: ToPowerManager, ctx: &mut Context<'_, ToPowerManager>) {
        match msg {
            ToPowerManager::Start { device, timer } => {
                let power_manager = ctx.me();
                ctx.send(&self.driver, ToDriver::Attach { device, timer, power_manager });
            }
            ToPowerManager::Done => {
                assert!(self.waiting, "a request of the power manager's is completed twice");
                ctx.announce(Event::Completed);
            }
        }
        self.waiting = self.left > 0;
        if self.waiting {
            self.left -= 1;
            self.on = !self.on;
            ctx.announce(Event::Requested);
            ctx.send(&self.driver, if self.on { ToDriver::TurnOn } else { ToDriver::TurnOff });
        }
    }

    fn label(msg: &ToPowerManager) -> &'static str {
        match msg {
            ToPowerManager::Start { .. } => "Start",
            ToPowerManager::Done => "Done",
        }
    }
}

/// Moves the switches now and then, without a look at the lights.
#[derive(Clone, Debug, Hash)]
pub struct Fingers {
    device: Address<ToDevice>,
    changes: u8,
    done: u8,
}

impl Fingers {
    /// For so many changes.
    #[must_use]
    pub fn new(device: Address<ToDevice>, changes: u8) -> Self {
        Self { device, changes, done: 0 }
    }
}

impl Actor for Fingers {
    type Msg = ();

    fn handle(&mut self, (): (), ctx: &mut Context<'_, ()>) {
        if self.done < self.changes {
            self.done += 1;
            ctx.send(&self.device, ToDevice::MoveSwitches(Bars(self.done)));
            let me = ctx.me();
            ctx.send(&me, ());
        }
    }

    fn label((): &()) -> &'static str {
        "Move"
    }
}
