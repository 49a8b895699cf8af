//! Colours, or none.

use anstyle::{AnsiColor, Style};

/// Paints words if it is switched on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    pub(crate) on: bool,
}

/// What a piece of text is to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// What went wrong.
    Bad,
    /// What went well.
    Good,
    /// What does not go on.
    Stuck,
    /// What can be passed over.
    Quiet,
    /// What heads a column.
    Heading,
    /// What can be typed.
    Command,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Tone::Plain => Style::new(),
            Tone::Bad => AnsiColor::Red.on_default().bold(),
            Tone::Good => AnsiColor::Green.on_default().bold(),
            Tone::Stuck => AnsiColor::Yellow.on_default(),
            Tone::Quiet => Style::new().dimmed(),
            Tone::Heading => Style::new().bold(),
            Tone::Command => AnsiColor::Cyan.on_default(),
        }
    }
}

impl Paint {
    /// `text` in this tone. Widths are to be measured before.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        if !self.on || tone == Tone::Plain || text.is_empty() {
            return text.to_owned();
        }
        let style = tone.style();
        format!("{style}{text}{style:#}")
    }
}
