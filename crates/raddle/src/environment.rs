//! The environment, read here and nowhere else.

use std::ffi::OsString;

use raddle_settings::value;

use crate::settings::{SettingError, SettingSource, Settings, TABLE, shortened};

/// What the environment says.
pub(crate) struct Environment {
    lookup: fn(&str) -> Option<OsString>,
    /// The names of all variables that are set.
    names: fn() -> Vec<String>,
}

/// Whether to show the progress of a search. Not a setting of a test: it depends on who looks at the terminal.
const PROGRESS: &str = "RADDLE_PROGRESS";

impl Environment {
    /// That of the process.
    pub(crate) fn of_the_process() -> Self {
        let names = || std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        Self { lookup: |name| std::env::var_os(name), names }
    }

    /// The settings made here.
    pub(crate) fn settings(&self) -> Result<Settings, SettingError> {
        let known = || TABLE.iter().filter_map(|setting| setting.variable).chain([PROGRESS]);
        if let Some(name) = (self.names)().into_iter().find(|n| n.starts_with("RADDLE_") && !known().any(|k| k == n)) {
            return Err(SettingError::Unknown { name, allowed: known().collect::<Vec<_>>().join(", ") });
        }
        let mut settings = Settings::default();
        for setting in &TABLE {
            let Some(value) = setting.variable.and_then(self.lookup) else { continue };
            settings.apply(setting, &value.to_string_lossy(), SettingSource::Environment)?;
        }
        Ok(settings)
    }

    /// Whether to show backtraces of panics.
    pub(crate) fn backtraces(&self) -> bool {
        (self.lookup)("RUST_BACKTRACE").is_some_and(|value| value != "0")
    }

    /// Whether to show the progress of a search, on a terminal or elsewhere.
    pub(crate) fn progress(&self, on_terminal: bool) -> Result<bool, SettingError> {
        let Some(value) = (self.lookup)(PROGRESS) else { return Ok(on_terminal) };
        value.to_str().and_then(value::flag).ok_or_else(|| {
            let value = shortened(&value.to_string_lossy());
            SettingError::Value { setting: PROGRESS, value, allowed: value::FLAG }
        })
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
    fn an_unknown_raddle_variable_is_reported() {
        let typo = Environment { lookup: |_| None, names: || vec!["PATH".to_owned(), "RADDLE_SED".to_owned()] };
        let error = typo.settings().err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.starts_with("there is no setting `RADDLE_SED`; there are: RADDLE_STRATEGY, "), "{error}");
    }

    #[test]
    fn progress_is_for_terminals_unless_said_otherwise() {
        let of = |lookup| Environment { lookup, names: || vec![PROGRESS.to_owned()] };
        let (silent, on, off) = (of(|_| None), of(|_| Some("1".into())), of(|_| Some("0".into())));
        assert!(silent.settings().is_ok(), "it is known");
        let told = |environment: &Environment, on_terminal| environment.progress(on_terminal).ok();
        assert_eq!((told(&silent, true), told(&silent, false)), (Some(true), Some(false)));
        assert_eq!((told(&on, false), told(&off, true)), (Some(true), Some(false)));
        let error = of(|_| Some("yes".into())).progress(true).err().map(|error| error.to_string());
        assert_eq!(
            error.as_deref(),
            Some("RADDLE_PROGRESS is `yes`, which is not `true` (or `1`) or `false` (or `0`)")
        );
    }

    #[test]
    fn colours_can_be_switched_off_and_on() {
        let on = Environment { lookup: |name| (name == "CLICOLOR_FORCE").then(|| "1".into()), names: Vec::new };
        let off = Environment { lookup: |_| Some("1".into()), names: Vec::new };
        assert!(on.colours(false));
        assert!(!off.colours(true));
    }
}
