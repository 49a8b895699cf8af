//! The paper's first baseline: every message is delivered after a random delay of at most *dmax*, by a virtual clock.
//!
//! Every actor handles one message per unit of time, in parallel with the others. It sends at the end of that unit. A message is delivered
//! after a delay drawn uniformly from 0 to dmax, but never before an earlier message of the same sender to the same receiver. An idle actor
//! handles the message that was delivered first, and the actor that begins first takes the next step. Replies are delivered immediately.
//!
//! The unit of dmax is the time to handle a message. If dmax is much larger than one, only the delays matter, and a larger one changes
//! nothing.

use std::collections::HashMap;

use raddle_engine::ids::{StepIx, TaskId};
use raddle_engine::rng::{Rng, mix};
use raddle_engine::strategy::{After, Decision, Needs, Next, Run, Strategy};
use raddle_engine::system::{Action, Choice, Point, Variant};
use raddle_engine::trace::{Class, Note, Offer, Role, Step, Trace};

/// Delivers messages after random delays.
pub struct RandomDelays {
    seed: u64,
    most: f64,
    execution: u64,
    agenda: Agenda,
}

/// The times of one execution.
struct Agenda {
    rng: Rng,
    /// The longest delay.
    most: f64,
    /// The number of steps that were processed.
    read: usize,
    /// By receiver and message number: when the message is delivered.
    delivered: HashMap<(TaskId, u32), f64>,
    /// By sender and receiver: when their latest message is delivered.
    latest: HashMap<(TaskId, TaskId), f64>,
    /// By task: until when it is busy.
    idle_from: Vec<f64>,
    now: f64,
}

impl RandomDelays {
    /// The executions of `seed`, with delays of at most `most` times the time to handle a message.
    pub fn new(seed: u64, most: f64) -> Self {
        Self { seed, most, execution: 0, agenda: Agenda::new(seed, most) }
    }
}

impl Strategy for RandomDelays {
    fn needs(&self) -> Needs {
        Needs::sampler("random-delays")
    }

    fn begin(&mut self, _: &mut Vec<Choice>) -> Next {
        let seed = mix(self.seed, self.execution);
        self.execution += 1;
        self.agenda = Agenda::new(seed, self.most);
        Next::run(seed)
    }

    fn choose(&mut self, at: &Point<'_>, so_far: &Trace) -> Decision {
        self.agenda.read(so_far);
        let choice = match at {
            Point::Actions(actions) => self.agenda.first(actions),
            _ => Choice(self.agenda.rng.below(at.alternatives())),
        };
        Decision::Take(choice)
    }

    fn end(&mut self, _: &Run<'_>) -> After {
        After::Next
    }
}

impl Agenda {
    fn new(seed: u64, most: f64) -> Self {
        Self {
            rng: Rng::new(seed),
            most,
            read: 0,
            delivered: HashMap::new(),
            latest: HashMap::new(),
            idle_from: Vec::new(),
            now: 0.0,
        }
    }

    /// Processes the steps since the latest call.
    fn read(&mut self, trace: &Trace) {
        let first = StepIx::next_of(self.read);
        let mut notes = trace.notes_from(first).iter().peekable();
        for (at, step) in trace.steps().iter().enumerate().skip(self.read) {
            self.take(step);
            while let Some((_, note)) = notes.next_if(|(step, _)| step.index() <= at) {
                if let (Note::Sent(to), Role::Offers(Offer { message, .. })) = (note, step.access.role) {
                    self.send(step.task, *to, message);
                }
            }
        }
        self.read = trace.len();
    }

    fn take(&mut self, step: &Step) {
        match (step.op.class, step.variant) {
            (Class::Receive, Variant::Message(number)) => {
                let (begins, _) = self.due(step.task, number);
                self.delivered.remove(&(step.task, number));
                self.now = self.now.max(begins);
                *self.idle_from(step.task) = begins + 1.0;
            }
            // It belongs to the unit in which the message was received.
            (Class::Send | Class::Spawn, _) => {}
            // A task that has waited for a reply, or for quiet, continues now.
            _ => {
                let now = self.now;
                let idle_from = self.idle_from(step.task);
                *idle_from = idle_from.max(now);
            }
        }
    }

