//! Spin and retry loops end: a task that only re-reads what has not changed waits until something it read is changed.
//!
//! From its latest own change on, a task's looks are remembered: from where in the source, at what, in which version. When
//! it is about to look again, from the same place, at something unchanged, it stalls if it surely loops: it has said so
//! itself (a yield, a spin hint, a sleep or a wait that timed out lies between), or its stack is byte for byte what it was at
//! an earlier such moment, or it has looked often enough. A stalled task is not enabled until something it saw has changed. If
//! nobody else can go on, it may after all: a loop that counts its rounds ends, and one that never does is reported as a
//! livelock.

use raddle_engine::ids::ObjectId;
use raddle_engine::trace::Site;

/// Looks without a change after which a task is taken to spin, though its stack differs each time.
const OFTEN: u32 = 64;

/// More different looks than this between two changes are taken for work, not for spinning.
const MOST_SEEN: usize = 8;

/// Stack digests kept for comparison.
const MOST_DIGESTS: usize = 4;

/// What a task has looked at since its latest own change.
#[derive(Debug, Default)]
pub(crate) struct Spin {
    seen: [Option<Look>; MOST_SEEN],
    seen_len: usize,
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
    /// How often it was let go on because nobody else could, with nothing changing anywhere.
    pub(crate) fruitless: u32,
    /// The changes in the whole execution when it was last let go on.
    pub(crate) changes_seen: u64,
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
        self.seen[..self.seen_len].iter().flatten()
    }

    /// The task has looked at `object`, now at `version`, from `site`.
    pub(crate) fn looked(&mut self, object: ObjectId, version: u32, site: Site) {
        self.latest += 1;
        let look = Look { object, version, site, at: self.latest };
        match self.seen[..self.seen_len].iter_mut().flatten().find(|look| look.is_at(object, site)) {
            Some(before) if before.version == version => {
                before.at = look.at;
                self.looks += 1;
            }
            Some(before) => {
                *before = look;
                self.forget_rounds();
            }
            None if self.seen_len < MOST_SEEN => {
                self.seen[self.seen_len] = Some(look);
                self.seen_len += 1;
            }
            None => self.changed(),
        }
    }

    /// The task has changed something.
    pub(crate) fn changed(&mut self) {
        if self.seen_len > 0 {
            self.seen_len = 0;
            self.forget_rounds();
        }
    }

    /// The task lets others go first.
    pub(crate) fn hint(&mut self) {
        self.hinted = self.seen_len > 0;
    }

    fn forget_rounds(&mut self) {
        self.digests = [0; MOST_DIGESTS];
        self.looks = 0;
        self.hinted = false;
        self.stalled = false;
    }

    /// The task is about to look at `object`, now at `version`, from `site`: decides whether it stalls. `digest` is asked
    /// for only where it matters.
    pub(crate) fn about_to_look(&mut self, object: ObjectId, version: u32, site: Site, digest: impl FnOnce() -> u64) {
        self.stalled = false;
        let Some(before) = self.seen().find(|look| look.is_at(object, site) && look.version == version) else {
            return;
        };
        self.round = before.at;
        if self.hinted || self.looks >= OFTEN {
            self.stalled = true;
            return;
        }
        let digest = digest();
        if self.digests.contains(&digest) {
            self.stalled = true;
        } else {
            self.digests.rotate_right(1);
            self.digests[0] = digest;
        }
    }

    /// Whether anything is different now that the task saw in its latest round.
    pub(crate) fn sees_change(&self, version: impl Fn(ObjectId) -> u32) -> bool {
        self.seen().any(|look| look.at >= self.round && version(look.object) != look.version)
    }

    /// Whether the task has looked at `object` in its latest round.
    pub(crate) fn watches(&self, object: ObjectId) -> bool {
        self.seen().any(|look| look.at >= self.round && look.object == object)
    }
}
