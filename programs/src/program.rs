//! What a table of programs on threads is made of, and how such a program begins.

use raddle::sync::atomic::{AtomicU32, Ordering::Relaxed};
use raddle::thread;

/// A program on threads: right, or with one bug.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// What the literature calls it; the same with `_ok` if its bug is mended.
    pub label: &'static str,
    /// How its bug shows, in the words of [`Failure::kind`](raddle::Failure::kind); `None` if nothing is wrong with it.
    pub failure: Option<&'static str>,
    /// The body of an execution.
    pub run: fn(),
    /// The same with more or fewer threads, where that makes sense.
    pub sized: Option<Family>,
}

/// A program for several numbers of threads.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// With how few it makes sense.
    pub least: u32,
    /// With how many it is usually tried at most.
    pub most: u32,
    /// The body of an execution with so many.
    pub run: fn(u32),
}

impl Program {
    /// One that can fail so.
    pub(crate) const fn bug(label: &'static str, failure: &'static str, run: fn()) -> Self {
        Self { label, failure: Some(failure), run, sized: None }
    }

    /// One that cannot fail.
    pub(crate) const fn correct(label: &'static str, run: fn()) -> Self {
        Self { label, failure: None, run, sized: None }
    }

    /// Any number of threads from `least` on, usually up to `most`.
    pub(crate) const fn sized(self, least: u32, most: u32, run: fn(u32)) -> Self {
        Self { sized: Some(Family { least, most, run }), ..self }
    }
}

/// Starts a thread for each of `roles` before any of them does anything, and waits for all.
pub(crate) fn together<T: Sync>(shared: &T, roles: &[fn(&T)]) {
    thread::scope(|scope| {
        for role in roles {
            scope.spawn(move || role(shared));
        }
    });
}

/// Starts a thread for each of `roles`, one after the other, and waits for all. Starting one is a step: while the later ones are still
/// to come, the earlier ones may be done.
pub(crate) fn one_by_one<T: Sync>(shared: &T, roles: &[fn(&T)]) {
    let started = AtomicU32::new(0);
    thread::scope(|scope| {
        for role in roles {
            scope.spawn(move || role(shared));
            started.fetch_add(1, Relaxed);
        }
    });
}
