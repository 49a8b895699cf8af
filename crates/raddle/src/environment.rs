//! The environment, read here and nowhere else.

use std::ffi::OsString;

use crate::settings::{Origin, SettingError, Settings, TABLE};

/// What the environment says.
pub(crate) struct Environment {
    lookup: fn(&str) -> Option<OsString>,
}

impl Environment {
    /// That of the process.
    pub(crate) fn of_the_process() -> Self {
        Self { lookup: |name| std::env::var_os(name) }
    }

    /// The settings made here.
    pub(crate) fn settings(&self) -> Result<Settings, SettingError> {
        let mut settings = Settings::default();
        for setting in &TABLE {
            let Some(value) = setting.variable.and_then(self.lookup) else { continue };
            settings.apply(setting, &value.to_string_lossy(), Origin::Environment)?;
        }
        Ok(settings)
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
        let set = Environment { lookup: |name| (name == "RADDLE_SEED").then(|| "12".into()) };
        assert_eq!(set.settings().unwrap_or_default().seed, Some(12));
        let wrong = Environment { lookup: |name| (name == "RADDLE_TIME").then(|| "soon".into()) };
        let error = wrong.settings().err().map(|e| e.to_string());
        let said = "RADDLE_TIME is `soon`, which is not a duration such as `500ms`, `30s`, `2m` or `1h`";
        assert_eq!(error.as_deref(), Some(said));
    }

    #[test]
    fn colours_can_be_switched_off_and_on() {
        let on = Environment { lookup: |name| (name == "CLICOLOR_FORCE").then(|| "1".into()) };
        let off = Environment { lookup: |_| Some("1".into()) };
        assert!(on.colours(false));
        assert!(!off.colours(true));
    }
}
