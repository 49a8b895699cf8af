//! The letters that wait in one mailbox, and which of them can be received.
//!
//! What can be received is found in one pass over the letters, and only where they have changed since it was last asked for. A letter
//! that was not held up by anything its sender knew of never is again, since whoever sends later is not known to it: each
//! letter remembers how far it was compared, so the pass stays linear whatever the [`Delivery`]. In causal order, where steps are only
//! counted, letters have no sheets: [news](crate::actor::news) say how many others hold each of them up.

use std::collections::{HashSet, VecDeque};

use raddle_engine::ids::TaskId;

use crate::actor::delivery::Delivery;
use crate::actor::letter::{Envelope, Letter, Sheet};

/// From so many letters on, their numbers are kept apart to be looked up.
const MANY: usize = 32;

/// Up to so many letters are compared with one another.
const FEW: usize = 8;

/// Letters in order of arrival; the contents lie in the same order elsewhere.
#[derive(Default)]
pub(crate) struct Queue {
    letters: VecDeque<Waiting>,
    /// What is in them, in the same order; nothing where nobody asks for it.
    sheets: VecDeque<Sheet>,
    /// The numbers of those that can be received, if that was asked for since the letters changed.
    open: Option<Vec<u32>>,
    /// The memory of `open`, while it is out of date.
    spare: Vec<u32>,
    /// The numbers of all, once there are many and one is to be found that none of them has.
    numbers: Option<HashSet<u32>>,
    /// How many numbers were given out one after another.
    given: u32,
}

pub(super) struct Waiting {
    pub(super) letter: Envelope,
    /// Nothing that the tasks before this one have sent holds it up.
    cleared: u32,
    /// How many others hold it up, where [news](crate::actor::news) say so and not what is in the letter.
    pub(super) held: u32,
}

/// What is remembered of each sender during a pass over one queue; shared by all queues.
#[derive(Default)]
pub(crate) struct Marks {
    /// By task: the pass that has met it, and the first of its messages there that holds up others.
    firsts: Vec<(u64, u32)>,
    pass: u64,
}

impl Marks {
    fn begin(&mut self) {
        self.pass += 1;
    }

    /// The first message of this sender that was met in this pass.
    fn first(&self, sender: usize) -> Option<u32> {
        self.firsts.get(sender).filter(|first| first.0 == self.pass).map(|first| first.1)
    }

    fn meet(&mut self, sender: TaskId, ordinal: u32) {
        if self.firsts.len() <= sender.index() {
            self.firsts.resize(sender.index() + 1, (0, 0));
        }
        let first = &mut self.firsts[sender.index()];
        if first.0 != self.pass {
            *first = (self.pass, ordinal);
        }
    }
}

