//! Compares long untraced runs of models, with some rare operations, with traced ones. Both must do the same, and untraced runs must not do
//! more than necessary.

use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use raddle_engine::rng::{Rng, mix};
use raddle_engine::search::{Limits, Report, search};
use raddle_engine::strategy::Strategy;
use raddle_runtime::actor::{Actor, Address, Context, Delivery, Faults, Monitor, Timer};
use raddle_runtime::model::Model;
use raddle_strategies::samplers::random::Random;

use crate::model::ORDERS;
use crate::model_untraced::{Log, assert_same_walks, looked_at};

/// A ball with the number of passes left, and the possible receivers.
#[derive(Clone, Hash)]
struct Ball(u32, Vec<Address<Ball>>);

/// Passes balls on, and rarely does something else.
#[derive(Clone, Hash)]
struct Player {
    rare: u64,
    seen: u64,
    timer: Option<Timer>,
}

impl Player {
    fn new(rare: u64) -> Self {
        Self { rare, seen: 0, timer: None }
    }

    fn pass(&self, left: u32, players: &[Address<Ball>], ctx: &mut Context<'_, Ball>) {
        let to = mix(self.seen, u64::from(left)) as usize % players.len();
        ctx.send(&players[to], Ball(left, players.to_vec()));
    }

    /// A rare operation. Returns whether the ball is passed on nevertheless.
    fn surprise(&mut self, left: u32, players: &[Address<Ball>], ctx: &mut Context<'_, Ball>) -> bool {
        match mix(self.seen, 7) % 16 {
            0..4 => self.seen += u64::from(ctx.choose(3)),
            4..6 => {
                // Asks for values in the middle of a handler. Later effects depend on them.
                for n in 2..5 {
                    self.seen = self.seen.wrapping_mul(3).wrapping_add(u64::from(ctx.choose(n)));
                    if ctx.flip() {
                        self.pass(left / 3, players, ctx);
                    }
                }
            }
            6 | 7 => self.timer = Some(ctx.after(Duration::from_secs(1), Ball(left / 2, players.to_vec()))),
            8 => self.timer.take().into_iter().for_each(|timer| ctx.cancel(timer)),
            9 => {
                let child = ctx.spawn(Player::new(self.rare));
                ctx.send(&child, Ball(left / 2, players.to_vec()));
            }
            10 => {
                self.pass(left / 2, players, ctx);
                ctx.announce(self.seen);
                self.pass(left / 2, players, ctx);
            }
            11 => ctx.becomes("another"),
            12 => ctx.unhandled(Ball(left, Vec::new())),
            13 => {
                self.pass(left, players, ctx);
                self.seen += u64::from(ctx.choose(2));
                assert!(!self.seen.is_multiple_of(3), "a panic at {}", self.seen);
            }
            14 if self.seen.is_multiple_of(4) => {
                self.pass(left / 2, players, ctx);
                ctx.stop();
                ctx.send(&ctx.me(), Ball(0, Vec::new()));
                return false;
            }
            _ => {}
        }
        true
    }
}

impl Actor for Player {
    type Msg = Ball;

    fn started(&mut self, ctx: &mut Context<'_, Ball>) {
        if self.rare.is_multiple_of(3) {
            ctx.send(&ctx.me(), Ball(0, Vec::new()));
        }
    }

    fn handle(&mut self, Ball(left, players): Ball, ctx: &mut Context<'_, Ball>) {
        self.seen = mix(self.seen, u64::from(left)) >> 8;
        if players.is_empty() {
            return;
        }
        let goes_on = !self.seen.is_multiple_of(self.rare) || self.surprise(left, &players, ctx);
        if left > 0 && goes_on {
            self.pass(left - 1, &players, ctx);
        }
    }
}

/// Rejects some events.
#[derive(Clone, Hash)]
struct Listener(u64);

impl Monitor for Listener {
    type Event = u64;

    fn observe(&mut self, seen: &u64) -> Result<(), String> {
        self.0 = mix(self.0, *seen) >> 8;
        if self.0 % 40 == 3 { Err("this was not to be heard".to_owned()) } else { Ok(()) }
    }
}

fn model(seed: u64, delivery: Delivery, faults: Faults, log: &Log) -> Model {
    let mut rng = Rng::new(seed);
    let (most_waiting, rare) = (8 + rng.below(20) as usize, 4 + u64::from(rng.below(30)));
    let model = Model::new(|m| {
        m.delivery(delivery);
        m.faults(faults);
        m.restart(rng.below(4));
        m.fail_on_dead_letters(rng.below(8) == 0);
        m.fail_on_unhandled(rng.below(8) == 0);
        m.monitor(Listener(0));
        let players: Vec<_> = (0..2 + rng.below(12)).map(|_| m.spawn_with(move || Player::new(rare))).collect();
        for _ in 0..1 + rng.below(4) {
            let to = rng.below(players.len() as u32) as usize;
            m.send(&players[to], Ball(rng.below(60), players.clone()));
        }
    });
    let log = Rc::clone(log);
    model.always(move |state| assert!(state.waiting() < most_waiting, "too much is on its way")).finally(move |state| {
        let ends = state.actors::<Player>().fold(7, |hash, player| mix(hash, player.seen));
        log.borrow_mut().push(ends ^ u64::from(state.dead_letters()) << 40 ^ u64::from(state.unhandled()) << 50);
    })
}

