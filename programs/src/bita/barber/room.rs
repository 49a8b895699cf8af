//! Where customers wait.

use std::collections::VecDeque;

use raddle::actor::{Actor, Address, Context};

use super::{Config, ToBarber, ToCustomer};

/// What happens in the waiting room.
#[derive(Clone, Debug)]
pub enum ToRoom {
    /// This is where the bell rings.
    Open(Address<ToBarber>),
    /// A customer enters.
    Enter(Address<ToCustomer>),
    /// The barber calls.
    Next(Address<ToBarber>),
}

/// A row of chairs, and a bell.
#[derive(Debug)]
pub struct WaitingRoom {
    chairs: usize,
    barber: Option<Address<ToBarber>>,
    waiting: VecDeque<Address<ToCustomer>>,
}

impl WaitingRoom {
    /// An empty room.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { chairs: config.chairs as usize, barber: None, waiting: VecDeque::new() }
    }

    fn ring(&self, ctx: &mut Context<'_, ToRoom>) {
        if let Some(barber) = &self.barber {
            ctx.send(barber, ToBarber::Bell);
        }
    }
}

impl Actor for WaitingRoom {
    type Msg = ToRoom;

    fn handle(&mut self, msg: ToRoom, ctx: &mut Context<'_, ToRoom>) {
        match msg {
            ToRoom::Open(barber) => {
                self.barber = Some(barber);
                if !self.waiting.is_empty() {
                    self.ring(ctx);
                }
            }
            ToRoom::Enter(customer) if self.waiting.len() == self.chairs => ctx.send(&customer, ToCustomer::Full),
            ToRoom::Enter(customer) => {
                self.waiting.push_back(customer);
                self.ring(ctx);
            }
            ToRoom::Next(barber) => match self.waiting.pop_front() {
                Some(customer) => ctx.send(&customer, ToCustomer::YourTurn(barber)),
                None => ctx.send(&barber, ToBarber::NobodyWaits),
            },
        }
    }

    fn label(msg: &ToRoom) -> &'static str {
        match msg {
            ToRoom::Open(_) => "Open",
            ToRoom::Enter(_) => "Enter",
            ToRoom::Next(_) => "Next",
        }
    }
}
