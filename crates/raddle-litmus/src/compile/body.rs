//! Compiles the statements of one thread.

use std::collections::HashMap;

use super::{Declared, Instruction, Kind, Names, StepCode};
use crate::error::LitmusError;
use crate::syntax::{At, Binary, Call, Expression, Range, Statement, Target, Unary, Verb};

/// Returns the number of local variables, and the instructions. The range's variable, if there is one, is the first local.
pub(super) fn compile(
    body: &[Statement],
    range: Option<&Range>,
    names: &Names,
    asserts: &mut Vec<String>,
    finale: bool,
) -> Result<(usize, Vec<Instruction>), LitmusError> {
    let mut compiler = Body { names, asserts, finale, locals: HashMap::new(), out: Vec::new() };
    if let Some(range) = range {
        compiler.local(&range.name, range.at)?;
    }
    compiler.collect(body)?;
    compiler.block(body)?;
    Ok((compiler.locals.len(), compiler.out))
}

struct Body<'c> {
    names: &'c Names,
    asserts: &'c mut Vec<String>,
    finale: bool,
    locals: HashMap<String, u32>,
    out: Vec<Instruction>,
}

type Done = Result<(), LitmusError>;

impl Body<'_> {
    fn local(&mut self, name: &str, at: At) -> Done {
        if let Some(declared) = self.names.0.get(name) {
            let how = if declared.kind == Kind::Shared { ": use `store`" } else { "" };
            return Err(LitmusError::misused(
                at,
                format!("`{name}` is {}, not a local variable{how}", declared.kind.noun()),
            ));
        }
        let next = self.locals.len() as u32;
        self.locals.entry(name.to_owned()).or_insert(next);
        Ok(())
    }

    /// Finds all local variables first: in a loop, a variable may be read before the statement that sets it.
    fn collect(&mut self, body: &[Statement]) -> Done {
        for statement in body {
            match statement {
                Statement::Assign { name, at, .. } => self.local(name, *at)?,
                Statement::If { then, otherwise, .. } => {
                    self.collect(then)?;
                    self.collect(otherwise)?;
                }
                Statement::While { body, .. } => self.collect(body)?,
                Statement::Evaluate(_) | Statement::Assert { .. } => {}
            }
        }
        Ok(())
    }

    fn here(&self) -> u32 {
        u32::try_from(self.out.len()).expect("raddle bug: more than 2^32 instructions")
    }

    /// Sets the target of the jump at `from` to the next instruction.
    fn land(&mut self, from: u32) {
        let here = self.here();
        match &mut self.out[from as usize] {
            Instruction::Jump(to) | Instruction::JumpIfZero(to) => *to = here,
            other => panic!("raddle bug: {other:?} does not jump"),
        }
    }

    fn jump(&mut self, instruction: Instruction) -> u32 {
        self.out.push(instruction);
        self.here() - 1
    }

    fn block(&mut self, body: &[Statement]) -> Done {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Done {
        match statement {
            Statement::Assign { name, value, .. } => {
                self.value(value)?;
                self.out.push(Instruction::Set(self.locals[name]));
            }
            Statement::Evaluate(Expression::Call(call)) => {
                self.call(call)?;
                if call.verb.gives() {
                    self.out.push(Instruction::Drop);
                }
            }
            Statement::Evaluate(value) => {
                self.value(value)?;
                self.out.push(Instruction::Drop);
            }
            Statement::Assert { condition, at } => {
                self.value(condition)?;
                self.out.push(Instruction::Assert(self.asserts.len() as u32, *at));
                self.asserts.push(condition.to_string());
            }
            Statement::If { condition, then, otherwise } => {
                self.value(condition)?;
                let to_else = self.jump(Instruction::JumpIfZero(0));
                self.block(then)?;
                if otherwise.is_empty() {
                    self.land(to_else);
                } else {
                    let to_end = self.jump(Instruction::Jump(0));
                    self.land(to_else);
                    self.block(otherwise)?;
                    self.land(to_end);
                }
            }
            Statement::While { condition, body } => {
                let start = self.here();
                self.value(condition)?;
                let to_end = self.jump(Instruction::JumpIfZero(0));
                self.block(body)?;
                self.out.push(Instruction::Jump(start));
                self.land(to_end);
            }
        }
        Ok(())
    }

    fn value(&mut self, expression: &Expression) -> Done {
        match expression {
            Expression::Number(number) => self.out.push(Instruction::Push(*number)),
            Expression::Local(name, at) => {
                let slot = *self.locals.get(name).ok_or_else(|| self.no_local(name, *at))?;
                self.out.push(Instruction::Get(slot));
            }
            Expression::Unary(operator, operand) => {
                self.value(operand)?;
                self.out.push(Instruction::Unary(*operator));
            }
            Expression::Binary(operator @ (Binary::And | Binary::Or), left, right, _) => {
                self.shortcut(*operator, left, right)?;
            }
            Expression::Binary(operator, left, right, at) => {
                self.value(left)?;
                self.value(right)?;
                self.out.push(Instruction::Binary(*operator, *at));
            }
            Expression::Call(call) if call.verb.gives() => self.call(call)?,
            Expression::Call(call) => {
                let why = format!("`{}` has no value: it stands on its own, as in `{call};`", call.verb.name());
                return Err(LitmusError::misused(call.at, why));
            }
        }
        Ok(())
    }

    /// Evaluates the right side only if the left one does not determine the result.
    fn shortcut(&mut self, operator: Binary, left: &Expression, right: &Expression) -> Done {
        self.value(left)?;
        if operator == Binary::Or {
            self.out.push(Instruction::Unary(Unary::Not));
        }
        let settled = self.jump(Instruction::JumpIfZero(0));
        self.value(right)?;
        self.out.push(Instruction::Truth);
        let to_end = self.jump(Instruction::Jump(0));
        self.land(settled);
        self.out.push(Instruction::Push(i64::from(operator == Binary::Or)));
        self.land(to_end);
        Ok(())
    }

    fn no_local(&self, name: &str, at: At) -> LitmusError {
        match self.names.0.get(name).map(|declared| declared.kind) {
            Some(Kind::Shared) => LitmusError::misused(at, format!("`{name}` is shared: read it with `load({name})`")),
            Some(kind) => LitmusError::misused(at, format!("`{name}` is {}, not a value", kind.noun())),
            None => LitmusError::Unknown { at, name: name.to_owned(), hint: "this thread never gives it a value" },
        }
    }

    fn call(&mut self, call: &Call) -> Done {
        if call.verb == Verb::Choose && self.finale {
            return Err(LitmusError::misused(call.at, "`final` takes no part in the search: nothing to choose there"));
        }
        let target = call.target.as_ref().map(|target| self.target(call.verb, target)).transpose()?;
        for argument in &call.arguments {
            self.value(argument)?;
        }
        self.out.push(match target {
            None => Instruction::Choose(call.at),
            Some(Declared { first, len, .. }) => {
                Instruction::Step(StepCode { verb: call.verb, first, len, at: call.at })
            }
        });
        Ok(())
    }

    fn target(&mut self, verb: Verb, target: &Target) -> Result<Declared, LitmusError> {
        let Target { name, index, at } = target;
        let wanted = Kind::of(verb);
        let Some(&declared) = self.names.0.get(name) else {
            let hint = match wanted {
                Kind::Shared => "declare it with `shared`",
                Kind::Mutex => "declare it with `mutex`",
                Kind::Channel => "declare it with `channel`",
            };
            return Err(LitmusError::Unknown { at: *at, name: name.clone(), hint });
        };
        let misused = |why| Err(LitmusError::misused(*at, why));
        if declared.kind != wanted {
            return misused(format!("`{}` needs {}; `{name}` is {}", verb.name(), wanted.noun(), declared.kind.noun()));
        }
        match (declared.len, index) {
            (None, None) => {}
            (None, Some(_)) => return misused(format!("`{name}` is not an array")),
            (Some(len), None) => {
                return misused(format!("`{name}` is an array of {len}: say which, as in `{name}[0]`"));
            }
            (Some(len), Some(Expression::Number(number))) if *number >= i64::from(len) => {
                return misused(format!("`{name}` has elements 0 to {}, not {number}", len - 1));
            }
            (Some(_), Some(index)) => self.value(index)?,
        }
        Ok(declared)
    }
}