/// Random walks, traced and untraced.
fn walk(model: &mut Model, seed: u64, limits: &Limits, seen: bool) -> Report {
    let mut random: Box<dyn Strategy> = Box::new(Random::new(seed));
    if seen {
        random = looked_at(random);
    }
    search(model, &mut *random, limits)
}

/// Compares. Returns how many executions failed, their number of steps, and in how many different states they ended.
fn compare(seeds: std::ops::Range<u64>, faults: Faults) -> (u64, u64, usize) {
    let (mut failing, mut steps, mut ends) = (0, 0, 0);
    for (seed, delivery) in seeds.flat_map(|seed| ORDERS.map(|delivery| (seed, delivery))) {
        // Some end in the middle of a handler that asks for values.
        let limits = Limits {
            executions: Some(12),
            keep_going: true,
            steps: 20 + mix(seed, 1) as u32 % 400,
            repeats: false,
            ..Limits::default()
        };
        let [blind, seen] = [false, true].map(|seen| {
            let log = Log::default();
            (walk(&mut model(seed, delivery, faults, &log), seed, &limits, seen), log.take())
        });
        let case = format!("seed {seed}, {delivery:?}, {faults:?}");
        assert_same_walks(&blind, &seen, &case);
        failing += seen.0.failing;
        steps += seen.0.steps;
        ends += seen.1.iter().collect::<HashSet<_>>().len();
    }
    (failing, steps, ends)
}

#[test]
fn long_untraced_walks_are_like_traced_ones() {
    let (failing, steps, ends) = compare(0..60, Faults::default());
    assert!(failing > 300 && steps > 200_000 && ends > 300, "{failing} failed, {steps} steps, {ends} ends");
}

#[test]
fn long_untraced_walks_with_faults_are_like_traced_ones() {
    let (failing, steps, ends) = compare(1_000..1_030, Faults { drop: 1, duplicate: 1, delay: 2, crash: 0 });
    assert!(failing > 100 && steps > 80_000 && ends > 100, "{failing} failed, {steps} steps, {ends} ends");
}

/// Has the number of sends left, and counts its copies.
struct Told {
    left: u32,
    copied: Arc<AtomicU32>,
}

impl Clone for Told {
    fn clone(&self) -> Self {
        self.copied.fetch_add(1, Ordering::Relaxed);
        Self { left: self.left, copied: Arc::clone(&self.copied) }
    }
}

impl std::hash::Hash for Told {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.left.hash(state);
    }
}

/// Counts, for all of its copies, how often it handles a message and how often it is copied.
struct Counted {
    sum: u32,
    handled: Arc<AtomicU32>,
    copied: Arc<AtomicU32>,
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.copied.fetch_add(1, Ordering::Relaxed);
        Self { sum: self.sum, handled: Arc::clone(&self.handled), copied: Arc::clone(&self.copied) }
    }
}

impl std::hash::Hash for Counted {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.sum.hash(state);
    }
}

impl Actor for Counted {
    type Msg = Told;

    fn handle(&mut self, Told { left, copied }: Told, ctx: &mut Context<'_, Told>) {
        self.handled.fetch_add(1, Ordering::Relaxed);
        self.sum += ctx.choose(2) + ctx.choose(3);
        if left > 0 {
            ctx.send(&ctx.me(), Told { left: left - 1, copied });
        }
    }
}

#[test]
fn handlers_run_once_and_only_the_initial_state_is_copied() {
    let (executions, actors, messages) = (10, 3, 20);
    let [handled, copied, told] = [(); 3].map(|()| Arc::new(AtomicU32::new(0)));
    let sums = Rc::new(Cell::new(0));
    let sum = Rc::clone(&sums);
    let mut model = Model::new(|m| {
        for _ in 0..actors {
            let (handled, copied) = (Arc::clone(&handled), Arc::clone(&copied));
            let counted = m.spawn(Counted { sum: 0, handled, copied });
            m.send(&counted, Told { left: messages - 1, copied: Arc::clone(&told) });
        }
    })
    .finally(move |state| sum.set(sum.get() + state.actors::<Counted>().map(|counted| counted.sum).sum::<u32>()));
    let limits = Limits { executions: Some(u64::from(executions)), repeats: false, ..Limits::default() };
    let mut counts = |seen| {
        assert!(walk(&mut model, 1, &limits, seen).found.is_none());
        [&handled, &copied, &told].map(|count| count.swap(0, Ordering::Relaxed)).map(|count| count / executions)
    };
    // The model stores the initial actors and messages.
    assert_eq!(counts(false), [actors * messages, actors, actors]);
    let drawn = sums.take();
    assert_eq!(counts(true)[0], actors * messages * 3, "two values are drawn in each");
    assert!(drawn > 0 && drawn == sums.take());
}
