//! Texts for the report of an execution of a model. Recorded only if the execution is run to be shown.

use raddle_engine::ids::{StepIx, TaskId};
use raddle_engine::outcome::Remark;
use raddle_engine::trace::Trace;

use crate::actor::{Fate, Who, short_name, shorten};
use crate::model::handling::{Effect, Payload};
use crate::model::slot::WaitingMessage;
use crate::model::step::{ModelState, index, task};
use crate::panics;

/// The texts of the steps so far.
#[derive(Clone, Default)]
pub(super) struct ModelStory {
    remarks: Vec<Remark>,
}

impl ModelState {
    /// Whether this execution is run for a report.
    #[inline]
    pub(super) fn tells(&self) -> bool {
        self.story.is_some()
    }

    pub(super) fn remarks(&self) -> Vec<Remark> {
        self.story.as_ref().map(|story| story.remarks.clone()).unwrap_or_default()
    }

    fn tell(&mut self, task: TaskId, text: String, trace: &Trace, instead: bool) {
        let step = StepIx::next_of(trace.len().saturating_sub(1));
        let site = if instead { trace.last().map_or(self.here, |step| step.site) } else { self.here };
        if let Some(story) = &mut self.story {
            story.remarks.push(Remark { step, task, text, site, instead });
        }
    }

    /// The text of a message to an actor.
    pub(super) fn says(&self, to: usize, label: &'static str, payload: &Payload) -> String {
        let receiver = self.actors[to].body.actor.as_ref();
        let words = receiver.map(|receiver| panics::catch(|| receiver.describe(payload)));
        match words {
            Some(Ok(words)) => shorten(&words),
            Some(Err(_)) => format!("{} (describing it panics)", short_name(label)),
            None => short_name(label).to_owned(),
        }
    }

    /// The text for a message that is being sent, while it can still be read.
    #[cold]
    pub(super) fn words_for_sent(&self, to: usize, label: &'static str, payload: &Payload) -> String {
        format!("{} to {}", self.says(to, label, payload), self.infos[to].who)
    }

    /// Notes that the latest step has sent the message with this text.
    #[cold]
    pub(super) fn tell_sent(&mut self, sender: TaskId, words: &str, stopped: bool, trace: &Trace) {
        let then = if stopped { ", which has stopped: a dead letter" } else { "" };
        self.tell(sender, format!("send {words}{then}"), trace, true);
    }

    /// Notes that a message is lost, duplicated or delayed.
    #[cold]
    pub(super) fn tell_fate(&mut self, actor: usize, words: &str, fate: Fate, trace: &Trace) {
        let what = match fate {
            Fate::Arrives => return,
            Fate::Dropped => "is lost",
            Fate::Duplicated => "arrives twice",
            Fate::Delayed => "is delayed",
        };
        let instead = matches!(fate, Fate::Dropped | Fate::Duplicated);
        self.tell(task(actor), format!("{words} {what} (fault)"), trace, instead);
    }

    #[cold]
    pub(super) fn tell_received(&mut self, actor: usize, message: &WaitingMessage, timer: bool, trace: &Trace) {
        let (envelope, payload) = message;
        let text = self.says(actor, envelope.label, payload);
        let words = match envelope.sender {
            _ if timer => format!("timer: {text}"),
            TaskId::MAIN => format!("receive {text} from the model"),
            sender => format!("receive {text} from {}", self.infos[index(sender)].who),
        };
        self.tell(task(actor), words, trace, true);
    }

    #[cold]
    pub(super) fn tell_crash(&mut self, actor: usize, restarts: bool, trace: &Trace) {
        let then = if restarts { "starts anew" } else { "does not come back" };
        self.tell(task(actor), format!("crashes and {then} (fault)"), trace, true);
    }

    #[cold]
    pub(super) fn tell_announced(&mut self, actor: usize, called: &'static str, monitor: usize, trace: &Trace) {
        let words = format!("announce {} to {}", short_name(called), self.monitors[monitor].name());
        self.tell(task(actor), words, trace, true);
    }

    /// Notes an effect that concerns only the actor itself.
    #[cold]
    pub(super) fn tell_effect(&mut self, actor: usize, effect: &Effect, trace: &Trace) {
        let words = match effect {
            Effect::Becomes(behaviour) => format!("becomes {behaviour}"),
            Effect::Unhandled(label) => format!("does not handle {}", short_name(label)),
            Effect::Cancel(_) => "cancels a timer".to_owned(),
            Effect::Stop => "stops".to_owned(),
            Effect::Send { .. }
            | Effect::Spawn { .. }
            | Effect::Timer { .. }
            | Effect::Announce { .. }
            | Effect::Hint(_) => return,
        };
        self.tell(task(actor), words, trace, false);
    }

    /// Notes that the latest step has set a timer.
    #[cold]
    pub(super) fn tell_timer(&mut self, actor: usize, says: &str, trace: &Trace) {
        self.tell(task(actor), format!("set a timer: {says}"), trace, true);
    }

    /// Notes that an actor that has panicked is restarted.
    #[cold]
    pub(super) fn tell_restart(&mut self, actor: usize, message: &str, trace: &Trace) {
        self.tell(task(actor), format!("panics: {}; starts anew", shorten(message)), trace, false);
    }

    /// The text of a message that the setup sent and that is still in its mailbox.
    #[cold]
    pub(super) fn tell_first(&mut self, to: usize, number: u32, trace: &Trace) {
        let Some((envelope, payload)) = self.actors[to].mail.queue.get(Some(number)) else { return };
        let words = self.words_for_sent(to, envelope.label, payload);
        self.tell_sent(TaskId::MAIN, &words, false, trace);
    }
}

/// The name of an actor of a model.
pub(super) fn label(who: Who, external: bool) -> String {
    if external { format!("{who} (external)") } else { who.to_string() }
}
