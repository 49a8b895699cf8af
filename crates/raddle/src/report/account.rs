//! A failure in sentences: what happened, where, and what to do about it.

use raddle_engine::ids::TaskId;
use raddle_engine::outcome::{Accessed, Failure, Waiting};
use raddle_engine::trace::Class;

use super::names::{Names, at};
use super::story::{about_to, is_question, spins_or_waits, waits_for};
use super::verdict::number;

/// The failure in a few words, with its task.
pub(crate) fn headline(failure: &Failure, names: &Names) -> String {
    let kind = failure.kind();
    match failure {
        Failure::Panic { task, .. }
        | Failure::Abort { task, .. }
        | Failure::CannotUnwind { task, .. }
        | Failure::StackOverflow { task, .. } => {
            format!("{kind} in {}", names.task(*task))
        }
        Failure::Violation { monitor, .. } => format!("{kind} {monitor}"),
        Failure::DataRace { object, .. } => format!("{kind} on {}", names.object(*object)),
        Failure::HeldElsewhere { object, .. } => format!("{} is held outside the execution", names.object(*object)),
        Failure::Uncontrolled { what, .. } => format!("{what} used by a thread that Raddle does not control"),
        Failure::Leak { object, .. } => format!("{} leaks between executions", names.object(*object)),
        _ => kind.to_owned(),
    }
}

/// The failure in full, line by line.
pub(crate) fn sentences(failure: &Failure, names: &Names) -> Vec<String> {
    match failure {
        Failure::Panic { message, place, .. } => {
            let from = place.as_ref().map(|place| format!("at {place}"));
            message.lines().map(str::to_owned).chain(from).collect()
        }
        Failure::Violation { task, message, .. } => {
            let who = names.task(*task);
            // A model does nothing by itself after its setup.
            let at_the_end = *task == TaskId::MAIN && who == "model";
            let when =
                if at_the_end { "when nothing was left to happen".to_owned() } else { format!("after what {who} did") };
            vec![message.clone(), when]
        }
        Failure::DeadLetter { task, message } | Failure::Unhandled { task, message } => {
            vec![format!("{}: {message}", names.task(*task))]
        }
        Failure::Abort { task, messages: [first, second], place } => {
            let from = place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
            vec![
                format!("{} panicked: {first}", names.task(*task)),
                format!("and while that unwound, a destructor panicked{from}: {second}"),
                "Outside Raddle, the process aborts here.".to_owned(),
            ]
        }
        Failure::CannotUnwind { task, message, place } => {
            let from = place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
            vec![
                format!("{} panicked{from}: {message}", names.task(*task)),
                "The panic came to a function that cannot unwind, such as one that is `extern \"C\"`.".to_owned(),
                "Outside Raddle, the process aborts here.".to_owned(),
            ]
        }
        Failure::StackOverflow { task, stack_bytes } => vec![
            format!("{} used up its stack of {} KiB.", names.task(*task), number(*stack_bytes as u64 / 1024)),
            "Is there a recursion without an end? If not, set a larger `stack_size`.".to_owned(),
        ],
        Failure::Deadlock { waiting } => deadlock(waiting, names),
        Failure::Livelock { spinning } => livelock(spinning, names),
        Failure::TooManySteps { bound, unfinished } => too_many_steps(*bound, unfinished, names),
        Failure::DataRace { object, first, second } => {
            let access = |a: &Accessed| {
                let verb = if a.wrote { "writes" } else { "reads" };
                format!("{} {verb} {} at {}", names.task(a.task), names.object(*object), a.site)
            };
            vec![
                format!("{},", access(first)),
                format!("{},", access(second)),
                "and nothing orders the two: no lock, no join, no release and acquire in between.".to_owned(),
            ]
        }
        Failure::Leak { object, site } => vec![
            format!("{} keeps its contents from one execution to the next; used at {site}.", names.object(*object)),
            "Make it inside the test, or put it into raddle's LazyLock, OnceLock or thread_local!, which start every \
             execution afresh."
                .to_owned(),
        ],
        Failure::HeldElsewhere { object, site } => vec![
            format!("{} was free in this execution and yet could not be taken at {site}.", names.object(*object)),
            "Another test or a thread outside Raddle holds it, or a guard that an earlier execution never dropped. Make it \
             inside the test."
                .to_owned(),
        ],
        Failure::Uncontrolled { what, made, site } => {
            let made = made.as_ref().map(|made| format!(", made at {made},")).unwrap_or_default();
            vec![
                format!("{what}{made} was used at {site} by a thread that the test started and Raddle does not control."),
                "What such a thread does is no step, and nobody can wake it. Start it by raddle::thread::spawn or \
                 raddle::thread::scope in place of std's; a pool of threads from a library cannot be used in a test."
                    .to_owned(),
            ]
        }
        Failure::Nondeterminism(divergence) => {
            let text = format!("The program did something else although every decision was the same, {divergence}");
            text.lines().map(str::to_owned).collect()
        }
        other => vec![format!("{other:?}")],
    }
}

