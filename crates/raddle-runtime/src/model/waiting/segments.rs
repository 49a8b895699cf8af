//! A queue that can be copied for little: what neither copy changes is shared.
//!
//! Its items lie in segments. Full ones are never changed; a copy shares them. What is copied when a queue changes that others share is the
//! last segment, and the list of the full ones whenever one comes or goes, once in so many items.

use std::collections::VecDeque;
use std::rc::Rc;

/// Items in a full segment.
const FULL: usize = 32;

/// The queue.
#[derive(Clone)]
pub(super) struct Segments<T> {
    /// What is taken from, and how much of it was taken.
    first: Rc<Vec<T>>,
    taken: usize,
    full: Rc<VecDeque<Rc<Vec<T>>>>,
    last: Rc<Vec<T>>,
}

impl<T> Default for Segments<T> {
    fn default() -> Self {
        Self { first: Rc::default(), taken: 0, full: Rc::default(), last: Rc::default() }
    }
}

impl<T: Clone> Segments<T> {
    pub(super) fn push(&mut self, item: T) {
        let last = Rc::make_mut(&mut self.last);
        last.push(item);
        if last.len() == FULL {
            let full = std::mem::take(&mut self.last);
            Rc::make_mut(&mut self.full).push_back(full);
        }
        if self.taken == self.first.len() {
            self.next_segment();
        }
    }

    /// The oldest item.
    pub(super) fn first(&self) -> Option<&T> {
        self.first.get(self.taken)
    }

    pub(super) fn take_first(&mut self) -> Option<T> {
        let item = self.first()?.clone();
        self.taken += 1;
        if self.taken == self.first.len() {
            self.next_segment();
        }
        Some(item)
    }

    /// Takes from the next segment from now on, if there is one.
    fn next_segment(&mut self) {
        self.taken = 0;
        self.first = if self.full.is_empty() {
            std::mem::take(&mut self.last)
        } else {
            Rc::make_mut(&mut self.full).pop_front().expect("looked just now")
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies that go different ways are as if each were alone.
    #[test]
    fn copies_share_nothing_that_can_be_seen() {
        let mut queues = vec![(Segments::default(), VecDeque::new())];
        let mut number = 7_u64;
        for item in 0..20_000_u64 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let which = (number >> 40) as usize % queues.len();
            if number >> 59 == 0 && queues.len() < 8 {
                queues.push(queues[which].clone());
            }
            let (queue, plain) = &mut queues[which];
            if (number >> 33) % 100 < 60 {
                queue.push(item);
                plain.push_back(item);
            } else {
                assert_eq!(queue.take_first(), plain.pop_front());
            }
            assert_eq!(queue.first(), plain.front());
        }
        assert!(queues.iter().any(|(_, plain)| plain.len() > 10 * FULL), "some are long");
    }
}
