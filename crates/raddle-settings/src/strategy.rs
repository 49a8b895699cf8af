//! The names of strategies. One table: what can be asked for is what is listed when somebody asks for something else.

/// One way to write a strategy.
#[derive(Debug)]
pub struct Form {
    /// `name`, or `name:option`; an option in capitals stands for a number.
    pub written: &'static str,
    /// Whether a seed makes a difference.
    pub seeded: bool,
}

const fn plain(written: &'static str) -> Form {
    Form { written, seeded: false }
}

const fn seeded(written: &'static str) -> Form {
    Form { written, seeded: true }
}

/// Every way to write a strategy.
pub static FORMS: [Form; 37] = [
    seeded("portfolio"),
    seeded("random"),
    seeded("pct"),
    seeded("pct:DEPTH"),
    seeded("pos"),
    seeded("surw"),
    plain("round-robin"),
    plain("dpor"),
    plain("dpor-source"),
    plain("dpor-classic"),
    plain("dpor-classic:no-sleep"),
    plain("preemption"),
    plain("preemption:BOUND"),
    plain("hapset"),
    plain("hapset:all"),
    plain("hapset:baseline"),
    plain("hapset:preemption"),
    plain("hapset:preemption:BOUND"),
    plain("delay"),
    plain("delay:doubling"),
    plain("delay:rtc"),
    seeded("delay:prr"),
    plain("delay:BOUND"),
    plain("states"),
    plain("exhaustive"),
    plain("exhaustive:breadth-first"),
    seeded("exhaustive:random"),
    seeded("delay-sample"),
    seeded("delay-sample:rtc"),
    seeded("delay-sample:prr"),
    seeded("delay-hybrid"),
    seeded("receive-order"),
    seeded("receive-order:pr"),
    seeded("receive-order:pbr"),
    seeded("receive-order:pcr"),
    seeded("irs"),
    plain("replay"),
];

/// The numbers that an option in capitals stands for, the least and the largest.
const RANGES: [(&str, (u32, u32)); 2] = [
    // Bugs of a depth beyond ten are hardly ever found; each unit takes memory and time in every execution.
    ("DEPTH", (1, 1_000)),
    // No execution of the default length has more.
    ("BOUND", (0, 100_000)),
];

impl Form {
    /// The name before the number, and the numbers that are allowed, if this form has one.
    fn number(&self) -> Option<(&'static str, (u32, u32))> {
        let (name, option) = self.written.rsplit_once(':')?;
        let (_, range) = RANGES.iter().find(|(stands_for, _)| *stands_for == option)?;
        Some((name, *range))
    }
}

/// The form that `text` is written in, and its number; 0 where the form has none.
#[must_use]
pub fn find(text: &str) -> Option<(&'static Form, u32)> {
    let fits = |form: &Form| match form.number() {
        Some((name, (least, most))) => {
            let (given, number) = text.rsplit_once(':')?;
            number.parse().ok().filter(|n| given == name && (least..=most).contains(n))
        }
        None => (form.written == text).then_some(0),
    };
    FORMS.iter().find_map(|form| Some((form, fits(form)?)))
}

/// Why `text` is not a strategy, to complete "… is `text`, which is not …"; with what to write instead.
#[must_use]
pub fn problem(text: &str) -> String {
    let out_of_range = FORMS.iter().find_map(|form| {
        let (name, range) = form.number()?;
        let (given, number) = text.rsplit_once(':')?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        (given == name && is_number).then_some((form.written, range))
    });
    if let Some((written, (least, most))) = out_of_range {
        let option = written.rsplit(':').next().unwrap_or_default();
        return format!("a strategy: in `{written}`, {option} is a number between {least} and {most}");
    }
    let hint = nearest(text).map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default();
    format!("a strategy{hint}; there are: {}", FORMS.each_ref().map(|form| form.written).join(", "))
}

/// What was probably meant by `text`.
#[must_use]
pub fn nearest(text: &str) -> Option<&'static str> {
    // Whoever wrote more than this did not mistype a name, and comparing takes time by length.
    if text.len() > 100 {
        return None;
    }
    let text = text.to_lowercase().replace('_', "-");
    let distance = |form: &&Form| edit_distance(&text, form.written);
    let near = FORMS.iter().min_by_key(distance).filter(|form| distance(form) <= 2 + text.len() / 8)?;
    Some(near.written)
}

/// How many letters have to be added, left out or replaced to turn one word into the other.
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.chars().count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_checked() {
        for right in ["pct:5", "pct:1000", "preemption:0", "preemption:100000", "hapset:preemption:2", "delay:3"] {
            assert!(find(right).is_some(), "{right}");
        }
        for wrong in [
            "preemption:",
            "preemption:-1",
            "preemption:BOUND",
            "preemption:100001",
            "hapset:2",
            "pct:0",
            "pct:",
            "pct:x",
            "pct:-1",
            "pct:1001",
            "pct:4294967295",
            "random:5",
            "exhaustive:5",
            "",
            "pct:DEPTH",
        ] {
            assert!(find(wrong).is_none(), "{wrong}");
        }
        assert_eq!(problem("pct:4294967295"), "a strategy: in `pct:DEPTH`, DEPTH is a number between 1 and 1000");
        assert_eq!(
            problem("hapset:preemption:99999999999999"),
            "a strategy: in `hapset:preemption:BOUND`, BOUND is a number between 0 and 100000"
        );
    }

    #[test]
    fn a_slip_is_understood_and_nonsense_is_not() {
        assert_eq!(nearest("rnadom"), Some("random"));
        assert_eq!(nearest("round_robin"), Some("round-robin"));
        assert_eq!(nearest("Exhaustive"), Some("exhaustive"));
        assert_eq!(nearest("helicopter"), None);
        assert!(problem("dporr").starts_with("a strategy (did you mean `dpor`?); there are: portfolio, random, pct, "));
        assert!(problem("helicopter").starts_with("a strategy; there are: "));
    }

    #[test]
    fn distances() {
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }
}
