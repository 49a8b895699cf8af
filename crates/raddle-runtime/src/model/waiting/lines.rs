//! Many messages: one line for each sender, of which the first can be received.

use raddle_engine::ids::TaskId;

use super::hash::{Sent, Sum};
use super::numbers::Numbers;
use super::segments::Segments;
use crate::actor::{Delivery, Letter};
use crate::model::slot::Post;

/// The lines of a mailbox. None is empty.
#[derive(Clone)]
pub(super) struct Lines {
    delivery: Delivery,
    /// In the order in which their first messages have arrived.
    lines: Vec<Line>,
    len: usize,
    /// How many messages have come since the lines were made.
    arrived: u64,
    /// Of all that wait.
    numbers: Numbers,
    /// The hash of all lines.
    hash: Sum,
}

/// The messages of one sender, or all of them where they are received in order of arrival.
#[derive(Clone)]
struct Line {
    of: TaskId,
    posts: Segments<Arrived>,
    hash: Sum,
    /// What a message that comes next is multiplied with in the hash.
    next: Sum,
}

/// A message, and how many had arrived before it.
#[derive(Clone)]
struct Arrived {
    before: u64,
    post: Post,
}

impl Line {
    fn new(of: TaskId) -> Self {
        Self { of, posts: Segments::default(), hash: Sum::default(), next: Sum::ONE }
    }

    fn first(&self) -> &Arrived {
        self.posts.first().expect("raddle bug: an empty line of messages")
    }

    /// The hash, and what a message that comes next is multiplied with, once the first is gone.
    fn without_first(&self, delivery: Delivery) -> (Sum, Sum) {
        let (letter, parcel) = &self.first().post;
        (self.hash.minus(Sent::of(letter, parcel).term(delivery)).nearer(), self.next.nearer())
    }
}

impl Lines {
    /// The same messages in lines. None of them is delayed.
    pub(super) fn new(delivery: Delivery, posts: impl Iterator<Item = Post>) -> Self {
        let mut lines =
            Self { delivery, lines: Vec::new(), len: 0, arrived: 0, numbers: Numbers::default(), hash: Sum::default() };
        posts.for_each(|post| lines.put(post));
        lines
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn has(&self, number: u32) -> bool {
        self.numbers.has(number)
    }

    /// Puts a message behind the others of its sender.
    pub(super) fn put(&mut self, post: Post) {
        let sent = Sent::of(&post.0, &post.1);
        let of = sent.line(self.delivery);
        let at = self.lines.iter().position(|line| line.of == of).unwrap_or_else(|| {
            self.lines.push(Line::new(of));
            self.lines.len() - 1
        });
        let line = &mut self.lines[at];
        let adds = sent.term(self.delivery).times(line.next);
        (line.hash, line.next, self.hash) = (line.hash.plus(adds), line.next.further(), self.hash.plus(adds));
        self.numbers.add(post.0.number);
        line.posts.push(Arrived { before: self.arrived, post });
        self.arrived += 1;
        self.len += 1;
    }

    /// The line whose first message has this number, or is the oldest.
    fn line_of(&self, number: Option<u32>) -> Option<usize> {
        match number {
            None => (!self.lines.is_empty()).then_some(0),
            Some(number) => self.lines.iter().position(|line| line.first().post.0.number == number),
        }
    }

    /// The message with this number, if it can be received; or the oldest.
    pub(super) fn get(&self, number: Option<u32>) -> Option<&Post> {
        Some(&self.lines[self.line_of(number)?].first().post)
    }

    /// Takes out the message with this number, if it can be received; or the oldest.
    pub(super) fn take(&mut self, number: Option<u32>) -> Option<Post> {
        let mut line = self.lines.remove(self.line_of(number)?);
        let (hash, next) = line.without_first(self.delivery);
        self.hash = self.hash.minus(line.hash).plus(hash);
        (line.hash, line.next) = (hash, next);
        let Arrived { post, .. } = line.posts.take_first().expect("raddle bug: an empty line of messages");
        self.numbers.remove(post.0.number);
        self.len -= 1;
        if line.posts.first().is_some() {
            let before = line.first().before;
            let place = self.lines.partition_point(|other| other.first().before < before);
            self.lines.insert(place, line);
        }
        Some(post)
    }

    /// Takes out the oldest.
    pub(super) fn take_first(&mut self) -> Option<Post> {
        self.take(None)
    }

    /// Calls `list` with the first of each line, in order of arrival.
    pub(super) fn each_first(&self, mut list: impl FnMut(&Letter)) {
        self.lines.iter().for_each(|line| list(&line.first().post.0));
    }

    /// The hash without the message that has this number, or the oldest, and with others that one sender sends.
    pub(super) fn digest_with(&self, without: Option<Option<u32>>, sent: impl Iterator<Item = Sent>) -> u64 {
        let shorter = without.and_then(|number| self.line_of(number));
        let mut hash = self.hash;
        if let Some(at) = shorter {
            hash = hash.minus(self.lines[at].hash).plus(self.lines[at].without_first(self.delivery).0);
        }
        let mut grows: Option<(TaskId, Sum)> = None;
        for sent in sent {
            let of = sent.line(self.delivery);
            let next = match grows {
                Some((line, next)) => {
                    debug_assert_eq!(line, of, "raddle bug: several senders at once");
                    next
                }
                None => self.next_in(of, shorter),
            };
            hash = hash.plus(sent.term(self.delivery).times(next));
            grows = Some((of, next.further()));
        }
        hash.number()
    }

    /// What a message that comes next in a line is multiplied with, if this line has lost its first.
    fn next_in(&self, of: TaskId, shorter: Option<usize>) -> Sum {
        match self.lines.iter().position(|line| line.of == of) {
            Some(at) if Some(at) == shorter => self.lines[at].next.nearer(),
            Some(at) => self.lines[at].next,
            None => Sum::ONE,
        }
    }
}
