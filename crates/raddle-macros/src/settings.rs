//! The settings in the attribute's parentheses: `strategy = "pct", executions = 1_000`.
//!
//! Only their names are checked here. Values go on as text and are read by the same parser as the environment's.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, Lit, LitStr, Token};

/// What may be set; the rows of the table in `raddle`'s settings that make sense for a test.
const ALLOWED: [&str; 19] = [
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
        Ok(Self { value: LitStr::new(&text, value.span()), name })
    }
}
