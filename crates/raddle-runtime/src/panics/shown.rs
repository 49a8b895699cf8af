//! Prints a panic of the program with a backtrace of the program's own frames.

use std::fmt::Write;
use std::panic::PanicHookInfo;

use backtrace::{Backtrace, BacktraceSymbol};

use super::message;

/// Prints a panic of `task` with a backtrace in which the frames of Raddle and of the standard library are left out.
#[expect(clippy::print_stderr, reason = "so does the hook of the standard library; the harness captures it")]
pub(super) fn print(info: &PanicHookInfo<'_>, task: &str) {
    let place = info.location().map(|place| format!(" at {place}")).unwrap_or_default();
    let mut text = format!("\n{task} panicked{place}:\n{}\nstack backtrace:\n", message(info.payload()));
    let trace = Backtrace::new();
    let symbols = trace.frames().iter().flat_map(|frame| frame.symbols());
    for (number, symbol) in symbols.filter(|symbol| is_the_programs(symbol)).enumerate() {
        let _ = writeln!(text, "{number:>4}: {:#}", symbol.name().expect("one without a name is not the program's"));
        if let (Some(file), Some(line)) = (symbol.filename(), symbol.lineno()) {
            let _ = writeln!(text, "             at {}:{line}", file.display());
        }
    }
    text.push_str(
        "note: frames of Raddle and of the standard library are left out, `RUST_BACKTRACE=full` shows them\n",
    );
    eprint!("{text}");
}

/// Whether a frame belongs to the program under test.
fn is_the_programs(symbol: &BacktraceSymbol) -> bool {
    let Some(name) = symbol.name().map(|name| format!("{name:#}")) else { return false };
    is_the_programs_function(&name)
}

/// Crates whose functions are left out.
const OTHERS: [&str; 8] =
    ["std", "core", "alloc", "raddle", "raddle_runtime", "raddle_engine", "corosensei", "backtrace"];

/// Whether a function with this name belongs to the program under test: `bank::transfer`, `<bank::Account as core::ops::drop::Drop>::drop`.
fn is_the_programs_function(name: &str) -> bool {
    let path = name.trim_start_matches(['<', '&', '[', '(', '*']);
    let path = ["mut ", "const ", "dyn "].iter().fold(path, |path, word| path.strip_prefix(word).unwrap_or(path));
    let first = path.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or_default();
    // Functions of the runtime of Rust and type parameters have no path.
    let has_a_path = path[first.len()..].starts_with("::");
    has_a_path && !OTHERS.contains(&first) && !first.starts_with("__rust")
}

#[cfg(test)]
mod tests {
    use super::is_the_programs_function;

    #[test]
    fn foreign_frames_are_recognised_by_name() {
        for name in
            ["bank::transfer", "<bank::Account as core::ops::drop::Drop>::drop", "bank::tests::fails::{{closure}}"]
        {
            assert!(is_the_programs_function(name), "{name}");
        }
        for name in [
            "core::panicking::panic_fmt",
            "<core::panic::unwind_safe::AssertUnwindSafe<F> as core::ops::function::FnOnce<()>>::call_once",
            "<alloc::boxed::Box<dyn Fn()> as core::ops::function::FnOnce<()>>::call_once",
            "<F as core::ops::function::FnOnce<()>>::call_once",
            "raddle_runtime::thread::spawn::run_task",
            "__rustc::rust_begin_unwind",
            "__rust_try",
            "stack_init_trampoline",
        ] {
            assert!(!is_the_programs_function(name), "{name}");
        }
    }
}
