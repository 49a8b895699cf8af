//! Compares mailboxes with plain lists. The delivery orders are defined again here, in the simplest way.

use raddle_engine::ids::TaskId;
use raddle_engine::rng::Rng;

use super::*;

const ORDERS: [Delivery; 4] = [Delivery::Unordered, Delivery::PerSender, Delivery::Causal, Delivery::Arrival];

/// The orders in which the mailbox itself has a hash.
const HASHED: [Delivery; 3] = [Delivery::PerSender, Delivery::Causal, Delivery::Arrival];

#[derive(Clone, Debug, PartialEq, Eq)]
struct Plain {
    number: u32,
    sender: TaskId,
    delayed: bool,
    ordinal: u32,
    known: Vec<u32>,
    says: u64,
}

impl Message for Plain {
    type Few = SmallVec<[Self; 2]>;

    fn delivery_info(&self) -> DeliveryInfo<'_> {
        let &Self { number, sender, delayed, ordinal, ref known, .. } = self;
        DeliveryInfo { number, sender, delayed, ordinal, known: Known::Clock(known) }
    }

    fn arrive_in_time(&mut self) {
        self.delayed = false;
    }

    fn hashed(&self) -> Option<HashedMessage> {
        let &Self { sender, delayed, says, ref known, .. } = self;
        let knowledge = known.iter().fold(0_u64, |hash, known| hash.wrapping_mul(1_000_003) + u64::from(*known));
        Some(HashedMessage { sender, contents: says, delayed, knowledge })
    }
}

/// The numbers of the messages of a list that can be received.
fn receivable(delivery: Delivery, list: &[Plain]) -> Vec<u32> {
    let is_open = |at: usize| match delivery {
        Delivery::Unordered => true,
        Delivery::Arrival => at == 0,
        Delivery::PerSender => list[..at].iter().all(|other| other.delayed || other.sender != list[at].sender),
        Delivery::Causal => {
            let knows_of = |other: &Plain| list[at].known[other.sender.index()] > other.ordinal;
            list.iter().all(|other| other.delayed || *other == list[at] || !knows_of(other))
        }
    };
    (0..list.len()).filter(|&at| is_open(at)).map(|at| list[at].number).collect()
}

/// What is compared of a message.
type Shown = (u64, bool, TaskId, Vec<u32>);

/// What makes two mailboxes different: the contents of each line; with order of arrival, all messages are one line.
fn lines(delivery: Delivery, list: &[Plain]) -> Vec<Vec<Shown>> {
    let mut lines = vec![Vec::new(); 5];
    for message in list {
        let line = if delivery == Delivery::Arrival { 0 } else { message.sender.index() };
        let sender = if delivery == Delivery::Arrival { TaskId::MAIN } else { message.sender };
        let known = if delivery == Delivery::Causal { message.known.clone() } else { Vec::new() };
        lines[line].push((message.says, message.delayed, sender, known));
    }
    lines
}

/// Several mailboxes, each with a list that should be the same, and senders who know of messages in all of them.
struct Compared {
    delivery: Delivery,
    rng: Rng,
    clocks: Vec<Vec<u32>>,
    mailboxes: Vec<(Mailbox<Plain>, Vec<Plain>)>,
    numbers: u32,
    delays: bool,
}

impl Compared {
    fn new(seed: u64, delivery: Delivery, delays: bool) -> Self {
        let mailboxes = (0..3).map(|_| (Mailbox::default(), Vec::new())).collect();
        Self { delivery, rng: Rng::new(seed), clocks: vec![vec![0; 4]; 4], mailboxes, numbers: 0, delays }
    }

    fn below(&mut self, n: usize) -> usize {
        self.rng.below(n as u32) as usize
    }

