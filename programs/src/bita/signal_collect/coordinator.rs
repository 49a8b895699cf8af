//! Who finds out that a computation is over (the four counters of Mattern, 1987: two looks at what was sent and what was received).

use std::collections::BTreeMap;

use raddle::actor::{Actor, Address, Context};

use super::{Bug, Config, Counts, ToAggregator, ToWorker};

/// The messages to the coordinator.
#[derive(Clone, Debug)]
pub enum ToCoordinator {
    /// These are the workers.
    Workers(Vec<Address<ToWorker>>),
    /// A loader has read all of its edges.
    Loaded,
    /// A worker has nothing to do.
    Idle {
        /// Which.
        worker: u32,
        /// What it has done so far.
        counts: Counts,
    },
    /// A worker was asked once more.
    Confirmed {
        /// For the so-manieth time.
        round: u32,
        /// Which.
        worker: u32,
        /// What it has done so far; `None` if it has something to do.
        counts: Option<Counts>,
    },
    /// A worker has stopped.
    Stopped,
    /// What the workers found.
    Sum(u32),
}

#[derive(Debug)]
enum Stage {
    /// So many loaders are done.
    Loading(u32),
    Computing,
    /// All were asked again, and so many have said the same.
    Confirming(u32),
    /// So many have stopped.
    Stopping(u32),
}

/// Watches over the computation.
#[derive(Debug)]
pub struct Coordinator {
    aggregator: Address<ToAggregator>,
    config: Config,
    workers: Vec<Address<ToWorker>>,
    stage: Stage,
    /// What each worker said last when it had nothing to do.
    idle: BTreeMap<u32, Counts>,
    /// The same, when all were asked again.
    asked: BTreeMap<u32, Counts>,
    round: u32,
    /// Something has changed since all were asked again.
    changed: bool,
    /// What came of the computation.
    pub sum: Option<u32>,
}

type Ctx<'a, 'b> = &'a mut Context<'b, ToCoordinator>;

impl Coordinator {
    /// One that waits for the graph to be loaded.
    #[must_use]
    pub fn new(aggregator: Address<ToAggregator>, config: Config) -> Self {
        Self {
            aggregator,
            config,
            workers: Vec::new(),
            stage: Stage::Loading(0),
            idle: BTreeMap::new(),
            asked: BTreeMap::new(),
            round: 0,
            changed: false,
            sum: None,
        }
    }

    fn tell_all(&self, ctx: Ctx<'_, '_>, msg: impl Fn() -> ToWorker) {
        self.workers.iter().for_each(|worker| ctx.send(worker, msg()));
    }

    fn loaded(&mut self, ctx: Ctx<'_, '_>) {
        let Stage::Loading(loaders) = &mut self.stage else { panic!("a loader is done twice") };
        *loaders += 1;
        self.begin_if_complete(ctx);
    }

    fn begin_if_complete(&mut self, ctx: Ctx<'_, '_>) {
        if matches!(self.stage, Stage::Loading(loaders) if loaders == self.config.loaders) && !self.workers.is_empty() {
            self.stage = Stage::Computing;
            self.tell_all(ctx, || ToWorker::Begin(self.workers.clone()));
        }
    }

    /// All workers were idle when they last said something, and nothing was on its way, if they said so at the same time.
    fn looks_over(&self) -> bool {
        let sent: u32 = self.idle.values().map(|counts| counts.sent).sum();
        let received: u32 = self.idle.values().map(|counts| counts.received).sum();
        self.idle.len() == self.workers.len() && sent == received
    }

    fn look(&mut self, ctx: Ctx<'_, '_>) {
        if !self.looks_over() {
            return;
        }
        if self.config.has(Bug::OneWave) {
            return self.stop(ctx);
        }
        self.round += 1;
        self.changed = false;
        self.asked = self.idle.clone();
        self.stage = Stage::Confirming(0);
        let round = self.round;
        self.tell_all(ctx, || ToWorker::Confirm(round));
    }

    fn confirmed(&mut self, round: u32, worker: u32, counts: Option<Counts>, ctx: Ctx<'_, '_>) {
        let Stage::Confirming(same) = &mut self.stage else { return };
        if round != self.round {
            return;
        }
        if counts.is_none() || counts != self.asked.get(&worker).copied() {
            // It says so when it is idle again, or has done so already.
            self.stage = Stage::Computing;
            if self.changed {
                self.look(ctx);
            }
            return;
        }
        *same += 1;
        if *same as usize == self.workers.len() {
            self.stop(ctx);
        }
    }

    fn stop(&mut self, ctx: Ctx<'_, '_>) {
        self.stage = Stage::Stopping(0);
        self.tell_all(ctx, || ToWorker::Stop);
    }

    fn stopped(&mut self, ctx: Ctx<'_, '_>) {
        let Stage::Stopping(stopped) = &mut self.stage else { panic!("nobody was told to stop") };
        *stopped += 1;
        if *stopped as usize == self.workers.len() {
            let me = ctx.me();
            ctx.send(&self.aggregator, ToAggregator::Sum(me));
        }
    }
}

impl Actor for Coordinator {
    type Msg = ToCoordinator;

    fn handle(&mut self, msg: ToCoordinator, ctx: &mut Context<'_, ToCoordinator>) {
        match msg {
            ToCoordinator::Workers(workers) => {
                self.workers = workers;
                self.begin_if_complete(ctx);
            }
            ToCoordinator::Loaded => self.loaded(ctx),
            ToCoordinator::Idle { worker, counts } => {
                self.idle.insert(worker, counts);
                self.changed = true;
                if let Stage::Computing = self.stage {
                    self.look(ctx);
                }
            }
            ToCoordinator::Confirmed { round, worker, counts } => self.confirmed(round, worker, counts, ctx),
            ToCoordinator::Stopped => self.stopped(ctx),
            ToCoordinator::Sum(sum) => self.sum = Some(sum),
        }
    }

    fn label(msg: &ToCoordinator) -> &'static str {
        match msg {
            ToCoordinator::Workers(_) => "Workers",
            ToCoordinator::Loaded => "Loaded",
            ToCoordinator::Idle { .. } => "Idle",
            ToCoordinator::Confirmed { .. } => "Confirmed",
            ToCoordinator::Stopped => "Stopped",
            ToCoordinator::Sum(_) => "Sum",
        }
    }
}
