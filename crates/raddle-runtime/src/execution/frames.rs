//! The calls that led to an operation: its calling context.
//!
//! We walk the frames on the task's own stack, from the operation outwards to the start of its job. This happens only if a strategy asks
//! for contexts, since a walk costs as much as many steps. Each return address is resolved once, to the calls in the user's code at that
//! address. Inlined functions count as calls; frames of Raddle and of the standard library do not. An address has a meaning in one process
//! only, so a context has files, lines and columns, or offsets in functions if there is no debug information.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use backtrace::Symbol;
use raddle_engine::ids::TaskId;
use raddle_engine::trace::Context;

use crate::coroutine::RunningFiber;

/// The contexts of the operations that tasks ask for, and caches to find them quickly.
pub(crate) struct Contexts {
    /// How many calls a context has: that of the operation itself, and its callers.
    wanted: usize,
    /// By return address: the calls in the user's code there, the innermost first. Several if some are inlined; none if the address is not
    /// in the user's code.
    by_address: HashMap<usize, Vec<String>>,
    /// By the return addresses in the user's code.
    by_path: HashMap<Vec<usize>, &'static Context>,
    /// By task: the context of the operation that it asks for.
    of_tasks: Vec<Option<&'static Context>>,
    /// The return addresses of the latest walk.
    path: Vec<usize>,
}

/// All contexts of the process. They are never freed, so all workers share one of each.
static INTERNED: Mutex<BTreeSet<&'static Context>> = Mutex::new(BTreeSet::new());

/// At most so many frames are walked.
const MOST_FRAMES: usize = 1_000;

impl Contexts {
    /// For contexts of so many callers beside the call of the operation itself.
    pub(crate) fn new(callers: usize) -> Self {
        Self {
            wanted: callers.saturating_add(1),
            by_address: HashMap::new(),
            by_path: HashMap::new(),
            of_tasks: Vec::new(),
            path: Vec::new(),
        }
    }

    /// Called when an execution begins.
    pub(super) fn begin(&mut self) {
        self.of_tasks.clear();
    }

    /// The context of the operation that `task` asks for.
    pub(super) fn of(&self, task: TaskId) -> Option<&'static Context> {
        self.of_tasks.get(task.index()).copied().flatten()
    }

    /// Takes the context of the operation that `task` asks for, to record it with the step.
    pub(super) fn take_of(&mut self, task: TaskId) -> Option<&'static Context> {
        self.of_tasks.get_mut(task.index()).and_then(Option::take)
    }

    /// Finds the context of the operation that `task`, which is running, is about to ask for.
    #[cold]
    #[inline(never)]
    pub(super) fn find(&mut self, task: TaskId, fiber: &RunningFiber) {
        self.walk(fiber);
        let context = match self.by_path.get(&self.path) {
            Some(context) => context,
            None => self.resolve_path(fiber),
        };
        if self.of_tasks.len() <= task.index() {
            self.of_tasks.resize(task.index() + 1, None);
        }
        self.of_tasks[task.index()] = Some(context);
    }

    /// Walks the frames outwards until there are enough calls. Addresses that are not resolved yet are part of the path.
    fn walk(&mut self, fiber: &RunningFiber) {
        // Frames below this address belong to the walk itself.
        let here = 0_u8;
        let (inside, outside) = ((&raw const here).addr(), fiber.jobs_below());
        let Self { wanted, by_address, path, .. } = self;
        path.clear();
        let (mut calls, mut frames) = (0, 0);
        backtrace::trace(|frame| {
            let at = frame.sp().addr();
            if at < inside || at >= outside {
                return at < inside;
            }
            let address = frame.ip().addr();
            let known = by_address.get(&address).map(Vec::len);
            if known != Some(0) {
                path.push(address);
            }
            calls += known.unwrap_or(0);
            frames += 1;
            calls < *wanted && frames < MOST_FRAMES
        });
    }

    /// Shortens the path to what the walk would have found if all addresses had been resolved before.
    fn shorten(&mut self) {
        let Self { wanted, by_address, path, .. } = self;
        let mut calls = 0;
        path.retain(|address| {
            let (before, here) = (calls, by_address[address].len());
            calls += here;
            here > 0 && before < *wanted
        });
    }

    /// The context of a path that was not walked before, or that has addresses which are not resolved yet.
    #[cold]
    fn resolve_path(&mut self, fiber: &RunningFiber) -> &'static Context {
        let unknown: Vec<usize> = self.path.iter().copied().filter(|at| !self.by_address.contains_key(at)).collect();
        if !unknown.is_empty() {
            let found = fiber.on_large_stack(|| unknown.iter().map(|&at| (at, calls_at(at))).collect::<Vec<_>>());
            self.by_address.extend(found);
            self.shorten();
        }
        let Self { wanted, by_address, by_path, path, .. } = self;
        by_path.entry(path.clone()).or_insert_with(|| {
            let calls = path.iter().flat_map(|at| &by_address[at]).take(*wanted).cloned().collect();
            fiber.on_large_stack(|| interned(Context { calls }))
        })
    }
}

/// The one context of the process with these calls.
fn interned(context: Context) -> &'static Context {
    let mut interned = INTERNED.lock().unwrap_or_else(PoisonError::into_inner);
    match interned.get(&context) {
        Some(known) => known,
        None => {
            let context: &'static Context = Box::leak(Box::new(context));
            interned.insert(context);
            context
        }
    }
}

/// The calls in the user's code at a return address, the innermost first.
fn calls_at(address: usize) -> Vec<String> {
    let mut calls = Vec::new();
    backtrace::resolve(std::ptr::without_provenance_mut(address), |symbol| calls.extend(call_site(symbol, address)));
    calls
}

/// Where a call in the user's code is that returns to `address`; `None` if the call is not in the user's code.
fn call_site(symbol: &Symbol, address: usize) -> Option<String> {
    let file = symbol.filename().and_then(|file| file.to_str());
    if let (Some(file), Some(line)) = (file, symbol.lineno()) {
        let column = symbol.colno().map(|column| format!(":{column}")).unwrap_or_default();
        return is_users_file(file).then(|| format!("{file}:{line}{column}"));
    }
    // The alternate format leaves out the hash at the end of the name, which differs from build to build. The offset stands for the line.
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
    fn user_code_is_told_from_ours() {
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
    fn equal_contexts_are_interned_once() {
        let context = || Context { calls: vec!["a".to_owned(), "b".to_owned()] };
        assert!(std::ptr::eq(interned(context()), interned(context())));
        assert!(!std::ptr::eq(interned(context()), interned(Context { calls: vec!["a".to_owned()] })));
    }
}
