//! Expressions, by how tightly their operators bind.

use super::{Parsed, Parser};
use crate::error::LitmusError;
use crate::lexer::Token;
use crate::syntax::{Binary, COMPARISONS, Call, Expression, TIGHTEST, Target, Unary, Verb};

impl Parser {
    /// An expression; `what` it is, for the error if there is none.
    pub(super) fn expression(&mut self, what: &str) -> Parsed<Expression> {
        self.deeper(|parser| parser.level(0, what))
    }

    fn level(&mut self, level: usize, what: &str) -> Parsed<Expression> {
        if level == TIGHTEST {
            return self.unary(what);
        }
        let mut left = self.level(level + 1, what)?;
        let mut compared = false;
        while let Some(operator) = self.operator(level) {
            let at = self.at();
            if compared {
                return Err(LitmusError::misused(at, "comparisons cannot be chained: use parentheses"));
            }
            compared = level == COMPARISONS;
            self.next += 1;
            let right = self.level(level + 1, "a value")?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right), at);
        }
        Ok(left)
    }

    /// The operator that comes next, if it is one of this level.
    fn operator(&self, level: usize) -> Option<Binary> {
        Binary::ALL.into_iter().find(|operator| operator.level() == level && self.is(operator.symbol()))
    }

    fn unary(&mut self, what: &str) -> Parsed<Expression> {
        let operator = if self.skip("-") {
            Unary::Negate
        } else if self.skip("!") {
            Unary::Not
        } else {
            return self.primary(what);
        };
        let operand = self.deeper(|parser| parser.unary("a value"))?;
        Ok(Expression::Unary(operator, Box::new(operand)))
    }

    fn primary(&mut self, what: &str) -> Parsed<Expression> {
        if self.skip("(") {
            let inner = self.expression("a value")?;
            self.symbol(")")?;
            return Ok(inner);
        }
        if let Token::Number(number) = *self.peek() {
            self.next += 1;
            return Ok(Expression::Number(number));
        }
        if *self.peek_second() == Token::Symbol("(") {
            return self.call(what);
        }
        let at = self.at();
        Ok(Expression::Local(self.name(what)?, at))
    }

    fn call(&mut self, what: &str) -> Parsed<Expression> {
        let at = self.at();
        let Some(verb) = Verb::ALL.into_iter().find(|verb| self.is_word(verb.name())) else {
            if !matches!(self.peek(), Token::Word(_)) {
                return self.expected(what);
            }
            let names: Vec<_> = Verb::ALL.iter().map(|verb| format!("`{}`", verb.name())).collect();
            return self.expected(&format!("one of {}", names.join(", ")));
        };
        self.next += 1;
        self.symbol("(")?;
        let mut between = false;
        let target = if verb == Verb::Choose {
            None
        } else {
            between = true;
            Some(self.target(verb)?)
        };
        let mut arguments = Vec::new();
        for _ in 0..verb.arguments() {
            if between {
                self.symbol(",")?;
            }
            between = true;
            arguments.push(self.expression("a value")?);
        }
        self.symbol(")")?;
        Ok(Expression::Call(Box::new(Call { verb, target, arguments, at })))
    }

    fn target(&mut self, verb: Verb) -> Parsed<Target> {
        let at = self.at();
        let name = self.name(match verb {
            Verb::Lock | Verb::Unlock | Verb::TryLock => "the name of a mutex",
            Verb::Send | Verb::Recv => "the name of a channel",
            _ => "the name of a shared variable",
        })?;
        let mut index = None;
        if self.skip("[") {
            index = Some(self.expression("an index")?);
            self.symbol("]")?;
        }
        Ok(Target { name, index, at })
    }
}
