//! Every primitive against the documented behaviour of its counterpart in `std`, in executions and outside of any.

mod atomic;
mod barrier;
mod cell;
mod condvar;
mod explore;
mod lazy_lock;
mod once;
mod once_lock;
mod oracle;
mod rwlock;