    fn send(&mut self, from: TaskId, to: TaskId, message: u32) {
        let sent = *self.idle_from(from);
        let at = sent + self.rng.fraction() * self.most;
        let latest = self.latest.entry((from, to)).or_insert(at);
        *latest = latest.max(at);
        self.delivered.insert((to, message), *latest);
    }

    fn idle_from(&mut self, task: TaskId) -> &mut f64 {
        if self.idle_from.len() <= task.index() {
            self.idle_from.resize(task.index() + 1, 0.0);
        }
        &mut self.idle_from[task.index()]
    }

    /// When a message would be handled, and since when it waits.
    fn due(&self, task: TaskId, number: u32) -> (f64, f64) {
        let delivered = self.delivered.get(&(task, number)).copied().unwrap_or(0.0);
        let idle_from = self.idle_from.get(task.index()).copied().unwrap_or(0.0);
        (delivered.max(idle_from), delivered)
    }

    /// The action that comes first. Actions that wait for nothing come first, timeouts of the program last.
    fn first(&self, actions: &[Action]) -> Choice {
        let when = |action: &Action| match action.variant {
            Variant::Message(number) => self.due(action.task, number),
            Variant::Ready => (f64::NEG_INFINITY, 0.0),
            Variant::TimedOut | Variant::Spurious => (f64::INFINITY, 0.0),
        };
        let earlier = |one: &(f64, f64), other: &(f64, f64)| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1));
        let first = actions.iter().map(when).enumerate().min_by(|(_, one), (_, other)| earlier(one, other));
        let (at, _) = first.expect("a point has actions");
        Choice(u32::try_from(at).expect("there are fewer than 2^32 actions"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::{Arc, Mutex};

    use raddle_engine::search::{Limits, search};
    use raddle_runtime::actor::{Actor, Address, Context, System};
    use raddle_runtime::threads::{Settings, Threads};

    use super::*;

    /// Records its messages.
    struct Book(Arc<Mutex<String>>);

    impl Actor for Book {
        type Msg = char;

        fn handle(&mut self, letter: char, _: &mut Context<'_, char>) {
            self.0.lock().expect("nobody panics").push(letter);
        }
    }

    /// Passes its messages on.
    struct Link(Address<char>);

    impl Actor for Link {
        type Msg = char;

        fn handle(&mut self, letter: char, ctx: &mut Context<'_, char>) {
            ctx.send(&self.0, letter);
        }
    }

    /// The record after each of some executions: `b` and `d` are sent directly, `c` through two other actors.
    fn orders(most: f64) -> BTreeSet<String> {
        let seen = Arc::new(Mutex::new(BTreeSet::new()));
        let all = seen.clone();
        let body = move || {
            let letters = Arc::new(Mutex::new(String::new()));
            let system = System::new();
            let book = system.spawn(Book(letters.clone()));
            let last = system.spawn(Link(book.clone()));
            let first = system.spawn(Link(last));
            first.send('c');
            book.send('b');
            book.send('d');
            system.run_until_quiet();
            all.lock().expect("nobody panics").insert(letters.lock().expect("nobody panics").clone());
        };
        let mut threads = Threads::new(Arc::new(body), &Settings::default());
        let limits = Limits { executions: Some(500), ..Limits::default() };
        let report = search(&mut threads, &mut RandomDelays::new(1, most), &limits);
        assert_eq!((report.executions, report.failing), (500, 0));
        seen.lock().expect("nobody panics").clone()
    }

    /// The path through two other actors takes at least two units, so a shorter delay cannot make it the faster one; a longer delay can.
    /// `b` and `d` have the same sender and are never exchanged.
    #[test]
    fn long_delays_reorder_messages_and_short_ones_do_not() {
        assert_eq!(orders(1.9), BTreeSet::from(["bdc".to_owned()]));
        assert_eq!(orders(20.0), ["bcd", "bdc", "cbd"].map(str::to_owned).into());
    }
}
