//! Tokens to a program: one function per rule of the grammar. `compile.rs` resolves names.

mod expression;

use crate::error::LitmusError;
use crate::lexer::{Token, lex};
use crate::syntax::{At, Channel, Expectation, Expected, Litmus, Mutex, Order, Range, Shared, Statement, Thread};

impl Litmus {
    /// Reads a program.
    ///
    /// # Errors
    ///
    /// If the text does not follow the grammar; the error says where, and what was expected there. Names and their use are
    /// checked by [`Program::new`](crate::program::Program::new).
    pub fn parse(text: &str) -> Result<Self, LitmusError> {
        if text.len() > MAX_TEXT_BYTES {
            let why = format!("a program has at most {MAX_TEXT_BYTES} bytes, this one has {}", text.len());
            return Err(LitmusError::misused(At { line: 1, column: 1 }, why));
        }
        let lexed = lex(text)?;
        let mut litmus = Litmus::default();
        for (expectation, at) in lexed.expectations {
            litmus.expectations.push(self::expectation(expectation, at)?);
        }
        let mut parser = Parser { tokens: lexed.tokens, next: 0, depth: 0, height: 0 };
        while *parser.peek() != Token::End {
            parser.item(&mut litmus)?;
        }
        Ok(litmus)
    }
}

/// Parses `traces: 64`, perhaps with a comment behind it.
fn expectation(text: &str, at: At) -> Result<Expectation, LitmusError> {
    let stated = text.split("//").next().unwrap_or_default();
    let read = || {
        let (what, count) = stated.split_once(':')?;
        let what = match what.trim() {
            "traces" => Expected::Traces,
            "failing" => Expected::Failing,
            blocked => Expected::Blocked(blocked.strip_prefix("blocked(")?.strip_suffix(')')?.trim().to_owned()),
        };
        Some(Expectation { what, count: count.trim().parse().ok()? })
    };
    read().ok_or_else(|| LitmusError::Expected {
        at,
        expected: "`traces: N`, `failing: N` or `blocked(strategy): N`".to_owned(),
        found: format!("`{}`", stated.trim()),
    })
}

struct Parser {
    tokens: Vec<(Token, At)>,
    next: usize,
    /// How many blocks and expressions are open.
    depth: u32,
    /// The height of the latest expression's tree.
    height: u32,
}

/// The largest nesting of blocks and expressions; deeper ones would need too much stack.
const MAX_NESTING: u32 = 200;

/// The largest height of an expression's tree. `1 + 1 + 1` has height two, because a chain leans to the left. Functions walk the tree by
/// recursion, and a higher one would need too much stack.
const MAX_HEIGHT: u32 = 1_000;

/// The largest size of a program's text.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// The largest length of an array, and of a thread's range.
const MAX_LENGTH: i64 = 1 << 16;

