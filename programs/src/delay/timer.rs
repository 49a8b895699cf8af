//! Time as an actor: an alarm goes off after so many ticks, which are messages of the timer to itself, or to a clock that sends them
//! back.
//!
//! How long a tick takes is up to the schedule, so an alarm may go off at any moment after it was set, and does so in the end if
//! nobody cancels it. Raddle's own timers would do, but a model has no clock: there they may go off at once, in a run without any
//! deviation too. Ticks make time-outs rare where nothing is held up. A clock of its own keeps a timer from going through all its
//! ticks in one turn, where actors run until they have nothing left to do.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use raddle::actor::{Actor, Address, Context};

/// The messages to a timer.
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
    clock: Option<Address<ToClock<M>>>,
    alarms: BTreeMap<u32, Alarm<M>>,
}

impl<M> Timer<M> {
    /// A timer whose alarms go off after so many ticks.
    #[must_use]
    pub fn new(patience: u32) -> Self {
        Self { patience, clock: None, alarms: BTreeMap::new() }
    }

    /// A timer whose ticks come from a clock.
    #[must_use]
    pub fn by(clock: Address<ToClock<M>>, patience: u32) -> Self {
        Self { clock: Some(clock), ..Self::new(patience) }
    }
}

impl<M: Send + 'static> Timer<M> {
    fn wait(&self, alarm: u32, ctx: &mut Context<'_, ToTimer<M>>) {
        let me = ctx.me();
        match &self.clock {
            Some(clock) => ctx.send(clock, ToClock { alarm, timer: me }),
            None => ctx.send(&me, ToTimer::Tick(alarm)),
        }
    }
}

/// What a clock hears: let some time pass.
#[derive(Clone, Debug, Hash)]
pub struct ToClock<M> {
    alarm: u32,
    timer: Address<ToTimer<M>>,
}

/// Lets time pass.
#[derive(Clone, Debug, Hash)]
pub struct Clock<M>(PhantomData<M>);

impl<M> Default for Clock<M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<M: Clone + Debug + Hash + Send + Sync + 'static> Actor for Clock<M> {
    type Msg = ToClock<M>;

    fn handle(&mut self, ToClock { alarm, timer }: ToClock<M>, ctx: &mut Context<'_, ToClock<M>>) {
        ctx.send(&timer, ToTimer::Tick(alarm));
    }
}

impl<M: Clone + Debug + Hash + Send + Sync + 'static> Actor for Timer<M> {
    type Msg = ToTimer<M>;

    fn handle(&mut self, msg: ToTimer<M>, ctx: &mut Context<'_, ToTimer<M>>) {
        match msg {
            ToTimer::Set { alarm, to, msg } => {
                self.alarms.insert(alarm, Alarm { ticks_left: self.patience, to, msg });
                self.wait(alarm, ctx);
            }
            ToTimer::Cancel(alarm) => drop(self.alarms.remove(&alarm)),
            ToTimer::Tick(alarm) => match self.alarms.get_mut(&alarm) {
                Some(Alarm { ticks_left: 0, to, msg }) => {
                    ctx.send(to, msg.clone());
                    self.alarms.remove(&alarm);
                }
                Some(Alarm { ticks_left, .. }) => {
                    *ticks_left -= 1;
                    self.wait(alarm, ctx);
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
