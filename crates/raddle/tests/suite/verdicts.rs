//! Small programs with known answers, run under every strategy that covers all orders.
//!
//! Each row of a table is a program and what is true of it: it fails in some order, or it holds in all of them and `dpor` runs so
//! many. The numbers are derived by hand: two orders count as one if they differ in the order of independent operations only, so the
//! number is that of the ways in which the dependent operations (those on one object that do not commute) can be ordered.

mod actors;
mod algorithms;
mod atomics;
mod cells;
mod channels;
mod condvars;
mod locks;
mod loops;
mod nothing;
mod once;
mod parking;
mod poison;
mod results;
mod table;
mod thread_ends;
mod timed;
mod together;
mod uncontrolled;
mod unwinding;
mod waiting_after_main;
