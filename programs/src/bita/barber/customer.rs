//! Whose hair grows.

use raddle::actor::{Actor, Address, Context};

use super::{Config, ToBarber, ToRoom};

/// The messages to a customer.
#[derive(Clone, Debug)]
pub enum ToCustomer {
    /// It is time for a haircut.
    Go,
    /// All chairs are taken.
    Full,
    /// The barber calls.
    YourTurn(Address<ToBarber>),
    /// Some steps closer to the chair; this many are left.
    Walk(Address<ToBarber>, u32),
    /// The haircut is over.
    Done,
    /// Some more hair; this many times more until it is too long.
    Grow(u32),
}

/// Comes again and again.
#[derive(Debug)]
pub struct Customer {
    room: Address<ToRoom>,
    growth: u32,
    way: u32,
    visits_left: u32,
    /// How many haircuts there were.
    pub haircuts: u32,
    /// How often there was no chair.
    pub turned_away: u32,
}

type Ctx<'a, 'b> = &'a mut Context<'b, ToCustomer>;

impl Customer {
    /// A customer at home.
    #[must_use]
    pub fn new(number: u32, room: Address<ToRoom>, config: Config) -> Self {
        let growth = config.growth * (number + 1);
        Self { room, growth, way: config.way, visits_left: config.visits, haircuts: 0, turned_away: 0 }
    }

    fn go(&mut self, ctx: Ctx<'_, '_>) {
        self.visits_left -= 1;
        let me = ctx.me();
        ctx.send(&self.room, ToRoom::Enter(me));
    }

    fn go_home(&self, ctx: Ctx<'_, '_>) {
        if self.visits_left > 0 {
            let me = ctx.me();
            ctx.send(&me, ToCustomer::Grow(self.growth));
        }
    }
}

impl Actor for Customer {
    type Msg = ToCustomer;

    fn handle(&mut self, msg: ToCustomer, ctx: &mut Context<'_, ToCustomer>) {
        let me = ctx.me();
        match msg {
            ToCustomer::Go | ToCustomer::Grow(0) => self.go(ctx),
            ToCustomer::Grow(more) => ctx.send(&me, ToCustomer::Grow(more - 1)),
            ToCustomer::YourTurn(barber) => ctx.send(&me, ToCustomer::Walk(barber, self.way)),
            ToCustomer::Walk(barber, 0) => ctx.send(&barber, ToBarber::Sit(me)),
            ToCustomer::Walk(barber, left) => ctx.send(&me, ToCustomer::Walk(barber, left - 1)),
            ToCustomer::Full => {
                self.turned_away += 1;
                self.go_home(ctx);
            }
            ToCustomer::Done => {
                self.haircuts += 1;
                self.go_home(ctx);
            }
        }
    }

    fn label(msg: &ToCustomer) -> &'static str {
        match msg {
            ToCustomer::Go => "Go",
            ToCustomer::Full => "Full",
            ToCustomer::YourTurn(_) => "YourTurn",
            ToCustomer::Walk(..) => "Walk",
            ToCustomer::Done => "Done",
            ToCustomer::Grow(_) => "Grow",
        }
    }
}
