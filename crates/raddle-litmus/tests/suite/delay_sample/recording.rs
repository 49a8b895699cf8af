//! A program that records what a search runs.

use super::*;

/// A program that records the choices of every complete execution.
#[derive(Clone)]
pub(crate) struct Recording {
    program: Program,
    ends: Arc<Mutex<Vec<Vec<u32>>>>,
    states: Arc<Mutex<BTreeSet<u64>>>,
}

pub(crate) struct Noting<S> {
    states: Arc<Mutex<BTreeSet<u64>>>,
    system: S,
    choices: Vec<u32>,
    ends: Arc<Mutex<Vec<Vec<u32>>>>,
}

impl Recording {
    pub(crate) fn new(program: &Program) -> Self {
        Self { program: program.clone(), ends: Arc::default(), states: Arc::default() }
    }

    /// The states that the search has visited.
    pub(crate) fn states(&self) -> BTreeSet<u64> {
        self.states.lock().unwrap().clone()
    }

    pub(super) fn ends(&self) -> Vec<Vec<u32>> {
        self.ends.lock().unwrap().clone()
    }
}

impl system::Program for Recording {
    type System = Noting<<Program as system::Program>::System>;

    fn start(&mut self, seed: u64, trace: &mut Trace) -> Self::System {
        let system = self.program.start(seed, trace);
        Noting { system, choices: Vec::new(), ends: Arc::clone(&self.ends), states: Arc::clone(&self.states) }
    }
}

impl<S: System + Snapshots<S>> System for Noting<S> {
    fn point(&self) -> Point<'_> {
        self.system.point()
    }

    fn step(&mut self, choice: Choice, trace: &mut Trace) {
        self.choices.push(choice.0);
        self.system.advance(choice, trace);
        if matches!(self.system.point(), Point::End(_)) {
            self.ends.lock().unwrap().push(self.choices.clone());
        }
    }

    fn describe(&self) -> &dyn Describe {
        self.system.describe()
    }

    fn snapshots(&mut self) -> Option<&mut dyn Snapshots<Self>> {
        Some(self)
    }
}

impl<S: System + Snapshots<S>> Snapshots<Self> for Noting<S> {
    fn fingerprint(&self) -> Option<u64> {
        let state = self.system.fingerprint();
        self.states.lock().unwrap().extend(state);
        state
    }

    fn fork(&self) -> Self {
        let (ends, states) = (Arc::clone(&self.ends), Arc::clone(&self.states));
        Self { system: self.system.fork(), choices: self.choices.clone(), ends, states }
    }
}
