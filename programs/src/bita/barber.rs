//! The sleeping barber: customers enter a waiting room with few chairs, a bell rings, and the barber, if he sleeps, wakes up and calls the
//! next one. When nobody waits he sweeps the floor and goes to sleep.
//!
//! Customers come several times, as often as their hair has grown.

mod customer;
mod room;

use raddle::actor::{Actor, Address, Context, System};
use raddle::coverage::Criterion;

pub use self::customer::{Customer, ToCustomer};
pub use self::room::{ToRoom, WaitingRoom};
use super::Program;

/// How large the shop is, and whether there is a mistake in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How many come.
    pub customers: u32,
    /// How often each of them.
    pub visits: u32,
    /// Chairs in the waiting room.
    pub chairs: u32,
    /// In how many steps the hair of the first customer grows; that of the others, in so many more each.
    pub growth: u32,
    /// In how many steps a customer who is called comes to the chair.
    pub way: u32,
    /// How often the barber looks up while he sweeps.
    pub strokes: u32,
    /// The mistake: a barber who hears the bell while he sweeps calls the next customer and goes on until he looks up. If that was the
    /// last stroke he goes to sleep, and a customer who sits down then is not noticed. Another one who enters meanwhile saves them.
    pub sleepy: bool,
}

impl Config {
    /// The configuration that is evaluated.
    pub const USUAL: Self = Self { customers: 6, visits: 3, chairs: 4, growth: 5, way: 5, strokes: 6, sleepy: false };

    /// All of its orders can be tried.
    pub const SMALL: Self = Self { customers: 1, visits: 2, chairs: 1, growth: 0, way: 0, strokes: 0, sleepy: false };

    /// The same with the mistake.
    #[must_use]
    pub const fn sleepy(self) -> Self {
        Self { sleepy: true, ..self }
    }
}

/// The messages to the barber.
#[derive(Clone, Debug)]
pub enum ToBarber {
    /// Somebody has entered the waiting room.
    Bell,
    /// The customer who was called sits down.
    Sit(Address<ToCustomer>),
    /// There is nobody who could be called.
    NobodyWaits,
    /// The broom has moved.
    Stroke {
        /// How often he has swept.
        sweep: u32,
        /// How many strokes are left until the floor is clean.
        left: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behaviour {
    Asleep,
    Awake,
    Sweeping,
}

/// Cuts hair.
#[derive(Debug)]
pub struct Barber {
    room: Address<ToRoom>,
    config: Config,
    behaviour: Behaviour,
    /// The next customer was called, and is not here yet.
    called: bool,
    sweeps: u32,
    /// How many haircuts there were.
    pub haircuts: u32,
}

type Ctx<'a, 'b> = &'a mut Context<'b, ToBarber>;

impl Barber {
    /// A barber who sleeps.
    #[must_use]
    pub fn new(room: Address<ToRoom>, config: Config) -> Self {
        Self { room, config, behaviour: Behaviour::Asleep, called: false, sweeps: 0, haircuts: 0 }
    }

    fn becomes(&mut self, behaviour: Behaviour, ctx: Ctx<'_, '_>) {
        self.behaviour = behaviour;
        ctx.becomes(match behaviour {
            Behaviour::Asleep => "asleep",
            Behaviour::Awake => "awake",
            Behaviour::Sweeping => "sweeping",
        });
    }

    fn call_next(&mut self, ctx: Ctx<'_, '_>) {
        if !self.called {
            self.called = true;
            let me = ctx.me();
            ctx.send(&self.room, ToRoom::Next(me));
        }
    }

    fn cut(&mut self, customer: &Address<ToCustomer>, ctx: Ctx<'_, '_>) {
        self.called = false;
        self.haircuts += 1;
        ctx.send(customer, ToCustomer::Done);
        self.call_next(ctx);
    }

    fn sweep(&mut self, ctx: Ctx<'_, '_>) {
        self.sweeps += 1;
        self.becomes(Behaviour::Sweeping, ctx);
        let me = ctx.me();
        ctx.send(&me, ToBarber::Stroke { sweep: self.sweeps, left: self.config.strokes });
    }

    fn go_on_sweeping(&mut self, left: u32, ctx: Ctx<'_, '_>) {
        if left == 0 {
            self.becomes(Behaviour::Asleep, ctx);
        } else if self.called {
            self.becomes(Behaviour::Awake, ctx);
        } else {
            let me = ctx.me();
            ctx.send(&me, ToBarber::Stroke { sweep: self.sweeps, left: left - 1 });
        }
    }
}

impl Actor for Barber {
    type Msg = ToBarber;

    fn handle(&mut self, msg: ToBarber, ctx: &mut Context<'_, ToBarber>) {
        match (self.behaviour, msg) {
            // When he is done with the one in his chair, he calls the next one anyway.
            (Behaviour::Awake, ToBarber::Bell) => {}
            (Behaviour::Sweeping, ToBarber::Bell) if self.config.sleepy => self.call_next(ctx),
            (Behaviour::Asleep | Behaviour::Sweeping, ToBarber::Bell) => {
                self.becomes(Behaviour::Awake, ctx);
                self.call_next(ctx);
            }
            (Behaviour::Awake, ToBarber::Sit(customer)) => self.cut(&customer, ctx),
            (Behaviour::Sweeping, ToBarber::Sit(customer)) => {
                self.becomes(Behaviour::Awake, ctx);
                self.cut(&customer, ctx);
            }
            (Behaviour::Awake, ToBarber::NobodyWaits) => {
                self.called = false;
                self.sweep(ctx);
            }
            (Behaviour::Asleep | Behaviour::Sweeping, ToBarber::NobodyWaits) => self.called = false,
            (Behaviour::Sweeping, ToBarber::Stroke { sweep, left }) if sweep == self.sweeps => {
                self.go_on_sweeping(left, ctx);
            }
            // He has stopped sweeping since.
            (_, ToBarber::Stroke { .. }) => {}
            (Behaviour::Asleep, msg @ ToBarber::Sit(_)) => ctx.unhandled(msg),
        }
    }

    fn label(msg: &ToBarber) -> &'static str {
        match msg {
            ToBarber::Bell => "Bell",
            ToBarber::Sit(_) => "Sit",
            ToBarber::NobodyWaits => "NobodyWaits",
            ToBarber::Stroke { .. } => "Stroke",
        }
    }
}

/// A day at the barber's.
///
/// # Panics
///
/// If somebody waits for ever.
pub fn run(config: Config) {
    let system = System::new().fail_on_unhandled(true);
    let room = system.spawn(WaitingRoom::new(config));
    let barber = system.spawn(Barber::new(room.clone(), config));
    room.send(ToRoom::Open(barber.clone()));
    let customers: Vec<_> =
        (0..config.customers).map(|number| system.spawn(Customer::new(number, room.clone(), config))).collect();
    for customer in &customers {
        customer.send(ToCustomer::Go);
    }
    system.run_until_quiet();
    let haircuts: u32 = customers
        .iter()
        .map(|customer| {
            system.with(customer, |customer: &Customer| {
                assert_eq!(customer.haircuts + customer.turned_away, config.visits, "nobody waits for ever");
                customer.haircuts
            })
        })
        .sum();
    system.with(&barber, |barber: &Barber| assert_eq!(barber.haircuts, haircuts, "one haircut each"));
}

const CORRECT: Program = Program::correct("Barber", || run(Config::USUAL));

/// The barber, and a sleepy one.
pub static PROGRAMS: [Program; 2] = [
    CORRECT,
    CORRECT.with("Barber 1", "unhandled message", Criterion::BehaviourChanges, || run(Config::USUAL.sleepy())),
];
