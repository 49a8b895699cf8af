//! The settings in the attribute's parentheses: `strategy = "pct", executions = 1_000`.
//!
//! Names are checked here, and values as far as one setting alone decides what is allowed for it. Values go on as text and are read by
//! the same parser as the environment's.

use raddle_settings::value;
use raddle_strategies::names;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, Lit, LitStr, Token};

/// What may be set; the rows of the table in `raddle`'s settings that make sense for a test.
const ALLOWED: [&str; 23] = [
    "strategy",
    "executions",
    "time",
    "seed",
    "workers",
    "deviations",
    "resume",
    "learn",
    "context",
    "coverage",
    "save_schedules",
    "steps",
    "hang",
    "hang_end",
    "stack_size",
    "spurious_wakeups",
    "isolate_panics",
    "keep_going",
    "regressions",
    "must_explore",
    "leaked_threads",
    "timeouts",
    "abandoned_threads",
];

/// Names and values, as written.
pub(crate) struct Settings(pub(crate) Vec<(String, LitStr)>);

impl Settings {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(set, _)| set == name)
    }
}

impl Parse for Settings {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut settings = Self(Vec::new());
        for One { name, value } in Punctuated::<One, Token![,]>::parse_terminated(input)? {
            let text = name.to_string();
            if settings.has(&text) {
                return Err(syn::Error::new(name.span(), format!("`{text}` is set twice")));
            }
            settings.0.push((text, value));
        }
        Ok(settings)
    }
}

struct One {
    name: Ident,
    value: LitStr,
}

impl Parse for One {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name: Ident = input.parse()?;
        if !ALLOWED.iter().any(|allowed| name == allowed) {
            let message = format!("there is no setting `{name}`; there are: {}", ALLOWED.join(", "));
            return Err(syn::Error::new(name.span(), message));
        }
        input.parse::<Token![=]>()?;
        let value: Lit = input.parse()?;
        let text = match &value {
            Lit::Str(text) => text.value(),
            Lit::Int(number) => number.base10_digits().to_owned(),
            Lit::Bool(flag) => flag.value.to_string(),
            other => {
                let message = format!("`{name}` is set to a string, a whole number, `true` or `false`");
                return Err(syn::Error::new(other.span(), message));
            }
        };
        if let Some(problem) = problem(&name.to_string(), &text) {
            return Err(syn::Error::new(value.span(), format!("`{text}` is not {problem}")));
        }
        Ok(Self { value: LitStr::new(&text, value.span()), name })
    }
}

/// What is wrong with a value, to complete "… is not …".
fn problem(name: &str, text: &str) -> Option<String> {
    let unless = |right: bool, allowed: &str| (!right).then(|| allowed.to_owned());
    match name {
        "strategy" => names::Name::parse(text).is_none().then(|| names::problem(text)),
        "time" => unless(value::duration(text).is_some(), value::DURATION),
        "resume" | "coverage" | "save_schedules" | "isolate_panics" | "keep_going" | "regressions" => {
            unless(value::flag(text).is_some(), value::FLAG)
        }
        "seed" | "learn" => unless(value::number::<u64>(text).is_some(), "a whole number"),
        "executions" => unless(value::positive::<u64>(text).is_some(), "a number of executions, 1 or more"),
        _ => None,
    }
}
