//! The text of the report about an execution in which the process ends or hangs.

use std::ffi::c_int;
use std::fmt::{self, Write};

use raddle_engine::ids::TaskId;
use raddle_engine::trace::{Latest, Trace};

use super::attending::{self, RunningExecution};
use super::fd_writer::FdWriter;
use super::schedule::{Decided, Decisions, write_name};
use super::view::CrashView;
use super::words::{LastWords, RegressionFile};

/// For a schedule with more bytes than this, the report gives the name of its file instead.
const LONGEST_TO_PASTE: usize = 500;

/// A schedule with more bytes than this is not saved.
const LONGEST_TO_SAVE: usize = 1 << 20;

/// Why there is a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// A signal, and the address of the memory fault if it was one.
    Signal(c_int, Option<usize>),
    /// The stack has overflowed.
    StackOverflow,
    /// The program has called `exit`.
    Exit,
    /// No step for so many seconds, while the OS thread was computing.
    Computes(u64),
    /// No step for so many seconds, while the OS thread was waiting for the system.
    Waits(u64),
    /// No step for so many seconds, and the process was told to end.
    HoldsUpTheEnd(u64),
    /// No step for so many seconds, so Raddle ends the process.
    HangEnds(u64),
}

impl Reason {
    /// Whether the process goes on.
    fn goes_on(self) -> bool {
        matches!(self, Self::Computes(_) | Self::Waits(_) | Self::HoldsUpTheEnd(_))
    }

    fn write(self, to: &mut dyn Write) -> fmt::Result {
        match self {
            Self::Signal(signal, address) => {
                let (name, what) = describe(signal);
                write!(to, "crash by {name} ({what}")?;
                if let Some(address) = address {
                    write!(to, " at {address:#x}")?;
                }
                to.write_char(')')
            }
            Self::StackOverflow => to.write_str("stack overflow"),
            Self::Exit => to.write_str("the program ended the process by `exit`"),
            Self::Computes(seconds) | Self::Waits(seconds) | Self::HoldsUpTheEnd(seconds) | Self::HangEnds(seconds) => {
                write!(to, "hang, no step for {seconds} s")
            }
        }
    }

    /// What the likely cause is, and what happens next.
    fn advice(self) -> &'static str {
        match self {
            Self::Signal(libc::SIGABRT, _) => "The process ends here: an abort cannot be taken back.",
            Self::Signal(..) => "The process ends here: what the program has done to its memory cannot be undone.",
            Self::StackOverflow => "The process ends here: there is no stack left to go on with.",
            Self::Exit => "The process ends here, as a failure whatever the exit code was.",
            Self::Computes(_) => {
                "The thread is computing: this is probably a loop without any operation of Raddle's types, which cannot be interrupted."
            }
            Self::Waits(_) => {
                "The thread waits for the system: probably for a lock of `std` that another task holds across a step (use \
                 `raddle::sync`), or for a thread, a file or a socket that Raddle does not control."
            }
            Self::HoldsUpTheEnd(_) => {
                "The search was told to end, and can end only at the next step. Tell it once more (Ctrl-C) to end the process now."
            }
            Self::HangEnds(_) => "The process ends here: a task that does not come back cannot be stopped.",
        }
    }
}

fn describe(signal: c_int) -> (&'static str, &'static str) {
    match signal {
        libc::SIGSEGV => ("SIGSEGV", "invalid memory access"),
        libc::SIGBUS => ("SIGBUS", "invalid memory access"),
        libc::SIGILL => ("SIGILL", "invalid instruction"),
        libc::SIGFPE => ("SIGFPE", "invalid arithmetic"),
        libc::SIGTRAP => ("SIGTRAP", "trap"),
        libc::SIGABRT => ("SIGABRT", "the process was aborted"),
        _ => ("a signal", "unknown"),
    }
}

/// Reports what happens to the execution that runs on this OS thread, and saves its schedule. Does nothing outside of any execution, or if
/// the end of the process was already reported. Called by signal handlers.
pub(crate) fn tell(reason: Reason) {
    let nothing = LastWords::default();
    attending::with_running(|running, attending| {
        if attending.is_some_and(|attending| !reason.goes_on() && attending.has_told()) {
            return;
        }
        let words = attending.map_or(&nothing, |attending| attending.words());
        // If the report cannot be written, there is nothing else to do.
        let _ = crate::output::unredirected(|| write_all(reason, running, words));
    });
}

