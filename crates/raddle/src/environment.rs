//! The environment, read here and nowhere else.

use std::ffi::OsString;

use crate::settings::{Origin, SettingError, Settings, TABLE};

/// What the environment says.
pub(crate) struct Environment {
    lookup: fn(&str) -> Option<OsString>,
    /// The names of all variables that are set.
    names: fn() -> Vec<String>,
}

impl Environment {
    /// That of the process.
    pub(crate) fn of_the_process() -> Self {
        let names = || std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        Self { lookup: |name| std::env::var_os(name), names }
    }

    /// The settings made here.
    pub(crate) fn settings(&self) -> Result<Settings, SettingError> {
        let known = || TABLE.iter().filter_map(|setting| setting.variable);
        if let Some(name) = (self.names)().into_iter().find(|n| n.starts_with("RADDLE_") && !known().any(|k| k == n)) {
            return Err(SettingError::Unknown { name, allowed: known().collect::<Vec<_>>().join(", ") });
        }
        let mut settings = Settings::default();
        for setting in &TABLE {
            let Some(value) = setting.variable.and_then(self.lookup) else { continue };
            settings.apply(setting, &value.to_string_lossy(), Origin::Environment)?;
        }
        Ok(settings)
    }

    /// Whether panics are to come with backtraces.
    pub(crate) fn backtraces(&self) -> bool {
        (self.lookup)("RUST_BACKTRACE").is_some_and(|value| value != "0")
    }

    /// Whether a report may be coloured, on a terminal or elsewhere.
    pub(crate) fn colours(&self, on_terminal: bool) -> bool {
        let says = |name| (self.lookup)(name).is_some_and(|value| !value.is_empty() && value != "0");
        if says("NO_COLOR") {
            return false;
        }
        says("CLICOLOR_FORCE") || on_terminal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_by_the_table() {
        let set = Environment { lookup: |name| (name == "RADDLE_SEED").then(|| "12".into()), names: Vec::new };
        assert_eq!(set.settings().unwrap_or_default().seed, Some(12));
        let wrong = Environment { lookup: |name| (name == "RADDLE_TIME").then(|| "soon".into()), names: Vec::new };
        let error = wrong.settings().err().map(|e| e.to_string());
        let said = "RADDLE_TIME is `soon`, which is not a duration such as `500ms`, `30s`, `2m` or `1h`";
        assert_eq!(error.as_deref(), Some(said));
    }

    #[test]
    fn a_variable_of_ours_that_is_none_is_told() {
        let typo = Environment { lookup: |_| None, names: || vec!["PATH".to_owned(), "RADDLE_SED".to_owned()] };
        let error = typo.settings().err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.starts_with("there is no setting `RADDLE_SED`; there are: RADDLE_STRATEGY, "), "{error}");
    }

    #[test]
    fn colours_can_be_switched_off_and_on() {
        let on = Environment { lookup: |name| (name == "CLICOLOR_FORCE").then(|| "1".into()), names: Vec::new };
        let off = Environment { lookup: |_| Some("1".into()), names: Vec::new };
        assert!(on.colours(false));
        assert!(!off.colours(true));
    }
}