    /// Returns the mailbox.
    fn send(&mut self) -> usize {
        let (sender, to) = (self.below(4), self.below(3));
        // In other orders, messages do not say what their senders know.
        let causal = self.delivery == Delivery::Causal;
        let known = if causal { self.clocks[sender].clone() } else { Vec::new() };
        let message = Plain {
            number: self.numbers,
            sender: TaskId::next_of(sender),
            delayed: self.delays && self.rng.below(8) == 0,
            ordinal: self.clocks[sender][sender],
            known,
            says: u64::from(self.rng.below(3)),
        };
        self.clocks[sender][sender] += 1;
        self.numbers += 1;
        let (mailbox, list) = &mut self.mailboxes[to];
        mailbox.put(self.delivery, message.clone());
        let overtaken = list.last_mut().filter(|last| self.delivery == Delivery::Arrival && last.delayed);
        let place = overtaken.map(|last| last.delayed = false);
        list.insert(list.len() - place.map_or(0, |()| 1), message);
        to
    }

    /// The receiver may send afterwards. Then it knows what the sender knew. Returns the mailbox and the message, if there was one.
    fn receive(&mut self) -> Option<(usize, Plain)> {
        let (of, by_number) = (self.below(3), self.rng.below(2) == 0);
        let open = receivable(self.delivery, &self.mailboxes[of].1);
        if open.is_empty() {
            return None;
        }
        let nth = self.below(open.len());
        let (mailbox, list) = &mut self.mailboxes[of];
        let taken = if by_number {
            let first = self.delivery == Delivery::Arrival;
            mailbox.take(self.delivery, (!first).then_some(open[nth])).expect("it can be received")
        } else {
            mailbox.take_open(self.delivery, nth as u32)
        };
        let at = list.iter().position(|message| message.number == open[nth]).expect("it is on the list");
        assert_eq!(taken, list.remove(at));
        assert!(!mailbox.has(taken.number));
        let receiver = &mut self.clocks[of];
        for (own, known) in receiver.iter_mut().zip(&taken.known) {
            *own = (*own).max(*known);
        }
        if of != taken.sender.index() {
            receiver[taken.sender.index()] = receiver[taken.sender.index()].max(taken.ordinal + 1);
        }
        Some((of, taken))
    }

    fn check(&self) {
        for (mailbox, list) in &self.mailboxes {
            let open = receivable(self.delivery, list);
            let mut listed = Vec::new();
            mailbox.each_open(self.delivery, |number| listed.push(number));
            assert_eq!(listed, open, "{:?}", self.delivery);
            assert_eq!(mailbox.count_open() as usize, open.len(), "{:?}", self.delivery);
            assert_eq!((mailbox.len(), mailbox.is_empty()), (list.len(), list.is_empty()));
            assert_eq!(mailbox.get(None), list.first());
            assert_eq!(mailbox.first_number(), list.first().map(|message| message.number));
            assert!(list.iter().all(|message| mailbox.get(Some(message.number)) == Some(message)));
            self.check_unknown_number(mailbox);
        }
    }

    fn check_take_all(&mut self) {
        (0..60).for_each(|_| _ = self.send());
        for (mailbox, list) in &mut self.mailboxes {
            assert_eq!(mailbox.take_all(), std::mem::take(list), "{:?}", self.delivery);
        }
        self.check();
    }

    /// Timers have numbers that no message has. A question about such a number changes nothing.
    fn check_unknown_number(&self, mailbox: &Mailbox<Plain>) {
        let unknown = u32::MAX;
        assert!(!mailbox.has(unknown) && mailbox.get(Some(unknown)).is_none());
        assert!(mailbox.clone().take(self.delivery, Some(unknown)).is_none());
        if self.delivery != Delivery::Unordered {
            let hash = |without| mailbox.hash_with(self.delivery, without, std::iter::empty());
            assert_eq!(hash(Some(Some(unknown))), hash(None), "{:?}", self.delivery);
        }
    }

    /// `hash_with` computes the hash after a receive and some sends. Compares it with the hash of a mailbox in which these have happened.
    fn check_hash_ahead(&self) {
        let mailbox = &self.mailboxes[0].0;
        let hash = |mailbox: &Mailbox<Plain>| mailbox.hash_with(self.delivery, None, std::iter::empty());
        let known = vec![0; if self.delivery == Delivery::Causal { 4 } else { 0 }];
        let send = |number| Plain {
            number,
            sender: TaskId::next_of(2),
            delayed: false,
            ordinal: 0,
            known: known.clone(),
            says: 1,
        };
        let sent = [send(u32::MAX - 1), send(u32::MAX)];
        mailbox.each_open(self.delivery, |number| {
            let mut after = mailbox.clone();
            after.take(self.delivery, Some(number));
            let hashed = sent.iter().filter_map(Message::hashed);
            let peeked = mailbox.hash_with(self.delivery, Some(Some(number)), hashed);
            // A delayed message would be overtaken, which `hash_with` does not know.
            if !self.delays {
                sent.iter().for_each(|message| after.put(self.delivery, message.clone()));
                assert_eq!(hash(&after), peeked, "{:?}", self.delivery);
            }
        });
    }
}

