//! Spin and retry loops end: a task that only reads again what has not changed waits until something it read is changed.
//!
//! Whether a task spins is decided by its operations alone, never by its memory: from its latest own change on, its looks are
//! remembered, from where in the source, at what, in which version. A task that is about to look again, from the same place, at
//! something unchanged, has gone round once more. A loop that goes round a thousand times in a row is taken to spin for ever, and
//! its place is [learned](super::Facts). From the next search on, a task stalls as soon as it comes round at such a place: it is not
//! enabled until something it read in its latest round has changed. Loops that end sooner are explored like any other code.
//!
//! A loop that yields may also change things in each round, if it leaves them as they were (it takes a lock and gives it back, wakes
//! itself and goes to sleep). Its place is that of the yield, and it waits there until another task has taken a step.
//!
//! If nobody else can go on, stalled tasks may after all: a loop with a bound ends, and one without is reported as a livelock.

use raddle_engine::ids::ObjectId;
use raddle_engine::trace::Site;

/// Rounds without a change after which a loop is taken to spin for ever.
pub(crate) const MOST_ROUNDS: u32 = 1_000;

/// More different looks than this between two changes are not remembered.
const MOST_SEEN: usize = 64;

/// What a task has looked at since its latest own change.
#[derive(Debug, Default)]
pub(crate) struct Spin {
    seen: Vec<Look>,
    /// Counts the looks.
    latest: u32,
    /// The look with which the round began that the task stalls after; earlier ones lie before the loop.
    round: u32,
    /// Where it yielded last, after how many steps of others, and how often in a row with none in between.
    yielded: Option<Yielded>,
    /// Zero if all that the task has changed since it yielded last is as it was then: each change adds what it found and what it left
    /// there, and what is added twice cancels out.
    net_change: u64,
    /// What it waits for, if it is stalled.
    stalled: Option<Until>,
    /// How often it was let go on because nobody else could, with nothing changing anywhere.
    pub(crate) fruitless: u32,
    /// The changes in the whole execution when it was last let go on.
    pub(crate) changes_seen: u64,
    /// Its latest look was one more round of a loop in which it goes on [alone](super::Facts::runs_on).
    pub(crate) runs_on: bool,
}

/// What a stalled task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// Something that it read is different.
    Change,
    /// Others have taken another number of steps than this.
    Step(u64),
}

#[derive(Clone, Copy, Debug)]
struct Look {
    object: ObjectId,
    version: u32,
    site: Site,
    /// Which look it was, counted from the task's first.
    at: u32,
    /// How often in a row nothing had changed.
    rounds: u32,
}

#[derive(Clone, Copy, Debug)]
struct Yielded {
    site: Site,
    others: u64,
    rounds: u32,
    /// Something was different from the time before.
    changed: bool,
}

impl Look {
    fn is_at(&self, object: ObjectId, site: Site) -> bool {
        self.object == object && std::ptr::eq(self.site, site)
    }
}

impl Spin {
    /// The task has looked at `object`, now at `version`, from `site`.
    pub(crate) fn looked(&mut self, object: ObjectId, version: u32, site: Site) {
        self.latest += 1;
        let look = Look { object, version, site, at: self.latest, rounds: 0 };
        let room = self.seen.len() < MOST_SEEN;
        match self.seen.iter_mut().find(|look| look.is_at(object, site)) {
            Some(before) if before.version == version => {
                before.at = look.at;
                before.rounds += 1;
            }
            Some(before) => *before = look,
            None if room => self.seen.push(look),
            None => {}
        }
    }

    /// The task has changed something.
    pub(crate) fn changed(&mut self) {
        self.seen.clear();
    }

    /// How often in a row the task has looked at `object` from `site` and found `version`, if it is about to do so again.
    #[inline]
    pub(crate) fn looks_again(&mut self, object: ObjectId, version: u32, site: Site) -> Option<u32> {
        let before = self.seen.iter().find(|look| look.is_at(object, site) && look.version == version)?;
        self.round = before.at;
        Some(before.rounds + 1)
    }

    /// The task has replaced the word of `object`.
    #[inline]
    pub(crate) fn replaced(&mut self, object: ObjectId, before: u64, after: u64) {
        let mix = |word: u64| {
            let key = (word ^ u64::from(object.number()).rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (key ^ key >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
        };
        self.net_change ^= mix(before) ^ mix(after);
    }

    /// How often in a row the task has yielded at `site` with nothing different from the time before, if it is about to do so again.
    pub(crate) fn yields_again(&mut self, site: Site, others: u64) -> Option<u32> {
        let unchanged = std::mem::take(&mut self.net_change) == 0;
        let again = self.yielded.filter(|it| unchanged && std::ptr::eq(it.site, site) && it.others == others);
        let rounds = again.map_or(0, |it| it.rounds + 1);
        self.yielded = Some(Yielded { site, others, rounds, changed: !unchanged });
        again.map(|_| rounds)
    }

    /// Whether the task has changed something between its latest two yields. One that only looks may yield from several places in turn.
    pub(crate) fn changes_as_it_yields(&self) -> bool {
        self.yielded.is_some_and(|it| it.changed)
    }

    /// The task does not go on before something it read has changed.
    pub(crate) fn stall_until_change(&mut self) {
        self.stalled = Some(Until::Change);
    }

    /// The task does not go on before others, who have taken so many steps, have taken one more.
    pub(crate) fn stall_until_step(&mut self, others: u64) {
        self.stalled = Some(Until::Step(others));
    }

    /// Whether it waits for a change or for others.
    #[inline]
    pub(crate) fn is_stalled(&self) -> bool {
        self.stalled.is_some()
    }

    /// The task goes on; says whether it was stalled.
    pub(crate) fn go_on(&mut self) -> bool {
        self.stalled.take().is_some()
    }

    /// What the task has looked at in its latest round.
    pub(crate) fn watched(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.seen.iter().filter(|look| look.at >= self.round).map(|look| look.object)
    }

    /// As for a task that has just begun.
    pub(crate) fn begin(&mut self) {
        self.seen.clear();
        self.latest = 0;
        self.round = 0;
        self.yielded = None;
        self.net_change = 0;
        self.stalled = None;
        self.fruitless = 0;
        self.changes_seen = 0;
        self.runs_on = false;
    }

    /// Whether what a stalled task waits for has come about.
    pub(crate) fn may_go_on(&self, version: impl Fn(ObjectId) -> u32, others: u64) -> bool {
        match self.stalled {
            None => true,
            Some(Until::Change) => {
                self.seen.iter().any(|look| look.at >= self.round && version(look.object) != look.version)
            }
            Some(Until::Step(before)) => others != before,
        }
    }
}
