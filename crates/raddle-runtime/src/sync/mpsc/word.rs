//! The word of a channel: how many messages there are, and which ends are left.

use raddle_engine::trace::Word;

/// The bits that count the messages in the queue.
const LEN: u64 = (1 << 31) - 1;
/// The receiver is gone.
pub(super) const NO_RECEIVER: u64 = 1 << 31;
/// All senders are gone.
pub(super) const NO_SENDERS: u64 = 1 << 32;
/// The receiver of a rendezvous waits, and no message was promised to it yet.
pub(super) const RECEIVER_WAITS: u64 = 1 << 33;
/// The bits from here on count the messages taken so far. The count wraps.
const TAKEN_SHIFT: u32 = 34;
const TAKEN: u64 = u64::MAX >> TAKEN_SHIFT;

/// A bound that no queue reaches.
pub(super) const UNBOUNDED: u64 = LEN;

/// How many messages are in the queue.
pub(super) fn len(word: u64) -> u64 {
    word & LEN
}

/// The word with one message more.
pub(super) fn put(word: u64) -> u64 {
    assert!(len(word) < LEN, "raddle: more than {LEN} messages in one channel");
    word + 1
}

/// The word with one message less.
pub(super) fn taken(word: u64) -> u64 {
    assert!(len(word) > 0, "raddle bug: a message was taken from an empty channel");
    let count = ((word >> TAKEN_SHIFT) + 1) & TAKEN;
    (word & !(TAKEN << TAKEN_SHIFT) | count << TAKEN_SHIFT) - 1
}

/// The ticket of the message that is put next: how many messages will have been taken when it is taken.
pub(super) fn next_ticket(word: u64) -> u64 {
    ((word >> TAKEN_SHIFT) + len(word) + 1) & TAKEN
}

/// Whether a receive is enabled.
pub(super) fn can_receive(word: u64, _: u64) -> bool {
    len(word) > 0 || word & NO_SENDERS != 0
}

/// Whether a send to a channel with this bound is enabled.
pub(super) fn can_send(word: u64, bound: u64) -> bool {
    len(word) < bound || word & NO_RECEIVER != 0
}

/// Whether the message with this ticket was taken, or never will be.
pub(super) fn is_settled(word: u64, ticket: u64) -> bool {
    was_taken(word, ticket) || word & NO_RECEIVER != 0
}

/// Whether the message with this ticket was taken. The count wraps, so this assumes that a queue is shorter than half of its range.
pub(super) fn was_taken(word: u64, ticket: u64) -> bool {
    (word >> TAKEN_SHIFT).wrapping_sub(ticket) & TAKEN <= TAKEN / 2
}

/// The word as reports show it.
pub(super) fn show(Word(word): Word) -> String {
    let queue = match len(word) {
        0 => "empty".to_owned(),
        1 => "1 message".to_owned(),
        n => format!("{n} messages"),
    };
    let gone = match (word & NO_SENDERS != 0, word & NO_RECEIVER != 0) {
        (true, _) => ", no sender left",
        (_, true) => ", receiver gone",
        _ => "",
    };
    queue + gone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_are_taken_in_turn_and_survive_wrapping() {
        for start in [0, TAKEN - 1, TAKEN] {
            let word = start << TAKEN_SHIFT;
            let first = next_ticket(word);
            let word = put(word);
            let second = next_ticket(word);
            let word = put(word);
            assert!(!was_taken(word, first) && !was_taken(word, second));
            let word = taken(word);
            assert!(was_taken(word, first) && !was_taken(word, second));
            assert_eq!(len(word), 1);
            let word = taken(word);
            assert!(was_taken(word, second));
            assert_eq!(len(word), 0);
        }
    }

    #[test]
    fn a_word_is_shown_as_text() {
        assert_eq!(show(Word(0)), "empty");
        assert_eq!(show(Word(put(0))), "1 message");
        assert_eq!(show(Word(put(put(0)) | NO_SENDERS)), "2 messages, no sender left");
        assert_eq!(show(Word(NO_RECEIVER)), "empty, receiver gone");
    }
}
