//! How many messages can be received from each mailbox: all that an untraced run needs to choose.

use std::mem;

use raddle_engine::ids::TaskId;

use super::After;
use super::counts::Counts;
use crate::actor::actor_mailbox::ActorMailbox;

/// How many messages can be received from each mailbox.
#[derive(Default)]
pub(crate) struct Supply {
    counts: Counts,
    /// True during an untraced run: the counts are kept up to date.
    pub(super) counts_on: bool,
    /// How many untraced runs have ended.
    pub(super) ended: u64,
    /// The actor that received last in an untraced run, and the number of decisions up to and including that one.
    pub(in crate::actor) latest: Option<(TaskId, u64)>,
    /// How a handler ended, for the task that takes over from it.
    pub(in crate::actor) after: Option<After>,
}

impl Supply {
    /// Begins to count, with no messages in any of the mailboxes.
    pub(super) fn begin(&mut self, mailboxes: usize) {
        self.counts.begin(mailboxes);
        self.counts_on = true;
    }

    /// Removes all counts.
    pub(in crate::actor) fn clear(&mut self) {
        self.counts_on = false;
        self.latest = None;
        mem::forget(self.after.take());
    }

    /// Whether an untraced run is in progress, so that changes of mailboxes are counted.
    #[inline]
    pub(in crate::actor) fn counts_on(&self) -> bool {
        self.counts_on
    }

    /// How many untraced runs have ended.
    #[inline]
    pub(in crate::actor) fn times_ended(&self) -> u64 {
        self.ended
    }

    /// How many can be received in all.
    #[inline]
    pub(crate) fn total(&self) -> u32 {
        self.counts.total()
    }

    /// Counts a mailbox that has changed.
    #[inline(always)]
    pub(in crate::actor) fn count(&mut self, mail: usize, mailbox: &ActorMailbox) {
        self.set(mail, mailbox.away, mailbox.count_open());
    }

    /// Sets how many messages can be received from a mailbox; none if its actor is away.
    #[inline(always)]
    pub(super) fn set(&mut self, mail: usize, away: bool, open: u32) {
        if !away {
            self.counts.set(mail, open);
        }
    }

    /// Counts one more message that can be received from this mailbox.
    pub(super) fn add(&mut self, mail: usize) {
        self.counts.add(mail);
    }

    /// The mailbox of the n-th message that can be received, counted through all mailboxes, and its number in that mailbox.
    #[inline]
    pub(crate) fn find(&self, number: u32) -> (usize, u32) {
        self.counts.find(number)
    }
}
