//! From sets of messages that wait to clocks.
//!
//! Whoever knows of a message knows of all that its sender had sent before. So of the messages of each sender the last one says it all.

use raddle_engine::ids::TaskId;

use super::{News, WIDEST, WORD, has, slots};
use crate::actor::delivery::Delivery;
use crate::actor::post::{Post, Posts};

impl Posts {
    /// What holds up messages is found out by clocks from here on.
    #[cold]
    pub(in crate::actor) fn go_by_clocks(&mut self) {
        self.news.kept = false;
        let causal = |post: &&mut Post| post.delivery == Delivery::Causal;
        let mut sent = vec![(TaskId::MAIN, 0); WIDEST * WORD];
        for post in self.posts.iter_mut().filter(causal) {
            for waiting in post.queue.letters() {
                sent[waiting.letter.number as usize] = (waiting.letter.sender, waiting.letter.ordinal);
            }
        }
        for post in self.posts.iter_mut().filter(causal) {
            post.queue.go_by_clocks((WIDEST * WORD) as u32, |slot| self.news.clock(self.news.told_by(slot), &sent));
        }
        let width = self.news.width;
        for task in 0..self.members.len().max(self.news.known.len() / width) {
            let known = self.news.known.get(task * width..(task + 1) * width).unwrap_or_default();
            let (clock, count) = (self.news.clock(known, &sent), self.news.sent);
            self.party(TaskId::next_of(task)).go_by_clock(clock, count);
        }
    }
}

impl News {
    fn told_by(&self, slot: u32) -> &[u64] {
        &self.told[slot as usize * self.width..][..self.width]
    }

    /// How many messages of each task one knows of who knows of these, of which it is known who sent them, and how many before.
    fn clock(&self, set: &[u64], sent: &[(TaskId, u32)]) -> Vec<u32> {
        let mut clock = Vec::new();
        for slot in slots(set).filter(|&slot| has(&self.waiting, slot)) {
            let (sender, before) = sent[slot as usize];
            if clock.len() <= sender.index() {
                clock.resize(sender.index() + 1, 0);
            }
            clock[sender.index()] = clock[sender.index()].max(before + 1);
        }
        clock
    }
}
