//! What the actors of chain replication tell each other.

use raddle::actor::Address;

/// A place in the history of updates, from 0.
pub type Place = usize;

/// An update, known by who wants it and how many it had before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    /// Who wants it, and is told when it is done.
    pub client: Address<ToClient>,
    /// Which of the client's operations it is.
    pub operation: u32,
}

/// The messages to a node.
#[derive(Clone, Debug, Hash)]
pub enum ToNode {
    /// From the master: the first place of a node in the chain.
    Configure {
        /// The master.
        master: Address<ToMaster>,
        /// Who comes before; nobody if the node is the head.
        predecessor: Option<Address<ToNode>>,
        /// Who comes after; nobody if the node is the tail.
        successor: Option<Address<ToNode>>,
    },
    /// From a client to the head.
    Update(Update),
    /// From a client to the tail: how many updates are there? With the number of the client's operation.
    Query(Address<ToClient>, u32),
    /// From the predecessor.
    Forward {
        /// Who that is.
        from: Address<ToNode>,
        /// Where it belongs.
        place: Place,
        /// What is to be done.
        update: Update,
    },
    /// From the successor: the tail has this, and all before it.
    Ack(Place),
    /// From the master: those before have failed.
    BecomeHead,
    /// From the master: those after have failed.
    BecomeTail,
    /// From the master: the node before has failed, and this one is before now.
    NewPredecessor {
        /// This one.
        predecessor: Address<ToNode>,
        /// What the answer is to be called.
        change: u32,
    },
    /// From the master: the node after has failed, and this one is after now.
    NewSuccessor {
        /// This one.
        successor: Address<ToNode>,
        /// How many updates it has.
        received: usize,
        /// How many of them it knows that the tail has.
        stable: usize,
    },
    /// From the master: are you there? In this round.
    Ping(u32, Address<ToMaster>),
    /// From outside: the process ends. Whoever did it wants to know when.
    Crash(Address<ToSaboteur>),
}

/// The messages to the master.
#[derive(Clone, Debug, Hash)]
pub enum ToMaster {
    /// Who there is: all nodes, in order, and all clients.
    Open(Vec<Address<ToNode>>, Vec<Address<ToClient>>),
    /// A node knows its place.
    Ready(Address<ToNode>),
    /// It is time to look after the nodes.
    Tick,
    /// A node is there.
    Pong(u32, Address<ToNode>),
    /// Nobody is there where a node was.
    Refused(u32, Address<ToNode>),
    /// A node has a new predecessor.
    Attached {
        /// By which change.
        change: u32,
        /// How many updates it has.
        received: usize,
        /// How many of them it knows that the tail has.
        stable: usize,
    },
}

/// The messages to a client.
#[derive(Clone, Debug, Hash)]
pub enum ToClient {
    /// From the master: where to send updates, and where to send queries.
    Chain {
        /// Updates.
        head: Address<ToNode>,
        /// Queries.
        tail: Address<ToNode>,
    },
    /// An update is done.
    Done(u32),
    /// So many updates were done, before the query with this number.
    Count(u32, usize),
}

/// The messages to the saboteur.
#[derive(Clone, Debug, Hash)]
pub enum ToSaboteur {
    /// It may be the moment for a failure.
    Strike,
    /// A node has failed.
    Gone,
}
