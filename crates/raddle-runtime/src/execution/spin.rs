//! Spin detection. A spin or retry loop has infinitely many executions, so a task that spins is stalled until something changes.
//!
//! A task spins if it looks again and again at objects that have not changed. We see this from its operations alone, not from its memory.
//! For each task we remember the looks since its own latest change: from where in the source, at which object, in which version. If the
//! task is about to look again, from the same place, at an object that is unchanged, its loop has gone one more round. After a thousand
//! rounds in a row we assume that the loop spins for ever, and the search [learns](super::Facts) its place. In the next search a task
//! stalls at such a place in the first round: it is not enabled until an object that it looked at in its latest round has changed. Loops
//! that end sooner are explored like any other code.
//!
//! A loop that yields may also change objects in each round, if it leaves them as they were (it takes a lock and releases it). The place
//! of such a loop is that of the yield. The task stalls there until another task has taken a step.
//!
//! If no other task is enabled, stalled tasks go on after all. A loop with a bound then ends, and one without is reported as a livelock.

use raddle_engine::ids::ObjectId;
use raddle_engine::trace::Site;

/// After so many rounds without a change we assume that a loop spins for ever.
pub(crate) const MOST_ROUNDS: u32 = 1_000;

/// At most so many different looks of a task are remembered between two changes.
const MOST_LOOKS: usize = 64;

/// What a task has looked at since its latest own change.
#[derive(Debug, Default)]
pub(crate) struct Spin {
    looks: Vec<Look>,
    /// The number of looks so far.
    latest: u32,
    /// The number of the first look of the latest round. Earlier looks are from before the loop.
    round: u32,
    /// The latest yield.
    yielded: Option<Yielded>,
    /// Zero if every object that the task has changed since its latest yield is as it was then. Each change adds (by exclusive or) a hash
    /// of the value found and one of the value left, so equal values cancel out.
    net_change: u64,
    /// What the task waits for, if it is stalled.
    stalled: Option<Until>,
    /// How often in a row the task went on although it was stalled, because no other task was enabled, while nothing changed anywhere.
    pub(crate) rounds_alone: u32,
    /// The number of changes in the whole execution when the task last went on although it was stalled.
    pub(crate) changes_seen: u64,
    /// True if the latest look was one more round of a loop that the task [runs alone](super::Facts::runs_on).
    pub(crate) runs_on: bool,
}

/// What a stalled task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// A change of an object that it looked at in its latest round.
    Change,
    /// A step of another task. The number is how many steps others had taken when the task stalled.
    Step(u64),
}

/// A look of a task at an object, from one place in the source.
#[derive(Clone, Copy, Debug)]
struct Look {
    object: ObjectId,
    version: u32,
    site: Site,
    /// Which look of the task it was, counted from its first.
    at: u32,
    /// How often in a row the task has looked from here and found the same version.
    rounds: u32,
}

/// A yield of a task.
#[derive(Clone, Copy, Debug)]
struct Yielded {
    site: Site,
    /// How many steps other tasks had taken before.
    others: u64,
    /// How often in a row the task has yielded here with nothing different.
    rounds: u32,
    /// True if the task had changed an object since its yield before.
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
        let room = self.looks.len() < MOST_LOOKS;
        match self.looks.iter_mut().find(|look| look.is_at(object, site)) {
            Some(before) if before.version == version => {
                before.at = look.at;
                before.rounds += 1;
            }
            Some(before) => *before = look,
            None if room => self.looks.push(look),
            None => {}
        }
    }

    /// The task has changed an object.
    pub(crate) fn changed(&mut self) {
        self.looks.clear();
    }

    /// Called when the task is about to look at `object`, now at `version`, from `site`. If it did so before, returns how often in a row it
    /// will have done so.
    #[inline]
    pub(crate) fn looks_again(&mut self, object: ObjectId, version: u32, site: Site) -> Option<u32> {
        let before = self.looks.iter().find(|look| look.is_at(object, site) && look.version == version)?;
        self.round = before.at;
        Some(before.rounds + 1)
    }

    /// The task has changed the word of `object`.
    #[inline]
    pub(crate) fn replaced(&mut self, object: ObjectId, before: u64, after: u64) {
        let mix = |word: u64| {
            let key = (word ^ u64::from(object.number()).rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (key ^ key >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
        };
        self.net_change ^= mix(before) ^ mix(after);
    }

    /// Called when the task is about to yield at `site`, after `others` steps of other tasks. If nothing is different since its latest yield
    /// there, returns how often in a row that was so.
    pub(crate) fn yields_again(&mut self, site: Site, others: u64) -> Option<u32> {
        let unchanged = std::mem::take(&mut self.net_change) == 0;
        let again = self.yielded.filter(|it| unchanged && std::ptr::eq(it.site, site) && it.others == others);
        let rounds = again.map_or(0, |it| it.rounds + 1);
        self.yielded = Some(Yielded { site, others, rounds, changed: !unchanged });
        again.map(|_| rounds)
    }

    /// Whether the task has changed an object between its latest two yields.
    pub(crate) fn changes_as_it_yields(&self) -> bool {
        self.yielded.is_some_and(|it| it.changed)
    }

    /// Stalls the task until an object that it looked at in its latest round changes.
    pub(crate) fn stall_until_change(&mut self) {
        self.stalled = Some(Until::Change);
    }

    /// Stalls the task until another task takes a step. `others` is how many steps other tasks have taken.
    pub(crate) fn stall_until_step(&mut self, others: u64) {
        self.stalled = Some(Until::Step(others));
    }

    #[inline]
    pub(crate) fn is_stalled(&self) -> bool {
        self.stalled.is_some()
    }

    /// Ends the stall, if there is one. Returns whether there was.
    pub(crate) fn go_on(&mut self) -> bool {
        self.stalled.take().is_some()
    }

    /// The objects that the task has looked at in its latest round.
    pub(crate) fn watched(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.looks.iter().filter(|look| look.at >= self.round).map(|look| look.object)
    }

    /// Resets this to the state for a task that begins.
    pub(crate) fn begin(&mut self) {
        self.looks.clear();
        self.latest = 0;
        self.round = 0;
        self.yielded = None;
        self.net_change = 0;
        self.stalled = None;
        self.rounds_alone = 0;
        self.changes_seen = 0;
        self.runs_on = false;
    }

    /// Whether the task is not stalled, or what it waits for has happened.
    pub(crate) fn may_go_on(&self, version: impl Fn(ObjectId) -> u32, others: u64) -> bool {
        match self.stalled {
            None => true,
            Some(Until::Change) => {
                self.looks.iter().any(|look| look.at >= self.round && version(look.object) != look.version)
            }
            Some(Until::Step(before)) => others != before,
        }
    }
}