type Parsed<T> = Result<T, LitmusError>;

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn peek_second(&self) -> &Token {
        self.tokens.get(self.next + 1).map_or(&Token::End, |(token, _)| token)
    }

    fn at(&self) -> At {
        self.tokens[self.next].1
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(s) if *s == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if w == word)
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        Err(LitmusError::Expected { at: self.at(), expected: what.to_owned(), found: self.peek().to_string() })
    }

    /// Skips `symbol` if it is next.
    fn skip(&mut self, symbol: &str) -> bool {
        let there = self.is(symbol);
        self.next += usize::from(there);
        there
    }

    fn symbol(&mut self, symbol: &str) -> Parsed<()> {
        if self.skip(symbol) { Ok(()) } else { self.expected(&format!("`{symbol}`")) }
    }

    fn word(&mut self, what: &str) -> Parsed<String> {
        let Token::Word(word) = self.peek() else {
            return self.expected(what);
        };
        let word = word.clone();
        self.next += 1;
        Ok(word)
    }

    /// A name that is no keyword.
    fn name(&mut self, what: &str) -> Parsed<String> {
        const RESERVED: [&str; 10] =
            ["shared", "mutex", "channel", "thread", "final", "in", "if", "else", "while", "assert"];
        if RESERVED.iter().any(|word| self.is_word(word)) { self.expected(what) } else { self.word(what) }
    }

    /// A number, perhaps with a sign.
    fn number(&mut self) -> Parsed<i64> {
        let negative = self.skip("-");
        let Token::Number(number) = *self.peek() else {
            return self.expected("a number");
        };
        self.next += 1;
        Ok(if negative { -number } else { number })
    }

    fn deeper<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_NESTING {
            return Err(LitmusError::misused(self.at(), format!("nested more than {MAX_NESTING} levels deep")));
        }
        self.depth += 1;
        let parsed = rule(self);
        self.depth -= 1;
        parsed
    }

    /// Records the height of an expression whose root is an operator above parts of at most this height.
    fn grow(&mut self, at: At, parts: u32) -> Parsed<()> {
        self.height = parts + 1;
        if self.height <= MAX_HEIGHT {
            return Ok(());
        }
        let why = format!("more than {MAX_HEIGHT} operators in one chain: split it over several statements");
        Err(LitmusError::misused(at, why))
    }

    fn item(&mut self, litmus: &mut Litmus) -> Parsed<()> {
        const ITEM: &str = "`shared`, `mutex`, `channel`, `thread` or `final`";
        let start = (self.at(), self.next);
        match self.word(ITEM)?.as_str() {
            "shared" => self.declarations(|parser, name, len, at| {
                let first = if parser.skip("=") { parser.number()? } else { 0 };
                litmus.shared.push(Shared { name, len, first, at });
                Ok(())
            }),
            "mutex" => self.declarations(|_, name, len, at| {
                litmus.mutexes.push(Mutex { name, len, at });
                Ok(())
            }),
            "channel" => self.declarations(|parser, name, len, at| {
                let order = if parser.skip(":") { parser.order()? } else { Order::default() };
                litmus.channels.push(Channel { name, len, order, at });
                Ok(())
            }),
            "thread" => {
                let thread = self.thread()?;
                litmus.threads.push(thread);
                Ok(())
            }
            "final" if litmus.finale.is_some() => Err(LitmusError::Twice { at: start.0, name: "final".to_owned() }),
            "final" => {
                litmus.finale = Some(self.block()?);
                Ok(())
            }
            _ => {
                self.next = start.1;
                self.expected(ITEM)
            }
        }
    }

    /// `x = 0, a[6] = 0;`: `declare` parses what follows name and length.
    fn declarations(
        &mut self,
        mut declare: impl FnMut(&mut Self, String, Option<u32>, At) -> Parsed<()>,
    ) -> Parsed<()> {
        loop {
            let at = self.at();
            let name = self.name("a name")?;
            let len = if self.skip("[") {
                let at = self.at();
                let len = self.number()?;
                let fits = u32::try_from(len).ok().filter(|_| (1..=MAX_LENGTH).contains(&len));
                let len = fits.ok_or_else(|| {
                    LitmusError::misused(at, format!("an array has 1 to {MAX_LENGTH} elements, not {len}"))
                })?;
                self.symbol("]")?;
                Some(len)
            } else {
                None
            };
            declare(self, name, len, at)?;
            if self.skip(";") {
                return Ok(());
            }
            if !self.skip(",") {
                return self.expected("`,` or `;`");
            }
        }
    }

    fn order(&mut self) -> Parsed<Order> {
        for order in Order::ALL {
            let mut parts = order.name().split('-');
            let first = parts.next().expect("a name has a first part");
            if !self.is_word(first) {
                continue;
            }
            self.next += 1;
            if let Some(second) = parts.next() {
                self.symbol("-")?;
                if !self.is_word(second) {
                    return self.expected(&format!("`{second}`"));
                }
                self.next += 1;
            }
            return Ok(order);
        }
        self.expected("`arrival`, `per-sender`, `causal` or `unordered`")
    }

    fn thread(&mut self) -> Parsed<Thread> {
        let at = self.at();
        let name = self.word("the thread's name")?;
        let mut range = None;
        if self.skip("(") {
            let at = self.at();
            let name = self.name("a name")?;
            if !self.is_word("in") {
                return self.expected("`in`");
            }
            self.next += 1;
            let from = self.number()?;
            self.symbol("..=")?;
            let to = self.number()?;
            self.symbol(")")?;
            if from > to || to.checked_sub(from).is_none_or(|more| more >= MAX_LENGTH) {
                return Err(LitmusError::misused(at, format!("a range has 1 to {MAX_LENGTH} numbers: {from}..={to}")));
            }
            range = Some(Range { name, from, to, at });
        }
        if !self.is("{") {
            return self.expected(if range.is_some() { "`{`" } else { "`(` or `{`" });
        }
        Ok(Thread { name, range, body: self.block()?, at })
    }

    fn block(&mut self) -> Parsed<Vec<Statement>> {
        self.symbol("{")?;
        self.deeper(|parser| {
            let mut body = Vec::new();
            while !parser.skip("}") {
                body.push(parser.statement()?);
            }
            Ok(body)
        })
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let at = self.at();
        if self.is_word("if") {
            self.next += 1;
            return self.conditional();
        }
        if self.is_word("while") {
            self.next += 1;
            return Ok(Statement::While { condition: self.expression("a condition")?, body: self.block()? });
        }
        let statement = if self.is_word("assert") {
            self.next += 1;
            Statement::Assert { condition: self.expression("a condition")?, at }
        } else if *self.peek_second() == Token::Symbol("=") {
            let name = self.name("a name")?;
            self.symbol("=")?;
            Statement::Assign { name, value: self.expression("a value")?, at }
        } else {
            Statement::Evaluate(self.expression("a statement or `}`")?)
        };
        self.symbol(";")?;
        Ok(statement)
    }

    /// Parses what follows `if`.
    fn conditional(&mut self) -> Parsed<Statement> {
        let condition = self.expression("a condition")?;
        let then = self.block()?;
        let mut otherwise = Vec::new();
        if self.is_word("else") {
            self.next += 1;
            if self.is_word("if") {
                self.next += 1;
                otherwise = vec![self.deeper(Self::conditional)?];
            } else {
                otherwise = self.block()?;
            }
        }
        Ok(Statement::If { condition, then, otherwise })
    }
}
