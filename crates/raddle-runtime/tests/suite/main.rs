//! Every primitive against the documented behaviour of its counterpart in `std`, in executions and outside of any.

mod actor;
mod actor_mistakes;
mod acts;
mod atomic;
mod barrier;
mod cell;
mod choice;
mod condvar;
mod estimates;
mod explore;
mod hard_cases;
mod lazy_lock;
mod model;
mod mpsc;
mod once;
mod once_lock;
mod oracle;
mod reduction;
mod rwlock;
mod scope;
mod thread;
mod thread_local;
mod time;
mod traces;
mod unwinding;
