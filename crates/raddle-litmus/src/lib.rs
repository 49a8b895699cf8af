//! The small program language: concurrent programs as text, run by the engine.
//!
//! ```
//! use raddle_engine::search::{Limits, search};
//! use raddle_strategies::tree::exhaustive::Exhaustive;
//! use raddle_litmus::{Litmus, Program};
//!
//! let litmus = Litmus::parse(
//!     "shared x = 0;
//!      thread t(i in 1..=2) { v = load(x); store(x, v + 1); }
//!      final { assert load(x) == 2; }",
//! )?;
//! let limits = Limits { keep_going: true, ..Limits::default() };
//! let report = search(&mut Program::new(&litmus, "lost-update")?, &mut Exhaustive::depth_first(), &limits);
//! assert_eq!((report.executions, report.failing), (6, 4));
//! # Ok::<(), raddle_litmus::LitmusError>(())
//! ```
//!
//! # The language
//!
//! ```text
//! //! traces: 64                          // what a search must find: traces, failing, blocked(strategy)
//! shared x = 0, y = 0;  shared a[6] = 0;   // integers and arrays of them
//! mutex m, forks[3];    channel c;  channel d: unordered;    // or arrival (the default), per-sender, causal
//! thread reader { i = 5; while load(a[i]) != 0 { i = i - 1; } }
//! thread writer(j in 1..=5) { t = load(a[j - 1]); store(a[j], t + 1); }    // one thread for each j
//! thread p { lock(m); if cas(x, 0, 1) { store(y, 2); } unlock(m); send(c, 3); v = recv(c); assert v == 3; }
//! final { assert load(x) <= 2; }           // after all threads have ended; takes no part in the search
//! ```
//!
//! - `load store cas add lock unlock trylock send recv` are one step each, where they are evaluated, left to right. `cas` and
//!   `trylock` give 1 or 0 and only read if they fail; `add` gives the old value. `choose(n)` gives any of 0 to n - 1; it is a
//!   decision but no step that others can notice.
//! - All other names are local variables. They start as 0 and cost no step.
//! - Numbers are 64-bit integers and wrap around; 0 is false. `||`, `&&`, comparisons, `+ -`, `* / %`, then `! -` bind more and
//!   more tightly; comparisons cannot be chained. `&&` and `||` give 1 or 0 and evaluate their right side, steps included,
//!   only if the left one does not settle it.
//! - All threads exist before the first step, in the order of the file; there is no main thread.
//! - A failed `assert` marks the execution as failing, and the execution goes on. A deadlock is failing. So is a thread that
//!   does what cannot be done (an index out of range, an unlock of a mutex it does not hold, a division by 0, a loop
//!   without steps that does not end): that thread stops there, and the others go on.
//!
//! # Limits
//!
//! Memory is sequentially consistent. A loop that waits for another thread (`while !load(x) {}`) has endlessly many
//! executions; searches cut them off at their step bound.

#![forbid(unsafe_code)]

mod compile;
pub mod conformance;
mod error;
pub mod generate;
mod lexer;
pub mod oracle;
mod parser;
mod print;
pub mod program;
mod state;
pub mod syntax;

pub use error::LitmusError;
pub use program::{Execution, Program};
pub use state::State;
pub use syntax::Litmus;