fn deadlock(waiting: &[Waiting], names: &Names) -> Vec<String> {
    let circle = circle(waiting);
    // Tasks in the cycle first: the others only wait for them.
    let mut list: Vec<&Waiting> = circle.clone();
    list.extend(waiting.iter().filter(|w| !circle.iter().any(|c| c.task == w.task)));
    let mut lines: Vec<String> = list.iter().map(|w| sentence(w, names) + in_vain(w)).collect();
    if lines.len() > MOST_SENTENCES {
        let more = lines.len() - MOST_SENTENCES;
        lines.truncate(MOST_SENTENCES);
        lines.push(format!("… and {more} more wait."));
    }
    if names.has_ended(TaskId::MAIN) {
        let who = if list.len() == 1 { "a thread that still waits" } else { "threads that still wait" };
        lines.insert(0, format!("main has returned and left {who}:"));
    }
    if circle.len() > 1 {
        let mut path: Vec<String> = circle.iter().map(|w| names.task(w.task)).collect();
        path.push(path[0].clone());
        lines.push(format!("circle: {}", path.join(" → ")));
    }
    lines
}

/// Readers would skip more than that.
const MOST_SENTENCES: usize = 12;

fn sentence(w: &Waiting, names: &Names) -> String {
    let mut text = format!("{} {}{}", names.task(w.task), waits_for(w, names), at(&names.site(w.site)));
    if w.op.class != Class::Join && !is_question(w) {
        for (holder, site) in &w.held_by {
            let who = if *holder == w.task { "itself".to_owned() } else { names.task(*holder) };
            let ended = if names.has_ended(*holder) { " (which has ended)" } else { "" };
            text.push_str(&format!(", held by {who}{ended} since {}", names.site(site)));
        }
    }
    text
}

/// Why a wait for another task never ends.
fn in_vain(w: &Waiting) -> &'static str {
    match (w.op.class, w.op.verb) {
        (Class::Wait, "wait") => ", and nobody is left who could wake it",
        (Class::Wait, "park") => ", and nobody is left who could unpark it",
        (Class::Receive, "recv") => ", and nobody is left who could send one",
        (Class::Send, "send") => ", and nobody is left who could receive",
        _ => "",
    }
}

/// Tasks that wait for one another in a cycle, starting with the first of them.
fn circle(waiting: &[Waiting]) -> Vec<&Waiting> {
    let of = |task: TaskId| waiting.iter().find(|w| w.task == task);
    for start in waiting {
        let mut path = vec![start];
        while let Some(next) = path.last().and_then(|w| w.held_by.first()).and_then(|(holder, _)| of(*holder)) {
            if next.task == start.task {
                return path;
            }
            if path.iter().any(|w| w.task == next.task) {
                break;
            }
            path.push(next);
        }
    }
    Vec::new()
}

fn livelock(spinning: &[Waiting], names: &Names) -> Vec<String> {
    let spins = |w: &Waiting| format!("{} {}{}", names.task(w.task), spins_or_waits(w, names), at(&names.site(w.site)));
    let mut lines: Vec<String> = spinning.iter().take(MOST_SENTENCES).map(spins).collect();
    lines.push("Nobody is left who could change what they look at.".to_owned());
    lines
}

fn too_many_steps(bound: u32, unfinished: &[Waiting], names: &Names) -> Vec<String> {
    let next =
        |w: &Waiting| format!("{} was about to {}{}", names.task(w.task), about_to(w, names), at(&names.site(w.site)));
    let mut lines = vec![format!("The execution took {} steps and was not over.", number(u64::from(bound)))];
    lines.extend(unfinished.iter().take(MOST_SENTENCES).map(next));
    lines.push("Does it ever end? If it is only long, set more `steps` (RADDLE_STEPS).".to_owned());
    lines
}
