//! The decisions of the running execution in the form of a [`Schedule`](raddle_engine::schedule::Schedule), without allocation.
//!
//! If the trace records steps, each step with several alternatives is a decision, written with the name of its task. If it only counts
//! steps, and while an execution runs untraced, each decision is written as the index of the chosen alternative.

use std::fmt::{self, Write};

use raddle_engine::ids::TaskId;
use raddle_engine::system::Variant;
use raddle_engine::trace::{Class, Step, Trace};

use super::view::CrashView;

/// The decisions that led to the current state of the execution.
#[derive(Clone, Copy)]
pub(super) struct Decisions<'a> {
    pub(super) who: &'a dyn CrashView,
    pub(super) trace: &'a Trace,
    /// The seed of the program's random numbers, or 0.
    pub(super) seed: u64,
    /// A decision that has not become a step yet.
    pub(super) pending: Option<Decided>,
}

/// One decision.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Decided {
    Task(TaskId, Variant),
    Value(u64),
    Place(u32),
}

impl Decided {
    /// The decision that led to a step, if there was one.
    fn of(step: &Step) -> Option<Self> {
        if step.alternatives <= 1 {
            return None;
        }
        Some(match (step.op.class, step.found) {
            (Class::Choice, Some(value)) => Self::Value(value.0),
            _ => Self::Task(step.task, step.variant),
        })
    }

    fn write(self, who: &dyn CrashView, to: &mut dyn Write) -> fmt::Result {
        match self {
            Self::Value(value) => write!(to, "={value}"),
            Self::Place(place) => write!(to, "@{place}"),
            Self::Task(task, variant) => {
                write_name(who, task, to)?;
                match variant {
                    Variant::Ready => Ok(()),
                    Variant::TimedOut => to.write_char('t'),
                    Variant::Spurious => to.write_char('s'),
                    Variant::Message(message) => write!(to, "m{message}"),
                }
            }
        }
    }
}

impl Decisions<'_> {
    fn all(&self) -> impl Iterator<Item = Decided> + '_ {
        // SAFETY: the search sets this pointer before it lends the list of choices to the program, and resets it before it drops the list.
        // The OS thread that reads it here is the one on which that happens.
        let drawn = unsafe { self.trace.drawing().as_ref() }.map_or(&[][..], |draws| draws.list());
        let kept = self.trace.steps().iter().filter_map(Decided::of);
        let counted = self.trace.choices().iter().map(|choice| choice.0);
        let drawn = drawn.iter().map(|drawn| drawn.choice.0);
        kept.chain(counted.chain(drawn).map(Decided::Place)).chain(self.pending)
    }

    pub(super) fn write(&self, to: &mut dyn Write) -> fmt::Result {
        to.write_str("v1")?;
        if let Some(facts) = self.who.facts() {
            facts.write(to)?;
        }
        match (self.seed, self.who.hash_seed()) {
            (0, None) => {}
            (seed, None) => write!(to, "/{seed}")?,
            (0, Some(hash)) => write!(to, "/h{hash}")?,
            (seed, Some(hash)) => write!(to, "/{seed}h{hash}")?,
        }
        let mut all = self.all().peekable();
        let mut before = ':';
        while let Some(decided) = all.next() {
            to.write_char(before)?;
            before = ',';
            decided.write(self.who, to)?;
            let mut times = 1_usize;
            while matches!(decided, Decided::Task(..)) && all.next_if_eq(&decided).is_some() {
                times += 1;
            }
            if times > 1 {
                write!(to, "x{times}")?;
            }
        }
        if before == ':' { to.write_char(':') } else { Ok(()) }
    }
}

/// Writes the name of a task: the ordinals of its ancestors and its own, or `main`.
pub(super) fn write_name(who: &dyn CrashView, task: TaskId, to: &mut dyn Write) -> fmt::Result {
    let ancestors = || std::iter::successors(who.origin(task), |&(parent, _)| who.origin(parent));
    let depth = ancestors().count();
    if depth == 0 {
        return to.write_str("main");
    }
    for level in (0..depth).rev() {
        let ordinal = ancestors().nth(level).map_or(0, |(_, ordinal)| ordinal);
        write!(to, "{ordinal}{}", if level == 0 { "" } else { "." })?;
    }
    Ok(())
}
