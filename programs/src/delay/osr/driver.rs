//! The driver.

use raddle::actor::{Actor, Address, Context};

use super::{Bars, Bug, Config, ToDevice, ToPowerManager, ToSettleTimer};

/// The messages to the driver.
#[derive(Clone, Debug, Hash)]
pub enum ToDriver {
    /// From the power manager: here is your device. Comes first.
    Attach {
        /// The device.
        device: Address<ToDevice>,
        /// A timer.
        timer: Address<ToSettleTimer>,
        /// Whose orders to follow.
        power_manager: Address<ToPowerManager>,
    },
    /// From the power manager: turn the device on.
    TurnOn,
    /// From the power manager: turn it off.
    TurnOff,
    /// From the device: it is on, and these are its switches.
    DeviceOn(Bars),
    /// From the device: it is off.
    DeviceOff,
    /// From the device: its switches are these now.
    SwitchesChanged(Bars),
    /// From the device: the lights show this now.
    TransferDone(Bars),
    /// From the timer: the time is over.
    TimerFired,
    /// From the timer: it does not run, and went off before if it was not stopped in time.
    TimerStopped {
        /// Whether it was.
        in_time: bool,
    },
}

/// Whom the driver talks to.
#[derive(Clone, Debug, Hash)]
struct Peers {
    device: Address<ToDevice>,
    timer: Address<ToSettleTimer>,
    power_manager: Address<ToPowerManager>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Power {
    Off,
    TurningOn,
    On,
    /// Waits for what was begun.
    Stopping,
    TurningOff,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Timing {
    Idle,
    Running,
    /// Was told to stop, and has not said yet that it did.
    Stopping,
}

/// Makes the lights follow the switches, while the power is on.
#[derive(Clone, Debug, Hash)]
pub struct Driver {
    bug: Option<Bug>,
    peers: Option<Peers>,
    power: Power,
    timing: Timing,
    transferring: bool,
    switches: Bars,
    lights: Bars,
}

type Ctx<'a, 'b> = &'a mut Context<'b, ToDriver>;

impl Driver {
    /// A driver without a device.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            bug: config.bug,
            peers: None,
            power: Power::Off,
            timing: Timing::Idle,
            transferring: false,
            switches: Bars::default(),
            lights: Bars::default(),
        }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    /// Lets the switches settle if the lights are to change, one thing after the other.
    fn follow(&mut self, peers: &Peers, ctx: Ctx<'_, '_>) {
        if self.switches != self.lights && self.timing == Timing::Idle {
            self.timing = Timing::Running;
            ctx.send(&peers.timer, ToSettleTimer::Start);
        }
    }

    fn transfer(&mut self, peers: &Peers, ctx: Ctx<'_, '_>) {
        // What has changed meanwhile is seen to when the one that is going on is done.
        if !self.transferring {
            self.transferring = true;
            ctx.send(&peers.device, ToDevice::SetLights(self.switches));
        }
    }

    fn stop(&mut self, peers: &Peers, ctx: Ctx<'_, '_>) {
        self.power = Power::Stopping;
        ctx.becomes("stopping");
        if self.timing == Timing::Running {
            self.timing = Timing::Stopping;
            ctx.send(&peers.timer, ToSettleTimer::Stop);
        }
        self.turn_off_if_idle(peers, ctx);
    }

    fn turn_off_if_idle(&mut self, peers: &Peers, ctx: Ctx<'_, '_>) {
        if self.timing == Timing::Idle && !self.transferring {
            self.turn_off(peers, ctx);
        }
    }

    fn turn_off(&mut self, peers: &Peers, ctx: Ctx<'_, '_>) {
        self.power = Power::TurningOff;
        ctx.send(&peers.device, ToDevice::PowerOff);
    }

    fn device_on(&mut self, switches: Bars, peers: &Peers, ctx: Ctx<'_, '_>) {
        self.power = Power::On;
        ctx.becomes("on");
        (self.switches, self.lights) = (switches, Bars::default());
        ctx.send(&peers.power_manager, ToPowerManager::Done);
        self.follow(peers, ctx);
    }

    fn device_off(&mut self, peers: &Peers, ctx: Ctx<'_, '_>) {
        self.power = Power::Off;
        ctx.becomes("off");
        ctx.send(&peers.power_manager, ToPowerManager::Done);
    }

    fn transfer_done(&mut self, lights: Bars, peers: &Peers, ctx: Ctx<'_, '_>) {
        self.transferring = false;
        self.lights = lights;
        match self.power {
            Power::On => self.follow(peers, ctx),
            Power::Stopping => self.turn_off_if_idle(peers, ctx),
            Power::Off | Power::TurningOn | Power::TurningOff => {
                panic!("a transfer ends when the device is {:?}", self.power)
            }
        }
    }

    fn timer_stopped(&mut self, peers: &Peers, ctx: Ctx<'_, '_>) {
        self.timing = Timing::Idle;
        if self.has(Bug::TransferForgotten) {
            self.turn_off(peers, ctx);
        } else {
            self.turn_off_if_idle(peers, ctx);
        }
    }
}

impl Actor for Driver {
    type Msg = ToDriver;

    fn handle(&mut self, msg: ToDriver, ctx: &mut Context<'_, ToDriver>) {
        if let ToDriver::Attach { device, timer, power_manager } = msg {
            self.peers = Some(Peers { device, timer, power_manager });
            return;
        }
        let peers = self.peers.clone().expect("the device is attached first");
        match (self.power, msg) {
            (Power::Off, ToDriver::TurnOn) => {
                self.power = Power::TurningOn;
                ctx.send(&peers.device, ToDevice::PowerOn);
            }
            (Power::TurningOn, ToDriver::DeviceOn(switches)) => self.device_on(switches, &peers, ctx),
            (Power::On, ToDriver::TurnOff) => self.stop(&peers, ctx),
            (Power::TurningOff, ToDriver::DeviceOff) => self.device_off(&peers, ctx),
            (Power::On, ToDriver::SwitchesChanged(switches)) => {
                self.switches = switches;
                self.follow(&peers, ctx);
            }
            // The device tells of its switches anew when it is turned on.
            (_, ToDriver::SwitchesChanged(_)) => {}
            (_, ToDriver::TransferDone(lights)) => self.transfer_done(lights, &peers, ctx),
            (Power::On, ToDriver::TimerFired) => {
                self.timing = Timing::Idle;
                self.transfer(&peers, ctx);
            }
            // Too late to be stopped, and it will say so.
            (Power::Stopping, ToDriver::TimerFired) if !self.has(Bug::FiredWhileStopping) => {}
            (Power::Stopping, ToDriver::TimerStopped { .. }) => self.timer_stopped(&peers, ctx),
            (_, msg) => ctx.unhandled(msg),
        }
    }

    fn label(msg: &ToDriver) -> &'static str {
        match msg {
            ToDriver::Attach { .. } => "Attach",
            ToDriver::TurnOn => "TurnOn",
            ToDriver::TurnOff => "TurnOff",
            ToDriver::DeviceOn(_) => "DeviceOn",
            ToDriver::DeviceOff => "DeviceOff",
            ToDriver::SwitchesChanged(_) => "SwitchesChanged",
            ToDriver::TransferDone(_) => "TransferDone",
            ToDriver::TimerFired => "TimerFired",
            ToDriver::TimerStopped { .. } => "TimerStopped",
        }
    }
}
