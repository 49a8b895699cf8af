//! The calls that led to an operation.
//!
//! A task's frames are walked on its own stack, from the operation outwards, as far as its job goes; only when asked, since each walk
//! costs as much as many steps. What a return address stands for is looked up once: whose code it is, and where. So frames of
//! Raddle's own and of the standard library are left out, and functions that were inlined are there. An address means something in one
//! process only; what others see are files, lines and columns, or places in functions where there is no debug information.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use backtrace::Symbol;
use raddle_engine::ids::TaskId;
use raddle_engine::trace::Context;

use crate::coroutine::Lane;

/// What is known of calls.
pub(crate) struct Contexts {
    /// How many are wanted: that of the operation itself, and those that led to it.
    wanted: usize,
    /// By return address: the calls of the user's there, the innermost first. Several if some are inlined; none if it is not the
    /// user's code.
    by_address: HashMap<usize, Vec<String>>,
    /// By the addresses of the user's code on the way.
    by_way: HashMap<Vec<usize>, &'static Context>,
    /// By task: of what it asks for.
    of_tasks: Vec<Option<&'static Context>>,
    /// That of the walk which was made last.
    way: Vec<usize>,
}

/// All contexts of the process: they stay for ever, so each is made once, however many workers there are.
static MADE: Mutex<BTreeSet<&'static Context>> = Mutex::new(BTreeSet::new());

/// Frames that are walked if they lead nowhere.
const MOST_FRAMES: usize = 1_000;

impl Contexts {
    /// For as many calls beside that of the operation itself.
    pub(crate) fn new(callers: usize) -> Self {
        Self {
            wanted: callers.saturating_add(1),
            by_address: HashMap::new(),
            by_way: HashMap::new(),
            of_tasks: Vec::new(),
            way: Vec::new(),
        }
    }

    /// Another execution begins, in which nobody asks for anything yet.
    pub(super) fn begin(&mut self) {
        self.of_tasks.clear();
    }

    /// Of what a task asks for.
    pub(super) fn of(&self, task: TaskId) -> Option<&'static Context> {
        self.of_tasks.get(task.index()).copied().flatten()
    }

    /// The same, for the step that it becomes.
    pub(super) fn use_up(&mut self, task: TaskId) -> Option<&'static Context> {
        self.of_tasks.get_mut(task.index()).and_then(Option::take)
    }

    /// Finds out how `task`, which is running and is about to ask for something, came to that.
    #[cold]
    #[inline(never)]
    pub(super) fn take(&mut self, task: TaskId, lane: &Lane) {
        self.walk(lane);
        let context = match self.by_way.get(&self.way) {
            Some(context) => context,
            None => self.first_time(lane),
        };
        if self.of_tasks.len() <= task.index() {
            self.of_tasks.resize(task.index() + 1, None);
        }
        self.of_tasks[task.index()] = Some(context);
    }

    /// Walks outwards until there are enough calls. Addresses that are not known yet are part of the way.
    fn walk(&mut self, lane: &Lane) {
        // What lies below is what walks.
        let here = 0_u8;
        let (inside, outside) = ((&raw const here).addr(), lane.jobs_below());
        let Self { wanted, by_address, way, .. } = self;
        way.clear();
        let (mut calls, mut frames) = (0, 0);
        backtrace::trace(|frame| {
            let at = frame.sp().addr();
            if at < inside || at >= outside {
                return at < inside;
            }
            let address = frame.ip().addr();
            let known = by_address.get(&address).map(Vec::len);
            if known != Some(0) {
                way.push(address);
            }
            calls += known.unwrap_or(0);
            frames += 1;
            calls < *wanted && frames < MOST_FRAMES
        });
    }

    /// Leaves the way as it would have been walked if all its addresses had been known.
    fn shorten(&mut self) {
        let Self { wanted, by_address, way, .. } = self;
        let mut calls = 0;
        way.retain(|address| {
            let (before, here) = (calls, by_address[address].len());
            calls += here;
            here > 0 && before < *wanted
        });
    }

    /// A way that was not walked before, or whose addresses were not all known.
    #[cold]
    fn first_time(&mut self, lane: &Lane) -> &'static Context {
        let unknown: Vec<usize> = self.way.iter().copied().filter(|at| !self.by_address.contains_key(at)).collect();
        if !unknown.is_empty() {
            let found = lane.on_large_stack(|| unknown.iter().map(|&at| (at, calls_at(at))).collect::<Vec<_>>());
            self.by_address.extend(found);
            self.shorten();
        }
        let Self { wanted, by_address, by_way, way, .. } = self;
        by_way.entry(way.clone()).or_insert_with(|| {
            let calls = way.iter().flat_map(|at| &by_address[at]).take(*wanted).cloned().collect();
            lane.on_large_stack(|| made(Context { calls }))
        })
    }
}

/// The one context with these calls.
fn made(context: Context) -> &'static Context {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    match made.get(&context) {
        Some(known) => known,
        None => {
            let context: &'static Context = Box::leak(Box::new(context));
            made.insert(context);
            context
        }
    }
}

/// The user's calls at a return address, the innermost first.
fn calls_at(address: usize) -> Vec<String> {
    let mut calls = Vec::new();
    backtrace::resolve(std::ptr::without_provenance_mut(address), |symbol| calls.extend(words(symbol, address)));
    calls
}

/// Where a call of the user's is that returns to `address`; `None` if it is not the user's.
fn words(symbol: &Symbol, address: usize) -> Option<String> {
    let file = symbol.filename().and_then(|file| file.to_str());
    if let (Some(file), Some(line)) = (file, symbol.lineno()) {
        let column = symbol.colno().map(|column| format!(":{column}")).unwrap_or_default();
        return is_users_file(file).then(|| format!("{file}:{line}{column}"));
    }
    // Without the hash behind the name, which differs from build to build; how far into the function stands for the line.
    let name = format!("{:#}", symbol.name()?);
    let offset = address.saturating_sub(symbol.addr()?.addr());
    is_users_function(&name).then(|| format!("{name}+{offset:#x}"))
}

fn is_users_file(file: &str) -> bool {
    let own = file!().trim_end_matches("execution/frames.rs");
    !(file.contains(own) || file.starts_with("/rustc/") || file.contains("/rustlib/src/rust/"))
}

fn is_users_function(name: &str) -> bool {
    let path = name.trim_start_matches(['<', '&', '*', '(', '[']).trim_start_matches("dyn ");
    let crates = ["raddle_runtime::", "std::", "core::", "alloc::", "__rust", "corosensei::"];
    path.contains("::") && !crates.iter().any(|name| path.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_code_it_is() {
        assert!(!is_users_file(concat!("/somewhere/", file!())));
        assert!(!is_users_file("/rustc/0123abc/library/core/src/ops/function.rs"));
        assert!(is_users_file("/home/user/pool/src/execution/frames.rs"));
        let ours =
            ["raddle_runtime::sync::mutex::Mutex<T>::lock", "<alloc::boxed::Box<F> as FnOnce>::call_once", "_start"];
        assert!(ours.iter().all(|name| !is_users_function(name)));
        assert!(
            ["pool::Pool::take", "<pool::Pool as core::ops::drop::Drop>::drop"]
                .iter()
                .all(|name| is_users_function(name))
        );
    }

    #[test]
    fn a_context_is_made_once() {
        let context = || Context { calls: vec!["a".to_owned(), "b".to_owned()] };
        assert!(std::ptr::eq(made(context()), made(context())));
        assert!(!std::ptr::eq(made(context()), made(Context { calls: vec!["a".to_owned()] })));
    }
}
