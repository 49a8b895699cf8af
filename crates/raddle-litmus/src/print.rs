//! Programs as text.

use std::fmt::{self, Display, Formatter};

use crate::syntax::{COMPARISONS, Call, Expected, Expression, Litmus, Statement, TIGHTEST, Target, Thread, Unary};

impl Display for Litmus {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for expectation in &self.expectations {
            writeln!(f, "//! {}: {}", expectation.what, expectation.count)?;
        }
        for shared in &self.shared {
            writeln!(f, "shared {}{} = {};", shared.name, Length(shared.len), shared.first)?;
        }
        for mutex in &self.mutexes {
            writeln!(f, "mutex {}{};", mutex.name, Length(mutex.len))?;
        }
        for channel in &self.channels {
            writeln!(f, "channel {}{}: {};", channel.name, Length(channel.len), channel.order.name())?;
        }
        for thread in &self.threads {
            write!(f, "{thread}")?;
        }
        if let Some(finale) = &self.finale {
            f.write_str("final ")?;
            block(f, finale, 0)?;
            f.write_str("\n")?;
        }
        Ok(())
    }
}

impl Display for Expected {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Traces => f.write_str("traces"),
            Self::Failing => f.write_str("failing"),
            Self::Blocked(strategy) => write!(f, "blocked({strategy})"),
        }
    }
}

/// `[6]`, or nothing.
struct Length(Option<u32>);

impl Display for Length {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |len| write!(f, "[{len}]"))
    }
}

impl Display for Thread {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "thread {}", self.name)?;
        if let Some(range) = &self.range {
            write!(f, "({} in {}..={})", range.name, range.from, range.to)?;
        }
        f.write_str(" ")?;
        block(f, &self.body, 0)?;
        f.write_str("\n")
    }
}

fn block(f: &mut Formatter<'_>, body: &[Statement], depth: usize) -> fmt::Result {
    f.write_str("{\n")?;
    for statement in body {
        write!(f, "{:1$}", "", 2 * (depth + 1))?;
        self::statement(f, statement, depth + 1)?;
        f.write_str("\n")?;
    }
    write!(f, "{:1$}}}", "", 2 * depth)
}

fn statement(f: &mut Formatter<'_>, statement: &Statement, depth: usize) -> fmt::Result {
    match statement {
        Statement::Assign { name, value, .. } => write!(f, "{name} = {value};"),
        Statement::Evaluate(value) => write!(f, "{value};"),
        Statement::Assert { condition, .. } => write!(f, "assert {condition};"),
        Statement::If { condition, then, otherwise } => {
            write!(f, "if {condition} ")?;
            block(f, then, depth)?;
            if !otherwise.is_empty() {
                f.write_str(" else ")?;
                block(f, otherwise, depth)?;
            }
            Ok(())
        }
        Statement::While { condition, body } => {
            write!(f, "while {condition} ")?;
            block(f, body, depth)
        }
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        expression(f, self, 0)
    }
}

/// Writes parentheses if the expression binds less tightly than `level`.
fn expression(f: &mut Formatter<'_>, shown: &Expression, level: usize) -> fmt::Result {
    match shown {
        Expression::Number(number) if *number < 0 => write!(f, "({number})"),
        Expression::Number(number) => write!(f, "{number}"),
        Expression::Local(name, _) => f.write_str(name),
        Expression::Unary(operator, operand) => {
            f.write_str(match operator {
                Unary::Negate => "-",
                Unary::Not => "!",
            })?;
            expression(f, operand, TIGHTEST)
        }
        Expression::Binary(operator, left, right, _) => {
            let own = operator.level();
            if own < level {
                f.write_str("(")?;
            }
            // All operators associate to the left, except comparisons, which do not associate.
            expression(f, left, if own == COMPARISONS { own + 1 } else { own })?;
            write!(f, " {} ", operator.symbol())?;
            expression(f, right, own + 1)?;
            if own < level {
                f.write_str(")")?;
            }
            Ok(())
        }
        Expression::Call(call) => write!(f, "{call}"),
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.verb.name())?;
        let mut between = "";
        if let Some(target) = &self.target {
            write!(f, "{target}")?;
            between = ", ";
        }
        for argument in &self.arguments {
            write!(f, "{between}{argument}")?;
            between = ", ";
        }
        f.write_str(")")
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.index.as_ref().map_or(Ok(()), |index| write!(f, "[{index}]"))
    }
}
