//! Time as an actor: an alarm goes off after so many ticks, which are messages of the timer to itself.
//!
//! How long a tick takes is up to the schedule, so an alarm may go off at any moment after it was set, and does so in the end if
//! nobody cancels it. Raddle's own timers would do, but a model has no clock: there they may go off at once, in a run without any
//! deviation too. Ticks make time-outs rare where nothing is held up.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;

use raddle::actor::{Actor, Address, Context};

/// What a timer hears.
#[derive(Clone, Debug, Hash)]
pub enum ToTimer<M> {
    /// Send `msg` to `to` when the time has come.
    Set {
        /// By what it can be cancelled. Not to be used again.
        alarm: u32,
        /// Who is to hear of it.
        to: Address<M>,
        /// What.
        msg: M,
    },
    /// Nobody waits any more. An alarm that has gone off is on its way all the same.
    Cancel(u32),
    /// Some time has passed.
    Tick(u32),
}

#[derive(Clone, Debug, Hash)]
struct Alarm<M> {
    ticks_left: u32,
    to: Address<M>,
    msg: M,
}

/// Lets alarms go off.
#[derive(Clone, Debug, Hash)]
pub struct Timer<M> {
    patience: u32,
    alarms: BTreeMap<u32, Alarm<M>>,
}

impl<M> Timer<M> {
    /// A timer whose alarms go off after so many ticks.
    #[must_use]
    pub fn new(patience: u32) -> Self {
        Self { patience, alarms: BTreeMap::new() }
    }
}

impl<M: Clone + Debug + Hash + Send + Sync + 'static> Actor for Timer<M> {
    type Msg = ToTimer<M>;

    fn handle(&mut self, msg: ToTimer<M>, ctx: &mut Context<'_, ToTimer<M>>) {
        let me = ctx.me();
        match msg {
            ToTimer::Set { alarm, to, msg } => {
                self.alarms.insert(alarm, Alarm { ticks_left: self.patience, to, msg });
                ctx.send(&me, ToTimer::Tick(alarm));
            }
            ToTimer::Cancel(alarm) => drop(self.alarms.remove(&alarm)),
            ToTimer::Tick(alarm) => match self.alarms.get_mut(&alarm) {
                Some(Alarm { ticks_left: 0, to, msg }) => {
                    ctx.send(to, msg.clone());
                    self.alarms.remove(&alarm);
                }
                Some(Alarm { ticks_left, .. }) => {
                    *ticks_left -= 1;
                    ctx.send(&me, ToTimer::Tick(alarm));
                }
                None => {}
            },
        }
    }

    fn label(msg: &ToTimer<M>) -> &'static str {
        match msg {
            ToTimer::Set { .. } => "Set",
            ToTimer::Cancel(_) => "Cancel",
            ToTimer::Tick(_) => "Tick",
        }
    }
}
