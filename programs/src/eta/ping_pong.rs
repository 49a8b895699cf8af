//! Two players with a ball each; every pass costs the ball some of its air.

use raddle::actor::{Actor, Address, Context, Stage};

/// A ball on its way.
#[derive(Clone, Debug, Hash)]
pub struct Ball {
    /// How often it can still be passed.
    passes: u32,
    /// Who plays back.
    from: Address<Ball>,
}

/// Passes on what it gets, while that is possible.
#[derive(Clone, Debug, Default, Hash)]
pub struct Player;

impl Actor for Player {
    type Msg = Ball;

    fn handle(&mut self, Ball { passes, from }: Ball, ctx: &mut Context<'_, Ball>) {
        if passes > 0 {
            let me = ctx.me();
            ctx.send(&from, Ball { passes: passes - 1, from: me });
        }
    }
}

/// Two players, each of whom begins with a ball that can be passed `n` times.
pub fn set_up(stage: &mut impl Stage, n: u32) {
    let (ping, pong) = (stage.spawn(Player), stage.spawn(Player));
    stage.send(&ping, Ball { passes: n, from: pong.clone() });
    stage.send(&pong, Ball { passes: n, from: ping });
}