/// Mailboxes grow well beyond the length at which there is an index, and shrink to nothing.
#[test]
fn a_mailbox_agrees_with_a_list() {
    for (seed, delivery) in (0..6).flat_map(|seed| ORDERS.map(|delivery| (seed, delivery))) {
        let mut compared = Compared::new(seed, delivery, seed % 2 == 1);
        let mut longest = 0;
        for round in 0..1_200 {
            let grows = if round / 200 % 2 == 0 { 7 } else { 2 };
            if compared.rng.below(10) < grows {
                compared.send();
            } else {
                compared.receive();
            }
            compared.check();
            longest = longest.max(compared.mailboxes[0].1.len());
            // An unordered mailbox has no hash of its own: its users add up the hashes of the messages.
            if round % 40 == 0 && delivery != Delivery::Unordered {
                compared.check_hash_ahead();
            }
        }
        assert!(longest > Plain::MANY * 3 / 2, "{delivery:?}: {longest}");
        compared.check_take_all();
    }
}

/// A change of one copy does not change another.
#[test]
fn copies_do_not_see_each_other() {
    for delivery in ORDERS {
        let mut compared = Compared::new(11, delivery, true);
        (0..150).for_each(|_| _ = compared.send());
        let before = compared.mailboxes.clone();
        for _ in 0..4 {
            (0..120).for_each(|_| _ = compared.receive());
            compared.check();
            (0..90).for_each(|_| _ = compared.send());
            compared.check();
            (0..90).for_each(|_| _ = compared.receive());
            compared.check();
            compared.mailboxes.clone_from(&before);
            compared.check();
        }
    }
}

/// The hash of a list, from its definition.
fn hash_of(delivery: Delivery, list: &[HashedMessage]) -> u64 {
    let line = |message: &HashedMessage| if delivery == Delivery::Arrival { TaskId::MAIN } else { message.sender };
    let terms = list.iter().enumerate().map(|(at, message)| {
        let place = list[..at].iter().filter(|other| line(other) == line(message)).count();
        message.term(delivery).at(place)
    });
    terms.fold(Sum::default(), Sum::plus).number()
}

/// Equal lines have equal hashes, whatever happened before and whether or not there is an index. Different lines have different hashes.
#[test]
fn hashes_are_equal_if_and_only_if_the_lines_are() {
    for (seed, delivery) in (0..4).flat_map(|seed| HASHED.map(|order| (seed, order))) {
        let mut compared = Compared::new(seed, delivery, seed % 2 == 1);
        let mut seen: Vec<(Vec<_>, u64)> = Vec::new();
        for round in 0..400_u64 {
            let grows = if round / 50 % 2 == 0 { 7 } else { 2 };
            if compared.rng.below(10) < grows {
                compared.send();
            } else {
                compared.receive();
            }
            for (mailbox, list) in &compared.mailboxes {
                let hash = mailbox.hash_with(delivery, None, std::iter::empty());
                let hashed: Vec<_> = list.iter().filter_map(Message::hashed).collect();
                assert_eq!(hash, hash_of(delivery, &hashed), "{delivery:?}");
                for number in receivable(delivery, list) {
                    let place = list.iter().position(|message| message.number == number).expect("it is in the list");
                    let sent = (0..round % 3).map(|n| HashedMessage::new(TaskId::next_of(round as usize % 4), n));
                    let mut others = hashed.clone();
                    others.remove(place);
                    others.extend(sent.clone());
                    let without = mailbox.hash_with(delivery, Some(Some(number)), sent);
                    assert_eq!(without, hash_of(delivery, &others), "{delivery:?} without {number} in {list:?}");
                }
                let lines = lines(delivery, list);
                if let Some(other) = seen.iter().find(|seen| (seen.0 == lines) != (seen.1 == hash)) {
                    panic!("{delivery:?}: {lines:?} and {other:?}");
                }
                seen.push((lines, hash));
            }
        }
    }
}