impl Queue {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.letters.len()
    }

    #[inline]
    fn changed(&mut self) {
        if let Some(open) = self.open.take() {
            self.spare = open;
        }
    }

    /// A number that no letter here has: this one, or one of the next.
    #[inline]
    pub(crate) fn free_number(&mut self, mut number: u32) -> u32 {
        if self.numbers.is_none() && self.letters.len() > MANY {
            self.numbers = Some(self.letters.iter().map(|waiting| waiting.letter.number).collect());
        }
        let taken = |number: u32| match &self.numbers {
            Some(numbers) => numbers.contains(&number),
            None => self.letters.iter().any(|waiting| waiting.letter.number == number),
        };
        while taken(number) {
            number = number.wrapping_add(1);
        }
        number
    }

    /// A number that no letter here has, where nobody else has to know it.
    #[inline]
    pub(crate) fn next_number(&mut self) -> u32 {
        self.given = self.given.wrapping_add(1);
        self.given
    }

    /// Puts a letter where it belongs; returns where that is.
    #[inline]
    pub(crate) fn put(&mut self, delivery: Delivery, letter: Letter) -> usize {
        self.changed();
        let len = self.letters.len();
        if let Some(numbers) = &mut self.numbers {
            numbers.insert(letter.number);
        }
        let place = delivery.place_for_next(self.letters.back_mut().map(|last| &mut last.letter.delayed), len);
        let (letter, sheet) = letter.fold();
        let waiting = Waiting { letter, cleared: 0, held: 0 };
        if place == len {
            self.letters.push_back(waiting);
            self.sheets.push_back(sheet);
        } else {
            self.letters.insert(place, waiting);
            self.sheets.insert(place, sheet);
        }
        place
    }

    /// The same for a letter that nobody asks for more of than who sent it.
    #[inline(always)]
    pub(crate) fn put_blank(&mut self, delivery: Delivery, sender: TaskId, delayed: bool) -> usize {
        self.changed();
        let letter = Envelope { number: self.next_number(), sender, ordinal: 0, delayed };
        let waiting = Waiting { letter, cleared: 0, held: 0 };
        if delivery == Delivery::Arrival {
            return self.put_blank_last(waiting);
        }
        self.letters.push_back(waiting);
        self.letters.len() - 1
    }

    /// The same where it may overtake another.
    #[inline(never)]
    fn put_blank_last(&mut self, waiting: Waiting) -> usize {
        let len = self.letters.len();
        let late = self.letters.back_mut().map(|last| &mut last.letter.delayed);
        let place = Delivery::Arrival.place_for_next(late, len);
        self.letters.insert(place, waiting);
        place
    }

    /// Puts a letter behind the others that is held up by so many of them; returns where that is.
    #[inline]
    pub(super) fn put_held(&mut self, letter: Envelope, held: u32) -> usize {
        self.letters.push_back(Waiting { letter, cleared: 0, held });
        self.letters.len() - 1
    }

    /// As before the first letter that was put in so.
    pub(super) fn empty(&mut self) {
        self.letters.clear();
    }

    /// The letters, in order of arrival.
    #[inline]
    pub(super) fn letters(&self) -> impl Iterator<Item = &Waiting> {
        self.letters.iter()
    }

    /// The same, where it may change what holds them up.
    #[inline]
    pub(super) fn letters_mut(&mut self) -> impl Iterator<Item = &mut Waiting> {
        self.letters.iter_mut()
    }

    /// What holds up letters is found out from now on by the clocks that come with them. They keep their numbers, which are lower than `given`.
    pub(super) fn go_by_clocks(&mut self, given: u32, clock: impl Fn(u32) -> Vec<u32>) {
        self.given = given;
        for Waiting { letter, held, .. } in &mut self.letters {
            *held = 0;
            self.sheets.push_back(Sheet::knowing(clock(letter.number)));
        }
    }

    /// Whether letters that were put in blank say no more than who sent them.
    pub(crate) fn is_plain(&self) -> bool {
        self.letters.iter().all(|waiting| !waiting.letter.delayed)
    }

    /// Who sent the letters, in order of arrival.
    pub(crate) fn senders(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.letters.iter().map(|waiting| waiting.letter.sender)
    }

    /// As if letters of these senders were there, and no others, that were put in blank.
    pub(crate) fn refill(&mut self, senders: impl Iterator<Item = TaskId>) {
        self.letters.clear();
        self.changed();
        for sender in senders {
            let letter = Envelope { number: self.next_number(), sender, ordinal: 0, delayed: false };
            self.letters.push_back(Waiting { letter, cleared: 0, held: 0 });
        }
    }

    /// Takes out the letter with this number, or the first one; returns where it was.
    #[inline]
    pub(crate) fn take(&mut self, number: Option<u32>) -> (usize, Letter) {
        let place = match number {
            Some(number) if self.letters.front().is_none_or(|first| first.letter.number != number) => {
                self.place_of(number)
            }
            _ => 0,
        };
        (place, self.take_at(place))
    }

    /// Takes out the letter at this place.
    #[inline]
    pub(crate) fn take_at(&mut self, place: usize) -> Letter {
        self.changed();
        let waiting = if place == 0 { self.letters.pop_front() } else { self.letters.remove(place) };
        let letter = waiting.expect("raddle bug: a mailbox is empty").letter;
        let sheet = if place == 0 { self.sheets.pop_front() } else { self.sheets.remove(place) };
        if let Some(numbers) = &mut self.numbers {
            numbers.remove(&letter.number);
        }
        Letter::unfold(letter, sheet.unwrap_or_default())
    }

    /// Takes everything out.
    pub(crate) fn clear(&mut self) -> Vec<Letter> {
        self.changed();
        self.numbers = None;
        let mut sheets = std::mem::take(&mut self.sheets).into_iter();
        let letter = |waiting: Waiting| Letter::unfold(waiting.letter, sheets.next().unwrap_or_default());
        self.letters.drain(..).map(letter).collect()
    }

    /// The number of a letter that is alone, and so held up by nobody.
    #[inline]
    pub(crate) fn only(&self) -> Option<u32> {
        match self.letters.len() {
            1 => self.letters.front().map(|waiting| waiting.letter.number),
            _ => None,
        }
    }

    /// How many can be received.
    #[inline]
    pub(crate) fn count_open(&mut self, delivery: Delivery, marks: &mut Marks) -> u32 {
        let len = self.letters.len();
        match delivery {
            _ if len <= 1 => len as u32,
            Delivery::Unordered => len as u32,
            Delivery::Arrival => 1,
            Delivery::PerSender | Delivery::Causal => {
                let mut count = 0;
                self.each_open(delivery, marks, |_| count += 1);
                count
            }
        }
    }

    /// Where the letter is that comes after so many others that can be received.
    #[inline]
    pub(crate) fn place_of_open(&mut self, delivery: Delivery, marks: &mut Marks, nth: u32) -> usize {
        match delivery {
            Delivery::Unordered => nth as usize,
            Delivery::Arrival => 0,
            // What came first is held up by nobody.
            Delivery::PerSender | Delivery::Causal if nth == 0 => 0,
            Delivery::Causal if self.sheets.is_empty() => {
                let mut open = self.letters.iter().enumerate().filter(|(_, waiting)| waiting.held == 0);
                let found = open.nth(nth as usize).map(|(place, _)| place);
                found.expect("raddle bug: fewer messages can be received than were counted")
            }
            Delivery::PerSender | Delivery::Causal => {
                let (mut left, mut found) = (nth, None);
                self.each_open(delivery, marks, |number| {
                    if left == 0 {
                        found.get_or_insert(number);
                    }
                    left = left.saturating_sub(1);
                });
                let found = found.expect("raddle bug: fewer messages can be received than were counted");
                self.place_of(found)
            }
        }
    }

    fn place_of(&self, number: u32) -> usize {
        let place = self.letters.iter().position(|waiting| waiting.letter.number == number);
        place.expect("raddle bug: the message is gone")
    }

    /// Takes a letter out that news say what it is held up by; returns its number.
    #[inline]
    pub(super) fn remove_held(&mut self, place: usize) -> u32 {
        let waiting = if place == 0 { self.letters.pop_front() } else { self.letters.remove(place) };
        waiting.expect("raddle bug: a mailbox is empty").letter.number
    }

    /// Takes a letter out that was put in blank.
    #[inline]
    pub(crate) fn remove(&mut self, place: usize) {
        debug_assert!(self.sheets.is_empty(), "raddle bug: half of a letter is left");
        self.changed();
        let removed = if place == 0 { self.letters.pop_front() } else { self.letters.remove(place) };
        assert!(removed.is_some(), "raddle bug: a mailbox is empty");
    }

    /// Calls `list` with the numbers of the letters that can be received, in order of arrival.
    #[inline]
    pub(crate) fn each_open(&mut self, delivery: Delivery, marks: &mut Marks, mut list: impl FnMut(u32)) {
        let few = self.letters.len() <= FEW;
        match delivery {
            // Alone, a letter is held up by nobody.
            _ if self.letters.len() == 1 => list(self.letters[0].letter.number),
            Delivery::Unordered => self.letters.iter().for_each(|waiting| list(waiting.letter.number)),
            // To compare them all takes less than to remember whom one has met.
            Delivery::PerSender if few => {
                for (at, Waiting { letter, .. }) in self.letters.iter().enumerate() {
                    let same = |before: &Waiting| before.letter.sender == letter.sender && !before.letter.delayed;
                    if !self.letters.iter().take(at).any(same) {
                        list(letter.number);
                    }
                }
            }
            Delivery::Causal if self.sheets.is_empty() => {
                let open = self.letters.iter().filter(|waiting| waiting.held == 0);
                open.for_each(|waiting| list(waiting.letter.number));
            }
            _ => self.open(delivery, marks).iter().for_each(|&number| list(number)),
        }
    }

    /// The numbers of the letters that can be received, in order of arrival.
    pub(crate) fn open(&mut self, delivery: Delivery, marks: &mut Marks) -> &[u32] {
        if self.open.is_none() {
            let mut open = std::mem::take(&mut self.spare);
            open.clear();
            if !self.letters.is_empty() {
                self.find_open(delivery, marks, &mut open);
            }
            self.open = Some(open);
        }
        self.open.as_deref().unwrap_or_default()
    }

    fn find_open(&mut self, delivery: Delivery, marks: &mut Marks, open: &mut Vec<u32>) {
        marks.begin();
        match delivery {
            Delivery::Unordered => open.extend(self.letters.iter().map(|waiting| waiting.letter.number)),
            Delivery::Arrival => open.push(self.letters[0].letter.number),
            Delivery::PerSender => {
                for Waiting { letter, .. } in &self.letters {
                    if marks.first(letter.sender.index()).is_none() {
                        open.push(letter.number);
                    }
                    if !letter.delayed {
                        marks.meet(letter.sender, letter.ordinal);
                    }
                }
            }
            Delivery::Causal => {
                for Waiting { letter, .. } in self.letters.iter().filter(|waiting| !waiting.letter.delayed) {
                    marks.meet(letter.sender, letter.ordinal);
                }
                for (waiting, sheet) in self.letters.iter_mut().zip(&self.sheets) {
                    if waiting.is_cleared(sheet.known(), marks) {
                        open.push(waiting.letter.number);
                    }
                }
            }
        }
    }
}

