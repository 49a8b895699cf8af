//! Expressions, by the precedence of their operators.

use super::{Parsed, Parser};
use crate::error::LitmusError;
use crate::lexer::Token;
use crate::syntax::{Binary, COMPARISONS, Call, Expression, Target, Unary, Verb};

impl Parser {
    /// Parses an expression. `what` names it in the error if there is none.
    pub(super) fn expression(&mut self, what: &str) -> Parsed<Expression> {
        self.deeper(|parser| parser.level(0, what))
    }

    /// Parses an expression whose operators, outside parentheses, bind at least as tightly as `least`. It recurses only for the right sides of
    /// operators, so nested parentheses do not take much stack.
    fn level(&mut self, least: usize, what: &str) -> Parsed<Expression> {
        let mut left = self.unary(what)?;
        let mut compared = false;
        while let Some(operator) = self.operator(least) {
            let at = self.at();
            let level = operator.level();
            if compared && level == COMPARISONS {
                return Err(LitmusError::misused(at, "comparisons cannot be chained: use parentheses"));
            }
            compared = level == COMPARISONS;
            self.next += 1;
            let left_height = self.height;
            let right = self.level(level + 1, "a value")?;
            self.grow(at, left_height.max(self.height))?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right), at);
        }
        Ok(left)
    }

    /// The next operator, if it binds at least as tightly as `least`.
    fn operator(&self, least: usize) -> Option<Binary> {
        Binary::ALL.into_iter().find(|operator| operator.level() >= least && self.is(operator.symbol()))
    }

    fn unary(&mut self, what: &str) -> Parsed<Expression> {
        let operator = if self.skip("-") {
            Unary::Negate
        } else if self.skip("!") {
            Unary::Not
        } else {
            return self.primary(what);
        };
        let at = self.at();
        let operand = self.deeper(|parser| parser.unary("a value"))?;
        self.grow(at, self.height)?;
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
            self.height = 0;
            return Ok(Expression::Number(number));
        }
        if *self.peek_second() == Token::Symbol("(") {
            return self.call(what);
        }
        let at = self.at();
        self.height = 0;
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
        self.height = 0;
        let target = if verb == Verb::Choose {
            None
        } else {
            between = true;
            Some(self.target(verb)?)
        };
        let mut arguments = Vec::new();
        let mut highest = self.height;
        for _ in 0..verb.arguments() {
            if between {
                self.symbol(",")?;
            }
            between = true;
            arguments.push(self.expression("a value")?);
            highest = highest.max(self.height);
        }
        self.symbol(")")?;
        self.grow(at, highest)?;
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
