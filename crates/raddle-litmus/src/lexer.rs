//! Text to tokens. Comments run from `//` to the end of the line; those that begin with `//!` are expectations, which the lexer returns.

use std::fmt;

use crate::error::LitmusError;
use crate::syntax::At;

/// A token of the language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Word(String),
    Number(i64),
    Symbol(&'static str),
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => write!(f, "`{}`", shortened(word)),
            Token::Number(number) => write!(f, "`{number}`"),
            Token::Symbol(symbol) => write!(f, "`{symbol}`"),
            Token::End => f.write_str("the end of the file"),
        }
    }
}

/// The tokens and expectations of a text. The last token is [`Token::End`].
pub(crate) struct Lexed<'t> {
    pub tokens: Vec<(Token, At)>,
    /// The text after `//!`, with its place.
    pub expectations: Vec<(&'t str, At)>,
}

/// Longer ones first, so that the longest match is the first.
const SYMBOLS: [&str; 27] = [
    "..=", "==", "!=", "<=", ">=", "&&", "||", "(", ")", "[", "]", "{", "}", ",", ";", ":", "=", "<", ">", "+", "-",
    "*", "/", "%", "!", "..", ".",
];

pub(crate) fn lex(text: &str) -> Result<Lexed<'_>, LitmusError> {
    let mut lexed = Lexed { tokens: Vec::new(), expectations: Vec::new() };
    let mut end = At { line: 1, column: 1 };
    for (line, content) in (1..).zip(text.lines()) {
        end = At { line, column: 1 };
        let mut rest = content;
        while let Some(first) = rest.chars().next() {
            if let Some(expectation) = rest.strip_prefix("//!") {
                lexed.expectations.push((expectation, At { line, column: end.column + 3 }));
            }
            if rest.starts_with("//") {
                end.column += count(rest);
                break;
            }
            let taken = if first.is_whitespace() {
                first.len_utf8()
            } else {
                let (token, taken) = token(rest, end)?;
                lexed.tokens.push((token, end));
                taken
            };
            end.column += count(&rest[..taken]);
            rest = &rest[taken..];
        }
    }
    lexed.tokens.push((Token::End, end));
    Ok(lexed)
}

/// The first characters of a text, for an error message.
fn shortened(text: &str) -> &str {
    text.char_indices().nth(60).map_or(text, |(end, _)| &text[..end])
}

fn count(text: &str) -> u32 {
    u32::try_from(text.chars().count()).unwrap_or(u32::MAX)
}

/// The token that `rest` begins with, and its length in bytes.
fn token(rest: &str, at: At) -> Result<(Token, usize), LitmusError> {
    let run = |belongs: fn(char) -> bool| rest.find(|c| !belongs(c)).unwrap_or(rest.len());
    let first = rest.chars().next().expect("the caller saw a character");
    if first.is_ascii_digit() {
        let len = run(|c| c.is_ascii_alphanumeric() || c == '_');
        let digits = rest[..len].replace('_', "");
        let number = digits.parse().map_err(|_| {
            let expected = "a number that fits in 64 bits".to_owned();
            LitmusError::Expected { at, expected, found: format!("`{}`", shortened(&rest[..len])) }
        })?;
        return Ok((Token::Number(number), len));
    }
    if first.is_alphabetic() || first == '_' {
        let len = run(|c| c.is_alphanumeric() || c == '_');
        return Ok((Token::Word(rest[..len].to_owned()), len));
    }
    let symbol = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
    let symbol = symbol.ok_or_else(|| {
        let expected = "a name, a number or an operator".to_owned();
        LitmusError::Expected { at, expected, found: format!("`{first}`") }
    })?;
    Ok((Token::Symbol(symbol), symbol.len()))
}