impl Waiting {
    /// Whether nothing is left that its sender knew of; goes on from where it was held up last time.
    fn is_cleared(&mut self, known: &[u32], marks: &Marks) -> bool {
        while let Some(&known) = known.get(self.cleared as usize) {
            if marks.first(self.cleared as usize).is_some_and(|first| first < known) {
                return false;
            }
            self.cleared += 1;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use raddle_engine::rng::Rng;

    use super::*;
    use crate::actor::letter::Party;

    /// What can be received, by the words of [`Delivery::lets`].
    fn by_definition(letters: &[Letter], delivery: Delivery) -> Vec<u32> {
        let can = |(at, letter): &(usize, &Letter)| delivery.lets(letters.iter(), *at, letter);
        letters.iter().enumerate().filter(can).map(|(_, letter)| letter.number).collect()
    }

    #[test]
    fn what_is_open_is_what_the_delivery_lets_through() {
        let orders = [Delivery::Unordered, Delivery::PerSender, Delivery::Causal, Delivery::Arrival];
        for (seed, delivery) in (0..200).flat_map(|seed| orders.map(|order| (seed, order))) {
            let mut rng = Rng::new(seed);
            let (mut queue, mut marks) = (Queue::default(), Marks::default());
            let mut parties: Vec<Party> = (0..4).map(Party::new).collect();
            let mut plain: Vec<Letter> = Vec::new();
            for _ in 0..120 {
                let sender = rng.below(4) as usize;
                if rng.below(5) < 3 {
                    let mut letter = parties[sender].write(TaskId::next_of(sender), delivery, "m", 0);
                    letter.delayed = rng.below(6) == 0;
                    letter.number = queue.free_number(letter.number % 64);
                    let len = plain.len();
                    let place = delivery.place_for_next(plain.last_mut().map(|last| &mut last.delayed), len);
                    plain.insert(place, letter.clone());
                    assert_eq!(queue.put(delivery, letter), place);
                } else if let [_, ..] = queue.open(delivery, &mut marks) {
                    let open = queue.open(delivery, &mut marks);
                    let number = open[rng.below(open.len() as u32) as usize];
                    let (place, letter) = queue.take((delivery != Delivery::Arrival).then_some(number));
                    assert_eq!(plain.remove(place).name, letter.name);
                    // Whoever receives it may be one of the senders.
                    parties[sender].read(&letter, delivery);
                }
                let expected = by_definition(&plain, delivery);
                let mut listed = Vec::new();
                queue.each_open(delivery, &mut marks, |number| listed.push(number));
                assert_eq!(listed, expected, "seed {seed}, {delivery:?}");
                assert_eq!(queue.open(delivery, &mut marks), expected, "seed {seed}, {delivery:?}");
            }
        }
    }

    #[test]
    fn numbers_are_unique_among_many() {
        let (mut queue, mut party) = (Queue::default(), Party::new(1));
        for n in 0..200 {
            let mut letter = party.write(TaskId::MAIN, Delivery::Unordered, "m", 0);
            letter.number = queue.free_number(n % 7);
            queue.put(Delivery::Unordered, letter);
        }
        let numbers: HashSet<u32> = queue.letters.iter().map(|waiting| waiting.letter.number).collect();
        assert_eq!(numbers.len(), 200);
        assert_eq!(queue.clear().len(), 200);
        assert_eq!((queue.free_number(3), queue.len()), (3, 0));
    }
}
