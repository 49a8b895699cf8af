//! The tree of all executions, in the order of an explorer, and the probabilities of samples.

use super::*;

/// A point with the subtree of each alternative, in the order in which the explorer reaches them, each with its choice.
pub(super) struct Tree(Vec<(u32, Tree)>);

impl Tree {
    pub(super) fn of<E: DelayingExplorer + Clone>(program: &Program, explorer: &E) -> Self {
        let system = system::Program::start(&mut program.clone(), 0, &mut Trace::default());
        Self::from(&system, explorer.clone(), &[])
    }

    pub(super) fn from<S: System + Snapshots<S>, E: DelayingExplorer + Clone>(
        system: &S,
        mut explorer: E,
        ready: &[TaskId],
    ) -> Self {
        let tasks: Vec<TaskId> = match system.point() {
            Point::Actions(actions) => actions.iter().map(|action| action.task).collect(),
            _ => Vec::new(),
        };
        let mut once = tasks.clone();
        once.dedup();
        for task in once.iter().filter(|task| !ready.is_empty() && !ready.contains(task)) {
            explorer.step(&Event::Woken(*task));
        }
        let ready = if tasks.is_empty() { ready } else { &once };
        let mut branches: Vec<(u32, Self)> = Vec::new();
        for rank in 0..system.point().alternatives() {
            let choice = if tasks.is_empty() {
                rank
            } else {
                loop {
                    let task = if tasks.len() > 1 { explorer.next(&once) } else { tasks[0] };
                    let new = |at: &u32| tasks[*at as usize] == task && branches.iter().all(|branch| branch.0 != *at);
                    if let Some(at) = (0..tasks.len() as u32).find(new) {
                        break at;
                    }
                    explorer.delay();
                }
            };
            let mut trace = Trace::default();
            let mut next = system.fork();
            next.advance(Choice(choice), &mut trace);
            let mut told = explorer.clone();
            let steps = trace.steps().iter().filter(|step| step.alternatives > 0);
            steps.for_each(|step| told.step(&Event::Stepped(step.task)));
            branches.push((choice, Self::from(&next, told, ready)));
            if !tasks.is_empty() {
                explorer.delay();
            }
        }
        Self(branches)
    }

    /// All executions, by the ranks of the alternatives taken.
    pub(super) fn executions(&self) -> Vec<Vec<usize>> {
        if self.0.is_empty() {
            return vec![Vec::new()];
        }
        let below = |(rank, branch): (usize, &(u32, Self))| {
            let ways = branch.1.executions().into_iter();
            ways.map(move |way| [vec![rank], way].concat()).collect::<Vec<_>>()
        };
        self.0.iter().enumerate().flat_map(below).collect()
    }

    /// The choices of a sequence of ranks, from the root on.
    pub(super) fn choices(&self, ranks: &[usize]) -> Vec<u32> {
        let Some((rank, rest)) = ranks.split_first() else { return Vec::new() };
        let (choice, next) = &self.0[*rank];
        [vec![*choice], next.choices(rest)].concat()
    }

    pub(super) fn at(&self, ranks: &[usize]) -> &Self {
        ranks.iter().fold(self, |tree, rank| &tree.0[*rank].1)
    }

    /// The number of points with a further alternative, from the point that these ranks lead to, if `rank` is taken there and nothing is
    /// delayed after it.
    pub(super) fn open_from(&self, ranks: &[usize], rank: usize) -> usize {
        let (mut tree, mut rank, mut open) = (self.at(ranks), rank, 0);
        while !tree.0.is_empty() {
            open += usize::from(rank + 1 < tree.0.len());
            tree = &tree.0[rank].1;
            rank = 0;
        }
        open
    }

    /// The probability that one sample with as many delays as this execution has is this execution.
    pub(super) fn probability(&self, execution: &[usize]) -> f64 {
        let (mut probability, mut latest) = (1.0, (0, 0));
        for (depth, delays) in execution.iter().enumerate() {
            for rank in 0..*delays {
                let (from, done) = latest;
                probability /= self.open_from(&execution[..from], done) as f64;
                latest = (depth, rank + 1);
            }
        }
        probability
    }

    /// The number of points with more than one alternative.
    pub(super) fn length(&self, execution: &[usize]) -> usize {
        (0..execution.len()).filter(|&depth| self.at(&execution[..depth]).0.len() > 1).count()
    }
}
