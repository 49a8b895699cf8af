//! What a thread does between two steps. Other threads do not observe it, so it needs no decision.

use super::{Fault, State, Status, ThreadState, Wrong};
use crate::compile::{Code, Instruction, StepCode};
use crate::syntax::{At, Binary, Unary, Verb};

/// A thread that executes so many instructions without a step is considered endless.
pub(super) const MAX_SILENT_INSTRUCTIONS: u32 = 100_000;

/// The largest number of messages of a thread: names of messages have sixteen bits for it.
pub(super) const MAX_MESSAGES: u32 = 1 << 16;

impl State {
    /// Runs a thread to its next step or choice, or to its end.
    pub(crate) fn run(&mut self, code: &Code, thread: usize) {
        let instructions = &code.thread(thread).instructions;
        let mut last = At::default();
        for _ in 0..MAX_SILENT_INSTRUCTIONS {
            let state = &mut self.threads[thread];
            if state.status != Status::Running {
                return;
            }
            let Some(&instruction) = instructions.get(state.at as usize) else {
                state.end();
                return;
            };
            match instruction {
                Instruction::Step(step) => {
                    match self.wrong_with(thread, step) {
                        None => self.threads[thread].status = Status::AtStep,
                        Some(what) => self.threads[thread].stop(Fault { what, at: step.at }),
                    }
                    return;
                }
                Instruction::Binary(_, at) | Instruction::Assert(_, at) | Instruction::Choose(at) => last = at,
                _ => {}
            }
            self.threads[thread].execute(instruction);
        }
        self.threads[thread].stop(Fault { what: Wrong::Endless, at: last });
    }

    /// Gives a thread the value of its choice.
    pub(crate) fn chosen(&mut self, thread: usize, value: u32) {
        let state = &mut self.threads[thread];
        state.stack.push(i64::from(value));
        state.at += 1;
        state.status = Status::Running;
    }

    /// The fault of a step that can never be taken. Other threads cannot change that.
    fn wrong_with(&self, thread: usize, step: StepCode) -> Option<Wrong> {
        let state = &self.threads[thread];
        if let Some(len) = step.len {
            let index = state.stack[state.stack.len() - 1 - step.verb.arguments()];
            if !(0..i64::from(len)).contains(&index) {
                return Some(Wrong::OutOfRange { index, len });
            }
        }
        let holds = || self.holders[self.target(thread, step)] == Some(thread as u32);
        match step.verb {
            Verb::Unlock if !holds() => Some(Wrong::NotHeld),
            Verb::Send if state.sent == MAX_MESSAGES => Some(Wrong::TooManyMessages),
            _ => None,
        }
    }
}

impl ThreadState {
    fn end(&mut self) {
        self.status = Status::Ended;
        self.at = 0;
        // The data of an ended thread has no influence any more.
        self.locals.clear();
        self.stack.clear();
        self.clock.fill(0);
    }

    fn stop(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
        self.end();
    }

    fn pop(&mut self) -> i64 {
        self.stack.pop().expect("raddle bug: the stack is empty")
    }

    fn execute(&mut self, instruction: Instruction) {
        self.at += 1;
        match instruction {
            Instruction::Push(value) => self.stack.push(value),
            Instruction::Get(local) => self.stack.push(self.locals[local as usize]),
            Instruction::Set(local) => self.locals[local as usize] = self.pop(),
            Instruction::Drop => drop(self.pop()),
            Instruction::Truth => {
                let value = self.pop();
                self.stack.push(i64::from(value != 0));
            }
            Instruction::Unary(operator) => {
                let value = self.pop();
                self.stack.push(match operator {
                    Unary::Negate => value.wrapping_neg(),
                    Unary::Not => i64::from(value == 0),
                });
            }
            Instruction::Binary(operator, at) => {
                let (right, left) = (self.pop(), self.pop());
                match apply(operator, left, right) {
                    Some(value) => self.stack.push(value),
                    None => self.stop(Fault { what: Wrong::DivisionByZero, at }),
                }
            }
            Instruction::Jump(to) => self.at = to,
            Instruction::JumpIfZero(to) => {
                if self.pop() == 0 {
                    self.at = to;
                }
            }
            Instruction::Assert(number, at) => {
                if self.pop() == 0 {
                    self.fault.get_or_insert(Fault { what: Wrong::Assert(number), at });
                }
            }
            Instruction::Choose(at) => {
                let count = self.pop();
                match u32::try_from(count) {
                    Ok(choices @ 1..) => {
                        // The instruction is completed when the value is chosen.
                        self.at -= 1;
                        self.status = Status::AtChoice(choices);
                    }
                    _ => self.stop(Fault { what: Wrong::NothingToChoose(count), at }),
                }
            }
            Instruction::Step(_) => panic!("raddle bug: a step taken as if nobody noticed"),
        }
    }
}

/// Applies an operator; `None` for a division by zero.
fn apply(operator: Binary, left: i64, right: i64) -> Option<i64> {
    Some(match operator {
        Binary::Equal => i64::from(left == right),
        Binary::NotEqual => i64::from(left != right),
        Binary::Less => i64::from(left < right),
        Binary::AtMost => i64::from(left <= right),
        Binary::Greater => i64::from(left > right),
        Binary::AtLeast => i64::from(left >= right),
        Binary::Plus => left.wrapping_add(right),
        Binary::Minus => left.wrapping_sub(right),
        Binary::Times => left.wrapping_mul(right),
        Binary::Divided | Binary::Remainder if right == 0 => return None,
        Binary::Divided => left.wrapping_div(right),
        Binary::Remainder => left.wrapping_rem(right),
        Binary::And | Binary::Or => panic!("raddle bug: {operator:?} is compiled to jumps"),
    })
}
