//! Colours, or none.

use anstyle::{AnsiColor, Style};

/// Paints words if it is switched on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    pub(crate) on: bool,
}

/// What a part of the text means to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    /// A failure.
    Bad,
    /// A success.
    Good,
    /// A task that cannot continue.
    Stuck,
    /// Less important text.
    Quiet,
    /// The head of a column.
    Heading,
    /// A command to type.
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
    /// Colours `text`. Measure widths before.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        if !self.on || tone == Tone::Plain || text.is_empty() {
            return text.to_owned();
        }
        let style = tone.style();
        format!("{style}{text}{style:#}")
    }
}
