//! Another strategy, and somebody who looks at each of its executions.

use crate::estimate::{Branching, Estimate};
use crate::strategy::hapset::Lessons;
use crate::strategy::receive_order::Generated;
use crate::strategy::{Bound, Decision, Next, Run, Sharing, Strategy};
use crate::system::{Choice, Point};
use crate::trace::Trace;

/// Decides as another strategy does, and shows each execution to a watcher when the strategy has looked back at it.
///
/// Copies that the search makes for further workers are of the strategy alone: what they run is not watched.
pub struct Watched<W> {
    inner: Box<dyn Strategy>,
    watch: W,
}

impl<W: FnMut(&dyn Strategy, &Run<'_>) + Send> Watched<W> {
    /// `watch` is called once for each execution, also one that was given up.
    #[must_use]
    pub fn new(inner: Box<dyn Strategy>, watch: W) -> Self {
        Self { inner, watch }
    }
}

/// What a strategy [passes by](Strategy::pass_by) ends without anybody looking back at it, and the watcher is to see each execution with
/// all its steps: so nothing is passed by, and the same is counted in more time.
impl<W: FnMut(&dyn Strategy, &Run<'_>) + Send> Strategy for Watched<W> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn begin(&mut self, prefix: &mut Vec<Choice>) -> Next {
        self.inner.begin(prefix)
    }

    fn branch_off(&mut self, within: usize) -> Option<(usize, Choice)> {
        self.inner.branch_off(within)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.inner.choose(at, so_far)
    }

    fn end(&mut self, run: &Run<'_>) {
        self.inner.end(run);
        (self.watch)(&*self.inner, run);
    }

    fn sees_every_point(&self) -> bool {
        self.inner.sees_every_point()
    }

    fn walks_uniformly(&self) -> bool {
        self.inner.walks_uniformly()
    }

    fn probing(&self) -> bool {
        self.inner.probing()
    }

    fn continues(&self) -> bool {
        self.inner.continues()
    }

    fn comes_back(&self) -> Option<bool> {
        self.inner.comes_back()
    }

    fn branching(&self, branch: &mut Vec<Branching>) -> bool {
        self.inner.branching(branch)
    }

    fn tells_states_apart(&self) -> bool {
        self.inner.tells_states_apart()
    }

    fn arrive(&mut self, state: Option<u64>) -> bool {
        self.inner.arrive(state)
    }

    fn new_states(&self) -> u64 {
        self.inner.new_states()
    }

    fn estimate(&self) -> Option<Estimate> {
        self.inner.estimate()
    }

    fn wants_pending(&self) -> bool {
        self.inner.wants_pending()
    }

    fn bound_deviations(&mut self, most: u32) -> bool {
        self.inner.bound_deviations(most)
    }

    fn learn_first(&mut self, executions: u64, seed: u64) -> bool {
        self.inner.learn_first(executions, seed)
    }

    fn sharing(&mut self) -> Sharing<'_> {
        self.inner.sharing()
    }

    fn revisits(&self) -> bool {
        self.inner.revisits()
    }

    fn reduces(&self) -> bool {
        self.inner.reduces()
    }

    fn reverses_races(&self) -> bool {
        self.inner.reverses_races()
    }

    fn covered(&self, stage: u32) -> Option<Bound> {
        self.inner.covered(stage)
    }

    fn guarantee(&self, drawn: u64) -> Option<String> {
        self.inner.guarantee(drawn)
    }

    fn generated(&self) -> &[Generated] {
        self.inner.generated()
    }

    fn remark(&self) -> Option<String> {
        self.inner.remark()
    }

    fn account(&self) -> Vec<String> {
        self.inner.account()
    }

    fn lessons(&self) -> Option<Lessons> {
        self.inner.lessons()
    }

    fn study(&mut self, lessons: &Lessons) {
        self.inner.study(lessons);
    }
}
