//! Every strategy that can be written, with every setting that makes another strategy of it.

use raddle_strategies::names::Name;

/// A strategy as a user asks for it.
pub(super) struct Form {
    /// As it is told in the golden files.
    pub(super) text: String,
    strategy: String,
    /// A further setting and its value.
    more: Option<(&'static str, &'static str)>,
}

impl Form {
    fn new(strategy: &str, more: Option<(&'static str, &'static str)>) -> Self {
        let told = more.map(|(name, value)| format!(",{name}={value}")).unwrap_or_default();
        Self { text: format!("{strategy}{told}"), strategy: strategy.to_owned(), more }
    }

    /// The settings that ask for it, by their names in attributes. A seed makes no difference to some.
    pub(super) fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        [("strategy", &*self.strategy), ("seed", "1")].into_iter().chain(self.more)
    }
}

/// All forms: those of the table of names, and those that further settings make.
pub(super) fn all() -> Vec<Form> {
    let numbered = Name::forms().map(|form| Form::new(&form.replace("DEPTH", "2").replace("BOUND", "1"), None));
    let more = [
        ("exhaustive", "deviations", "2"),
        ("dpor", "deviations", "2"),
        ("dpor-source", "deviations", "2"),
        ("hapset", "learn", "5"),
        ("hapset:all", "learn", "5"),
    ];
    numbered.chain(more.map(|(strategy, name, value)| Form::new(strategy, Some((name, value))))).collect()
}
