//! Who computes.

use std::collections::BTreeMap;

use raddle::actor::{Actor, Address, Context, ReplyTo};

use super::{Config, Edge, ToAggregator, ToCoordinator, Vertex};

/// How many signals a worker has exchanged with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// To others.
    pub sent: u32,
    /// From others.
    pub received: u32,
}

/// The messages to a worker.
#[derive(Debug)]
pub enum ToWorker {
    /// From a loader: an edge of the graph.
    Add(Edge),
    /// From a loader: is all there that was sent before?
    Arrived(ReplyTo<()>),
    /// The graph is complete, and these are all the workers.
    Begin(Vec<Address<ToWorker>>),
    /// A vertex can be reached by a way of this length.
    Signal(Vertex, u32),
    /// Let vertices collect what was signalled to them.
    Operate,
    /// From the coordinator: is there something to do? Asked for the so-manieth time.
    Confirm(u32),
    /// The computation is over.
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Loading,
    Computing,
    Stopped,
}

/// Owns some of the vertices.
#[derive(Debug)]
pub struct Worker {
    number: u32,
    coordinator: Address<ToCoordinator>,
    aggregator: Address<ToAggregator>,
    config: Config,
    peers: Vec<Address<ToWorker>>,
    stage: Stage,
    edges: Vec<Edge>,
    distances: BTreeMap<Vertex, u32>,
    /// What was signalled and not yet collected.
    signals: BTreeMap<Vertex, u32>,
    counts: Counts,
}

type Ctx<'a, 'b> = &'a mut Context<'b, ToWorker>;

impl Worker {
    /// One that owns every so-manieth vertex.
    #[must_use]
    pub fn new(
        number: u32,
        coordinator: Address<ToCoordinator>,
        aggregator: Address<ToAggregator>,
        config: Config,
    ) -> Self {
        Self {
            number,
            coordinator,
            aggregator,
            config,
            peers: Vec::new(),
            stage: Stage::Loading,
            edges: Vec::new(),
            distances: BTreeMap::new(),
            signals: BTreeMap::new(),
            counts: Counts::default(),
        }
    }

    fn begin(&mut self, peers: Vec<Address<ToWorker>>, ctx: Ctx<'_, '_>) {
        self.stage = Stage::Computing;
        self.peers = peers;
        if self.config.owner(Vertex(0)) == self.number as usize {
            self.signals.insert(Vertex(0), 0);
        }
        // Others may have begun before, and signalled.
        if self.signals.is_empty() {
            self.say_idle(ctx);
        } else {
            let me = ctx.me();
            ctx.send(&me, ToWorker::Operate);
        }
    }

    fn note(&mut self, vertex: Vertex, distance: u32, ctx: Ctx<'_, '_>) {
        assert!(self.stage != Stage::Stopped, "a signal to {vertex:?} after the end");
        if self.signals.is_empty() && self.stage == Stage::Computing {
            let me = ctx.me();
            ctx.send(&me, ToWorker::Operate);
        }
        let best = self.signals.entry(vertex).or_insert(distance);
        *best = distance.min(*best);
    }

    fn operate(&mut self, ctx: Ctx<'_, '_>) {
        while let Some((vertex, distance)) = self.signals.pop_first() {
            if self.distances.get(&vertex).is_some_and(|known| *known <= distance) {
                continue;
            }
            self.distances.insert(vertex, distance);
            for edge in self.edges.iter().filter(|edge| edge.from == vertex) {
                let owner = self.config.owner(edge.to);
                if owner == self.number as usize {
                    let best = self.signals.entry(edge.to).or_insert(u32::MAX);
                    *best = (distance + edge.length).min(*best);
                } else {
                    self.counts.sent += 1;
                    ctx.send(&self.peers[owner], ToWorker::Signal(edge.to, distance + edge.length));
                }
            }
        }
        self.say_idle(ctx);
    }

    fn say_idle(&self, ctx: Ctx<'_, '_>) {
        ctx.send(&self.coordinator, ToCoordinator::Idle { worker: self.number, counts: self.counts });
    }

    fn stop(&mut self, ctx: Ctx<'_, '_>) {
        assert!(self.signals.is_empty(), "worker {} is stopped while it has something to do", self.number);
        self.stage = Stage::Stopped;
        ctx.send(&self.aggregator, ToAggregator::Part(self.distances.values().sum()));
        ctx.send(&self.coordinator, ToCoordinator::Stopped);
    }
}

impl Actor for Worker {
    type Msg = ToWorker;

    fn handle(&mut self, msg: ToWorker, ctx: &mut Context<'_, ToWorker>) {
        match msg {
            ToWorker::Add(edge) => {
                assert!(self.stage == Stage::Loading, "{edge:?} comes too late");
                self.edges.push(edge);
            }
            ToWorker::Arrived(reply) => reply.reply(()),
            ToWorker::Begin(peers) => self.begin(peers, ctx),
            ToWorker::Signal(vertex, distance) => {
                self.counts.received += 1;
                self.note(vertex, distance, ctx);
            }
            ToWorker::Operate => self.operate(ctx),
            ToWorker::Confirm(round) => {
                let counts = self.signals.is_empty().then_some(self.counts);
                ctx.send(&self.coordinator, ToCoordinator::Confirmed { round, worker: self.number, counts });
            }
            ToWorker::Stop => self.stop(ctx),
        }
    }

    fn label(msg: &ToWorker) -> &'static str {
        match msg {
            ToWorker::Add(_) => "Add",
            ToWorker::Arrived(_) => "Arrived",
            ToWorker::Begin(_) => "Begin",
            ToWorker::Signal(..) => "Signal",
            ToWorker::Operate => "Operate",
            ToWorker::Confirm(_) => "Confirm",
            ToWorker::Stop => "Stop",
        }
    }
}