fn write_all(reason: Reason, running: &RunningExecution<'_>, words: &LastWords) -> fmt::Result {
    let RunningExecution { who, trace, task, pending } = *running;
    let pending = pending.map(|(task, variant)| Decided::Task(task, variant));
    let decisions = Decisions { who, trace, seed: who.seed(), pending };
    let mut out = FdWriter::new(libc::STDERR_FILENO);
    out.write_str(if reason.goes_on() { "\nraddle: " } else { "\nraddle: FAILED: " })?;
    reason.write(&mut out)?;
    out.write_str(", in ")?;
    write_who(who, task, &mut out)?;
    if !words.test.is_empty() {
        write!(out, "\n  test: {}", words.test)?;
    }
    let steps = trace.len();
    write!(out, "\n  after {steps} step{}", if steps == 1 { "" } else { "s" })?;
    if let Some(latest) = trace.latest() {
        write_latest(who, latest, &mut out)?;
    }
    write_latest_of(who, task, trace, &mut out)?;
    write!(out, "\n  {}\n", reason.advice())?;
    // The report is written before the file, in case the file causes another crash.
    let bytes = FdWriter::measure(|sink| decisions.write(sink));
    let file = words.regressions.as_ref().filter(|_| !reason.goes_on() && bytes <= LONGEST_TO_SAVE);
    let short = bytes <= LONGEST_TO_PASTE;
    if short {
        write_replay(words, &mut out, |out| decisions.write(out))?;
    }
    out.flush()?;
    let saved = file.filter(|file| save(file, reason, running, &decisions).is_some());
    match saved {
        Some(file) if !short => write_replay(words, &mut out, |out| out.write_str(&file.shown))?,
        None if !short => write_replay(words, &mut out, |out| decisions.write(out))?,
        _ => {}
    }
    if let Some(file) = saved {
        writeln!(out, "saved: {}", file.shown)?;
    }
    out.flush()
}

fn write_who(who: &dyn CrashView, task: TaskId, out: &mut dyn Write) -> fmt::Result {
    if who.write_label(task, out)? {
        return Ok(());
    }
    if task != TaskId::MAIN {
        out.write_str("thread ")?;
    }
    write_name(who, task, out)
}

fn write_latest(who: &dyn CrashView, latest: Latest, out: &mut dyn Write) -> fmt::Result {
    write!(out, "; the latest: {} by ", latest.op.verb)?;
    write_who(who, latest.task, out)?;
    write!(out, " at {}", latest.site)
}

/// Writes the latest step of the task itself, if the latest step of all was by another task.
fn write_latest_of(who: &dyn CrashView, task: TaskId, trace: &Trace, out: &mut dyn Write) -> fmt::Result {
    let others_last = trace.last().is_some_and(|last| last.task != task);
    let Some(own) = trace.steps().iter().rev().find(|step| step.task == task).filter(|_| others_last) else {
        return Ok(());
    };
    out.write_str("\n  the latest of ")?;
    write_who(who, task, out)?;
    write!(out, ": {} at {}", own.op.verb, own.site)
}

fn write_replay(
    words: &LastWords,
    out: &mut FdWriter,
    schedule: impl FnOnce(&mut dyn Write) -> fmt::Result,
) -> fmt::Result {
    let (before, after) = &words.replay;
    write!(out, "replay: {before}")?;
    schedule(out)?;
    writeln!(out, "{after}")
}

/// Adds the schedule to the file, unless another process is writing it.
fn save(
    file: &RegressionFile,
    reason: Reason,
    running: &RunningExecution<'_>,
    decisions: &Decisions<'_>,
) -> Option<()> {
    // SAFETY: plain calls into libc with valid strings, which signal handlers may make. Only this function uses the descriptor.
    unsafe {
        libc::mkdir(file.dir.as_ptr(), 0o777);
        let to =
            libc::open(file.path.as_ptr(), libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_CLOEXEC, 0o666);
        if to < 0 {
            return None;
        }
        let locked = libc::flock(to, libc::LOCK_EX | libc::LOCK_NB) == 0;
        let is_empty = libc::lseek(to, 0, libc::SEEK_END) == 0;
        let written = locked.then(|| write_entry(file, is_empty, FdWriter::new(to), (reason, running, decisions)));
        libc::close(to);
        written?.ok()
    }
}

fn write_entry(
    file: &RegressionFile,
    is_empty: bool,
    mut out: FdWriter,
    (reason, running, decisions): (Reason, &RunningExecution<'_>, &Decisions<'_>),
) -> fmt::Result {
    if is_empty {
        out.write_str(&file.heading)?;
    }
    out.write_str("# ")?;
    reason.write(&mut out)?;
    out.write_str(", in ")?;
    write_who(running.who, running.task, &mut out)?;
    out.write_str("\n")?;
    decisions.write(&mut out)?;
    out.write_str("\n")?;
    out.flush()
}
