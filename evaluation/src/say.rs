//! What the command says.

use std::io::{self, Write};

/// A line of what was asked for. A reader that has seen enough closes the pipe: that is no reason to panic.
pub fn say(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// A line on what is wrong.
pub fn complain(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
