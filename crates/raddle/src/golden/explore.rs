//! One search by an [`Explorer`], as one line of text. This knows nothing that users do not know.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::forms::Form;
use super::hash::Hash;
use super::play::first_part;
use super::programs::{GoldenBody, Subject};
use crate::{Explorer, Report};

/// Searches until the first failure; `None` if the program is not one that an explorer can run.
pub(super) fn run(subject: &Subject, form: &Form) -> Option<String> {
    search(subject, explorer(subject, form).executions(subject.executions)).map(|report| tell(&report))
}

/// Searches on after failures, in two sessions; `out` is where the first one leaves what the second one goes on with.
pub(super) fn run_resumed(subject: &Subject, form: &Form, out: &Path) -> Option<String> {
    let session = |executions| {
        let name = format!("golden::{}", subject.name);
        let explorer = explorer(subject, form).keep_going(true).executions(executions);
        let out = out.to_str().expect("the directory for temporary files has a plain name");
        search(subject, explorer.name(name).resume(true).set("out", out))
    };
    let part = first_part(subject.executions);
    let first = session(part)?;
    // A search that is done leaves nothing, and the next session would begin it again.
    let last = if leaves_something(out) { session(subject.executions - part)? } else { first };
    // Leaving nothing behind is for tidiness only.
    let _ = std::fs::remove_dir_all(out);
    Some(tell(&last))
}

fn leaves_something(out: &Path) -> bool {
    let files = std::fs::read_dir(out).into_iter().flatten().flatten();
    files.into_iter().any(|file| file.file_name().to_string_lossy().ends_with(".left.json"))
}

fn explorer(subject: &Subject, form: &Form) -> Explorer {
    let explorer = Explorer::new().workers(1).regressions(false).steps(subject.steps);
    form.settings().fold(explorer, |explorer, (name, value)| explorer.set(name, value))
}

/// What came of it, or why the settings do not go together.
fn search(subject: &Subject, explorer: Explorer) -> Option<Result<Report, String>> {
    let run: Box<dyn FnOnce() -> Report> = match subject.body {
        GoldenBody::Litmus(_) => return None,
        GoldenBody::Threads(body) => Box::new(move || explorer.run(body)),
        GoldenBody::Model(make) => Box::new(move || explorer.run_model(make)),
    };
    let error = |panic: Box<dyn std::any::Any + Send>| *panic.downcast::<String>().expect("an error is told as text");
    Some(catch_unwind(AssertUnwindSafe(run)).map_err(error))
}

fn tell(searched: &Result<Report, String>) -> String {
    let report = match searched {
        Ok(report) => report,
        Err(error) => return error.clone(),
    };
    let (executions, failing, steps, states) = (report.executions(), report.failing(), report.steps(), report.states());
    let schedule = report.schedule().map(|schedule| format!(" schedule {:016x}", Hash::of(&schedule.to_string())));
    let schedule = schedule.unwrap_or_default();
    let verdict = report.verdict_line();
    format!("run {executions} failing {failing} steps {steps} states {states}{schedule} | {verdict}")
}
