//! A node of a tree that can be found before its state is set.

use raddle::sync::atomic::{AtomicBool, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};

use super::traffic::Traffic;
use crate::Program;
use crate::program::together;

/// As it was, and with the state set first.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("NodeState", "panic", || together(&Tree::default(), &[Tree::insert_then_set, Tree::visit])),
    Program::correct("NodeState_ok", || together(&Tree::default(), &[Tree::set_then_insert, Tree::visit])),
];

#[derive(Default)]
struct Tree {
    traffic: Traffic,
    nodes: Mutex<Vec<Arc<Node>>>,
}

#[derive(Default)]
struct Node {
    is_set: AtomicBool,
}

impl Tree {
    const NODES: usize = 2;

    fn insert(&self, node: &Arc<Node>) {
        self.nodes.lock().unwrap().push(node.clone());
    }

    fn insert_then_set(&self) {
        for _ in 0..Self::NODES {
            let node = Arc::<Node>::default();
            self.insert(&node);
            node.is_set.store(true, SeqCst);
            self.traffic.tell("inserted");
        }
    }

    fn set_then_insert(&self) {
        for _ in 0..Self::NODES {
            let node = Arc::<Node>::default();
            node.is_set.store(true, SeqCst);
            self.insert(&node);
            self.traffic.tell("inserted");
        }
    }

    fn visit(&self) {
        self.traffic.tell("visit");
        let nodes = self.nodes.lock().unwrap().clone();
        for node in nodes {
            assert!(node.is_set.load(SeqCst), "a node without a state was found");
        }
        self.traffic.tell("visited");
    }
}
