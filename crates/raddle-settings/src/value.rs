//! How the values of settings are read from text. A reader returns `None` for a text that makes no sense; beside it stands what is
//! allowed, to complete "… is `x`, which is not …".

use std::time::Duration;

/// What [`duration`] reads.
pub const DURATION: &str = "a duration such as `500ms`, `30s`, `2m` or `1h`";

/// What [`flag`] reads.
pub const FLAG: &str = "`true` (or `1`) or `false` (or `0`)";

/// A whole number that fits.
#[must_use]
pub fn number<N: TryFrom<u64>>(text: &str) -> Option<N> {
    let number: u64 = text.trim().replace('_', "").parse().ok()?;
    number.try_into().ok()
}

/// A number that is not 0.
#[must_use]
pub fn positive<N: TryFrom<u64>>(text: &str) -> Option<N> {
    number(text).filter(|&n: &u64| n > 0)?.try_into().ok()
}

/// As in code, or as environments are mostly written.
#[must_use]
pub fn flag(text: &str) -> Option<bool> {
    match text.trim() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// A length of time, with its unit.
#[must_use]
pub fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic())?);
    let number: f64 = number.trim().parse().ok()?;
    let seconds = match unit {
        "ms" => number / 1e3,
        "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let read = |text| duration(text).map(|time| time.as_millis());
        assert_eq!(read("30s"), Some(30_000));
        assert_eq!(read("500ms"), Some(500));
        assert_eq!(read("1.5 m"), Some(90_000));
        assert_eq!(read("1h"), Some(3_600_000));
        for wrong in ["", "30", "s", "-1s", "0s", "1e999s", "3 weeks", "NaNs", "1s2"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(
            (number::<u32>(" 1_000 "), number::<u32>("4294967296"), number::<u64>("-1")),
            (Some(1_000), None, None)
        );
        assert_eq!((positive::<u32>("0"), positive::<u32>("1"), positive::<u32>("x")), (None, Some(1), None));
        assert_eq!((flag("1"), flag(" false"), flag("yes")), (Some(true), Some(false), None));
    }
}
