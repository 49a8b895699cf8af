//! Spin and retry loops end: a task that only re-reads what has not changed waits until something it read is changed.
//!
//! From its latest own change on, a task's looks are remembered: from where in the source, at what, in which version. When it
//! is about to look again, from the same place, at something unchanged, and its stack is byte for byte what it was at an
//! earlier such moment, it has come round in a loop and stalls: it is not enabled until something it saw has changed. No order
//! is lost, as it would only do the same again (unless what tells its rounds apart lies in the heap).
//!
//! A loop that counts its rounds has a different stack each time. It stalls after a number of looks, fewer if it says that it
//! waits (a yield, a spin hint, a sleep or a wait that timed out lies between). That may leave orders out, so it is
//! [told](Verdict::Guessed).
//!
//! If nobody else can go on, stalled tasks may after all: a loop with a bound ends, and one without is reported as a livelock.

use raddle_engine::ids::ObjectId;
use raddle_engine::trace::Site;

/// Looks without a change after which a task is taken to spin, though its stack differs each time.
const OFTEN: u32 = 64;

/// The same for a task that says it waits for others.
const OFTEN_IF_WAITING: u32 = 4;

/// More different looks than this between two changes are only counted.
const MOST_SEEN: usize = 64;

/// Stack digests kept for comparison.
const MOST_DIGESTS: usize = 4;

/// What a task has looked at since its latest own change.
#[derive(Debug, Default)]
pub(crate) struct Spin {
    seen: Vec<Look>,
    /// Counts the looks.
    latest: u32,
    /// The look with which the round began that the task stalls after; earlier ones lie before the loop.
    round: u32,
    digests: [u64; MOST_DIGESTS],
    looks: u32,
    /// The task has said that it waits for others.
    hinted: bool,
    /// It waits for what it saw to change.
    pub(crate) stalled: bool,
    /// It has come round; nothing had to be guessed.
    pub(crate) proven: bool,
    /// How often it was let go on because nobody else could, with nothing changing anywhere.
    pub(crate) fruitless: u32,
    /// The changes in the whole execution when it was last let go on.
    pub(crate) changes_seen: u64,
}

/// Whether a task spins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Not as far as can be told.
    GoesOn,
    /// It is where it was before, in every respect.
    ComesRound,
    /// It has looked so often that it is taken to.
    Guessed,
}

#[derive(Clone, Copy, Debug)]
struct Look {
    object: ObjectId,
    version: u32,
    site: Site,
    /// Which look it was, counted from the task's first.
    at: u32,
}

impl Look {
    fn is_at(&self, object: ObjectId, site: Site) -> bool {
        self.object == object && std::ptr::eq(self.site, site)
    }
}

impl Spin {
    fn seen(&self) -> impl Iterator<Item = &Look> {
        self.seen.iter()
    }

    /// The task has looked at `object`, now at `version`, from `site`.
    pub(crate) fn looked(&mut self, object: ObjectId, version: u32, site: Site) {
        self.latest += 1;
        let look = Look { object, version, site, at: self.latest };
        let room = self.seen.len() < MOST_SEEN;
        match self.seen.iter_mut().find(|look| look.is_at(object, site)) {
            Some(before) if before.version == version => {
                before.at = look.at;
                self.looks += 1;
            }
            Some(before) => {
                *before = look;
                self.forget_rounds();
            }
            None if room => self.seen.push(look),
            None => self.looks += 1,
        }
    }

    /// The task has changed something.
    pub(crate) fn changed(&mut self) {
        if !self.seen.is_empty() {
            self.seen.clear();
            self.forget_rounds();
        }
    }

    /// The task lets others go first.
    pub(crate) fn hint(&mut self) {
        self.hinted = !self.seen.is_empty();
    }

    fn forget_rounds(&mut self) {
        self.digests = [0; MOST_DIGESTS];
        self.looks = 0;
        self.hinted = false;
        self.stalled = false;
    }

    /// Whether a task that is about to look at `object`, now at `version`, from `site` has done so before and should be
    /// [judged](Self::judge).
    #[inline]
    pub(crate) fn looks_again(&mut self, object: ObjectId, version: u32, site: Site) -> bool {
        self.stalled = false;
        let before = self.seen().find(|look| look.is_at(object, site) && look.version == version).map(|look| look.at);
        self.round = before.unwrap_or(self.round);
        before.is_some()
    }

    /// Decides whether a task that looks again stalls; `digest` is that of its stack, if it could be taken.
    pub(crate) fn judge(&mut self, digest: Option<u64>) -> Verdict {
        let often = if self.hinted { OFTEN_IF_WAITING } else { OFTEN };
        // In its first round a loop writes over what the stack held from earlier; what it never writes stays as it is. So
        // only from the second round on does the same loop look the same in every execution.
        let verdict = if self.looks == 0 {
            Verdict::GoesOn
        } else if digest.is_some_and(|digest| self.digests.contains(&digest)) {
            Verdict::ComesRound
        } else if self.looks >= often {
            Verdict::Guessed
        } else {
            self.digests.rotate_right(1);
            self.digests[0] = digest.unwrap_or(0);
            Verdict::GoesOn
        };
        self.stalled = verdict != Verdict::GoesOn;
        self.proven = verdict == Verdict::ComesRound;
        verdict
    }

    /// The task was let go on although nothing has changed: one that was only taken to spin gets as many looks again.
    pub(crate) fn look_anew(&mut self) {
        if !self.proven {
            self.looks = 0;
        }
    }

    /// What the task has looked at in its latest round.
    pub(crate) fn watched(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.seen().filter(|look| look.at >= self.round).map(|look| look.object)
    }

    /// As for a task that has just begun.
    pub(crate) fn begin(&mut self) {
        self.seen.clear();
        self.latest = 0;
        self.round = 0;
        self.forget_rounds();
        self.fruitless = 0;
        self.changes_seen = 0;
    }

    /// Whether anything is different now that the task saw in its latest round.
    pub(crate) fn sees_change(&self, version: impl Fn(ObjectId) -> u32) -> bool {
        self.seen().any(|look| look.at >= self.round && version(look.object) != look.version)
    }
}
