//! How much there is to receive from each mailbox: all that is needed to draw lots.

use std::mem;

use super::After;
use super::tray::Tray;
use crate::actor::post::Post;
use crate::actor::queue::Marks;

/// Mailboxes that are counted together, so that one is found among many without looking at each.
const BLOCK: usize = 8;

/// How many messages can be received from each mailbox.
#[derive(Default)]
pub(crate) struct Supply {
    counts: Vec<u32>,
    blocks: Vec<u32>,
    total: u32,
    /// It is kept up to date.
    pub(super) counts_on: bool,
    /// How often that has ended.
    pub(super) ended: u64,
    /// How a handler ended whose task takes over.
    pub(super) after: Option<After>,
}

impl Supply {
    /// Nothing can be received from any of so many.
    pub(super) fn begin(&mut self, mailboxes: usize) {
        self.counts.clear();
        self.counts.resize(mailboxes.next_multiple_of(BLOCK), 0);
        self.blocks.clear();
        self.blocks.resize(mailboxes.div_ceil(BLOCK), 0);
        self.total = 0;
        self.counts_on = true;
    }

    /// As before the first actor.
    pub(in crate::actor) fn clear(&mut self) {
        self.counts_on = false;
        mem::forget(self.after.take());
    }

    /// Whether mailboxes that change are counted anew.
    #[inline]
    pub(in crate::actor) fn counts_on(&self) -> bool {
        self.counts_on
    }

    /// How many can be received in all.
    #[inline]
    pub(crate) fn total(&self) -> u32 {
        self.total
    }

    /// A mailbox has changed.
    #[inline(always)]
    pub(in crate::actor) fn count(&mut self, mail: usize, post: &mut Post, marks: &mut Marks) {
        if !post.tray.away {
            self.set(mail, post.queue.count_open(post.delivery, marks));
        }
    }

    /// The same for one whose letters are not written.
    #[inline(always)]
    pub(super) fn count_bare(&mut self, mail: usize, tray: &Tray) {
        if !tray.away {
            self.set(mail, tray.open);
        }
    }

    /// From this mailbox so many can be received.
    #[inline]
    fn set(&mut self, mail: usize, count: u32) {
        let more = count.wrapping_sub(mem::replace(&mut self.counts[mail], count));
        let block = &mut self.blocks[mail / BLOCK];
        *block = block.wrapping_add(more);
        self.total = self.total.wrapping_add(more);
    }

    /// From this mailbox one more can be received.
    pub(super) fn add(&mut self, mail: usize) {
        self.set(mail, self.counts[mail] + 1);
    }

    /// Which mailbox the one with this number is in, counted through all of them; and which it is there.
    #[inline]
    pub(crate) fn find(&self, mut number: u32) -> (usize, u32) {
        let mut block = 0;
        while number >= self.blocks[block] {
            number -= self.blocks[block];
            block += 1;
        }
        // Which it is cannot be foreseen, so all of them are looked at without a branch.
        let (mut before, mut passed, mut sum) = (0, 0, 0);
        for &count in &self.counts[block * BLOCK..][..BLOCK] {
            sum += count;
            let beyond = sum <= number;
            before = if beyond { sum } else { before };
            passed += usize::from(beyond);
        }
        (block * BLOCK + passed, number - before)
    }
}

#[cfg(test)]
mod tests {
    use raddle_engine::rng::Rng;

    use super::*;

    #[test]
    fn each_is_found_where_it_is() {
        let mut rng = Rng::new(3);
        for mailboxes in [1, 2, 15, 16, 17, 33, 100] {
            let (mut supply, mut counts) = (Supply::default(), vec![0; mailboxes]);
            supply.begin(mailboxes);
            for _ in 0..200 {
                let mail = rng.below(mailboxes as u32) as usize;
                counts[mail] = rng.below(4);
                supply.set(mail, counts[mail]);
                let all = counts.iter().enumerate().flat_map(|(mail, &count)| (0..count).map(move |nth| (mail, nth)));
                let found: Vec<_> = (0..supply.total()).map(|number| supply.find(number)).collect();
                assert_eq!(found, all.collect::<Vec<_>>(), "{counts:?}");
            }
        }
    }
}
