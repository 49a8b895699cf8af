//! Another strategy, and somebody who looks at each of its executions.

use raddle_engine::strategy::{
    After, Capabilities, Decision, Memory, Needs, Next, Run, Sharing, Start, StateSearch, Strategy, Summarize,
};
use raddle_engine::system::{Choice, Point};
use raddle_engine::trace::Trace;

/// Decides as another strategy does, and shows each execution to a watcher when the strategy has looked back at it.
///
/// Copies that the search makes for further workers are of the strategy alone: what they run is not watched.
pub struct Watched<W> {
    inner: Box<dyn Strategy>,
    watch: W,
}

impl<W: FnMut(&mut dyn Strategy, &Run<'_>) + Send> Watched<W> {
    /// `watch` is called once for each execution, also for one that was pruned.
    #[must_use]
    pub fn new(inner: Box<dyn Strategy>, watch: W) -> Self {
        Self { inner, watch }
    }
}

impl<W: FnMut(&mut dyn Strategy, &Run<'_>) + Send> Strategy for Watched<W> {
    fn needs(&self) -> Needs {
        self.inner.needs()
    }

    /// The watcher is to see the steps.
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

/// What a strategy skips by [`next_sibling`](StateSearch::next_sibling) ends without anybody looking back at it, and the watcher is to see
/// each execution with all its steps. So nothing is skipped, and the same is counted in more time.
impl<W: FnMut(&mut dyn Strategy, &Run<'_>) + Send> StateSearch for Watched<W> {
    fn visit_state(&mut self, state: Option<u64>) -> bool {
        self.inner.states().is_none_or(|states| states.visit_state(state))
    }

    fn new_states(&mut self) -> u64 {
        self.inner.states().map_or(0, |states| states.new_states())
    }
}