/// Messages without a name are received in the same order as others.
#[test]
fn blank_messages_are_received_in_the_same_order_as_others() {
    for (seed, delivery) in
        (0..4).flat_map(|seed| [Delivery::Unordered, Delivery::PerSender, Delivery::Arrival].map(|order| (seed, order)))
    {
        let mut rng = Rng::new(seed);
        let (mut blank, mut plain) = (Mailbox::<Blank>::default(), Mailbox::<Plain>::default());
        for number in 0..600 {
            let grows = if number / 100 % 2 == 0 { 7 } else { 3 };
            if plain.is_empty() || rng.below(10) < grows {
                let (sender, delayed) = (TaskId::next_of(rng.below(3) as usize), rng.below(6) == 0);
                let known_sender = (delivery == Delivery::PerSender).then_some(sender);
                blank.put(delivery, Blank { place: number, sender: known_sender, delayed });
                plain.put(delivery, Plain { number, sender, delayed, ordinal: 0, known: Vec::new(), says: 0 });
            } else {
                let nth = rng.below(plain.count_open());
                let (taken, same) = (blank.take_open(delivery, nth), plain.take_open(delivery, nth));
                let sender = (delivery == Delivery::PerSender).then_some(same.sender);
                assert_eq!(taken, Blank { place: same.number, sender, delayed: same.delayed }, "{delivery:?}");
            }
            let (mut listed, mut same) = (Vec::new(), Vec::new());
            blank.each_open(delivery, |number| listed.push(number));
            plain.each_open(delivery, |number| same.push(number));
            assert_eq!(
                (listed, blank.count_open(), blank.len()),
                (same, plain.count_open(), plain.len()),
                "{delivery:?}"
            );
        }
        let left: Vec<_> = plain.take_all().into_iter().map(|message| message.number).collect();
        assert_eq!(blank.take_all().into_iter().map(|message| message.place).collect::<Vec<_>>(), left);
    }
}

/// In causal order, sets of waiting messages say the same as clocks.
#[test]
fn slotted_messages_are_received_like_those_with_clocks() {
    let (mut held, mut received) = (0, 0);
    for seed in 0..40 {
        let mut compared = Compared::new(seed, Delivery::Causal, seed % 2 == 1);
        let mut slotted: [Mailbox<Slotted>; 3] = Default::default();
        let mut known = [MessageSet::default(); 4];
        let mut waiting = MessageSet::default();
        // No slot is used twice.
        while (compared.numbers as usize) < MessageSet::SLOTS {
            if compared.rng.below(10) < 6 {
                let slot = compared.numbers;
                let to = compared.send();
                let &Plain { number, sender, delayed, .. } = compared.mailboxes[to].1.last().expect("just sent");
                let own = &mut known[sender.index()];
                slotted[to].put(Delivery::Causal, Slotted { place: number, slot, sender, delayed, known: *own });
                own.insert(slot);
                waiting.insert(slot);
            } else if let Some((of, message)) = compared.receive() {
                let taken = slotted[of].take(Delivery::Causal, Some(message.number)).expect("it can be received");
                known[of].add_all(&taken.known);
                waiting.remove(taken.slot);
                received += 1;
            }
            if compared.rng.below(20) == 0 {
                slotted.iter_mut().for_each(|mailbox| mailbox.change_known(|known| known.retain(&waiting)));
            }
            for (slotted, (plain, _)) in slotted.iter().zip(&compared.mailboxes) {
                let (mut listed, mut same) = (Vec::new(), Vec::new());
                slotted.each_open(Delivery::Causal, |number| listed.push(number));
                plain.each_open(Delivery::Causal, |number| same.push(number));
                assert_eq!((listed, slotted.count_open()), (same, plain.count_open()), "seed {seed}");
                held += plain.len() - plain.count_open() as usize;
            }
        }
    }
    assert!(held > 1_000 && received > 1_000, "{held} held back, {received} received");
}
