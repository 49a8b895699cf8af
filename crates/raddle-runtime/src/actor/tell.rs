//! Texts for the report about actors and their messages. Recorded only if the execution is run to be shown.

use std::collections::HashMap;
use std::time::Duration;

use raddle_engine::ids::{ObjectId, StepIx, TaskId};
use raddle_engine::outcome::Remark;
use raddle_engine::trace::Site;

use crate::actor::address::Who;
use crate::execution::{State, Task};

/// The texts of one execution.
#[derive(Default)]
pub(crate) struct Story {
    pub(crate) remarks: Vec<Remark>,
    /// By name: the text of a message, and its sender.
    messages: HashMap<u64, (String, String)>,
    /// By the object of a reply: the actor that asked.
    questions: HashMap<ObjectId, String>,
}

/// Messages are cut off after so many characters.
const LONGEST: usize = 60;

/// One line, not too long.
pub(crate) fn shorten(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

impl State {
    /// Whether this execution is run for a report.
    #[inline]
    pub(crate) fn tells(&self) -> bool {
        self.story.is_some()
    }

    /// The name of a task.
    fn called(&self, task: TaskId) -> String {
        match &self.tasks[task.index()].label {
            Some(label) => label.clone(),
            None if task == TaskId::MAIN => "main".to_owned(),
            None => format!("thread {}", Task::name(&self.tasks, task)),
        }
    }

    /// Adds a row after the latest step.
    #[cold]
    pub(crate) fn tell(&mut self, text: String, site: Site) {
        let (step, task) = (self.latest_step(), self.current);
        if let Some(story) = &mut self.story {
            story.remarks.push(Remark { step, task, text, site, instead: false });
        }
    }

    /// Replaces the text of the latest step.
    #[cold]
    pub(crate) fn tell_instead(&mut self, text: String) {
        let (step, task) = (self.latest_step(), self.current);
        let site = self.trace.last().map(|step| step.site);
        if let (Some(story), Some(site)) = (&mut self.story, site) {
            story.remarks.push(Remark { step, task, text, site, instead: true });
        }
    }

    fn latest_step(&self) -> StepIx {
        StepIx::next_of(self.trace.len().saturating_sub(1))
    }

    #[cold]
    pub(crate) fn tell_sent(&mut self, name: u64, text: String, to: Who, stopped: bool) {
        let (text, from) = (shorten(&text), self.called(self.current));
        let words = if stopped {
            format!("send {text} to {to}, which has stopped: a dead letter")
        } else {
            format!("send {text} to {to}")
        };
        self.tell_instead(words);
        if let Some(story) = &mut self.story {
            story.messages.insert(name, (text, from));
        }
    }

    #[cold]
    pub(crate) fn tell_received(&mut self, timer: bool) {
        let name = self.trace.last().and_then(|step| step.found).map(|word| word.0);
        let known = name.and_then(|name| self.story.as_ref()?.messages.get(&name).cloned());
        let Some((text, from)) = known else { return };
        self.tell_instead(if timer { format!("timer: {text}") } else { format!("receive {text} from {from}") });
    }

    /// Notes that the current task has sent a request, and waits for this object.
    pub(crate) fn tell_question(&mut self, object: ObjectId) {
        if self.tells() {
            let who = self.called(self.current);
            self.story.get_or_insert_default().questions.insert(object, who);
        }
    }

    #[cold]
    pub(crate) fn tell_reply(&mut self, object: ObjectId, answered: bool) {
        let who = self.story.as_ref().and_then(|story| story.questions.get(&object).cloned()).unwrap_or_default();
        self.tell_instead(if answered { format!("reply to {who}") } else { format!("drop the request of {who}") });
    }

    #[cold]
    pub(crate) fn tell_timer(&mut self, name: u64, text: String, delay: Duration, site: Site) {
        let text = shorten(&text);
        self.tell(format!("sets a timer: {text} in {delay:?}"), site);
        if let Some(story) = &mut self.story {
            story.messages.insert(name, (text, String::new()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_cut_off_and_lines_joined() {
        assert_eq!(shorten("Put {\n    key: 1,\n}"), "Put { key: 1, }");
        assert_eq!(shorten(&"ä".repeat(61)), format!("{}…", "ä".repeat(60)));
        assert_eq!(shorten(&"ä".repeat(60)), "ä".repeat(60));
    }
}
