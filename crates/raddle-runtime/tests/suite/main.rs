//! Every primitive against the documented behaviour of its counterpart in `std`, in executions and outside of any.

mod atomic;
mod explore;
