//! A wrapper that shows each execution of another strategy to a callback.

use raddle_engine::strategy::{
    After, Capabilities, Decision, Memory, Needs, Next, Run, Sharing, Start, StateSearch, Strategy, Summarize,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

/// Decides as the inner strategy does. Calls a callback with each execution, after the inner strategy has processed it.
///
/// The search copies the strategy for further workers. These copies are copies of the inner strategy, so their executions are not watched.
pub struct Watched<W> {
    inner: Box<dyn Strategy>,
    watch: W,
}

impl<W: FnMut(&mut dyn Strategy, &Run<'_>) + Send> Watched<W> {
    /// The search calls `watch` once for each execution, also for a pruned one.
    #[must_use]
    pub fn new(inner: Box<dyn Strategy>, watch: W) -> Self {
        Self { inner, watch }
    }
}

impl<W: FnMut(&mut dyn Strategy, &Run<'_>) + Send> Strategy for Watched<W> {
    fn needs(&self) -> Needs {
        self.inner.needs()
    }

    /// Requests recording of the steps, because the callback must see them.
    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        match self.inner.begin(prefix) {
            Next::Run(start) => Next::Run(Start { steps: true, ..start }),
            done => done,
        }
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.inner.choose(at, so_far)
    }

    fn end(&mut self, run: &Run<'_>) -> After {
        let after = self.inner.end(run);
        (self.watch)(&mut *self.inner, run);
        after
    }

    fn capabilities(&mut self) -> Option<&mut dyn Capabilities> {
        Some(self)
    }
}

impl<W: FnMut(&mut dyn Strategy, &Run<'_>) + Send> Capabilities for Watched<W> {
    fn states(&mut self) -> Option<&mut dyn StateSearch> {
        self.inner.states()?;
        Some(self)
    }

    fn sharing(&mut self) -> Sharing<'_> {
        self.inner.sharing()
    }

    fn summary(&mut self) -> Option<&dyn Summarize> {
        self.inner.summary()
    }

    fn memory(&mut self) -> Option<&mut dyn Memory> {
        self.inner.memory()
    }
}

/// The search would skip siblings by [`next_sibling`](StateSearch::next_sibling) without calling `end`, but the callback must see each
/// execution with all its steps. So this wrapper does not implement `next_sibling`: the counts are the same, the search is slower.
impl<W: FnMut(&mut dyn Strategy, &Run<'_>) + Send> StateSearch for Watched<W> {
    fn visit_state(&mut self, state: Option<u64>) -> bool {
        self.inner.states().is_none_or(|states| states.visit_state(state))
    }

    fn new_states(&mut self) -> u64 {
        self.inner.states().map_or(0, |states| states.new_states())
    }
}
