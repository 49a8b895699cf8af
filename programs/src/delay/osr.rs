//! A driver and its device: a board with eight switches and a bar of eight lights, which the driver makes follow the switches.
//!
//! The operating system turns the device on and off through the driver. While it is on, the driver hears of every change of the
//! switches, waits until they have settled (a timer) and then writes them to the lights (a transfer, of which there is one at a
//! time). To turn the device off it has to stop the timer, which may have gone off already, and to wait for the transfer.
//!
//! Nothing fails here: all there is to get wrong is what can still be on its way.

mod device;
mod driver;
mod environment;
mod settle;
mod specification;

use raddle::actor::{Delivery, Stage, System};
use raddle::model::Model;

pub use self::device::{Device, ToDevice};
pub use self::driver::{Driver, ToDriver};
pub use self::environment::{Fingers, PowerManager, ToPowerManager};
pub use self::settle::{SettleTimer, ToSettleTimer};
pub use self::specification::{Event, LightsFollow};
use crate::delay::Program;

/// What the switches say, or the lights show, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bars(pub u8);

/// What can be wrong with the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bug {
    /// Once the timer is told to stop, the driver does not expect it to go off. It has to do so while the order to stop is on its way.
    FiredWhileStopping,
    /// When the timer has stopped, the driver turns the device off without a look at the transfer. The switches must change
    /// while a transfer is going on, and the power go off before either is over, with the timer stopping first.
    TransferForgotten,
}

/// How much happens, and what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How often the device is turned off and on again, after it was turned on.
    pub power_cycles: u32,
    /// How often the switches change.
    pub changes: u8,
    /// How many ticks the switches are given to settle.
    pub ticks: u32,
    /// The mistake, if there is one.
    pub bug: Option<Bug>,
}

impl Config {
    /// The configuration that is evaluated. All of its states can be visited.
    pub const USUAL: Self = Self { power_cycles: 2, changes: 4, ticks: 4, bug: None };

    /// The same with a mistake.
    #[must_use]
    pub const fn with(self, bug: Bug) -> Self {
        Self { bug: Some(bug), ..self }
    }
}

/// Creates the actors and sends the first messages.
pub fn set_up(stage: &mut impl Stage, config: Config) {
    let driver = stage.spawn(Driver::new(config));
    let device = stage.spawn(Device::new(driver.clone()));
    let timer = stage.spawn(SettleTimer::new(driver.clone(), config.ticks));
    let fingers = stage.spawn(Fingers::new(device.clone(), config.changes));
    let power_manager = stage.spawn(PowerManager::new(driver, config.power_cycles));
    stage.send(&power_manager, ToPowerManager::Start { device, timer });
    stage.send(&fingers, ());
}

/// As a model.
#[must_use]
pub fn model(config: Config) -> Model {
    Model::new(|m| {
        m.delivery(Delivery::Arrival);
        m.fail_on_unhandled(true);
        m.monitor(LightsFollow::default());
        set_up(m, config);
    })
}

/// As actors, until nothing is left to do.
pub fn run(config: Config) {
    let system = System::new().delivery(Delivery::Arrival).fail_on_unhandled(true);
    let mut system = system.monitor(LightsFollow::default());
    set_up(&mut system, config);
    system.run_until_quiet();
}

/// The driver and its bugs.
pub static PROGRAMS: [Program; 3] = [
    Program { label: "OSR", failure: None, model: || model(Config::USUAL), run: || run(Config::USUAL) },
    Program {
        label: "OSR 1",
        failure: Some("unhandled message"),
        model: || model(Config::USUAL.with(Bug::FiredWhileStopping)),
        run: || run(Config::USUAL.with(Bug::FiredWhileStopping)),
    },
    Program {
        label: "OSR 2",
        failure: Some("panic"),
        model: || model(Config::USUAL.with(Bug::TransferForgotten)),
        run: || run(Config::USUAL.with(Bug::TransferForgotten)),
    },
];
