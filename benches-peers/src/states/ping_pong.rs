//! Pairs that send a ball to and fro, so often.

use super::party::{Cast, Party, Post};

/// One of a pair.
#[derive(Clone, Debug)]
pub struct Player {
    partner: usize,
    most: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ball(u32);

impl Party for Player {
    type State = u32;
    type Msg = Ball;

    fn first(&self) -> u32 {
        0
    }

    fn handle(&self, seen: &mut u32, Ball(hops): Ball, post: Post<'_, Ball>) {
        *seen += 1;
        if hops < self.most {
            post(self.partner, Ball(hops + 1));
        }
    }
}

/// So many pairs; each ball is hit so often.
pub fn cast(pairs: usize, most: u32) -> Cast<Player> {
    let parties = (0..2 * pairs).map(|player| Player { partner: player ^ 1, most }).collect();
    let first = (0..pairs).map(|pair| (2 * pair, Ball(1))).collect();
    Cast { parties, first, holds: in_step }
}

/// Who was served first is at most one ahead.
fn in_step(seen: &mut dyn Iterator<Item = &u32>) -> bool {
    while let (Some(first), Some(second)) = (seen.next(), seen.next()) {
        if !(*second..=*second + 1).contains(first) {
            return false;
        }
    }
    true
}

/// A ring in which as many balls go round as there are players.
pub fn ring(players: usize, most: u32) -> Cast<Player> {
    let parties = (0..players).map(|player| Player { partner: (player + 1) % players, most }).collect();
    let first = (0..players).map(|player| (player, Ball(1))).collect();
    Cast { parties, first, holds: |_| true }
}
