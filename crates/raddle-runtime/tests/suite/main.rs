//! The mirrored primitives against what std documents of its own.

mod choice;
mod explore;
mod mpsc;
mod scope;
mod thread;
mod thread_local;
mod time;
