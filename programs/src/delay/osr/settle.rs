//! The driver's timer: goes off after some ticks, unless it is stopped before.

use raddle::actor::{Actor, Address, Context};

use super::ToDriver;

/// The messages to the timer.
#[derive(Clone, Debug, Hash)]
pub enum ToSettleTimer {
    /// Go off after a while.
    Start,
    /// Do not, and say whether it was in time.
    Stop,
    /// From itself: some time has passed.
    Tick,
}

/// One timer, which is started again only after it went off or was stopped.
#[derive(Clone, Debug, Hash)]
pub struct SettleTimer {
    driver: Address<ToDriver>,
    ticks: u32,
    /// `None` if it does not run.
    left: Option<u32>,
    /// Ticks on their way that belong to runs that were stopped.
    stale: u32,
}

impl SettleTimer {
    /// A timer that runs for so many ticks.
    #[must_use]
    pub fn new(driver: Address<ToDriver>, ticks: u32) -> Self {
        Self { driver, ticks, left: None, stale: 0 }
    }

    fn tick(&mut self, ctx: &mut Context<'_, ToSettleTimer>) {
        if self.stale > 0 {
            self.stale -= 1;
            return;
        }
        match self.left {
            Some(0) => {
                self.left = None;
                ctx.send(&self.driver, ToDriver::TimerFired);
            }
            Some(left) => {
                self.left = Some(left - 1);
                let me = ctx.me();
                ctx.send(&me, ToSettleTimer::Tick);
            }
            None => panic!("the timer ticks while it does not run"),
        }
    }
}

impl Actor for SettleTimer {
    type Msg = ToSettleTimer;

    fn handle(&mut self, msg: ToSettleTimer, ctx: &mut Context<'_, ToSettleTimer>) {
        match msg {
            ToSettleTimer::Start => {
                assert!(self.left.is_none(), "the timer is started while it runs");
                self.left = Some(self.ticks);
                let me = ctx.me();
                ctx.send(&me, ToSettleTimer::Tick);
            }
            ToSettleTimer::Stop => {
                let in_time = self.left.take().is_some();
                // There is always one tick on its way while the timer runs.
                self.stale += u32::from(in_time);
                ctx.send(&self.driver, ToDriver::TimerStopped { in_time });
            }
            ToSettleTimer::Tick => self.tick(ctx),
        }
    }

    fn label(msg: &ToSettleTimer) -> &'static str {
        match msg {
            ToSettleTimer::Start => "Start",
            ToSettleTimer::Stop => "Stop",
            ToSettleTimer::Tick => "Tick",
        }
    }
}
